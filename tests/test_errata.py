"""Where the paper is wrong, silent or unusable: one test for each item of docs/method/errata.md."""

import math

import gymnasium
import numpy as np
import pytest
from theory_constants import riverswim

import cmerl
from cmerl.confidence import (
    ConfidenceSet,
    FailureBudget,
    Paper,
    Practical,
    Problem,
    Tight,
    paper_radius,
    tight_radius,
)
from cmerl.embedding import ConditionalMeanEmbedding, ExactEmbedding
from cmerl.kernels import RBF, Constant, Delta, Linear, Periodic, StateAction
from cmerl.planning import Site, Task, make_plan
from cmerl.theory import pac_episodes, paper_pac_episodes, regret_bound
from cmerl.transitions import Transitions

SQRT2 = math.sqrt(2.0)


def riverswim_agent(**options):
    """CME-RL on RiverSwim with its reward known."""
    env = gymnasium.make("cmerl/RiverSwim-v0")
    return cmerl.CMERL(env, reward=lambda s, a: env.unwrapped.R[s, a], **options)


def problem(kernel, value_kernel, horizon, **constants):
    return Problem(
        horizon=horizon,
        width=1.0,
        kernel=kernel,
        value_kernel=value_kernel,
        tabular=None,
        budget=FailureBudget(0.1, learned_reward=False),
        **constants,
    )


def rkhs_norm(kernel, X, v):
    """Norm of the smallest function of the kernel's space that takes the values v on X."""
    return math.sqrt(v @ np.linalg.solve(kernel(X), v))


def operator_norm_hs(K_phi, K_psi, P):
    """‖Θ_P‖_HS on a finite domain, P (z, s')."""
    return math.sqrt(np.trace(np.linalg.solve(K_phi, P @ K_psi @ P.T)))


# --- 1 ---


def test_item_01_the_misspecified_bonus_lacks_a_root_of_the_ridge():
    lam = 1e-6
    agent = riverswim_agent(bonus="paper", lam=lam)
    H, env = agent.horizon, agent.env.unwrapped
    best = cmerl.oracles.solve(env, H)
    # Before any data Θ̂ = 0, and the truth lies in the confidence set by the choice of B_P alone.
    assert agent.confidence_set().contains(env.P)
    proof = np.array([agent.q_values(s) for s in range(6)])
    assert np.all(proof >= best.Q[0])
    # The printed display multiplies βσ by (B_V + ζ‖1‖) and by nothing else.
    printed = env.R + (proof - env.R) * math.sqrt(lam)
    assert np.all(printed < best.Q[0])


# --- 2 ---


def test_item_02_theorem_1_assumes_kernels_below_one():
    env, lam, rng = cmerl.envs.RiverSwim(), 1e-3, np.random.default_rng(0)
    rows = [(s, a, rng.choice(6, p=env.P[s, a])) for s in range(6) for a in range(2) for _ in range(20)]
    data = np.array(rows, dtype=float)
    E = ConditionalMeanEmbedding(StateAction(Delta(), Delta()), lam=lam).update(data[:, :2], data[:, 2:])

    def contained(scale, B_psi):
        B_P = math.sqrt(scale * np.sum(env.P**2))  # exact for this kernel
        n, G = E.n, E.information_gain
        radius = paper_radius(G, lam=lam, B_P=B_P, episode=n + 1, horizon=1, delta=0.1, B_psi=B_psi)
        states, actions = np.arange(6.0)[:, None], np.arange(2.0)[:, None]
        C = ConfidenceSet(E, radius, value_kernel=scale * Delta(), states=states, actions=actions)
        return C.contains(env.P)

    assert contained(1.0, B_psi=1.0)
    assert not contained(1e9, B_psi=1.0)  # the same data in other units: the error grew, the printed radius did not
    assert contained(1e9, B_psi=math.sqrt(1e9))


def test_item_02_the_sum_of_variances_needs_the_bound_of_the_kernel():
    # One observation where k_φ = 100 and λ = 1: w = 100.
    w, G = 100.0, 0.5 * math.log(101.0)
    assert w > 2 * (1 + 1.0) * G  # the proof's Σw ≤ 2(1 + 1/λ)G
    assert w <= 2 * (1 + 100.0) * G


# --- 3: the gap in the proof cannot be computed; what replaces it can ---


