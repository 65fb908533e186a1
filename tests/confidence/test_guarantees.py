"""What the proofs promise, tried out: coverage, optimism, value bounds and regret under adaptive data."""

from dataclasses import dataclass, field

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.confidence import BonusTerms, ConfidenceSet, NonNegative, Split, Tight, tight_radius
from cmerl.embedding import ExactEmbedding
from cmerl.envs import FiniteMDP, RiverSwim, random_mdp
from cmerl.kernels import RBF, Delta, StateAction
from cmerl.oracles import evaluate, solve
from cmerl.transitions import Transitions

EPS = 1e-9


def all_q(agent, env, horizon):
    """Q of the plan at every step, state and action (H, S, A)."""
    return np.array([[agent.q_values(obs, h) for obs in env.unwrapped.observations] for h in range(horizon)])


def known_reward(env):
    """R(obs, a) of a finite world, by its observation."""
    index = {np.asarray(obs, dtype=float).tobytes(): s for s, obs in enumerate(env.observations)}
    return lambda obs, a: env.R[index[np.asarray(obs, dtype=float).tobytes()], a]


# --- coverage ----------------------------------------------------------------------------------------------


def excess(seed, deltas, steps=60):
    """max_n e_n/β_n for each δ along one adaptive trajectory, e_n from explicit features.

    Whoever chooses the data is mean: always the state-action with the largest error so far.
    """
    rng = np.random.default_rng(seed)
    S, A, lam = 3, 2, 0.1
    states, actions = rng.random((S, 1)) * 2, np.array([[0.0], [1.0]])
    P = rng.dirichlet(np.full(S, 0.5), size=(S, A)).reshape(-1, S)
    kernel, value_kernel = StateAction(RBF(0.7), RBF(0.7)), RBF(0.5)
    Z = np.array([[*s, *a] for s in states for a in actions])
    Phi, Psi = np.linalg.cholesky(kernel(Z)), np.linalg.cholesky(value_kernel(states))
    Theta = np.linalg.solve(Phi, P @ Psi).T
    B_P, D = np.linalg.norm(Theta), value_kernel.diameter
    M, C, sum_r = lam * np.eye(S * A), np.zeros_like(Theta), 0.0
    visits, worst = [], np.zeros(len(deltas))
    for _ in range(steps):
        error = C @ np.linalg.inv(M) - Theta
        squared = np.sum((error @ M) * error)
        radii = [tight_radius(sum_r, lam=lam, B_P=B_P, D=D, delta=delta) for delta in deltas]
        worst = np.maximum(worst, np.sqrt(squared) / radii)
        i = int(np.argmax(np.sum((error @ Phi.T) ** 2, axis=0)))
        visits.append((i, rng.choice(S, p=P[i])))
        w = Phi[i] @ np.linalg.solve(M, Phi[i])
        sum_r += w / (1 + w)
        M += np.outer(Phi[i], Phi[i])
        C += np.outer(Psi[visits[-1][1]], Phi[i])
    z, after = np.array(visits).T
    embedding = ExactEmbedding(kernel, lam, actions)
    embedding.update(Transitions.of(Z[z], states[after]))
    assert embedding.sum_r == pytest.approx(sum_r, rel=1e-8)
    return worst


def test_the_tight_radius_covers_the_error_at_all_times():
    worst = np.array([excess(seed, (0.5, 0.1)) for seed in range(200)])
    failures = (worst > 1).mean(axis=0)
    assert failures[0] <= 0.5
    assert failures[1] <= 0.1
    assert (worst > 0.2).mean(axis=0).min() > 0.9  # a fifth of the radius would fail nearly always


# --- optimism ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Exactly(Tight):
    """A radius that only an oracle can know: the error itself, in operator norm, times ``scale``."""

    env: FiniteMDP = field(compare=False)
    rows: np.ndarray = field(compare=False)
    scale: float = 1.0

    def radius(self, problem, data, episode):
        actions = np.arange(self.env.R.shape[1], dtype=float)[:, None]
        found = ConfidenceSet(data, 1.0, value_kernel=problem.value_kernel, states=self.rows, actions=actions)
        return self.scale * found.distance(self.env.P, "operator")


