"""What all agents promise: seeds, history, regret, horizons, callbacks, and names."""

import dataclasses

import gymnasium
import numpy as np
import pytest

import cmerl.agents
from cmerl import CMERL
from cmerl.agents import Agent, EpisodeRecord, GreedyAgent, RandomAgent
from cmerl.envs import FiniteMDP, RiverSwim, random_mdp
from cmerl.errors import InputError
from cmerl.oracles import evaluate, solve


class Recorder(gymnasium.Wrapper):
    """Writes down every episode: (observation, action, reward) of each step."""

    def __init__(self, env):
        super().__init__(env)
        self.episodes = []

    def reset(self, **options):
        self.obs, info = self.env.reset(**options)
        self.episodes.append([])
        return self.obs, info

    def step(self, action):
        obs, reward, *rest = self.env.step(action)
        self.episodes[-1].append((self.obs, action, reward))
        self.obs = obs
        return obs, reward, *rest


def river(horizon=8):
    return RiverSwim(5, horizon)


def smooth_river():
    return RiverSwim(5, 8, coordinates=True)


AGENTS = {
    "practical": lambda env, seed=0: CMERL(env, seed=seed),
    "practical, no replanning": lambda env, seed=0: CMERL(env, seed=seed, replan=False),
    "practical, a law for each step": lambda env, seed=0: CMERL(env, seed=seed, time_homogeneous=False),
    "nonnegative": lambda env, seed=0: CMERL(env, seed=seed, bonus="nonnegative"),
    "split": lambda env, seed=0: CMERL(env, seed=seed, bonus="split"),
    "tight": lambda env, seed=0: CMERL(env, seed=seed, bonus="tight"),
    "paper": lambda env, seed=0: CMERL(env, seed=seed, bonus="paper"),
    "greedy": lambda env, seed=0: GreedyAgent(env, seed=seed),
    "random": lambda env, seed=0: RandomAgent(env, seed=seed),
}
every_agent = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)


def outcomes(agent):
    """Everything in the history that does not depend on the clock."""
    return [(r.episode, r.ret, r.length, r.regret, r.regret_kind) for r in agent.history]


def q_table(agent):
    env = agent.env.unwrapped
    return np.array([[agent.q_values(obs, h) for obs in env.observations] for h in range(agent.horizon)])


def assert_same(one, other):
    """Equal bit for bit."""
    assert outcomes(one) == outcomes(other)
    if isinstance(one, CMERL):
        np.testing.assert_array_equal(q_table(one), q_table(other))


# --- runs --------------------------------------------------------------------------------------------------


@every_agent
def test_learning_in_parts_is_learning_at_once(make):
    assert_same(make(river()).learn(3).learn(0).learn(6), make(river()).learn(9))


def test_also_where_states_are_continuous():
    one, other = CMERL(smooth_river(), seed=3), CMERL(smooth_river(), seed=3)
    assert_same(one.learn(2).learn(1).learn(5), other.learn(8))


@every_agent
def test_equal_seeds_give_equal_runs_and_others_do_not(make):
    assert_same(make(river(), 5).learn(6), make(river(), 5).learn(6))
    runs = {tuple(r.ret for r in make(river(), seed).learn(6).history) for seed in range(4)}
    assert len(runs) > 1


@every_agent
def test_looking_changes_nothing(make):
    def look(agent, record=None):
        for step in (0, 3):
            agent.predict(1, step)
            agent.predict(2, step, explore=False)
        agent.policy()(0, 1)
        agent.policy(explore=False)(0, 1)
        if isinstance(agent, CMERL):
            agent.q_values(3)
            agent.diagnostics()
            if agent.mode.provable:
                agent.value_bounds(3)

    watched, left_alone = make(river()), make(river())
    look(watched)
    watched.learn(4, callback=look)
    look(watched)
    watched.learn(3, callback=look)
    assert_same(watched, left_alone.learn(7))


@every_agent
def test_the_policy_is_what_is_then_played(make):
    env = Recorder(river())
    agent = make(env)
    for _ in range(6):
        policy = agent.policy()
        first = [agent.predict(s, 0) for s in range(5)]
        agent.learn(1)
        played = env.episodes[-1]
        assert played[0][1] == first[played[0][0]]
        if agent.history[-1].regret_kind == "policy":
            assert [policy(obs, step) for step, (obs, _, _) in enumerate(played)] == [a for _, a, _ in played]