def test_item_03_the_bound_without_the_gap_is_forty_times_smaller():
    X = np.random.default_rng(0).random((1000, 2))
    E = ConditionalMeanEmbedding(RBF(0.5), lam=1.0).update(X, X)
    paper = paper_radius(E.information_gain, lam=1.0, B_P=1.0, episode=101, horizon=10, delta=0.1)
    tight = tight_radius(E.sum_r, lam=1.0, B_P=1.0, D=SQRT2, delta=0.1)
    assert paper > 40 * tight


# --- 4 and 6: two observations at 0 and 1, a question at 2 ---


def two_points():
    """Both observed states stay where they are; one action."""
    E = ExactEmbedding(StateAction(RBF(1.0), Delta()), 1.0, np.zeros((1, 1)))
    E.update(Transitions.of([[0.0, 0.0], [1.0, 0.0]], [[0.0], [1.0]]))
    return E


def test_item_04_values_clipped_only_from_above_leave_their_range():
    E = two_points()
    constants = {"B_P": 1.0, "B_V": 1e-9}  # a small η: the class of value functions allows every η > 0
    values = {}
    for mode in (Paper(), Tight()):
        task = Task(
            problem(E.kernel, RBF(1.0), horizon=2, **constants),
            mode,
            r_min=0.0,
            known_reward=lambda s: (s == 0.0).astype(float),  # only state 0 pays
        )
        plan = make_plan([E], task, episode=2, order=np.array([0]))
        values[mode.name] = plan.value(np.array([[2.0]]), 0)[0]
    assert values["paper"] == pytest.approx(-0.0268, abs=1e-4)
    assert values["tight"] == 0.0


def test_item_04_no_norm_bounds_the_whole_class_of_values():
    # μ = −cφ(z): the value at z is −c or so, and a norm is at least |V(z)|/B_ψ.
    X = np.linspace(0.0, 1.0, 5)[:, None]
    k = RBF(0.3)
    for c in (1e2, 1e4, 1e6):
        V = np.minimum(1.0, -c * k(X, X[:1])[:, 0])
        assert rkhs_norm(k, X, V) >= 0.99 * c
        assert rkhs_norm(k, X, np.clip(V, 0.0, 1.0)) == 0.0


def test_item_04_paper_values_exceed_what_can_be_left():
    agents = {bonus: riverswim_agent(bonus=bonus) for bonus in ("paper", "tight")}
    last = 19  # one step to go, so at most 1 can be earned
    values = {bonus: agent.policy().plan.value(agent.states.encode(0), last)[0] for bonus, agent in agents.items()}
    assert values["paper"] == 20.0
    assert values["tight"] <= 1.0


# --- 5 ---


def test_item_05_the_last_step_needs_no_bonus():
    # With one step and a known reward nothing is unknown, yet Alg. 1 adds a bonus.
    for bonus in ("paper", "tight", "split", "nonnegative"):
        agent = riverswim_agent(bonus=bonus, horizon=1)
        R = agent.env.unwrapped.R[0]
        if bonus == "paper":
            assert np.all(agent.q_values(0) > R + 1.0)
        else:
            np.testing.assert_array_equal(agent.q_values(0), R)


# --- 6 ---


def test_item_06_weights_of_a_stationary_kernel_can_be_negative():
    alpha = two_points().transition_weights(np.array([[2.0, 0.0]]))[0]
    np.testing.assert_allclose(alpha, [-0.0268, 0.3114], atol=5e-5)
    # So ‖α‖₁ is not ⟨μ̂, 1⟩, which is the plain sum.
    assert np.abs(alpha).sum() > alpha.sum() + 0.05


def test_item_06_the_bound_on_the_weights_fails_with_the_smaller_radius():
    X, query = np.linspace(0.0, 1.0, 300)[:, None], [[1.5]]
    E = ConditionalMeanEmbedding(RBF(1.0), lam=1.0).update(X, X)
    sigma, weights = E.std(query)[0], E.weights(query)[0]
    norm = np.abs(weights).sum()
    one_norm, zeta = 1.0, 0.1  # k_ψ + 1 holds the constant 1 with norm at most 1
    paper = paper_radius(E.information_gain, lam=1.0, B_P=1.0, episode=301, horizon=1, delta=0.1)
    tight = tight_radius(E.sum_r, lam=1.0, B_P=1.0, D=SQRT2, delta=0.1)
    assert norm < 1 + one_norm * paper * sigma  # the display of the proof, saved by its large radius
    assert norm > 1 + one_norm * tight * sigma
    # A value within ζ of 0 that is worst for these weights: its expectation ζ is missed by more than the bonus
    # and the 2ζ a step that the proof of Thm 3 allows, but not by more than ζ(1 + ‖α‖₁).
    error = zeta - weights @ (-zeta * np.sign(weights))
    assert error > zeta * one_norm * tight * sigma + 2 * zeta
    assert error <= zeta * (1 + norm) + 1e-12