def worst_optimism(seed, scale, *, smooth, episodes=15):
    """min over episodes of min(Q^t − Q*), for an agent that plays with a radius of scale·e_n."""
    H, S, A = 4, 4, 2
    rng = np.random.default_rng(100 + seed)
    coordinates = np.vstack([np.zeros(2), np.ones(2), rng.random((S - 2, 2))]) if smooth else None
    P = rng.dirichlet(np.full(S, 0.4), size=(S, A))
    env = FiniteMDP(P, rng.random((S, A)), horizon=H, coordinates=coordinates)
    options = {
        "bonus": Exactly(env=env, rows=np.arange(S)[:, None] if coordinates is None else coordinates, scale=scale)
    }
    if smooth:
        K = RBF(0.5)(coordinates)
        # ‖V‖² = VᵀK⁻¹V ≤ ‖V‖₂²/λ_min for every V in [0, H−1]^S
        options |= {
            "kernel": StateAction(RBF(0.5), Delta()),
            "value_kernel": RBF(0.5),
            "B_P": 1.0,
            "B_V": (H - 1) * np.sqrt(S / np.linalg.eigvalsh(K)[0]),
            "states": coordinates,
        }
    agent = CMERL(env, seed=seed, lam=0.05, reward=known_reward(env), reward_range=(0, 1), **options)
    best = solve(env, H).Q
    worst = np.inf
    for _ in range(episodes):
        agent.learn(1)
        worst = min(worst, np.min(all_q(agent, env, H) - best))
    return worst


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_membership_implies_optimism_everywhere(seed, smooth):
    assert worst_optimism(seed, 1.0, smooth=smooth) >= -EPS


@pytest.mark.parametrize("smooth", [False, True])
def test_a_tiny_radius_breaks_optimism(smooth):
    assert min(worst_optimism(seed, 1e-3, smooth=smooth) for seed in range(4)) < -0.05


@dataclass(frozen=True, kw_only=True)
class Shrunk(NonNegative):
    """A fraction of a mode's bonus."""

    scale: float = 0.01

    def bonus(self, problem, data, *, episode, step, norms):
        whole = super().bonus(problem, data, episode=episode, step=step, norms=norms)
        return BonusTerms(self.scale * whole.linear, self.scale * whole.quadratic)


