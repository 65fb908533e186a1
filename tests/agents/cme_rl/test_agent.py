"""CME-RL: what it accepts, what it refuses, how it survives a faulty world, and what it keeps."""

import logging

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.confidence import NonNegative, Paper, Practical, Split, Tight
from cmerl.envs import FiniteMDP, RiverSwim, random_mdp
from cmerl.errors import CmerlError, EnvironmentFault, InputError, KernelError, MissingConstantError, RewardRangeError
from cmerl.kernels import RBF, Delta, Linear, StateAction
from cmerl.oracles import solve


def river():
    return RiverSwim(5, 8)


def smooth_river():
    return RiverSwim(5, 8, coordinates=True)


def rbf(X, Y):
    return np.exp(-((X[:, None] - Y[None]) ** 2).sum(axis=2))


class Recorder(gymnasium.Wrapper):
    """Writes down every transition: (state, action, next state)."""

    def __init__(self, env):
        super().__init__(env)
        self.seen = []

    def reset(self, **options):
        self.last, info = self.env.reset(**options)
        return self.last, info

    def step(self, action):
        obs, *rest = self.env.step(action)
        self.seen.append((self.last, action, obs))
        self.last = obs
        return obs, *rest


# --- it learns ---------------------------------------------------------------------------------------------


def test_it_solves_riverswim():
    agent = CMERL(RiverSwim(6, 20), seed=0).learn(70)
    best = solve(agent.env, 20).value(0)
    assert np.mean([record.regret for record in agent.history[-20:]]) < 0.05 * best


def test_it_solves_riverswim_from_coordinates():
    agent = CMERL(RiverSwim(6, 20, coordinates=True), seed=0).learn(70)
    best = solve(agent.env, 20).value(0)
    assert np.mean([record.regret for record in agent.history[-20:]]) < 0.1 * best


