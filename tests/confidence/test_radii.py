"""Radii: the formulas, their growth along data, and the two numbers that decide which one is usable."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmerl.confidence import (
    FailureBudget,
    Paper,
    Problem,
    Tight,
    noise_radius,
    paper_radius,
    reward_radius,
    second_moment_radius,
    tight_radius,
)
from cmerl.embedding import ExactEmbedding
from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, StateAction
from cmerl.transitions import Transitions

POSITIVE = st.floats(0.01, 50.0)
DELTA = st.floats(0.001, 0.999)


def problem(**changes):
    """A tabular problem with S = 3, A = 2 and a known reward, unless told otherwise."""
    options = {
        "horizon": 4,
        "width": 1.0,
        "kernel": StateAction(Delta(), Delta()),
        "value_kernel": Delta(),
        "tabular": (3, 2),
        "budget": FailureBudget(0.2, learned_reward=False),
    }
    return Problem(**(options | changes))


@given(gain=POSITIVE, lam=POSITIVE, B_P=POSITIVE, delta=DELTA)
def test_paper_radius_is_theorem_1(gain, lam, B_P, delta):
    squared = 2 * lam * B_P**2 + 256 * (1 + 1 / lam) * gain * np.log(2 * 7**2 * 5 / delta)
    assert paper_radius(gain, lam=lam, B_P=B_P, episode=7, horizon=5, delta=delta) ** 2 == pytest.approx(squared)


@given(gain=POSITIVE, lam=POSITIVE, B_psi=POSITIVE, B_phi=POSITIVE)
def test_general_paper_radius_scales_with_the_kernels(gain, lam, B_psi, B_phi):
    squared = 2 * lam * 9 + 256 * B_psi**2 * (1 + B_phi**2 / lam) * gain * np.log(2 * 4 * 3 / 0.1)
    radius = paper_radius(gain, lam=lam, B_P=3, episode=2, horizon=3, delta=0.1, B_psi=B_psi, B_phi=B_phi)
    assert radius**2 == pytest.approx(squared)


@given(sum_r=POSITIVE, lam=POSITIVE, B_P=POSITIVE, D=POSITIVE, delta=DELTA)
def test_tight_radius_is_the_supermartingale_bound(sum_r, lam, B_P, D, delta):
    noise = D**2 * sum_r + D**2 / 2 * np.log(1 / delta)
    assert noise_radius(sum_r, D=D, delta=delta) ** 2 == pytest.approx(noise)
    tight = tight_radius(sum_r, lam=lam, B_P=B_P, D=D, delta=delta)
    assert tight**2 == pytest.approx(lam * B_P**2 + noise)


@given(gain=POSITIVE, lam=POSITIVE, B_R=POSITIVE, noise=POSITIVE, delta=DELTA)
def test_reward_radius_is_the_self_normalised_bound(gain, lam, B_R, noise, delta):
    expected = np.sqrt(lam) * B_R + noise * np.sqrt(2 * (gain - np.log(delta)))
    assert reward_radius(gain, lam=lam, B_R=B_R, noise=noise, delta=delta) == pytest.approx(expected)


def test_a_thousand_points_in_the_unit_square():
    n, lam, H, delta = 1000, 1.0, 10, 0.1
    X = np.random.default_rng(0).random((n, 2))
    embedding = ExactEmbedding(RBF(0.5), lam)
    embedding.update(Transitions.of(X, X))

    # G and Σr from one dense factorisation, written here.
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    pivots = np.diagonal(np.linalg.cholesky(np.exp(-squared / (2 * 0.5**2)) + lam * np.eye(n))) ** 2
    assert embedding.information_gain == pytest.approx(0.5 * np.log(pivots / lam).sum(), rel=1e-9)
    assert embedding.sum_r == pytest.approx((1 - lam / pivots).sum(), rel=1e-9)
    assert embedding.sum_r <= 2 * embedding.information_gain

    setting = problem(
        horizon=H,
        kernel=RBF(0.5),
        value_kernel=RBF(0.5),
        tabular=None,
        B_P=1.0,
        B_V=1.0,
        budget=FailureBudget(delta, learned_reward=False),
    )
    paper = Paper().radius(setting, embedding, n // H + 1)
    tight = Tight().radius(setting, embedding, n // H + 1)
    assert paper == pytest.approx(362, rel=0.15)
    assert tight == pytest.approx(8.2, rel=0.15)
    assert tight <= paper / 20


@pytest.mark.parametrize("mode", [Paper(), Paper(general=True), Tight()])
@pytest.mark.parametrize("kernel", [StateAction(Delta(), Delta()), StateAction(RBF(0.4), RBF(2.0))])
def test_radii_never_decrease_with_data(mode, kernel):
    rng = np.random.default_rng(3)
    embedding = ExactEmbedding(kernel, 0.3)
    setting = problem(kernel=kernel, B_P=2.0, B_V=3.0)
    radii = [mode.radius(setting, embedding, 1)]
    for episode in range(2, 40):
        Z = np.column_stack([rng.integers(0, 5, 4) / 4, rng.integers(0, 2, 4)])
        embedding.update(Transitions.of(Z, Z[:, :1]))
        radii.append(mode.radius(setting, embedding, episode))
    assert (np.diff(radii) >= 0).all()
    assert radii[-1] > radii[0] + 1


def test_the_general_paper_radius_reads_the_kernels_bounds():
    loud = StateAction(4.0 * RBF(1.0), Delta())  # B_φ = 2
    embedding = ExactEmbedding(loud, 0.5)
    embedding.update(Transitions.of(np.random.default_rng(0).random((9, 2)), np.zeros((9, 1))))
    setting = problem(kernel=loud, value_kernel=9.0 * RBF(1.0), B_P=1.0, B_V=1.0)  # B_ψ = 3
    squared = 2 * 0.5 + 256 * 9 * (1 + 4 / 0.5) * embedding.information_gain * np.log(2 * 25 * 4 / 0.1)
    assert Paper(general=True).radius(setting, embedding, 5) == pytest.approx(math.sqrt(squared))


def test_the_failure_budget_is_shared_out_in_full():
    known, learned = FailureBudget(0.3, learned_reward=False), FailureBudget(0.3, learned_reward=True)
    assert known.share == pytest.approx(0.15)  # transitions, martingale
    assert learned.share == pytest.approx(0.1)  # transitions, martingale, reward
    one = problem(budget=learned)
    assert one.delta_transition + one.delta_reward + learned.share == pytest.approx(0.3)
    many = problem(budget=learned, embeddings=4)
    assert 4 * (many.delta_transition + many.delta_reward) + learned.share == pytest.approx(0.3)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0, math.nan])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(InputError, match="delta"):
        FailureBudget(delta, learned_reward=True)


@given(gain=POSITIVE, lam=POSITIVE, delta=DELTA)
def test_a_learned_reward_pays_for_every_choice_of_coordinates(gain, lam, delta):
    def squared(k):
        beta = reward_radius(gain, lam=lam, B_R=2.0, noise=0.5, delta=delta, choices=k)
        return ((beta - math.sqrt(lam) * 2.0) / 0.5) ** 2 / 2 - gain

    assert squared(0) == pytest.approx(math.log(1 / delta), abs=1e-9)
    # What the exponentials may miss adds up to no more than δ/2 for the data before a choice, δ/2 for those after.
    before = math.log(2 / delta)
    after = [math.exp(before - squared(k)) for k in range(1, 200)]
    assert sum(after) == pytest.approx(delta / 2 * (1 - 1 / 200), rel=1e-6)


@given(
    gain=st.floats(1e-6, 1e3), lam=st.floats(1e-3, 1e3), delta=st.floats(1e-6, 0.5), t=st.integers(1, 1000),
    share=st.floats(0.0, 1.0),
)  # fmt: skip
def test_the_papers_radius_dominates_the_tight_one_so_that_the_mode_is_sound(gain, lam, delta, t, share):
    """Unit kernels, D² = 2, some data: whenever 512·B_P² ≥ log(1/δ), whatever its own proof is worth."""
    gain = max(gain, 0.5 * math.log1p(1 / lam))  # of the first transition
    sum_r = share * 2 * gain
    B_P = math.sqrt(math.log(1 / delta) / 512)
    paper = paper_radius(gain, lam=lam, B_P=B_P, episode=t, horizon=2, delta=delta)
    assert paper >= tight_radius(sum_r, lam=lam, B_P=B_P, D=math.sqrt(2), delta=delta)


@pytest.mark.parametrize("seed", range(40))
def test_the_second_moment_bound_is_a_supermartingale_step_by_step(seed):
    """E exp(e²_n/D²) against exp(e²_{n-1}/D² + ½r + ¼r²/(1+r)), the expectation over a finite law taken exactly."""
    rng = np.random.default_rng(seed)
    S, d, lam = 4, 3, 10 ** rng.uniform(-2, 2)
    psi = rng.normal(size=(S, 2)) if seed % 2 else np.eye(S)
    D2 = max(float(np.sum((a - b) ** 2)) for a in psi for b in psi)
    Phi = rng.normal(size=(rng.integers(0, 6), d))
    W = rng.normal(size=(psi.shape[1], len(Phi))) @ Phi * 10 ** rng.uniform(-1, 1)
    M, phi = Phi.T @ Phi + lam * np.eye(d), rng.normal(size=d) * 10 ** rng.uniform(-1, 1)
    p = rng.dirichlet(np.full(S, 0.5))
    noise = psi - p @ psi

    def squared(W, M):
        return float(np.trace(W @ np.linalg.solve(M, W.T)))

    w = float(phi @ np.linalg.solve(M, phi))
    r = w / (1 + w)
    grown = M + np.outer(phi, phi)
    change = np.array([squared(W + np.outer(e, phi), grown) - squared(W, M) for e in noise]) / D2
    allowed = r / 2 + r**2 / (4 * (1 + r))
    assert np.log(p @ np.exp(change)) <= allowed + 1e-9
    assert allowed <= min(0.5 * math.log1p(w), 0.75 * r) + 1e-12


def test_the_second_moment_radius_is_smaller_once_there_are_data():
    assert second_moment_radius(20.0, 30.0, D=2.0, delta=0.1) == pytest.approx(2 * math.sqrt(20 + math.log(10)))
    assert second_moment_radius(90.0, 30.0, D=2.0, delta=0.1) == pytest.approx(2 * math.sqrt(22.5 + math.log(10)))
    assert second_moment_radius(20.0, 30.0, D=2.0, delta=0.1) < noise_radius(30.0, D=2.0, delta=0.1)
