"""Model-predictive control: what sequences are worth, which value ends them, and agents that search."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.acting import MPC, ExplorationBudget
from cmerl.acting.terminal_value import TerminalSettings
from cmerl.agents import Settings
from cmerl.confidence import FailureBudget, Greedy, Problem
from cmerl.embedding import DisplacementEmbedding
from cmerl.errors import InputError
from cmerl.exploration import Allowance
from cmerl.kernels import Matern
from cmerl.model_selection import Choice, Selection
from cmerl.planning import Plan, Task, make_plan
from cmerl.searching.icem import Search
from cmerl.transitions import Transitions

ACTIONS = np.arange(2.0)[:, None]
DISCOUNT = TerminalSettings().discount(12)


def learned() -> DisplacementEmbedding:
    """A walk in a square that costs least far right, and ends above 0.95."""
    rng = np.random.default_rng(0)
    states, actions = rng.random((200, 2)), rng.integers(2, size=(200, 1))
    nexts = states + np.hstack([0.1 * actions - 0.05, 0.08 * np.sin(4.0 * states[:, :1])])
    rewards = np.sin(1.5 * states[:, 0]) - 1.5
    embedding = DisplacementEmbedding(ACTIONS, categorical=True)
    embedding.update(Transitions.of(np.hstack([states, actions]), nexts, rewards, nexts[:, 1] > 0.95))
    return embedding


def planned(embedding: DisplacementEmbedding, horizon: int = 12) -> Plan:
    lo, hi = embedding.reward_range
    kernel = Matern(1.5, 0.1)
    problem = Problem(horizon, hi - lo, kernel, kernel, None, FailureBudget(0.5, learned_reward=True))
    return make_plan([embedding], Task(problem, Greedy(), lo), episode=1, order=np.arange(2))


def worth(embedding: DisplacementEmbedding, plan: Plan, start: np.ndarray, which: tuple[int, ...]) -> float:
    """What a sequence earns step by step, and V of the plan where it leads."""
    state, total = start, 0.0
    for t, action in enumerate(which):
        state, reward, ended = embedding.step(state, np.array([action]))
        total += DISCOUNT**t * float(reward[0])
        if ended[0]:
            return total
    return total + DISCOUNT ** len(which) * float(plan.value(state, len(which))[0])


def test_the_best_of_all_sequences_is_found_with_the_value_of_the_plan() -> None:
    embedding = learned()
    plan, settled = planned(embedding), 0
    mpc = MPC(depth=4, value="plan", search=Search(first_rounds=8, colour=0.0))
    for start in np.random.default_rng(0).uniform([0.1, 0.2], [0.9, 0.9], (12, 2)):
        found = {w: worth(embedding, plan, start[None], w) for w in itertools.product((0, 1), repeat=4)}
        by_first = [max(value for which, value in found.items() if which[0] == a) for a in (0, 1)]
        if abs(by_first[0] - by_first[1]) > 0.02:  # interpolation in single precision aside
            actor = mpc.begin_episode(plan, ACTIONS, (3,))
            np.testing.assert_array_equal(actor.act(start[None], 0), ACTIONS[int(np.argmax(by_first))])
            settled += 1
    assert settled > 4


def test_nothing_is_counted_after_the_horizon() -> None:
    embedding = learned()
    plan, start = planned(embedding), np.array([[0.3, 0.3]])
    actor = MPC(depth=4).begin_episode(plan, ACTIONS, ())
    x = embedding.view.scaled(start).astype(np.float32)
    sequences = np.eye(2, dtype=np.float32)[np.array([[[1, 0, 1, 1], [1, 0, 0, 0]]])]
    scores, _ = actor.score(x, 10)(sequences)
    assert scores[0, 0] == pytest.approx(scores[0, 1])  # two steps are left, in which they do the same
    earned = worth(embedding, plan, start, (1, 0)) - DISCOUNT**2 * _value_after(embedding, plan, start)
    assert scores[0, 0] == pytest.approx(earned, abs=1e-3)


def _value_after(embedding: DisplacementEmbedding, plan: Plan, start: np.ndarray) -> float:
    state = start
    for action in (1, 0):
        state, *_ = embedding.step(state, np.array([action]))
    return float(plan.value(state, 2)[0])


def test_a_search_is_played_for_some_steps_and_goes_on_or_begins_anew() -> None:
    plan, state = planned(learned()), np.array([[0.3, 0.3]])
    one, other = (MPC(depth=4, every=2).begin_episode(plan, ACTIONS, (0,)) for _ in range(2))
    played = [one.act(state, step) for step in range(5)]
    np.testing.assert_array_equal(played, [other.act(state, step) for step in range(5)])
    np.testing.assert_array_equal(one.act(state, 0), played[0])  # another step than the next one begins anew


def test_what_was_expected_is_recognised() -> None:
    embedding = learned()
    actor, state = MPC(depth=4).begin_episode(planned(embedding), ACTIONS, (0,)), np.array([[0.3, 0.3]])
    assert not actor.expects(state, 0)
    action = actor.act(state, 0)
    after, *_ = embedding.step(state, np.array([int(action[0])]))
    assert actor.expects(after, 1)
    assert not actor.expects(after, 2)
    assert not actor.expects(after + 0.5, 1)


def test_a_deadline_that_has_passed_leaves_the_plan() -> None:
    plan, state = planned(learned()), np.array([[0.4, 0.5]])
    actor = MPC(depth=4).begin_episode(plan, ACTIONS, (3,))
    past = time.perf_counter() - 1.0
    np.testing.assert_array_equal(actor.act(state, 2, deadline=past), ACTIONS[plan.act(state, 2)[0]])


def test_hope_is_that_of_the_plan_and_is_paid_for() -> None:
    embedding = learned()
    greedy, state = planned(embedding), np.array([[0.4, 0.5]])
    allowance = Allowance(0.05)
    hopeful = replace(greedy, stages=greedy.stages)
    actor = MPC(depth=4, value="plan").begin_episode(hopeful, ACTIONS, (3,), ExplorationBudget(allowance, greedy))
    for step in range(0, 8, 2):
        actor.act(state, step)
    assert allowance.promise is not None
    assert 0.0 <= allowance.spent <= 0.05
    assert allowance.left == pytest.approx(0.05 - allowance.spent)


# --- in the agent ---


def pendulum(**options: Any) -> CMERL:
    env = gymnasium.make("Pendulum-v1", max_episode_steps=25)
    return CMERL(env, seed=0, model="displacement", **options)


@pytest.fixture
def searching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every displacement is played by a search, whatever simulation says."""

    def choose(model: Any, horizon: int, starts: Any, value_kernel: Any, settings: Selection, *_: Any) -> Choice:
        return Choice(model, settings.search, {"action repeat": "1"}, -100.0, True)

    monkeypatch.setattr("cmerl.model_selection.selector.choose_actor", choose)