class Clock(gymnasium.Env):
    """One state; the action that pays is the parity of the step, which no observation tells."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.step_number = 0
        return 0, {}

    def step(self, action):
        reward = float(action == self.step_number % 2)
        self.step_number += 1
        return 0, reward, False, False, {}


def test_a_law_for_each_step_can_tell_the_steps_apart():
    agent = CMERL(Clock(), horizon=6, time_homogeneous=False).learn(12)
    assert agent.history[-1].ret == 6.0
    assert np.argmax(agent.q_values(0, 5)) == 1
    assert np.argmax(agent.q_values(0, 4)) == 0


def test_a_known_reward_is_asked_for_in_the_environments_own_words():
    asked = []

    def reward(obs, action):
        asked.append((obs.item() if isinstance(obs, np.ndarray) else obs, int(action)))  # refuses arrays of many
        return 0.0

    CMERL(smooth_river(), reward=reward).learn(2).q_values(np.array([0.25]))
    assert all(isinstance(obs, float) and action in (0, 1) for obs, action in asked)
    asked.clear()
    CMERL(river(), reward=reward).learn(2)
    assert all(isinstance(obs, int) for obs, _ in asked)


@pytest.mark.parametrize("seed", range(6))  # ties are broken by the seed
def test_explore_false_does_not_seek_the_unknown(seed):
    """Two actions: one pays 0.4 for certain, the other was never tried; with λ small, data are believed."""
    env = FiniteMDP(np.ones((1, 2, 1)), [[0.4, 0.4]], horizon=1)
    agent = CMERL(env, seed=seed, lam=1e-3)
    tried = agent.predict(0)
    agent.learn(1)
    assert agent.predict(0) != tried
    assert agent.predict(0, explore=False) == tried


def test_a_wide_declared_range_does_not_decide_what_is_played_without_exploring():
    """The worse action was tried more often: that counts for nothing beside what it pays."""
    env = FiniteMDP(np.ones((1, 2, 1)), [[0.2, 0.8]], horizon=1)
    played = []
    for declared in ("auto", (0.0, 1.0), (-1000.0, 1000.0)):
        agent = CMERL(env, seed=0, reward_range=declared)
        tried = (0, 0, 0, 0, 0, 0, 1, 1)
        agent.fit(
            {"observations": [0, 0], "actions": [a], "rewards": [(0.2, 0.8)[a]], "terminated": False} for a in tried
        )
        played.append(agent.predict(0, explore=False))
    assert played == [1, 1, 1]


# --- what a held policy is ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "obs"),
    [
        (lambda: CMERL(river(), bonus="tight"), np.arange(5)),
        (lambda: CMERL(river(), bonus=Practical(sigma_scale=0.2)), np.arange(5)),
        (lambda: CMERL(river(), bonus="split", time_homogeneous=False), np.arange(5)),
        (lambda: CMERL(river(), bonus=Practical(sigma_scale=0.2), time_homogeneous=False), np.arange(5)),
        (lambda: CMERL(smooth_river(), bonus="tight", B_P=1, B_V=0.1, B_R=0.5), np.linspace(0, 1, 7)[:, None]),
        (lambda: CMERL(smooth_river(), kernel=StateAction(RBF(0.3), RBF(1.0))), np.linspace(0, 1, 7)[:, None]),
        (lambda: CMERL(smooth_river(), kernel=RBF(0.5)), np.linspace(0, 1, 7)[:, None]),
    ],
)
@pytest.mark.parametrize("look_first", [True, False])
def test_a_held_policy_is_not_changed_by_later_learning(make, obs, look_first):
    agent, twin = make().learn(3), make().learn(3)
    held, fresh = agent.policy(), twin.policy()
    rows = agent.states.encode_many(obs)

    def content(policy):
        q = np.array([policy.plan.q(rows, h) for h in range(8)])
        return q, np.array([policy.plan.bonus(rows, h) for h in range(8)]), policy.table(obs)

    if look_first:
        content(held)
    agent.learn(25)  # enough for repeats to be merged and buffers to be moved
    for before, now in zip(content(fresh), content(held), strict=True):
        np.testing.assert_allclose(now, before, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(content(fresh)[2], content(held)[2])
    # A law for each step has 28 visits after 28 episodes: with a proof every Q is then still at its ceiling, and what
    # was learned shows in the bonus alone.
    still_at_the_ceiling = agent.mode.provable and not agent.options.time_homogeneous
    shows = 1 if still_at_the_ceiling else 0
    assert not np.allclose(content(agent.policy())[shows], content(held)[shows])
    assert np.allclose(content(agent.policy())[0], content(held)[0]) == still_at_the_ceiling


# --- faulty worlds -----------------------------------------------------------------------------------------


class Glitch(gymnasium.Wrapper):
    """Changes one answer of ``step`` (or ``reset``), once, at a given step of a given episode."""

    def __init__(self, env, change, episode=2, step=3):
        super().__init__(env)
        self.change, self.when = change, (episode, step)
        self.episode, self.count = -1, 0

    def reset(self, **options):
        self.episode, self.count = self.episode + 1, 0
        obs, info = self.env.reset(**options)
        if self.when == (self.episode, "reset"):
            self.when = None
            obs = self.change
        return obs, info

    def step(self, action):
        answer = list(self.env.step(action))
        if self.when == (self.episode, self.count):
            self.when = None
            answer = self.change(answer)
        self.count += 1
        return tuple(answer)


def with_obs(obs):
    return lambda answer: [obs, *answer[1:]]


def with_reward(reward):
    return lambda answer: [answer[0], reward, *answer[2:]]


GLITCHES = {
    "NaN observation": (with_obs(np.array([np.nan])), InputError),
    "infinite observation": (with_obs(np.array([np.inf])), InputError),
    "observation of two numbers": (with_obs(np.array([0.1, 0.2])), EnvironmentFault),
    "observation that is no number": (with_obs("here"), EnvironmentFault),
    "no observation": (with_obs(None), EnvironmentFault),
    "NaN reward": (with_reward(np.nan), InputError),
    "infinite reward": (with_reward(-np.inf), InputError),
    "reward that is no number": (with_reward("much"), InputError),
    "no reward": (with_reward(None), InputError),
    "reward above the range": (with_reward(1.5), RewardRangeError),
    "reward below the range": (with_reward(-0.01), RewardRangeError),
}


@pytest.mark.parametrize("homogeneous", [True, False])
@pytest.mark.parametrize("glitch", GLITCHES)
def test_a_faulty_answer_is_one_typed_error_and_learning_can_go_on(glitch, homogeneous):
    change, error = GLITCHES[glitch]
    env = Glitch(smooth_river(), change)
    agent = CMERL(env, horizon=8, seed=0, reward_range=(0, 1), time_homogeneous=homogeneous)
    with pytest.raises(error, match=r"episode 2, step 3"):
        agent.learn(5)
    assert [record.episode for record in agent.history] == [0, 1]
    # What came before the fault is kept; with a law for each step, this counts the first.
    assert agent.embedding.n == (2 * 8 + 3 if homogeneous else 3)
    assert np.isfinite(agent.q_values(np.array([0.5]))).all()
    agent.learn(3)
    assert [record.episode for record in agent.history] == [0, 1, 2, 3, 4]
    assert agent.embedding.n == (2 * 8 + 3 + 3 * 8 if homogeneous else 6)


def test_a_state_number_out_of_range_is_a_typed_error():
    agent = CMERL(Glitch(river(), with_obs(5)), horizon=8)
    with pytest.raises(InputError, match=r"episode 2, step 3.*0 to 4"):
        agent.learn(5)
    assert len(agent.learn(2).history) == 4


def test_a_faulty_first_observation_too():
    agent = CMERL(Glitch(smooth_river(), np.array([np.nan]), 1, "reset"), horizon=8)
    with pytest.raises(InputError, match="episode 1, step 0"):
        agent.learn(5)
    assert len(agent.learn(2).history) == 3


def test_errors_of_the_world_itself_pass_through():
    def break_down(answer):
        raise RuntimeError("the robot fell")

    agent = CMERL(Glitch(river(), break_down), horizon=8)
    with pytest.raises(RuntimeError, match="the robot fell"):
        agent.learn(5)
    assert agent.embedding.n == 2 * 8 + 3
    assert len(agent.learn(2).history) == 4


@pytest.mark.parametrize(
    "homogeneous",
    [
        True,
        False,
    ],
)
def test_a_point_that_the_kernel_cannot_take_leaves_what_was_learned(homogeneous):
    """The kernel is positive on the two states that the world visits, and negative on a third."""

    def kernel(X, Y):
        return rbf(X, Y) - 5 * np.outer(X[:, 0] > 0.9, Y[:, 0] > 0.9)

    P = np.zeros((3, 2, 3))
    P[:, :, :2] = 0.5
    world = FiniteMDP(P, np.full((3, 2), 0.3), horizon=8, coordinates=[[0.0], [0.4], [1.0]])
    faulty = Glitch(world, with_obs(np.array([1.0])))
    agent = CMERL(faulty, horizon=8, kernel=kernel, replan=False, time_homogeneous=homogeneous).learn(2)
    before = agent.q_values(np.array([0.4]))
    with pytest.raises(KernelError, match="positive"):
        agent.learn(1)
    assert agent.embedding.n == (16 if homogeneous else 2)
    np.testing.assert_allclose(agent.q_values(np.array([0.4])), before, rtol=1e-9)
    assert len(agent.learn(2).history) == 4
    assert agent.embedding.n == (32 if homogeneous else 4)


def test_a_kernel_that_is_not_positive_semi_definite_is_refused():
    agent = CMERL(smooth_river(), kernel=lambda X, Y: -rbf(X, Y))
    with pytest.raises(KernelError, match="positive"):
        agent.learn(1)
    saddle = CMERL(smooth_river(), kernel=lambda X, Y: X[:, :1] @ Y[:, :1].T - 2 * X[:, 1:] @ Y[:, 1:].T)
    with pytest.raises(KernelError, match="positive"):
        saddle.learn(3)


# --- reward ranges -----------------------------------------------------------------------------------------


def test_an_automatic_range_widens_and_says_so_once(caplog):
    P, R = np.full((2, 2, 2), 0.5), np.array([[-3.0, 0.5], [0.0, 7.0]])
    agent = CMERL(FiniteMDP(P, R, horizon=6), seed=0)
    assert agent.reward_range == (0.0, 1.0)
    with caplog.at_level(logging.WARNING, logger="cmerl"):
        agent.learn(10)
    assert agent.reward_range == (-3.0, 7.0)
    assert sum("reward_range" in record.message for record in caplog.records) == 1
    assert agent.q_values(0)[1] <= 6 * 7.0


def test_a_sufficient_range_says_nothing(caplog):
    with caplog.at_level(logging.DEBUG, logger="cmerl"):
        CMERL(river()).learn(5)
        CMERL(river(), reward_range=(-1, 2)).learn(5)
    assert not caplog.records


def test_zero_joins_the_range_once_an_episode_has_ended():
    agent = CMERL(Glitch(river(), lambda answer: [*answer[:2], True, False, {}]), horizon=8, reward_range=(-2, 1))
    narrow = CMERL(
        Glitch(FiniteMDP(np.ones((1, 1, 1)), [[-1.0]]), lambda answer: [0, -1.0, True, False, {}]),
        horizon=8,
        reward_range=(-2, -1),
    )
    assert (agent.reward_range, narrow.reward_range) == ((-2, 1), (-2, -1))
    agent.learn(3)
    narrow.learn(3)
    assert (agent.reward_range, narrow.reward_range) == ((-2, 1), (-2, 0))


# --- options -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "error", "says"),
    [
        ("lam", 0.0, InputError, "lam"),
        ("lam", -1.0, InputError, "lam"),
        ("lam", np.nan, InputError, "lam"),
        ("lam", np.inf, InputError, "lam"),
        ("lam", "big", InputError, "lam"),
        ("bonus", "tihgt", InputError, "tight"),
        ("bonus", None, InputError, "tight"),
        ("bonus", Tight, InputError, "mode object"),
        ("backend", "gpu", InputError, "exact"),
        ("delta", 0.0, InputError, "delta"),
        ("delta", 1.0, InputError, "delta"),
        ("reward", "known", InputError, "reward"),
        ("reward_range", (1.0, 0.0), InputError, "reward_range"),
        ("reward_range", (0.0, np.inf), InputError, "reward_range"),
        ("reward_range", (0.0, 1.0, 2.0), InputError, "reward_range"),
        ("reward_range", 1.0, InputError, "reward_range"),
        ("B_P", -1.0, InputError, "B_P"),
        ("B_V", 0.0, InputError, "B_V"),
        ("B_R", np.nan, InputError, "B_R"),
        ("B_R", "large", InputError, "B_R"),
        ("kernel", "rbf", InputError, "kernel"),
        ("kernel", RBF, KernelError, "RBF"),
        ("value_kernel", 3, KernelError, "kernel"),
        ("actions", [], InputError, "actions"),
        ("actions", [7], InputError, "7"),
    ],
)
def test_a_wrong_option_is_one_typed_error_that_names_it(option, value, error, says):
    with pytest.raises(error, match=says):
        CMERL(river(), **{option: value})


def test_an_option_that_does_not_exist_is_an_error():
    with pytest.raises(TypeError, match="bonsu"):
        CMERL(river(), bonsu="tight")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("lam", None),
        ("delta", "small"),
        ("max_return", np.nan),
        ("max_return", "much"),
        ("time_homogeneous", "no"),
        ("certify", "no"),
        ("bonus", ["tight"]),
        ("replan", "maybe"),
        ("states", np.zeros((3, 2))),
    ],
)
def test_these_too(option, value):
    with pytest.raises(CmerlError):
        CMERL(smooth_river(), **{option: value}).learn(1)


def test_a_reward_function_that_returns_nan_is_refused():
    with pytest.raises(InputError, match="reward"):
        CMERL(river(), reward=lambda s, a: np.nan).learn(2)


# --- provable modes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bonus", "constants"),
    [("paper", ["B_P", "B_V", "B_R"]), ("tight", ["B_P", "B_V", "B_R"]), ("split", ["B_P", "B_R"])],
)
def test_provable_modes_name_the_constants_that_they_miss(bonus, constants):
    given = {}
    for name in constants:
        with pytest.raises(MissingConstantError, match=name):
            CMERL(smooth_river(), bonus=bonus, states=smooth_river().observations, **given)
        given[name] = 100.0
    agent = CMERL(smooth_river(), bonus=bonus, states=smooth_river().observations, **given).learn(2)
    lower, upper = agent.value_bounds(np.array([0.0]))
    assert lower <= upper
    # With a known reward nobody asks for B_R.
    given.pop("B_R")
    CMERL(smooth_river(), bonus=bonus, states=smooth_river().observations, reward=lambda s, a: 0.0, **given)


def test_nonnegative_is_for_delta_kernels_only():
    for env in (smooth_river(), gymnasium.wrappers.FlattenObservation(river())):
        with pytest.raises(MissingConstantError, match="delta kernels"):
            CMERL(env, horizon=8, bonus="nonnegative", B_P=1.0, B_V=1.0, B_R=1.0)
    with pytest.raises(MissingConstantError, match="delta kernels"):
        CMERL(river(), bonus="nonnegative", kernel=StateAction(Delta(), RBF(1.0)), B_R=1.0)


@pytest.mark.parametrize("bonus", [Paper(), Tight(), Split(), NonNegative(), "paper", "tight"])
def test_on_discrete_spaces_they_need_nothing(bonus):
    agent = CMERL(river(), bonus=bonus).learn(2)
    assert agent.diagnostics()["proof"] != "none"
    lower, upper = agent.value_bounds(0)
    assert lower <= solve(river(), 8).value(0) <= upper


def test_practical_proves_nothing_and_says_so():
    agent = CMERL(river())
    assert agent.diagnostics()["proof"] == "none"
    with pytest.raises(InputError, match="provable"):
        agent.value_bounds(0)


def test_split_without_all_states_says_that_it_is_heuristic(caplog):
    with caplog.at_level(logging.WARNING, logger="cmerl"):
        CMERL(smooth_river(), bonus="split", B_P=1.0, B_R=1.0, states=smooth_river().observations)
        assert not caplog.records
        CMERL(smooth_river(), bonus="split", B_P=1.0, B_R=1.0)
    assert any("heuristic" in record.message for record in caplog.records)


def test_and_then_claims_no_proof():
    agent = CMERL(smooth_river(), bonus="split", B_P=1.0, B_R=1.0)
    assert agent.diagnostics()["proof"].startswith("none")


def test_a_proof_does_not_survive_a_range_that_proved_too_narrow():
    agent = CMERL(FiniteMDP(np.ones((1, 2, 1)), [[0.5, 5.0]], horizon=8), bonus="nonnegative")
    assert not agent.diagnostics()["proof"].startswith("none")
    agent.learn(3)
    assert agent.reward_range == (0.0, 5.0)
    assert agent.diagnostics()["proof"].startswith("void")


def test_fourier_features_prove_nothing():
    options = {"kernel": StateAction(RBF(0.3), Delta()), "B_P": 1.0, "B_V": 1.0, "B_R": 1.0}
    with pytest.raises(InputError, match="fourier"):
        CMERL(smooth_river(), bonus="tight", backend="fourier", **options)


def test_bounds_hold_before_the_largest_known_reward_was_seen():
    env = FiniteMDP(river().P, 5 * river().R, horizon=8)
    agent = CMERL(env, bonus="tight", reward=lambda s, a: env.R[s, a])
    assert agent.value_bounds(4)[1] >= solve(env, 8).value(4)


def test_an_unbounded_value_kernel_is_refused_where_its_diameter_is_needed():
    with pytest.raises(CmerlError):
        CMERL(smooth_river(), bonus="tight", value_kernel=Linear(), B_P=1.0, B_V=1.0, B_R=1.0)


def test_the_paper_with_a_learned_reward_says_so():
    assert CMERL(river(), bonus="paper").label == "paper+reward"
    assert CMERL(river(), bonus="paper", reward=lambda s, a: 0.0).label == "paper"
    assert CMERL(river(), bonus="tight").label == "tight"


def test_the_confidence_set_of_the_next_episode():
    env = Recorder(random_mdp(3, 2, seed=1, horizon=4))
    world = env.unwrapped
    agent = CMERL(env, bonus="tight", delta=0.2, reward=lambda s, a: world.R[s, a]).learn(5)
    found = agent.confidence_set()
    # Counted by hand: e² = Σ_z (N + λ)‖P(z) − N(z, ·)/(N + λ)‖², β² = λSA + 2Σr + log(2/δ)
    counts, sum_r = np.zeros((3, 2, 3)), 0.0
    for s, a, after in env.seen:
        sum_r += 1 / (counts[s, a].sum() + 2)  # w/(1+w) with w = 1/(N+1)
        counts[s, a, after] += 1
    N = counts.sum(axis=2, keepdims=True)
    squared = np.sum((N + 1) * (world.P - counts / (N + 1)) ** 2)
    assert found.distance(world.P) ** 2 == pytest.approx(squared)
    assert found.radius**2 == pytest.approx(6 + 2 * sum_r + np.log(2 / 0.2))
    assert found.contains(world.P)
    assert found.contains(world.P, norm="operator")
    for wrong in (
        CMERL(env),
        CMERL(env, bonus="split"),
        CMERL(smooth_river(), bonus="tight", B_P=1, B_V=1, B_R=1),
    ):
        with pytest.raises(InputError):
            wrong.confidence_set()


# --- what it tells -----------------------------------------------------------------------------------------


def test_the_embedding_is_that_of_the_data():
    env = Recorder(river())
    embedding = CMERL(env, seed=0).learn(4).embedding
    assert embedding.n == 32
    np.testing.assert_array_equal(embedding.support[:, 0], [after for _, _, after in env.seen])
    N = np.zeros((5, 2))
    for s, a, _ in env.seen:
        N[s, a] += 1
    Z = np.array([[s, a] for s in range(5) for a in range(2)], dtype=float)
    np.testing.assert_allclose(embedding.std(Z) ** 2, (0.1 / (N + 0.1)).ravel())
    assert embedding.information_gain == pytest.approx(0.5 * np.log(1 + N / 0.1).sum())


def test_the_embedding_of_a_world_that_ends():
    class Ends(Clock):
        observation_space = gymnasium.spaces.Discrete(2)
        action_space = gymnasium.spaces.Discrete(1)

        def step(self, action):
            return 1, 0.0, True, False, {}

    embedding = CMERL(Ends(), horizon=3).learn(4).embedding
    assert embedding.n == 4
    np.testing.assert_array_equal(embedding.support, np.ones((4, 1)))  # where it ended counts as seen
    np.testing.assert_allclose(embedding.expectation(lambda y: y[:, 0], np.array([[0.0, 0.0]])), 4 / 4.1)


def test_diagnostics_and_repr():
    agent = CMERL(river(), bonus="tight").learn(3)
    told = agent.diagnostics()
    assert told["mode"] == "tight"
    assert told["episodes"] == 3
    assert told["transitions"] == 24
    assert told["lam"] == 1.0
    assert CMERL(river()).lam == 0.1
    assert "tight" in repr(agent)


def test_candidates_of_continuous_actions():
    class Line(gymnasium.Env):
        """Pays for an action near 0.5."""

        observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,), np.float64)
        action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return np.zeros(1), {}

        def step(self, action):
            assert self.action_space.contains(action)
            return np.zeros(1), float(1 - abs(action[0] - 0.5)), False, False, {}

    automatic = CMERL(Line(), horizon=2, reward_range=(-1, 1), model="direct").learn(12)
    assert automatic.history[-1].ret > 1.0  # random actions get 0.75 on average
    # A kernel that is smooth in the action may be sure of a neighbour too soon: here each is tried.
    separate, four = StateAction(RBF(1.0), Delta()), [[-1.0], [0.0], [0.5], [1.0]]
    agent = CMERL(Line(), horizon=2, actions=four, kernel=separate, reward_range=(-1, 1)).learn(12)
    assert agent.predict(np.zeros(1), explore=False) == pytest.approx(0.5)
    assert agent.history[-1].ret == pytest.approx(2.0)


@pytest.mark.parametrize("scale", [np.nan, np.inf, -1.0])
def test_a_sigma_scale_that_is_no_scale_is_refused(scale):
    with pytest.raises(InputError, match="sigma_scale"):
        Practical(sigma_scale=scale)


def test_records_say_what_the_agent_expected_and_what_the_best_policy_would_get():
    env = gymnasium.make("cmerl/RiverSwim-v0")
    agent = CMERL(env, seed=3).learn(3)
    solution = solve(env, agent.horizon)
    for record in agent.history:
        assert record.metrics["optimum"] == solution.value(0)
        assert record.metrics["value"] >= solution.value(0)  # nothing is known yet, so the plan is optimistic
    assert agent.history[-1].metrics["information_gain"] == agent.embedding.information_gain
    assert agent.history[-1].metrics["dictionary"] == len(np.unique(agent.embedding.support))


def test_metrics_survive_saving(tmp_path):
    agent = CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=3).learn(2)
    agent.save(tmp_path / "agent")
    assert [r.metrics for r in CMERL.load(tmp_path / "agent").history] == [r.metrics for r in agent.history]