def violations(seed, bonus, *, reward, lam, episodes=60, every=15, homogeneous=True):
    """(failures of optimism, failures of the lower bound) of a run on a random MDP with delta kernels."""
    H, env = 5, random_mdp(4, 2, seed=seed, concentration=0.5, horizon=5)
    agent = CMERL(
        env,
        seed=seed,
        lam=lam,
        bonus=bonus,
        reward=known_reward(env) if reward == "known" else "learned",
        reward_range=(0, 1),
        time_homogeneous=homogeneous,
    )
    best = solve(env, H)
    above = below = 0
    for _ in range(episodes // every):
        agent.learn(every)
        above += int(np.any(all_q(agent, env, H) < best.Q - EPS))
        bounds = np.array([[agent.value_bounds(s, h) for s in range(4)] for h in (0, 2, H - 1)])
        below += int(np.any(bounds[..., 0] > best.V[[0, 2, H - 1]] + EPS))
        assert np.all(bounds[..., 1] >= bounds[..., 0])
    return above, below


@pytest.mark.parametrize(("reward", "lam"), [("known", 1.0), ("known", 0.05), ("learned", 0.2)])
@pytest.mark.parametrize("bonus", ["tight", "split", "nonnegative"])
def test_provable_modes_stay_optimistic_and_their_lower_bounds_hold(bonus, reward, lam):
    for seed in range(2):
        assert violations(seed, bonus, reward=reward, lam=lam, episodes=45) == (0, 0)


@pytest.mark.parametrize("bonus", ["tight", "split", "nonnegative"])
def test_so_does_a_law_for_each_step(bonus):
    assert violations(0, bonus, reward="learned", lam=0.2, episodes=30, homogeneous=False) == (0, 0)


def test_a_hundredth_of_the_bonus_is_not_optimistic():
    found = np.array([violations(seed, Shrunk(), reward="known", lam=0.05) for seed in range(2)])
    assert found[:, 0].sum() > 0
    assert found[:, 1].sum() > 0


class Coin(gymnasium.Env):
    """One state that pays 1 a step and ends with probability ½ after each."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Discrete(1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, 1.0, bool(self.np_random.random() < 0.5), False, {}


@pytest.mark.parametrize("bonus", ["tight", "split", "nonnegative"])
def test_value_bounds_hold_where_episodes_end_at_random(bonus):
    H, best = 6, sum(0.5**h for h in range(6))
    failed = 0
    for seed in range(20):
        agent = CMERL(
            Coin(), horizon=H, seed=seed, lam=0.01, bonus=bonus, reward=lambda s, a: 1.0, reward_range=(0, 1)
        )
        for _ in range(8):
            lower, upper = agent.learn(1).value_bounds(0)
            if not lower - EPS <= best <= upper + EPS:
                failed += 1
                break
    assert failed <= 0.1 * 20


@pytest.mark.parametrize("pay", [1.5, -1.5])
def test_value_bounds_hold_before_the_first_ending(pay):
    class Once(Coin):
        def step(self, action):
            return 0, pay, True, False, {}

    agent = CMERL(
        Once(), horizon=6, bonus="nonnegative", reward=lambda s, a: pay, reward_range=(pay - 0.5, pay + 0.5)
    )
    lower, upper = agent.value_bounds(0)
    assert lower <= pay <= upper


# --- regret ------------------------------------------------------------------------------------------------


class Recorder(gymnasium.Wrapper):
    """Remembers the state-actions of the running episode."""

    def reset(self, **options):
        self.state, info = self.env.reset(**options)
        self.visited = []
        return self.state, info

    def step(self, action):
        self.visited.append((self.state, action))
        self.state, *rest = self.env.step(action)
        return self.state, *rest


def bonus_table(plan, S, H):
    """min{H − h + 1, 2·bonus} at every step, state and action (H, S, A)."""
    states = np.arange(S, dtype=float)[:, None]
    return np.array([np.minimum(H - h, 2 * plan.bonus(states, h)) for h in range(H)])


@pytest.mark.parametrize("bonus", [Tight(), Split(), NonNegative()])
def test_regret_is_at_most_the_realised_bonuses(bonus):
    S, H, T, delta = 5, 10, 40, 0.1
    env = Recorder(RiverSwim(S, H))
    world = env.unwrapped
    agent = CMERL(env, seed=0, bonus=bonus, delta=delta, reward=lambda s, a: world.R[s, a], reward_range=(0, 1))
    regret = realised = 0.0
    for _ in range(T):
        policy = agent.policy()
        table = bonus_table(policy.plan, S, H)
        agent.learn(1)
        regret += agent.history[-1].regret
        realised += sum(table[h, s, a] for h, (s, a) in enumerate(env.visited))

        # The same without luck: the expected bonuses along the policy, no martingale left over.
        occupancy, expected = world.start.copy(), 0.0
        played = policy.table(world.observations)
        for h in range(H):
            expected += occupancy @ table[h][np.arange(S), played[h]]
            occupancy = occupancy @ world.P[np.arange(S), played[h]]
        truth = solve(world, H).value(0) - evaluate(world, played, H).value(0)
        assert agent.history[-1].regret == pytest.approx(truth, abs=1e-12)
        assert truth <= expected + EPS
    N = H * T
    assert regret <= min(H * T, realised + H * np.sqrt(2 * N * np.log(2 / delta)))
    assert regret > 0