@pytest.mark.usefixtures("searching")
@pytest.mark.parametrize("keep", [20_000, 60])
def test_an_agent_that_searches_goes_on_bit_for_bit_after_loading(keep: int, tmp_path: Any) -> None:
    agent = pendulum(settings=Settings(keep=keep)).learn(3)  # from then on the log is dropped
    assert agent.policy().searches
    agent.save(tmp_path / "agent.cmerl")
    other = CMERL.load(tmp_path / "agent.cmerl", env=gymnasium.make("Pendulum-v1", max_episode_steps=25))
    assert other.policy().searches
    assert other.explorer.account == agent.explorer.account
    kept, again = agent.model.choice.kept, other.model.choice.kept
    assert kept is not None
    assert again is not None
    np.testing.assert_array_equal(again.value.coef, kept.value.coef)
    assert [r.ret for r in other.learn(2).history] == [r.ret for r in agent.learn(2).history]
    assert other.history[-1].metrics["exploration_cost"] == agent.history[-1].metrics["exploration_cost"]


@pytest.mark.usefixtures("searching")
def test_looking_at_a_policy_does_not_change_the_course() -> None:
    watched, alone = pendulum(), pendulum().learn(3)
    for _ in range(3):
        policy = watched.learn(1).policy()
        policy(np.array([1.0, 0.0, 0.0]), 0)
    assert [r.ret for r in watched.history] == [r.ret for r in alone.history]


@pytest.mark.usefixtures("searching")
def test_a_policy_that_searches_does_not_depend_on_what_was_asked_before() -> None:
    agent = pendulum().learn(2)
    up, down = np.array([1.0, 0.0, 0.0]), np.array([-1.0, 0.0, 0.5])
    asked = [(up, 0), (down, 3), (up, 5), (down, 0)]
    fresh = [agent.policy()(obs, step) for obs, step in asked]
    policy = agent.policy()
    np.testing.assert_array_equal([policy(obs, step) for obs, step in asked], fresh)
    np.testing.assert_array_equal([policy(obs, step) for obs, step in reversed(asked)], fresh[::-1])
    agent.learn(1)
    np.testing.assert_array_equal([policy(obs, step) for obs, step in asked], fresh)  # whatever was learned since


@pytest.mark.usefixtures("searching")
def test_an_episode_begins_with_what_predict_says_and_its_record_tells_what_exploring_cost() -> None:
    agent = pendulum().learn(1)
    for _ in range(2):
        agent.predict(np.array([1.0, 0.0, 0.0]), 7)  # whatever was asked before
        policy = agent.policy()
        agent.learn(1)
        played = agent.lesson()
        np.testing.assert_array_equal(policy(played["observations"][0], 0), played["actions"][0])
        metrics = agent.history[-1].metrics
        assert metrics["exploration_cost"] >= 0.0
        assert np.isfinite(metrics["promised"])
    assert agent.explorer.account.spent == pytest.approx(
        sum(r.metrics.get("exploration_cost", 0) for r in agent.history)
    )
    assert "has cost" in agent.diagnostics()["exploration"]


@pytest.mark.usefixtures("searching")
def test_in_a_known_world_a_search_is_judged_by_what_it_played_and_has_no_table() -> None:
    env = gymnasium.make("cmerl/GridWorld-v0", coordinates=True)
    agent = CMERL(env, seed=0, model="displacement", actor=MPC(depth=4), replan=False).learn(3)
    assert [r.regret_kind for r in agent.history] == ["policy", "gaps", "gaps"]
    with pytest.raises(InputError, match="searches"):
        agent.policy().table(env.unwrapped.observations)


@pytest.mark.slow
def test_a_pole_is_swung_up_within_a_few_episodes() -> None:
    agent = CMERL(gymnasium.make("cmerl/CartPoleSwingUp-v0"), seed=0)
    while len(agent.history) < 8 and max((r.ret for r in agent.history), default=0.0) <= 80.0:
        agent.learn(1)
    assert agent.policy().searches
    assert max(r.ret for r in agent.history) > 80.0  # a plan alone reaches about 50


@pytest.mark.parametrize(("every", "depth"), [(0, 8), (2, 1), (1, 0)])
def test_a_search_that_looks_less_far_than_it_is_played_is_refused(every: int, depth: int) -> None:
    with pytest.raises(InputError, match=f"every={every}, depth={depth}"):
        MPC(every=every, depth=depth)