def test_item_06_weights_of_a_delta_kernel_are_not_negative():
    rng = np.random.default_rng(1)
    Z = rng.integers(3, size=(30, 2)).astype(float)
    E = ConditionalMeanEmbedding(StateAction(Delta(), Delta()), lam=0.5).update(Z, Z[:, :1])
    assert np.all(E.weights(Z) >= 0.0)


# --- 7 ---


def test_item_07_features_alone_do_not_make_the_cost_independent_of_n(monkeypatch):
    H, A, m = 5, 2, 2  # a linear kernel on (state, action): two features, however much data
    evaluated = []
    original = Site.q
    monkeypatch.setattr(Site, "q", lambda self, stage: evaluated.append(q := original(self, stage)) or q)

    def values_needed(n):
        rng = np.random.default_rng(n)
        E = ExactEmbedding(Linear(), 1.0, np.array([[0.0], [1.0]]))
        E.update(Transitions.of(rng.random((n, 2)), rng.random((n, 1))))
        evaluated.clear()
        task = Task(problem(E.kernel, RBF(1.0), horizon=H), Practical(), r_min=0.0)
        make_plan([E], task, episode=1, order=np.arange(A))
        return sum(q.size for q in evaluated)

    # One number of Q for each next state, action and step but one; each costs m multiplications.
    assert [values_needed(n) for n in (50, 100, 200)] == [(H - 1) * n * A for n in (50, 100, 200)]
    assert m * values_needed(50) > m**2 * H  # already more than the claimed total


# --- 8 ---


def test_item_08_the_determinant_of_the_variance_lemma():
    rng, lam, d = np.random.default_rng(0), 0.5, 3
    Phi = rng.normal(size=(20, d))
    M = Phi.T @ Phi + lam * np.eye(d)

    def log_det(A):
        return np.linalg.slogdet(A)[1]

    K = Phi @ Phi.T
    assert log_det(M / lam) == pytest.approx(log_det(np.eye(20) + K / lam))  # Sylvester
    # The printed I + M/λ counts the identity twice; with no data it is d log 2, infinite for an RBF kernel.
    assert log_det(np.eye(d) + M / lam) > log_det(M / lam)
    assert log_det(np.eye(d) + np.eye(d)) == pytest.approx(d * math.log(2))


def test_item_08_the_power_of_the_ridge_in_the_bound_on_y():
    lam = 4.0
    phi, M = np.array([1.0, 0.0]), lam * np.eye(2)
    sigma = math.sqrt(lam * phi @ np.linalg.solve(M, phi))
    norm = math.sqrt(phi @ np.linalg.solve(M, phi))  # ‖M^{-1/2}φ‖
    assert norm == pytest.approx(sigma / math.sqrt(lam))
    assert norm > sigma / lam  # so the printed inequality fails for λ > 1


@pytest.mark.parametrize("kernel", [Constant(1.0), Periodic(1.0, 1.0)])
def test_item_08_not_every_stationary_kernel_is_characteristic(kernel):
    # Both are functions of x − y, and neither tells a mass at 0 from a mass at 1.
    X = np.array([[0.0], [1.0]])
    difference = np.array([1.0, -1.0])
    assert difference @ kernel(X) @ difference == pytest.approx(0.0, abs=1e-12)
    assert difference @ RBF(1.0)(X) @ difference > 0.5


# --- 9 ---


def test_item_09_the_papers_count_of_episodes_is_too_small():
    case, epsilon, p = riverswim(), 1.0, 0.5
    T = pac_episodes(epsilon=epsilon, failure=p, **case)
    d_eff = case["gamma"](T * 20).upper  # a bound on γ_N for every N up to the larger count
    paper = paper_pac_episodes(epsilon=epsilon, horizon=20, d_eff=d_eff)
    assert regret_bound(episodes=paper, **case) / (p * paper) > 1000 * epsilon
    assert 1000 * paper < T
    # Nor does it know about B_V, or leave room for the martingale of an easy problem.
    easy = {**case, "B_V": 1e-9, "gamma": 1e-3}
    small = paper_pac_episodes(epsilon=epsilon, horizon=20, d_eff=1e-3)
    assert regret_bound(episodes=small, **easy) / (p * small) > epsilon


