"""What all agents promise: seeds, history, horizons, callbacks, and names."""

import gymnasium
import numpy as np
import pytest
from agent_runs import assert_same, every_agent
from small_worlds import Recorder, Unknown, river, smooth_river

import cmerl.agents
from cmerl import CMERL
from cmerl.agents import Agent, EpisodeRecord, RandomAgent
from cmerl.envs import FiniteMDP, RiverSwim, random_mdp
from cmerl.errors import InputError

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


# --- episodes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bonus", ["paper", "tight", "split", "nonnegative"])
def test_provable_modes_never_replan_inside_an_episode(bonus):
    agent = CMERL(river(), bonus=bonus).learn(5)
    assert {record.regret_kind for record in agent.history} == {"policy"}
    with pytest.raises(InputError, match="replan"):
        CMERL(river(), bonus=bonus, replan=True)


@pytest.mark.parametrize("cut", [False, True])
def test_episodes_may_be_shorter_than_the_horizon(cut):
    agent = CMERL(Unknown(2, cut), horizon=5, seed=0).learn(8)
    assert {record.length for record in agent.history} == {2}
    assert agent.embedding.n == 16
    # A cut state was not seen to end: with three steps left it may still be worth something.
    left = agent.q_values(1, 1)[1]
    assert left > 1.5 if cut else left == pytest.approx(1.0, abs=0.3)


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
