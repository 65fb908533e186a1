"""Planning: Q of the agent's plans against a backward pass written here, dense and without any cleverness."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from scipy.stats import chisquare

from cmerl import CMERL
from cmerl.confidence import FailureBudget, Practical, Problem, Split, Tight
from cmerl.embedding import ExactEmbedding
from cmerl.kernels import RBF, Delta, Linear, StateAction
from cmerl.planning import Task, make_plan
from cmerl.transitions import Transitions


class World(gymnasium.Env):
    """A random finite MDP whose episodes may end at any step; it writes down every transition.

    Attributes:
        rows: what a kernel sees of each state (S, d).
        log: (step, state, action, reward, next state, terminated) for every transition so far.
    """

    def __init__(self, seed, *, S=6, A=3, ends=0.15, low=0.0, high=1.0, noise=0.0, coordinates=True):
        rng = np.random.default_rng(seed)
        self.P = None  # not a table of ours: the agent must not know the model
        self.law = rng.dirichlet(np.full(S, 0.5), size=(S, A))
        margin = noise / 2
        self.mean = rng.uniform(low + margin, high - margin, (S, A))
        self.ends, self.noise, self.low, self.high = ends, noise, low, high
        self.action_space = gymnasium.spaces.Discrete(A)
        if coordinates:
            self.rows = np.vstack([np.zeros(2), np.ones(2), rng.random((S - 2, 2))])
            self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (2,), np.float64)
        else:
            self.rows = np.arange(S, dtype=float)[:, None]
            self.observation_space = gymnasium.spaces.Discrete(S)
        self.coordinates = coordinates
        self.log = []

    def obs(self, s):
        return self.rows[s].copy() if self.coordinates else int(s)

    def state(self, obs):
        return int(np.argmin(np.abs(self.rows - np.ravel(obs)).sum(axis=1)))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s, self.h = int(self.np_random.integers(len(self.rows))), 0
        return self.obs(self.s), {}

    def step(self, action):
        reward = self.mean[self.s, action] + self.noise * (self.np_random.random() - 0.5)
        after = int(self.np_random.choice(len(self.rows), p=self.law[self.s, action]))
        ended = bool(self.np_random.random() < self.ends)
        self.log.append((self.h, self.s, int(action), reward, after, ended))
        self.s, self.h = after, self.h + 1
        return self.obs(after), reward, ended, False, {}


def rbf(X, lengthscale):
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-squared / (2 * lengthscale**2))


@dataclass
class Setting:
    """What the reference needs to know; the agent is told the same in its own words."""

    mode: str
    H: int = 5
    lam: float = 0.3
    delta: float = 0.1
    low: float = 0.0
    high: float = 1.0
    learned: bool = True
    B_P: float | None = None
    B_V: float | None = None
    B_R: float | None = None
    D: float = math.sqrt(2)
    max_return: float | None = None
    sigma_scale: float = 0.0
    homogeneous: bool = True
    delta_kernels: bool = False
    sign: float = 1.0
    sharp: bool = True


def reference_q(setting, log, K, K_psi, mean_rewards, episode):
    """Q (H, S, A) in the environment's units from a log of transitions, by Alg. 1 and its variants.

    Args:
        K: k_φ between all state-actions (S·A, S·A), actions varying fastest.
        K_psi: k_ψ between all states (S, S).
    """
    H, lam, (S, A) = setting.H, setting.lam, mean_rewards.shape
    provable = setting.mode in ("paper", "tight", "split", "nonnegative")
    low, high = setting.low, setting.high
    ends = provable or any(row[5] for row in log)  # a proof allows for it before it was seen
    if ends:  # what has ended earns 0 a step
        low, high = min(low, 0.0), max(high, 0.0)
    width = high - low
    share = setting.delta / (3 if setting.learned else 2) / (1 if setting.homogeneous else H)

    def cap(h):
        most = (H - h) * width
        if setting.max_return is not None and h < H:
            most = min(most, max(setting.max_return - H * low, 0.0))
        return most

    Q, V = np.zeros((H, S, A)), np.zeros(S)
    for h in reversed(range(H)):
        rows = [row for row in log if setting.homogeneous or row[0] == h]
        z = np.array([row[1] * A + row[2] for row in rows], dtype=int)
        n, left = len(rows), H - 1 - h
        if n:
            Kn = K[np.ix_(z, z)] + lam * np.eye(n)
            alpha = np.linalg.solve(Kn, K[z])  # (n, S·A)
            var = np.diag(K) - np.einsum("nz,nz->z", K[z], alpha)
            pivots = np.diagonal(np.linalg.cholesky(Kn)) ** 2
        else:
            alpha, var, pivots = np.zeros((0, S * A)), np.diag(K), np.ones(0) * lam
        sigma, G, sum_r = np.sqrt(np.maximum(var, 0)), 0.5 * np.log(pivots / lam).sum(), np.sum(1 - lam / pivots)
        rewards = np.array([row[3] for row in rows]) - low
        following = np.array([-low * left if row[5] else V[row[4]] for row in rows])

        # the reward
        if not setting.learned:
            q = (mean_rewards - low).ravel() + alpha.T @ following
            prior = cap(h + 1)
        elif provable:
            B_R = setting.B_R if setting.B_R is not None else width * math.sqrt(S * A)
            beta_R = math.sqrt(lam) * B_R + width / 2 * math.sqrt(2 * (G + math.log(1 / share)))
            r = np.clip(alpha.T @ rewards + setting.sign * beta_R / math.sqrt(lam) * sigma, 0, width)
            q = r + alpha.T @ following
            prior = 0.0
        else:
            q = alpha.T @ (rewards + following)
            prior = cap(h)
        # optimism
        if setting.mode == "practical":
            q += prior * (1 - alpha.sum(axis=0)) + setting.sigma_scale * left * width * sigma
        elif setting.mode == "paper":
            B_P = setting.B_P if setting.B_P is not None else math.sqrt(S * A)
            B_V = setting.B_V if setting.B_V is not None else H * width * math.sqrt(S + 1)
            log_term = math.log(2 * episode**2 * H / share)
            beta = math.sqrt(2 * lam * B_P**2 + 256 * (1 + 1 / lam) * G * log_term)
            q += setting.sign * B_V * beta / math.sqrt(lam) * sigma
        elif setting.mode == "tight" and left:
            B_P = setting.B_P if setting.B_P is not None else math.sqrt(S * A)
            B_V = setting.B_V if setting.B_V is not None else left * width * math.sqrt(S + 1)
            noise = setting.D**2 * (sum_r + 0.5 * math.log(1 / share))
            q += setting.sign * B_V * math.sqrt(lam * B_P**2 + noise) / math.sqrt(lam) * sigma
        elif setting.mode == "split" and left:
            # the end is one more state, like no other
            inverse, one, U = np.eye(S + 1), np.ones(S + 1), np.append(V, -low * left)
            inverse[:S, :S] = np.linalg.inv(K_psi)
            c = one @ inverse @ U / (one @ inverse @ one)
            norm, centred = (math.sqrt(max(u @ inverse @ u, 0.0)) for u in (U, U - c))
            if setting.sharp:
                noise = setting.D * math.sqrt(min(G, 0.75 * sum_r) + math.log(1 / share))
                root = np.sqrt(np.maximum(var - lam * (alpha**2).sum(axis=0), 0.0))
                bias = left * width * sigma**2 if setting.B_P is None else setting.B_P * norm * root
            else:
                noise = setting.D * math.sqrt(sum_r + 0.5 * math.log(1 / share))
                bias = (left * width * math.sqrt(S * A) if setting.B_P is None else setting.B_P * norm) * sigma
            q += setting.sign * (bias + centred * noise / math.sqrt(lam) * sigma)
        elif setting.mode == "nonnegative" and left:
            union = H if setting.homogeneous else 1
            noise = 0.5 * math.sqrt(2 * (G + math.log(union / share)) / lam)
            q += setting.sign * left * width * (sigma**2 + noise * sigma)
        elif setting.mode == "mean" and n:
            support = sorted({row[4] for row in rows if not row[5]})
            mass, known = (x.reshape(S, A)[support] for x in (alpha.sum(axis=0), alpha.T @ (rewards + following)))
            q += (mass * known).sum() / (mass**2).sum() * (1 - alpha.sum(axis=0))
        # values
        v = q.reshape(S, A).max(axis=1)
        V = np.minimum(v, H * width) if setting.mode == "paper" and setting.sign > 0 else np.clip(v, 0, cap(h))
        Q[h] = q.reshape(S, A) + low * (H - h)
    return Q


CASES = {
    "practical, learned reward": (Setting("practical"), {}),
    "practical, known reward": (Setting("practical", learned=False), {}),
    "practical, maximal return": (Setting("practical", max_return=2.2), {}),
    "practical, maximal return, known reward": (Setting("practical", max_return=2.2, learned=False), {}),
    "practical, bonus on top": (Setting("practical", sigma_scale=0.4), {}),
    "practical, rewards from −2 to −½": (Setting("practical", low=-2.0, high=-0.5), {}),
    "practical, rewards from −2, maximal return": (Setting("practical", low=-2.0, high=1.0, max_return=-1.0), {}),
    "practical, rewards from 1 to 3": (Setting("practical", low=1.0, high=3.0), {"ends": 0.0}),
    "practical, noisy rewards": (Setting("practical", low=-1.0), {"noise": 0.5}),
    "practical, a law for each step": (Setting("practical", homogeneous=False), {}),
    "practical, a law for each step, rewards from −1": (Setting("practical", homogeneous=False, low=-1.0), {}),
    "greedy": (Setting("greedy", low=-1.0), {}),
    "greedy, known reward": (Setting("greedy", low=-1.0, learned=False), {}),
    "paper": (Setting("paper", learned=False, B_P=1.5, B_V=0.01), {}),
    "paper, rewards from −1": (Setting("paper", learned=False, B_P=1.5, B_V=0.01, low=-1.0), {}),
    "paper, learned reward": (Setting("paper", B_P=1.5, B_V=0.02, B_R=0.5), {"noise": 0.2}),
    "paper, a law for each step": (Setting("paper", learned=False, B_P=1.5, B_V=0.02, homogeneous=False), {}),
    "tight": (Setting("tight", learned=False, B_P=1.5, B_V=0.2), {}),
    "tight, rewards from −1": (Setting("tight", learned=False, B_P=1.5, B_V=0.2, low=-1.0), {}),
    "tight, learned reward": (Setting("tight", B_P=0.8, B_V=0.2, B_R=0.5, low=-1.0), {"noise": 0.3}),
    "tight, maximal return": (Setting("tight", learned=False, B_P=1.5, B_V=0.2, max_return=2.0), {}),
    "tight, a law for each step": (Setting("tight", B_P=0.8, B_V=0.2, B_R=0.5, homogeneous=False), {}),
    "split": (Setting("split", learned=False, B_P=0.05), {}),
    "split, first constants": (Setting("split", learned=False, B_P=0.05, sharp=False), {}),
    "split, rewards from −1": (Setting("split", learned=False, B_P=0.05, low=-1.0), {}),
    "split, learned reward": (Setting("split", B_P=0.05, B_R=0.5), {"noise": 0.3}),
    "split, a law for each step": (Setting("split", B_P=0.05, B_R=0.5, homogeneous=False), {"ends": 0.0}),
}
DELTA_CASES = {
    "practical": (Setting("practical"), {}),
    "paper": (Setting("paper", learned=False), {"ends": 0.0}),
    "paper, learned reward": (Setting("paper"), {"ends": 0.0}),
    "tight": (Setting("tight", learned=False), {}),
    "tight, learned reward": (Setting("tight", low=-1.0), {"noise": 0.3}),
    "split": (Setting("split", learned=False), {}),
    "split, first constants": (Setting("split", learned=False, sharp=False), {}),
    "split, learned reward": (Setting("split", low=-1.0), {"noise": 0.3}),
    "nonnegative": (Setting("nonnegative", learned=False), {}),
    "nonnegative, rewards from −1": (Setting("nonnegative", learned=False, low=-1.0), {}),
    "nonnegative, learned reward": (Setting("nonnegative", low=-1.0), {"noise": 0.3}),
    "nonnegative, a law for each step": (Setting("nonnegative", homogeneous=False), {}),
}
EVERY_CASE = [pytest.param(*case, False, id=f"RBF: {name}") for name, case in CASES.items()]
EVERY_CASE += [pytest.param(*case, True, id=f"delta: {name}") for name, case in DELTA_CASES.items()]


def make_agent(setting, world, *, lengthscale=0.4, value_lengthscale=0.5, **options):
    """The agent that the setting describes, in its public words."""
    constants = {k: v for k in ("B_P", "B_V", "B_R") if (v := getattr(setting, k)) is not None}
    if world.coordinates:
        options |= {
            "kernel": StateAction(RBF(lengthscale), Delta()),
            "value_kernel": RBF(value_lengthscale),
            "states": world.rows,
        }
    bonus = setting.mode
    if setting.mode == "practical":
        bonus = Practical(sigma_scale=setting.sigma_scale)
    elif not setting.sharp:
        bonus = Split(sharp=False)
    return CMERL(
        world,
        horizon=setting.H,
        lam=setting.lam,
        delta=setting.delta,
        bonus=bonus,
        reward="learned" if setting.learned else lambda obs, a: world.mean[world.state(obs), a],
        reward_range=(setting.low, setting.high),
        max_return=setting.max_return,
        time_homogeneous=setting.homogeneous,
        **constants,
        **options,
    )


def matrices(world, lengthscale=0.4, value_lengthscale=0.5):
    """(k_φ between all state-actions, k_ψ between all states)."""
    A = world.mean.shape[1]
    if not world.coordinates:
        return np.eye(world.mean.size), np.eye(len(world.rows))
    return np.kron(rbf(world.rows, lengthscale), np.eye(A)), rbf(world.rows, value_lengthscale)


def agent_q(agent, world, setting):
    return np.array([[agent.q_values(world.obs(s), h) for s in range(len(world.rows))] for h in range(setting.H)])


@pytest.mark.parametrize(("setting", "options", "delta_kernels"), EVERY_CASE)
def test_q_is_that_of_a_dense_backward_pass(setting, options, delta_kernels):
    world = World(7, low=setting.low, high=setting.high, coordinates=not delta_kernels, **options)
    agent = make_agent(setting, world, seed=1)
    for episodes in (0, 2, 12):  # before any data, with few, and with many repeats
        agent.learn(episodes)
        K, K_psi = matrices(world)
        expected = reference_q(setting, world.log, K, K_psi, world.mean, len(agent.history) + 1)
        np.testing.assert_allclose(agent_q(agent, world, setting), expected, rtol=1e-7, atol=1e-8)
    if options.get("ends") != 0.0:
        assert any(row[5] for row in world.log)


@pytest.mark.parametrize("kernel", ["product", "general"])
def test_q_under_kernels_that_do_not_split_by_action(kernel):
    setting, world = Setting("tight", B_P=0.8, B_V=0.2, B_R=0.5, low=-1.0), World(3, low=-1.0)
    actions = np.arange(3.0)[:, None]
    k = StateAction(RBF(0.4), RBF(1.2)) if kernel == "product" else RBF((0.4, 0.4, 1.2))
    agent = CMERL(
        world,
        horizon=5,
        lam=0.3,
        bonus="tight",
        kernel=k,
        value_kernel=RBF(0.5),
        B_P=0.8,
        B_V=0.2,
        B_R=0.5,
        reward_range=(-1, 1),
        seed=2,
    ).learn(10)
    K = np.kron(rbf(world.rows, 0.4), rbf(actions, 1.2))
    expected = reference_q(setting, world.log, K, rbf(world.rows, 0.5), world.mean, 11)
    np.testing.assert_allclose(agent_q(agent, world, setting), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("mode", ["paper", "tight", "split", "nonnegative"])
def test_lower_bounds_come_from_the_pessimistic_pass(mode):
    learned = {"B_P": None, "B_V": None, "B_R": None}
    setting = Setting(mode, low=-1.0, sign=-1.0, lam=0.1, **learned)
    world = World(5, low=-1.0, S=3, A=2, ends=0.0, coordinates=False)
    agent = make_agent(setting, world, seed=0)
    agent.learn(60 if mode == "nonnegative" else 10)
    q = reference_q(setting, world.log, *matrices(world), world.mean, len(agent.history) + 1)
    upper = reference_q(
        Setting(mode, low=-1.0, lam=0.1), world.log, *matrices(world), world.mean, len(agent.history) + 1
    )
    for h in range(setting.H):
        for s in range(3):
            least, most = -1.0 * (setting.H - h), 1.0 * (setting.H - h)
            expected = np.clip([q[h, s].max(), upper[h, s].max()], least, most)
            assert agent.value_bounds(s, h) == pytest.approx(tuple(expected), abs=1e-8)


@pytest.mark.parametrize("mode", ["practical", "tight"])
@pytest.mark.parametrize("homogeneous", [True, False], ids=["one law", "a law for each step"])
def test_without_exploration_the_mean_stands_in_for_what_is_missing(mode, homogeneous):
    constants = {"B_P": 0.8, "B_V": 0.2, "B_R": 0.5}
    setting, world = Setting(mode, homogeneous=homogeneous, **constants), World(11)
    agent = make_agent(setting, world, seed=4).learn(8)
    mean = Setting("mean", homogeneous=homogeneous)
    expected = reference_q(mean, world.log, *matrices(world), world.mean, 9)
    found = agent.policy(explore=False).plan
    encoded = agent.states.encode_many(world.rows)
    np.testing.assert_allclose(found.q_table(encoded), expected, rtol=1e-7, atol=1e-6)


def test_without_exploration_an_action_is_no_worse_for_being_rarer():
    """Nine visits pay 1 and one visit pays 1.1: with λ = 1 the smallest reward would cost the latter half of it."""
    log = [{"observations": [0, 0], "actions": [0], "rewards": [1.0]}] * 9
    log += [{"observations": [0, 0], "actions": [1], "rewards": [1.1]}]
    env = World(0, S=2, A=2, coordinates=False)
    agent = CMERL(env, horizon=1, lam=1.0, reward_range=(0, 2), seed=0).fit(log)
    assert agent.predict(0, explore=False) == 1
    cautious = CMERL(env, horizon=1, lam=1.0, reward_range=(0, 2), seed=0, bonus="greedy").fit(log)
    assert cautious.predict(0, explore=False) == cautious.predict(0) == 0


@pytest.mark.parametrize("paid", [-3.0, 5.0])
def test_without_exploration_a_constant_reward_changes_no_action(paid):
    """A payment at every step adds itself to Q at every step that is left, whatever was seen how often."""
    plans = []
    for extra in (0.0, paid):
        world = World(6, ends=0.0, low=extra, high=1.0 + extra)
        agent = make_agent(Setting("practical", low=extra, high=1.0 + extra), world, seed=2)
        agent.fit(random_episodes(world, 4, seed=3))
        plans.append(agent.policy(explore=False).plan.q_table(agent.states.encode_many(world.rows)))
    left = np.arange(5, 0, -1)[:, None, None]
    np.testing.assert_allclose(plans[1], plans[0] + left * paid, rtol=1e-7, atol=1e-7)


def random_episodes(world, episodes, seed):
    rng, found = np.random.default_rng(seed), []
    for i in range(episodes):
        log = {"observations": [world.reset(seed=i)[0]], "actions": [], "rewards": []}
        for _ in range(5):
            action = int(rng.integers(3))
            obs, reward, *_ = world.step(action)
            log["observations"].append(obs)
            log["actions"].append(action)
            log["rewards"].append(reward)
        found.append(log)
    return found


def test_a_cut_episode_is_not_valued_like_one_that_ended():
    """Truncation before the horizon says nothing about the state that was reached."""
    world = World(2, ends=0.0, low=-1.0)
    limited = gymnasium.wrappers.TimeLimit(world, 2)
    setting = Setting("practical", low=-1.0)
    agent = make_agent(setting, world, seed=0)
    agent.env = limited
    agent.learn(6)
    assert {record.length for record in agent.history} == {2}
    expected = reference_q(setting, world.log, *matrices(world), world.mean, 7)
    np.testing.assert_allclose(agent_q(agent, world, setting), expected, rtol=1e-7, atol=1e-8)
    ended = [(*row[:5], row[0] == 1) for row in world.log]
    assert np.abs(reference_q(setting, ended, *matrices(world), world.mean, 7) - expected).max() > 0.1


# --- last steps and first plans ----------------------------------------------------------------------------


def test_before_any_data_q_is_the_prior():
    world = World(0, low=-1.0, high=2.0)
    agent = make_agent(Setting("practical", low=-1.0, high=2.0), world)
    for h in range(5):
        np.testing.assert_allclose(agent.q_values(world.obs(0), h), (5 - h) * 2.0)
    told = make_agent(Setting("practical", low=-1.0, high=2.0, max_return=3.0), world)
    # Of a return of at most 3, a start that earned −1 a step leaves at most 3 + h.
    np.testing.assert_allclose([told.q_values(world.obs(0), h)[0] for h in range(5)], [3, 4, 5, 4, 2])


def test_before_any_data_the_bonus_is_that_of_the_prior_variance():
    world = World(0, coordinates=False, S=4, A=2, ends=0.0)
    setting = Setting("tight", learned=False, lam=0.7)
    agent = make_agent(setting, world)
    beta = math.sqrt(0.7 * 8 + math.log(2 / 0.1))  # √(λSA + (D²/2) log(1/δ_P)), σ = 1
    for h in range(5):
        bonus = (4 - h) * math.sqrt(4 + 1) * beta / math.sqrt(0.7)  # four states and the end
        np.testing.assert_allclose(agent.q_values(2, h), world.mean[2] + bonus)


def test_a_single_step_with_an_unknown_reward_is_kernel_ucb():
    setting = Setting("tight", H=1, B_P=1.0, B_V=1.0, B_R=0.05, delta=0.3)
    world, n = World(9, S=3, A=2, ends=0.0, noise=0.4), 120
    agent = make_agent(setting, world, seed=0).learn(n)
    K, _ = matrices(world)
    z = np.array([row[1] * 2 + row[2] for row in world.log])
    r = np.array([row[3] for row in world.log])
    inverse = np.linalg.inv(K[np.ix_(z, z)] + 0.3 * np.eye(n))
    mean, var = K[:, z] @ inverse @ r, 1 - np.einsum("zn,nm,zm->z", K[:, z], inverse, K[:, z])
    gain = 0.5 * np.linalg.slogdet(np.eye(n) + K[np.ix_(z, z)] / 0.3)[1]
    beta = math.sqrt(0.3) * 0.05 + 0.5 * math.sqrt(2 * (gain + math.log(3 / 0.3)))
    ucb = np.clip(mean + beta * np.sqrt(var / 0.3), 0, 1).reshape(3, 2)
    assert np.any(ucb < 1)
    np.testing.assert_allclose(agent_q(agent, world, setting)[0], ucb, atol=1e-9)


@pytest.mark.parametrize("bonus", ["tight", "split", "nonnegative", "practical"])
def test_a_single_step_with_a_known_reward_leaves_nothing_to_explore(bonus):
    world = World(9, ends=0.0, coordinates=False)
    agent = make_agent(Setting(bonus, H=1, learned=False), world).learn(3)
    np.testing.assert_allclose(agent_q(agent, world, Setting(bonus, H=1))[0], world.mean, atol=1e-12)


def test_only_the_paper_has_a_bonus_at_the_last_step():
    world = World(9, ends=0.0, coordinates=False)
    for bonus in ("tight", "split", "nonnegative"):
        agent = make_agent(Setting(bonus, learned=False), world).learn(2)
        np.testing.assert_allclose(agent.q_values(0, 4), world.mean[0], atol=1e-12)
        assert np.all(agent.q_values(0, 3) > world.mean[0] + 0.1)
    letter = make_agent(Setting("paper", learned=False), world).learn(2)
    assert np.all(letter.q_values(0, 4) > world.mean[0] + 1)


def test_the_bonus_of_the_last_step_is_that_of_the_learned_reward():
    setting, world = Setting("tight"), World(4, coordinates=False, S=3, A=2, ends=0.0)
    plan = make_agent(setting, world, seed=0).learn(6).policy().plan
    visits = np.zeros((3, 2))
    for _, s, a, *_ in world.log:
        visits[s, a] += 1
    gain = 0.5 * np.log(1 + visits / 0.3).sum()
    beta = math.sqrt(0.3) * math.sqrt(3 * 2) + 0.5 * math.sqrt(2 * (gain + math.log(3 / 0.1)))
    expected = beta / math.sqrt(0.3) * np.sqrt(0.3 / (0.3 + visits))  # B_R = √(SA), σ² = λ/(λ + N)
    np.testing.assert_allclose(plan.bonus(world.rows, 4), expected)
    assert np.all(plan.bonus(world.rows, 3) > expected + 0.1)


# --- LSVI-UCB ----------------------------------------------------------------------------------------------


def test_a_linear_kernel_gives_lsvi_ucb():
    """In the primal: one regression weight w_h = Λ⁻¹Σφ(z_i)V_{h+1}(s'_i) a step, all data pooled."""
    rng = np.random.default_rng(0)
    n, d, H, lam, A, delta = 70, 3, 6, 0.5, 2, 0.1
    B_P, B_V = 0.4, 0.5
    actions = np.array([[-1.0], [1.0]])
    states, after = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    Z = np.hstack([states, actions[rng.integers(0, A, n)]])
    theta = rng.random(d)

    def rewards(X):  # (q, A)
        return np.stack([(np.tanh(X @ theta) + 1) / 2 * (0.5 + 0.5 * (a > 0)) for a in (-1, 1)], axis=1)

    embedding = ExactEmbedding(Linear(), lam, actions)
    embedding.update(Transitions.of(Z, after))
    problem = Problem(
        horizon=H,
        width=1.0,
        kernel=Linear(),
        value_kernel=RBF(1.0),
        tabular=None,
        budget=FailureBudget(delta, learned_reward=False),
        B_P=B_P,
        B_V=B_V,
    )
    task = Task(problem, Tight(), r_min=0.0, known_reward=rewards)
    plan = make_plan([embedding], task, episode=9, order=np.arange(A))

    Lambda, sum_r = lam * np.eye(d + 1), 0.0
    for phi in Z:
        w = phi @ np.linalg.solve(Lambda, phi)
        sum_r += w / (1 + w)
        Lambda += np.outer(phi, phi)
    beta = B_V * math.sqrt(lam * B_P**2 + 2 * sum_r + math.log(2 / delta))

    def lsvi(X, w, h):
        q = np.empty((len(X), A))
        for a in range(A):
            phi = np.hstack([X, np.tile(actions[a], (len(X), 1))])
            q[:, a] = rewards(X)[:, a] + phi @ w
            if h < H - 1:
                q[:, a] += beta * np.sqrt(np.einsum("ni,ij,nj->n", phi, np.linalg.inv(Lambda), phi))
        return q

    queries, v = rng.normal(size=(15, d)), np.zeros(n)
    for h in reversed(range(H)):
        w = np.linalg.solve(Lambda, Z.T @ v)
        np.testing.assert_allclose(plan.q(queries, h), lsvi(queries, w, h), rtol=1e-8)
        np.testing.assert_array_equal(plan.act(queries, h), lsvi(queries, w, h).argmax(axis=1))
        v = np.clip(lsvi(after, w, h).max(axis=1), 0, H - h)
    np.testing.assert_allclose(plan.bonus(queries, H - 1), 0.0)
    np.testing.assert_allclose(
        plan.bonus(queries, 0), lsvi(queries, np.zeros(d + 1), 0) - rewards(queries), rtol=1e-8
    )


# --- plans inside an episode, and ties -----------------------------------------------------------------------


@pytest.mark.parametrize("laws", [1, 6])
@pytest.mark.parametrize("first_step", [0, 1, 5])
def test_a_plan_of_the_later_steps_is_completed_bit_for_bit(laws, first_step):
    rng = np.random.default_rng(first_step)
    rows, states = np.arange(2.0)[:, None], rng.random((5, 1))
    embeddings = [ExactEmbedding(StateAction(RBF(0.3), Delta()), 0.1, rows) for _ in range(laws)]
    for embedding in embeddings:
        Z = np.hstack([rng.random((20, 1)), rng.integers(2, size=(20, 1))])
        embedding.update(Transitions.of(Z, rng.random((20, 1)), rng.random(20)))
    budget = FailureBudget(0.1, learned_reward=True)
    problem = Problem(horizon=6, width=1.0, kernel=RBF(0.3), value_kernel=RBF(0.3), tabular=None, budget=budget)
    task = Task(problem, Practical(sigma_scale=0.5), r_min=0.0)
    whole = make_plan(embeddings, task, episode=3, order=np.array([1, 0]))
    later = make_plan(embeddings, task, episode=2, order=np.array([0, 1]), first_step=first_step)
    completed = make_plan(embeddings, task, episode=3, order=np.array([1, 0]), later=later)
    assert all(a is b for a, b in zip(completed.stages[first_step:], later.stages, strict=True))  # not planned twice
    np.testing.assert_array_equal(completed.q_table(states), whole.q_table(states))
    np.testing.assert_array_equal(completed.order, whole.order)
    assert (completed.episode, completed.first_step, completed.transitions) == (3, 0, 20 * laws)


def test_where_nothing_is_known_ties_are_uniform_and_independent_between_steps_and_can_be_reproduced():
    world, pairs = World(0, A=3, coordinates=False), np.zeros((3, 3))
    for seed in range(360):
        agents = [CMERL(world, horizon=3, seed=seed, reward_range=(0, 1)) for _ in range(2)]
        policy, again = (agent.policy() for agent in agents)
        table = policy.table(np.arange(6))
        assert np.all(table == table[:, :1])  # the state is no reason to choose otherwise
        assert [[policy(s, h) for s in range(6)] for h in range(3)] == table.tolist()
        np.testing.assert_array_equal(again.table(np.arange(6)), table)
        pairs[table[0, 0], table[1, 0]] += 1
    assert chisquare(pairs.ravel()).pvalue > 0.001


def test_the_order_of_ties_changes_from_episode_to_episode():
    silent = SimpleNamespace(seen=set())
    world = World(0, A=4, coordinates=False, ends=0.0)
    # Nothing to tell actions apart: no reward, a known one, and no bonus.
    agent = CMERL(world, horizon=2, seed=0, bonus="greedy", reward=lambda s, a: 0.0, reward_range=(0, 1))
    for _ in range(30):
        silent.seen.add(agent.predict(0))
        agent.learn(1)
    assert silent.seen == {0, 1, 2, 3}