def test_item_09_misspecification_leaves_an_error_that_no_data_remove():
    case = {**riverswim(), "zeta": 0.01, "one_norm": 1.0}
    assert pac_episodes(epsilon=1.5, failure=0.5, **case) == math.inf  # 4ζH/p = 1.6
    assert pac_episodes(epsilon=1.7, failure=0.5, **case) < math.inf


# --- 10 ---


@pytest.mark.parametrize(("dimension", "lengthscale"), [(2, 0.5), (2, 0.3), (2, 0.2), (3, 0.5), (3, 0.3), (3, 0.2)])
def test_item_10_the_papers_bonus_exceeds_every_value_after_a_thousand_steps(dimension, lengthscale):
    H, n = 10, 1000
    X = np.random.default_rng(0).random((n, dimension))
    E = ConditionalMeanEmbedding(RBF(lengthscale), lam=1.0).update(X, X)
    beta = paper_radius(E.information_gain, lam=1.0, B_P=1.0, episode=n // H + 1, horizon=H, delta=0.1)
    assert 340 < beta < 870
    B_V = H  # where k_ψ ≤ 1, a value function that reaches H somewhere has at least this norm
    assert 1 / 870 < H / (B_V * beta) < 0.003  # σ below which the bonus falls under H
    assert np.all(B_V * beta * E.std(X) > H)  # even at the data: every action looks perfect


# --- 11 ---


def test_item_11_deterministic_dynamics_have_no_finite_hilbert_schmidt_norm():
    still, smooth = [], []
    for S in (5, 10, 20):
        X = np.linspace(0.0, 1.0, S)[:, None]
        K = RBF(0.1)(X)
        still.append(operator_norm_hs(K, K, np.eye(S)) ** 2)  # s' = s
        P = RBF(0.3)(X)
        smooth.append(operator_norm_hs(K, K, P / P.sum(axis=1, keepdims=True)) ** 2)
    np.testing.assert_allclose(still, [5, 10, 20], rtol=1e-6)  # the number of states
    assert max(smooth) < 2.0  # wide noise: bounded, however fine the grid


# --- 12 ---


def test_item_12_a_kink_has_no_finite_norm_in_the_space_of_an_rbf_kernel():
    k, kink, smooth = RBF(0.2), [], []
    for m in (5, 9, 17):
        X = np.linspace(0.0, 1.0, m)[:, None]
        kink.append(rkhs_norm(k, X, np.minimum(1.0, 2.0 * X[:, 0])))  # a value clipped at 1
        bumps = k(X, np.array([[0.2], [0.45], [0.7]]))
        smooth.append(rkhs_norm(k, X, bumps @ np.array([1.0, -1.0, 0.5])))
    assert kink[1] > 1.4 * kink[0]
    assert kink[2] > 1000 * kink[1]
    assert smooth[2] < 1.01 * smooth[1]
    # On finitely many states every function has a norm; with a delta kernel it is at most H√S.
    X = np.arange(17.0)[:, None]
    assert rkhs_norm(Delta(), X, np.minimum(1.0, X[:, 0])) <= math.sqrt(17)


# --- 13 ---


def test_item_13_the_order_of_the_bound_has_B_V_and_a_root_of_H():
    N, gamma = 10**8, 50.0

    def main_term(H, B_V):
        rest = 2 * H * math.sqrt(2 * N * math.log(20))
        bound = regret_bound(episodes=N // H, horizon=H, gamma=gamma, lam=1.0, B_V=B_V, B_P=1.0, delta=0.1)
        return bound - rest

    # Same N and γ, twice the horizon: the advertised Hγ√N doubles.
    assert main_term(2000, 1.0) / main_term(1000, 1.0) == pytest.approx(2**0.5, rel=1e-3)
    assert main_term(2000, math.sqrt(2000)) / main_term(1000, math.sqrt(1000)) == pytest.approx(2.0, rel=1e-3)
    # The constant that always holds for delta kernels is B_V = H√S.
    assert main_term(2000, 2000.0) / main_term(1000, 1000.0) == pytest.approx(2**1.5, rel=1e-3)
