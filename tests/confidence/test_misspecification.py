"""Value functions that lie near the space, not in it: what the paper's form misses and the corrected one keeps."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from cmerl import CMERL
from cmerl.confidence import (
    BonusTerms,
    FailureBudget,
    NearNorms,
    NormCalculator,
    Paper,
    Problem,
    Split,
    Tight,
    as_mode,
    constant_norm,
)
from cmerl.embedding import ExactEmbedding
from cmerl.envs import FiniteMDP
from cmerl.errors import InputError, MissingConstantError
from cmerl.kernels import RBF, Constant, Delta, Linear, StateAction
from cmerl.oracles import solve
from cmerl.planning import Task, make_plan
from cmerl.transitions import Transitions

EPS = 1e-9


# --- an example by hand ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class WithTightRadius(Tight):
    """The bonus of Thm 3, (B_V + ζ‖1‖)·βσ/√λ with ‖1‖ = 1, and the tight radius."""

    def bonus(self, problem, data, *, episode, step, norms):
        return BonusTerms((problem.B_V + self.zeta) * self.radius(problem, data, episode) / math.sqrt(data.lam))


class Extrapolation:
    """Two steps, one action: 60 states in [0, 1] were visited, and the question is about the state 1.5.

    The space of values holds constants only, so there is no noise, and the truth lies in the confidence set for
    certain. Rewards are 0 or 2ζ, within ζ of the constant ζ, in the pattern that is worst for the weights.
    """

    zeta, lam, H = 0.1, 1.0, 2

    def __init__(self):
        visited = np.linspace(0.0, 1.0, 60)[:, None]
        self.query = np.array([[1.5]])
        states = np.vstack([visited, self.query])
        kernel = StateAction(RBF(1.0), Constant(1.0))
        self.embedding = ExactEmbedding(kernel, self.lam, np.zeros((1, 1)))
        poor, rich = [[10.0]], [[20.0]]  # next states, outside the domain of the question
        Z = np.hstack([visited, np.zeros((60, 1))])
        for _ in range(5):
            self.embedding.update(Transitions.of(Z, np.tile(poor, (60, 1))))
        self.alpha = self.embedding.weights(np.array([[1.5, 0.0]]))  # on the one support point: the sum
        K = RBF(1.0)(visited)
        alpha = np.linalg.solve(K + self.lam / 5 * np.eye(60), RBF(1.0)(visited, self.query))[:, 0]
        assert alpha.sum() == pytest.approx(self.alpha[0, 0], rel=1e-6)
        # The same again, with next states that are poor where the weight is positive and rich where it is negative.
        self.embedding = ExactEmbedding(kernel, self.lam, np.zeros((1, 1)))
        after = np.where(alpha[:, None] > 0, poor, rich)
        for _ in range(5):
            self.embedding.update(Transitions.of(Z, after))
        gram = RBF(1.0)(states)
        self.B_P = math.sqrt(np.ones(61) @ np.linalg.lstsq(gram, np.ones(61), rcond=1e-13)[0]) + 0.05
        self.optimum = 0.0 + 2 * self.zeta  # nothing now, and then a rich state

    def reward(self, states):
        return np.where(states[:, :1] == 20.0, 2 * self.zeta, 0.0)

    def q(self, mode):
        problem = Problem(
            horizon=self.H,
            width=1.0,
            kernel=self.embedding.kernel,
            value_kernel=Constant(1.0),
            tabular=None,
            budget=FailureBudget(0.1, learned_reward=False),
            B_P=self.B_P,
            B_V=self.zeta,  # the norm of the constant ζ
        )
        task = Task(problem, mode, r_min=0.0, known_reward=self.reward)
        plan = make_plan([self.embedding], task, episode=2, order=np.array([0]))
        return float(plan.q(self.query, 0)[0, 0]), float(self.embedding.weight_norm1(np.array([[1.5, 0.0]]))[0])


def test_the_form_of_theorem_3_fails_with_the_tight_radius_and_the_corrected_one_does_not():
    world = Extrapolation()
    slack = 2 * (world.H - 1) * world.zeta
    printed, norm1 = world.q(WithTightRadius(zeta=world.zeta))
    assert world.optimum > printed + slack + 0.01  # Q* ≤ Q + 2(H − h)ζ is false here
    corrected, _ = world.q(Tight(zeta=world.zeta))
    assert world.optimum <= corrected
    without, _ = world.q(Tight())
    assert world.optimum > without
    # The step that fails: ‖α‖₁ is not ⟨μ̂, 1⟩, the sum of the weights, nor bounded by 1 + ‖1‖βσ.
    assert norm1 > world.alpha[0, 0] + 0.5
    sigma = float(world.embedding.std(np.array([[1.5, 0.0]]))[0])
    assert norm1 > 1 + world.B_P * sigma


def test_the_papers_own_radius_is_too_large_to_fail_there():
    world = Extrapolation()
    printed, _ = world.q(Paper(zeta=world.zeta))
    assert world.optimum <= printed + 2 * world.zeta


# --- worlds built on purpose ---------------------------------------------------------------------------------


def pairs_world(seed, zeta, H=4):
    """Six states in three pairs; a pair shares its transitions, and rewards differ by 2ζ within it.

    Kernels see the pair alone. So every V differs by at most 2ζ within a pair and lies within ζ of the space.
    """
    rng = np.random.default_rng(seed)
    where = rng.random((3, 1)) * 2
    P = np.repeat(rng.dirichlet(np.full(6, 0.5), size=(3, 2)), 2, axis=0)
    R = np.repeat(rng.uniform(zeta, 1 - zeta, size=(3, 2)), 2, axis=0) + zeta * np.tile([[1.0], [-1.0]], (3, 2))
    coordinates = np.hstack([np.repeat(where, 2, axis=0), np.tile([[0.0], [1.0]], (3, 1))])
    return FiniteMDP(P, R, horizon=H, coordinates=coordinates), where


def optimism_of(seed, bonus, zeta, episodes=25):
    """min (Q − Q*) over all episodes, steps, states and actions."""
    H, lam = 4, 0.05
    env, _ = pairs_world(seed, zeta, H)
    kernel, value_kernel = StateAction(RBF((0.7, 1e7)), Delta()), RBF((0.7, 1e7))
    rows = env.observations
    first = rows[::2]  # one of each pair
    K_psi = value_kernel(rows)
    Z = np.array([[*s, a] for s in first for a in (0.0, 1.0)])
    P = env.P[::2].reshape(-1, 6)
    B_P = math.sqrt(np.trace(np.linalg.solve(kernel(Z), P @ K_psi @ P.T)))
    B_V = (H - 1) * math.sqrt(3 / np.linalg.eigvalsh(value_kernel(first))[0])
    agent = CMERL(
        env,
        seed=seed,
        lam=lam,
        bonus=bonus,
        kernel=kernel,
        value_kernel=value_kernel,
        B_P=B_P,
        B_V=B_V,
        states=rows,
        reward=lambda obs, a: env.R[env_index(env, obs), a],
        reward_range=(0, 1),
    )
    best, worst = solve(env, H).Q, np.inf
    for _ in range(episodes):
        agent.learn(1)
        q = np.array([[agent.q_values(obs, h) for obs in rows] for h in range(H)])
        worst = min(worst, float((q - best).min()))
    return worst


def env_index(env, obs):
    return int(np.argmin(np.abs(env.observations - obs).sum(axis=1)))


@pytest.mark.parametrize("bonus", [Tight(zeta=0.2), Split(zeta=0.2)])
@pytest.mark.parametrize("seed", range(3))
def test_optimism_holds_where_values_lie_outside_the_space_by_a_known_amount(seed, bonus):
    assert optimism_of(seed, bonus, 0.2) >= -EPS


def test_optimism_fails_where_neither_radius_nor_misspecification_is_believed():
    @dataclass(frozen=True, kw_only=True)
    class Believer(Tight):
        def bonus(self, problem, data, *, episode, step, norms):
            return BonusTerms()

    assert min(optimism_of(seed, Believer(), 0.2) for seed in range(3)) < -0.1


# --- smooth functions near V -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_norms_near_a_function_are_those_of_one_that_is_near(seed):
    rng = np.random.default_rng(seed)
    states, v = rng.random((7, 2)), rng.random(7) * 3
    K = RBF(0.5)(states)
    exact = NormCalculator(RBF(0.5), states)(v)
    last = exact.norm
    for zeta in (1e-6, 0.05, 0.3, 1.0):
        near = NearNorms(RBF(0.5), states, zeta)(v)
        assert near.norm <= last * (1 + 1e-6)
        assert near.centred <= near.norm
        # No function within ζ is needed smaller than the best of all of them: a lower bound by convex duality.
        u = np.linalg.solve(K, v)
        u /= np.abs(u).sum()
        dual = (u @ v - zeta) / math.sqrt(u @ K @ u)  # ⟨u, f⟩ ≥ uᵀv − ζ‖u‖₁ for every f within ζ of v
        assert near.norm >= dual - 1e-9
        last = near.norm
    assert NearNorms(RBF(0.5), states, 1e-9)(v).norm == pytest.approx(exact.norm, rel=1e-3)
    assert NearNorms(RBF(0.5), states, 4.0)(v).norm == pytest.approx(0.0, abs=1e-3)  # the zero function is near


def test_where_no_function_is_near_the_norm_is_infinite():
    states = np.array([[0.0], [1.0], [2.0]])
    v = np.array([0.0, 1.0, 0.0])  # at best ½ from a line through the origin
    assert NearNorms(Linear(), states, 0.1)(v).norm == math.inf
    assert NearNorms(Linear(), states, 0.9)(v).norm < math.inf


# --- options ---------------------------------------------------------------------------------------------------


def test_misspecification_is_an_option_of_the_modes_that_know_it():
    assert as_mode("tight", zeta=0.3) == Tight(zeta=0.3)
    assert as_mode(Paper(general=True), zeta=0.3) == Paper(general=True, zeta=0.3)
    with pytest.raises(InputError, match="'nonnegative' does not support misspecification"):
        as_mode("nonnegative", zeta=0.3)
    with pytest.raises(InputError, match="zeta must be a number of at least 0"):
        Tight(zeta=-1.0)


def test_the_norm_of_the_constant_is_read_off_the_kernel_or_asked_for():
    assert constant_norm(RBF(1.0) + Constant(4.0), None) == pytest.approx(0.5)
    assert constant_norm(4.0 * Constant(1.0), None) == pytest.approx(0.5)
    assert constant_norm(Delta(), 9) == pytest.approx(3.0)
    assert constant_norm(RBF(1.0), 9) is None
    options = {"horizon": 3, "width": 1.0, "kernel": RBF(1.0), "value_kernel": RBF(1.0), "tabular": None}
    problem = Problem(**options, budget=FailureBudget(0.1, learned_reward=False), B_P=1.0, B_V=2.0)
    with pytest.raises(MissingConstantError, match="one_norm"):
        Paper(zeta=0.1).check(problem)
    Paper(zeta=0.1, one_norm=1.0).check(problem)


def test_the_papers_bonus_adds_zeta_times_the_norm_of_the_constant_to_B_V():
    data = ExactEmbedding(RBF(1.0), 0.5, np.zeros((1, 1)))
    options = {"horizon": 3, "width": 1.0, "kernel": RBF(1.0), "value_kernel": RBF(1.0), "tabular": None}
    problem = Problem(**options, budget=FailureBudget(0.1, learned_reward=False), B_P=1.0, B_V=2.0)
    plain = Paper().bonus(problem, data, episode=1, step=0, norms=None).linear
    more = Paper(zeta=0.1, one_norm=3.0).bonus(problem, data, episode=1, step=0, norms=None).linear
    assert more == pytest.approx(plain * (2.0 + 0.3) / 2.0)


def test_an_agent_with_theorem_3_claims_no_bounds_on_values():
    env, _ = pairs_world(0, 0.1)
    agent = CMERL(
        env,
        kernel=RBF(1.0),
        value_kernel=0.5 * RBF(1.0) + 0.5,
        bonus="paper",
        misspecification=0.1,
        B_P=1.0,
        B_V=1.0,
        B_R=1.0,
    )
    with pytest.raises(InputError, match="Thm 3"):
        agent.value_bounds(env.observations[0])