@every_agent
def test_a_saved_agent_goes_on_where_it_stopped(make, tmp_path):
    agent = make(river()).learn(4)
    agent.save(tmp_path / "agent")
    loaded = type(agent).load(tmp_path / "agent", env=river())
    assert loaded.history == agent.history
    assert_same(loaded, agent)
    assert_same(loaded.learn(3), make(river()).learn(7))


def test_a_run_does_not_depend_on_what_the_environment_did_before():
    used = river()
    used.reset(seed=99)
    for _ in range(13):
        used.step(1)
    assert_same(CMERL(used, seed=1).learn(4), CMERL(river(), seed=1).learn(4))


# --- history -----------------------------------------------------------------------------------------------


@every_agent
def test_the_history_tells_what_happened(make):
    env = Recorder(river())
    agent = make(env).learn(5)
    assert [r.episode for r in agent.history] == [0, 1, 2, 3, 4]
    for record, episode in zip(agent.history, env.episodes, strict=True):
        assert record.ret == pytest.approx(sum(reward for _, _, reward in episode))
        assert record.length == len(episode) == 8
        assert record.seconds > 0
        assert record.regret_kind in ("policy", "gaps")


def test_records_cannot_be_changed():
    record = CMERL(river()).learn(1).history[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.ret = 0.0


def test_learn_returns_the_agent():
    agent = CMERL(river())
    assert agent.learn(2) is agent
    assert agent.learn(0) is agent
    assert len(agent.history) == 2


@pytest.mark.parametrize("episodes", [-1, 1.5, "ten", None, True])
def test_a_wrong_number_of_episodes_is_refused(episodes):
    agent = CMERL(river())
    with pytest.raises(InputError, match="episodes"):
        agent.learn(episodes)
    assert agent.learn(np.int64(1)).history


def test_a_callback_sees_every_record_and_may_stop():
    seen = []

    def stop_after_three(agent, record):
        seen.append((agent, record))
        return None if len(seen) < 2 else len(seen) < 3  # None and True go on, False stops

    agent = CMERL(river(), seed=2)
    assert agent.learn(10, callback=stop_after_three) is agent
    assert [record for _, record in seen] == agent.history
    assert len(agent.history) == 3
    assert all(who is agent for who, _ in seen)
    assert_same(agent.learn(4), CMERL(river(), seed=2).learn(7))


def test_a_callback_that_raises_does_not_spoil_the_agent():
    def fail(agent, record):
        raise KeyError("mine")

    agent = CMERL(river(), seed=2)
    with pytest.raises(KeyError):
        agent.learn(3, callback=fail)
    assert_same(agent.learn(2), CMERL(river(), seed=2).learn(3))


def test_the_progress_bar_shows_and_changes_nothing(capsys):
    shown = CMERL(river()).learn(3, progress_bar=True)
    assert "3/3" in capsys.readouterr().out
    assert_same(shown, CMERL(river()).learn(3))


# --- regret ------------------------------------------------------------------------------------------------


def tabulate(policy, S, H):
    return np.array([[policy(s, h) for s in range(S)] for h in range(H)])


@pytest.mark.parametrize("start", [2, [0.1, 0.2, 0.3, 0.4]])
@pytest.mark.parametrize("bonus", ["nonnegative", "practical"])
def test_the_regret_of_one_plan_is_that_of_its_policy(bonus, start):
    tables = random_mdp(4, 3, seed=5)
    env = Recorder(FiniteMDP(tables.P, tables.R, start, horizon=6))
    agent = CMERL(env, seed=1, bonus=bonus, replan="auto" if bonus == "nonnegative" else False)
    best, firsts = solve(tables, 6), set()
    for _ in range(10):
        played = tabulate(agent.policy(), 4, 6)
        record = agent.learn(1).history[-1]
        s = env.episodes[-1][0][0]
        firsts.add(s)
        assert record.regret_kind == "policy"
        assert record.regret == pytest.approx(best.value(s) - evaluate(tables, played, 6).value(s), abs=1e-12)
    assert len(firsts) == (1 if start == 2 else 4)


def test_the_regret_of_a_replanned_episode_is_the_sum_of_its_gaps():
    tables = random_mdp(4, 3, seed=6)
    env = Recorder(FiniteMDP(tables.P, tables.R, [0.25] * 4, horizon=6))
    agent = CMERL(env, seed=1).learn(25)
    best = solve(tables, 6)
    kinds = [record.regret_kind for record in agent.history]
    assert set(kinds) == {"gaps", "policy"}
    for record, episode in zip(agent.history, env.episodes, strict=True):
        if record.regret_kind == "gaps":
            gaps = [best.V[h, s] - best.Q[h, s, a] for h, (s, a, _) in enumerate(episode)]
            assert record.regret == pytest.approx(sum(gaps), abs=1e-12)


@pytest.mark.parametrize("bonus", ["paper", "tight", "split", "nonnegative"])
def test_provable_modes_never_replan_inside_an_episode(bonus):
    agent = CMERL(river(), bonus=bonus).learn(5)
    assert {record.regret_kind for record in agent.history} == {"policy"}
    with pytest.raises(InputError, match="replan"):
        CMERL(river(), bonus=bonus, replan=True)


def test_regret_in_the_coordinates_of_a_smooth_world():
    env = Recorder(smooth_river())
    agent = CMERL(env, seed=0, replan=False)
    for _ in range(4):
        policy = agent.policy()
        played = np.array([[policy(obs, h) for obs in env.unwrapped.observations] for h in range(8)])
        agent.learn(1)
        expected = solve(env, 8).value(0) - evaluate(env, played, 8).value(0)
        assert agent.history[-1].regret == pytest.approx(expected, abs=1e-12)


def test_regret_where_only_some_actions_are_candidates():
    env = river()
    agent = CMERL(env, actions=[1], replan=False).learn(1)
    always_right = evaluate(env, np.ones((8, 5), dtype=int), 8).value(0)
    assert agent.history[0].regret == pytest.approx(solve(env, 8).value(0) - always_right)


class Unknown(gymnasium.Env):
    """Two states, no model to be seen; may end or be cut after ``length`` steps."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, length=None, cut=False):
        self.length, self.cut = length, cut

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return 0, {}

    def step(self, action):
        self.steps += 1
        over = self.steps == self.length
        return int(action), float(action), over and not self.cut, over and self.cut, {}


def test_without_a_model_there_is_no_regret():
    for agent in (CMERL(Unknown(), horizon=3), RandomAgent(Unknown(), horizon=3)):
        record = agent.learn(1).history[0]
        assert record.regret is None
        assert record.regret_kind is None


@pytest.mark.parametrize("cut", [False, True])
def test_episodes_may_be_shorter_than_the_horizon(cut):
    agent = CMERL(Unknown(2, cut), horizon=5, seed=0).learn(8)
    assert {record.length for record in agent.history} == {2}
    assert agent.embedding.n == 16
    # A cut state was not seen to end: with three steps left it may still be worth something.
    left = agent.q_values(1, 1)[1]
    assert left > 1.5 if cut else left == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize(
    "wrap",
    [
        gymnasium.wrappers.FlattenObservation,
        lambda env: gymnasium.wrappers.TransformReward(env, lambda r: 10 * r),
        lambda env: gymnasium.wrappers.TransformAction(env, lambda a: 1 - a, env.action_space),
    ],
)
def test_a_wrapper_that_changes_the_world_leaves_no_model_to_compare_with(wrap):
    record = CMERL(wrap(river()), horizon=8).learn(1).history[0]
    assert record.length == 8
    assert record.regret is None


# --- horizons and seeds ------------------------------------------------------------------------------------


def test_where_the_horizon_comes_from():
    assert CMERL(gymnasium.make("cmerl/RiverSwim-v0")).horizon == 20  # the world's own
    assert CMERL(gymnasium.make("cmerl/RiverSwim-v0", max_episode_steps=7)).horizon == 7
    assert CMERL(gymnasium.make("cmerl/RiverSwim-v0", max_episode_steps=7), horizon=5).horizon == 5
    assert CMERL(river(), horizon=np.int64(3)).horizon == 3


def test_no_horizon_is_an_error_that_asks_for_it():
    tables = random_mdp(3, 2, seed=0)
    for make in (CMERL, RandomAgent):
        with pytest.raises(InputError, match="horizon="):
            make(FiniteMDP(tables.P, tables.R))


@pytest.mark.parametrize("horizon", [0, -3, 2.5, "ten", True])
def test_a_wrong_horizon_is_refused(horizon):
    with pytest.raises(InputError, match="horizon"):
        CMERL(river(), horizon=horizon)


def test_a_time_limit_shorter_than_the_horizon_is_refused_with_both_ways_out():
    env = gymnasium.make("cmerl/RiverSwim-v0", max_episode_steps=7)
    with pytest.raises(InputError, match=r"horizon=7.*max_episode_steps=10"):
        CMERL(env, horizon=10)


@pytest.mark.parametrize("seed", [-1, 0.5, "x", None, True])
def test_a_wrong_seed_is_refused(seed):
    with pytest.raises(InputError, match="seed"):
        CMERL(river(), seed=seed)


def test_saving_into_a_directory_that_is_not_there_is_refused_and_nothing_is_lost(tmp_path):
    agent = CMERL(RiverSwim(), seed=0).learn(1)
    with pytest.raises(InputError, match=r"there is no directory .*nowhere' to save to"):
        agent.save(tmp_path / "nowhere" / "agent")
    agent.save(tmp_path / "agent")
    assert len(CMERL.load(tmp_path / "agent", env=RiverSwim()).history) == 1


@pytest.mark.parametrize("value", ["much", float("inf"), [1.0]])
def test_a_maximal_return_that_is_no_number_is_refused_by_its_name(value):
    with pytest.raises(InputError, match="max_return must be a finite number"):
        CMERL(RiverSwim(), max_return=value)


@pytest.mark.parametrize("step", [-1, 8, 100])
def test_a_step_outside_the_episode_is_refused(step):
    agent = CMERL(river())
    for ask in (agent.predict, agent.q_values):
        with pytest.raises(InputError, match="step"):
            ask(0, step)


@pytest.mark.parametrize("step", [-1, 8])
def test_so_is_one_that_a_policy_is_asked_for(step):
    with pytest.raises(InputError, match="step"):
        CMERL(river()).policy()(0, step)


# --- names -------------------------------------------------------------------------------------------------


def test_agents_by_name():
    names = cmerl.agents.names()
    assert {"cme-rl", "greedy", "random"} <= set(names)
    assert names == sorted(names)
    for name in ("cme-rl", "greedy", "random"):
        agent = cmerl.agents.make(name, river(), horizon=4, seed=3)
        assert isinstance(agent, Agent)
        assert (agent.name, agent.horizon, agent.seed) == (name, 4, 3)
        assert isinstance(agent.learn(1).history[0], EpisodeRecord)


def test_options_reach_the_agent():
    made = cmerl.agents.make("cme-rl", river(), seed=4, bonus="tight", lam=0.7).learn(3)
    assert_same(made, CMERL(river(), seed=4, bonus="tight", lam=0.7).learn(3))
    assert cmerl.agents.make("greedy", river(), lam=0.7).lam == 0.7


@pytest.mark.parametrize(
    ("name", "options", "hint"),
    [
        ("cme_rl", {}, "cme-rl"),
        ("greddy", {}, "greedy"),
        ("zzz", {}, "random"),  # nothing is near: all are named
        ("cme-rl", {"bonsu": "tight"}, "bonus"),
        ("cme-rl", {"lamda": 1.0}, "lam"),
        ("greedy", {"reward_rnge": (0, 1)}, "reward_range"),
        ("random", {"lam": 1.0}, "it has reward_range"),
        ("greedy", {"bonus": "tight"}, "lam"),  # greedy has no bonus to choose: what it has is named
    ],
)
def test_unknown_names_and_options_are_errors_with_a_suggestion(name, options, hint):
    with pytest.raises(InputError, match=hint):
        cmerl.agents.make(name, river(), **options)
