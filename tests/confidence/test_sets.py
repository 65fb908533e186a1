"""Operators on finite domains: norms and errors in closed form, against explicit feature matrices."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cmerl.confidence import ConfidenceSet, FailureBudget, NormCalculator, Problem, Tight, ValueNorms
from cmerl.embedding import ConditionalMeanEmbedding, ExactEmbedding
from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, StateAction
from cmerl.transitions import Transitions

ACTIONS = np.array([[0.0], [1.0], [2.5]])
KERNELS = [StateAction(RBF(0.8), RBF(1.5)), StateAction(RBF(0.6), Delta()), RBF((0.7, 0.9, 1.3))]
VALUE_KERNEL = RBF(0.9)


def feature_world(seed, kernel, *, value_kernel=VALUE_KERNEL, S=4, n=80, lam=0.3):
    """A random finite MDP with data, and everything about it in explicit features.

    Rows of Φ (SA, SA) and Ψ (S, S) are feature vectors, from Cholesky factors of the kernel matrices; the
    operators Θ (S, SA) act on columns φ.
    """
    rng = np.random.default_rng(seed)
    states = rng.random((S, 2)) * 2
    Z = np.array([[*s, *a] for s in states for a in ACTIONS])
    P = rng.dirichlet(np.full(S, 0.7), size=(S, len(ACTIONS)))
    Phi, Psi = np.linalg.cholesky(kernel(Z)), np.linalg.cholesky(value_kernel(states))
    Theta = np.linalg.solve(Phi, P.reshape(-1, S) @ Psi).T  # Θφ(z) = Σ P(s'|z)ψ(s')
    z = rng.integers(0, len(Z), n)
    after = np.array([rng.choice(S, p=P.reshape(-1, S)[i]) for i in z], dtype=int)
    M = Phi[z].T @ Phi[z] + lam * np.eye(len(Z))
    estimate = Psi[after].T @ Phi[z] @ np.linalg.inv(M)
    embedding = ExactEmbedding(kernel, lam, ACTIONS)
    for part in np.array_split(np.arange(n), 7):
        if part.size:
            embedding.update(Transitions.of(Z[z[part]], states[after[part]]))
    return SimpleNamespace(
        S=S,
        states=states,
        Z=Z,
        P=P,
        Phi=Phi,
        Psi=Psi,
        Theta=Theta,
        z=z,
        after=after,
        M=M,
        lam=lam,
        estimate=estimate,
        embedding=embedding,
        value_kernel=value_kernel,
        kernel=kernel,
        rng=rng,
    )


def root(M):
    """M^{1/2} of a positive definite matrix."""
    values, vectors = np.linalg.eigh(M)
    return vectors @ np.diag(np.sqrt(values)) @ vectors.T


def confidence_set(w, radius=1.0, embedding=None):
    embedding = w.embedding if embedding is None else embedding
    return ConfidenceSet(embedding, radius, value_kernel=w.value_kernel, states=w.states, actions=ACTIONS)


def as_table(w, Theta):
    """The (signed) table P whose operator is Θ."""
    return np.linalg.solve(w.Psi.T, Theta @ w.Phi.T).T.reshape(w.S, len(ACTIONS), w.S)


# --- norms -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_without_data_the_distance_is_the_norm_of_the_operator(kernel, seed):
    w = feature_world(seed, kernel, n=0)
    table = w.P.reshape(-1, w.S)
    squared = np.trace(np.linalg.solve(w.kernel(w.Z), table @ w.value_kernel(w.states) @ table.T))
    assert squared == pytest.approx(np.sum(w.Theta**2))  # tr(K_φ⁻¹PK_ψPᵀ) = ‖Θ_P‖²
    empty = confidence_set(w)
    assert empty.distance(w.P) ** 2 == pytest.approx(w.lam * squared, rel=1e-9)
    largest = np.linalg.svd(w.Theta, compute_uv=False)[0]
    assert empty.distance(w.P, "operator") ** 2 == pytest.approx(w.lam * largest**2, rel=1e-9)


def test_with_delta_kernels_the_norm_is_the_sum_of_squares():
    w = feature_world(1, StateAction(Delta(), Delta()), value_kernel=Delta(), n=0)
    assert confidence_set(w).distance(w.P) ** 2 == pytest.approx(w.lam * np.sum(w.P**2))


@pytest.mark.parametrize("seed", range(4))
def test_norms_of_values_are_those_of_the_least_interpolant(seed):
    rng = np.random.default_rng(seed)
    states, v = rng.random((6, 2)), rng.normal(size=6) + 2
    K = RBF(0.4)(states)

    def norm(c):
        return float(np.sqrt((v - c) @ np.linalg.solve(K, v - c)))

    norms = NormCalculator(RBF(0.4), states)(v)
    assert norms.norm == pytest.approx(norm(0.0), rel=1e-9)
    assert norms.centred == pytest.approx(minimize_scalar(norm).fun, rel=1e-7)


def test_the_end_of_an_episode_is_one_more_state_like_no_other():
    states, v = np.random.default_rng(0).random((4, 2)), np.array([1.0, 3.0, 2.0, 5.0])
    K = np.eye(5)
    K[:4, :4] = RBF(0.4)(states)

    def norm(c):
        u = np.append(v, 2.5) - c
        return float(np.sqrt(u @ np.linalg.solve(K, u)))

    norms = NormCalculator(RBF(0.4), states)(v, 2.5)
    assert norms.norm == pytest.approx(norm(0.0), rel=1e-9)
    assert norms.centred == pytest.approx(minimize_scalar(norm).fun, rel=1e-7)


def test_norms_of_values_under_a_delta_kernel():
    v = np.array([3.0, 1.0, 2.0, 2.0])
    norms = NormCalculator(Delta(), np.arange(4.0)[:, None])(v)
    assert norms == pytest.approx(ValueNorms(np.sqrt(18), np.sqrt(2)))
    assert NormCalculator(Delta(), np.arange(4.0)[:, None])(np.full(4, 5.0)).centred == pytest.approx(0, abs=1e-12)


# --- the error e_n -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_distance_is_the_weighted_norm_of_the_error(kernel, seed):
    w = feature_world(seed, kernel)
    error = (w.Theta - w.estimate) @ root(w.M)
    found = confidence_set(w)
    assert found.distance(w.P) == pytest.approx(np.linalg.norm(error), rel=1e-8)
    assert found.distance(w.P, "operator") == pytest.approx(np.linalg.norm(error, 2), rel=1e-8)
    assert found.distance(w.P, "operator") < found.distance(w.P)
    other = w.rng.dirichlet(np.ones(w.S), size=(w.S, len(ACTIONS)))  # no law is special
    Theta = np.linalg.solve(w.Phi, other.reshape(-1, w.S) @ w.Psi).T
    assert found.distance(other) == pytest.approx(np.linalg.norm((Theta - w.estimate) @ root(w.M)), rel=1e-8)


def test_distance_under_delta_kernels_counts():
    w = feature_world(5, StateAction(Delta(), Delta()), value_kernel=Delta())
    counts = np.zeros((w.S * len(ACTIONS), w.S))
    np.add.at(counts, (w.z, w.after), 1)
    N = counts.sum(axis=1, keepdims=True)
    squared = np.sum((N + w.lam) * (w.P.reshape(-1, w.S) - counts / (N + w.lam)) ** 2)
    assert confidence_set(w).distance(w.P) ** 2 == pytest.approx(squared)


def test_the_stand_alone_embedding_gives_the_same_set():
    w = feature_world(6, KERNELS[0])
    alone = ConditionalMeanEmbedding(w.kernel, lam=w.lam).update(w.Z[w.z], w.states[w.after])
    for norm in ("hs", "operator"):
        expected = confidence_set(w).distance(w.P, norm)
        assert confidence_set(w, embedding=alone).distance(w.P, norm) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_one_step_recursion_of_the_error(kernel):
    """e_n² − e_{n−1}² = [−u² + 2⟨ε, (Θ̂ − Θ_P)φ⟩ + w‖ε‖²]/(1+w), the step of the supermartingale."""
    w = feature_world(2, kernel, n=0)
    last = confidence_set(w).distance(w.P) ** 2
    M, S, sum_r = w.lam * np.eye(len(w.Z)), np.zeros_like(w.Theta), 0.0
    here = 0
    for _ in range(60):
        # Adaptive: the action that the estimate says leads to the largest state number.
        estimate = S @ np.linalg.inv(M)
        scores = [(estimate @ w.Phi[here * len(ACTIONS) + a])[-1] for a in range(len(ACTIONS))]
        i = here * len(ACTIONS) + int(np.argmax(scores))
        there = int(w.rng.choice(w.S, p=w.P.reshape(-1, w.S)[i]))
        phi = w.Phi[i]
        wide = phi @ np.linalg.solve(M, phi)  # w = σ²/λ
        assert w.embedding.std(w.Z[i : i + 1])[0] ** 2 / w.lam == pytest.approx(wide, rel=1e-8)
        noise = w.Psi[there] - w.Theta @ phi
        drift = (estimate - w.Theta) @ phi
        step = (-drift @ drift + 2 * noise @ drift + wide * noise @ noise) / (1 + wide)

        w.embedding.update(Transitions.of(w.Z[i : i + 1], w.states[there : there + 1]))
        M += np.outer(phi, phi)
        S += np.outer(w.Psi[there], phi)
        sum_r += wide / (1 + wide)
        now = confidence_set(w).distance(w.P) ** 2
        assert now - last == pytest.approx(step, abs=1e-9)
        assert w.embedding.sum_r == pytest.approx(sum_r, abs=1e-9)
        last, here = now, there


# --- what the closed form maximises ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_rank_one_maximiser_attains_the_bonus(kernel, seed):
    w = feature_world(seed, kernel)
    V = w.rng.random(w.S) * 3
    half = np.linalg.solve(w.Psi, V)  # V in features; ‖V‖ is its length
    norm_V = NormCalculator(w.value_kernel, w.states)(V).norm
    mode = Tight()
    setting = Problem(
        horizon=2,
        width=1.0,
        kernel=w.kernel,
        value_kernel=w.value_kernel,
        tabular=None,
        budget=FailureBudget(0.1, learned_reward=False),
        B_P=1.3,
        B_V=norm_V,
    )
    beta = mode.radius(setting, w.embedding, 1)
    i = int(w.rng.integers(len(w.Z)))
    phi = w.Phi[i]
    width = np.sqrt(phi @ np.linalg.solve(w.M, phi))
    best = w.estimate + beta * np.outer(half / norm_V, np.linalg.solve(w.M, phi) / width)

    found = confidence_set(w, beta)
    for norm in ("hs", "operator"):
        assert found.distance(as_table(w, best), norm) == pytest.approx(beta, rel=1e-7)
    mean = (w.embedding.weights(w.Z[i : i + 1]) @ V[_support_states(w)]).item()
    sigma = w.embedding.std(w.Z[i : i + 1])
    bonus = mode.bonus(setting, w.embedding, episode=1, step=0, norms=None).at(sigma).item()
    assert half @ best @ phi == pytest.approx(mean + bonus, rel=1e-8)

    # Nothing else in the set does better: a random direction of the same length is worth less.
    for _ in range(20):
        direction = w.rng.normal(size=best.shape)
        direction *= beta / np.linalg.norm(direction @ root(w.M))
        assert half @ (w.estimate + direction) @ phi < mean + bonus


def _support_states(w):
    """Index of the state behind every support point."""
    return np.array([np.argmin(np.abs(w.states - s).sum(axis=1)) for s in w.embedding.support])


# --- membership and bad input ------------------------------------------------------------------------------


def test_contains_compares_with_the_radius():
    w = feature_world(0, KERNELS[1])
    hs, operator = confidence_set(w).distance(w.P), confidence_set(w).distance(w.P, "operator")
    between = confidence_set(w, (hs + operator) / 2)
    assert between.contains(w.P, norm="operator")
    assert not between.contains(w.P, norm="hs")
    assert not between.contains(w.P)
    assert confidence_set(w, hs * (1 + 1e-12)).contains(w.P)


def test_bad_input_is_refused():
    w = feature_world(0, KERNELS[1])
    with pytest.raises(InputError, match="shape"):
        confidence_set(w).distance(w.P[:, :2])
    with pytest.raises(InputError, match="norm"):
        confidence_set(w).distance(w.P, "frobenius")
    w.embedding.update(Transitions.of(w.Z[:1], w.states[:1] + 10.0))
    with pytest.raises(InputError, match="next state"):
        confidence_set(w)


def test_a_state_action_outside_the_domain_is_refused():
    w = feature_world(0, KERNELS[1])
    w.embedding.update(Transitions.of(w.Z[:1] + np.array([10.0, 10.0, 0.0]), w.states[:1]))
    with pytest.raises(InputError):
        confidence_set(w)
