"""Searching by simulation: which sequences are tried, what they are worth, and when the agent searches."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.acting import Shooting
from cmerl.agents import Settings
from cmerl.confidence import FailureBudget, Greedy, Problem
from cmerl.embedding import DisplacementEmbedding, SimulatingView
from cmerl.errors import InputError
from cmerl.kernels import Matern
from cmerl.model_selection import Choice, Selection, planning_discount
from cmerl.planning import Plan, Task, make_plan
from cmerl.transitions import Transitions

ACTIONS = np.arange(2.0)[:, None]
HORIZON = 12
DISCOUNT = planning_discount(HORIZON, Selection())


def walk(n: int = 200, seed: int = 0) -> Transitions:
    """A walk in a square that costs least far right, and ends above 0.95."""
    rng = np.random.default_rng(seed)
    states, actions = rng.random((n, 2)), rng.integers(2, size=(n, 1))
    push = np.hstack([0.1 * actions - 0.05, 0.08 * np.sin(4.0 * states[:, :1])])
    nexts = states + push
    return Transitions.of(np.hstack([states, actions]), nexts, np.sin(1.5 * states[:, 0]) - 1.5, nexts[:, 1] > 0.95)


def learned(repeat: int = 1) -> DisplacementEmbedding:
    embedding = DisplacementEmbedding(ACTIONS, categorical=True)
    embedding.update(walk())
    return embedding.with_repeat(repeat)


def planned(embedding: DisplacementEmbedding, first_step: int = 0) -> Plan:
    lo, hi = embedding.reward_range
    kernel = Matern(1.5, 0.1)
    problem = Problem(HORIZON, hi - lo, kernel, kernel, None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, Greedy(), lo, discount=DISCOUNT)
    return make_plan([embedding], task, episode=1, order=np.arange(2), first_step=first_step)


def worth(
    embedding: DisplacementEmbedding, plan: Plan, start: np.ndarray, which: tuple[int, ...], until: int
) -> float:
    """What a sequence earns step by step, and V of the plan at step ``until`` where it leads."""
    state, total, over = start, 0.0, False
    for t, action in enumerate(which):
        state, reward, ended = embedding.step(state, np.array([action]))
        total += DISCOUNT**t * float(reward[0])
        over = bool(ended[0])
        if over:
            return total
    return total + DISCOUNT ** len(which) * float(plan.value(state, until)[0])


@pytest.mark.parametrize(
    ("repeat", "first_step", "step", "until"),
    [(1, 0, 2, 6), (5, 0, 3, 5), (3, 2, 2, 5)],
    ids=["as it is", "held for five", "a later plan"],
)
def test_the_best_of_all_sequences_is_found(repeat: int, first_step: int, step: int, until: int) -> None:
    embedding = learned(repeat)
    plan, settled = planned(embedding, first_step), 0
    for start in np.random.default_rng(0).uniform([0.1, 0.2], [0.9, 0.9], (25, 2)):
        found = {w: worth(embedding, plan, start[None], w, until) for w in itertools.product((0, 1), repeat=4)}
        by_first = [max(value for which, value in found.items() if which[0] == a) for a in (0, 1)]
        if abs(by_first[0] - by_first[1]) > 0.02:  # interpolation in single precision aside
            actor = Shooting(hold=1, length=4).begin_episode(plan, ACTIONS, (3,))
            np.testing.assert_array_equal(actor.act(start[None], step), ACTIONS[int(np.argmax(by_first))])
            settled += 1
    assert settled > 10


class Watched:
    """A view that takes down which sequences it was asked to follow, and what they earned."""

    def __init__(self, view: SimulatingView) -> None:
        self.view, self.asked, self.valued = view, [], 0

    def grid(self, states: Any) -> Any:
        return self.view.grid(states)

    def follow(self, state: Any, which: Any, hold: int, steps: int) -> Any:
        found = self.view.follow(state, which, hold, steps)
        self.asked.append((HORIZON - steps, which, DISCOUNT ** np.arange(steps) @ found[1]))
        return found

    def value(self, coef: Any, there: Any) -> Any:
        self.valued += 1
        return self.view.value(coef, there)

    def scaled(self, states: Any) -> Any:
        return self.view.scaled(states)


def test_actions_are_held_between_decisions_and_a_search_goes_on_or_begins_anew() -> None:
    plan, settings = planned(learned()), Shooting()
    view = Watched(plan.views[0])
    actor = settings.begin_episode(replace(plan, views=[view]), ACTIONS, (0,))
    state = np.array([[0.3, 0.3]])
    first = actor.choose(state, 0)
    assert [step for step, *_ in view.asked] == [0] * settings.first_rounds
    _, trials, earned = view.asked[-1]
    found = trials[int(np.argmax(earned))]
    assert found[0] == first
    assert trials.shape == (settings.trials, settings.length)
    assert [actor.choose(state, 1), actor.choose(state, 2)] == [first, first]
    assert len(view.asked) == settings.first_rounds
    actor.choose(state, 3)
    step, trials, _ = view.asked[-1]
    assert (len(view.asked), step) == (settings.first_rounds + 1, 3)
    assert tuple(trials[0]) == (*found[1:], found[-1])  # it goes on from what was best
    assert actor.choose(state, 0) == first  # another step than the next one begins anew
    assert len(view.asked) == 2 * settings.first_rounds + 1
    assert settings.begin_episode(plan, ACTIONS, (0,)).choose(state, 0) == first


def test_nothing_is_counted_after_the_horizon_and_v_before_it() -> None:
    plan, state = planned(learned()), np.array([[0.2, 0.3]])
    view = Watched(plan.views[0])
    actor = Shooting(first_rounds=1).begin_episode(replace(plan, views=[view]), ACTIONS, (1,))
    chosen = actor.choose(state, HORIZON - 4)
    ((_, trials, earned),) = view.asked
    assert view.valued == 0
    assert chosen == trials[int(np.argmax(earned))][0]
    Shooting(length=3).begin_episode(replace(plan, views=[view]), ACTIONS, (1,)).choose(state, 0)
    assert view.valued == Shooting().first_rounds


class Crossroads(Watched):
    """Nothing is earned and nothing is worth more than the least; the second action ends the episode."""

    def follow(self, state: Any, which: Any, hold: int, steps: int) -> Any:
        return np.zeros((len(which), 2)), np.zeros((steps, len(which))), which[:, 0] == 1

    def value(self, coef: Any, there: Any) -> Any:
        return np.zeros(len(there))


def test_after_an_end_nothing_is_earned_and_nothing_lost() -> None:
    plan, state = planned(learned()), np.array([[0.9, 0.2]])
    assert plan.task.r_min < 0.0
    actor = Shooting(length=2).begin_episode(replace(plan, views=[Crossroads(plan.views[0])]), ACTIONS, (1,))
    assert (plan.act(state, 0)[0], actor.choose(state, 0)) == (0, 1)


def test_trials_differ_from_the_best_in_the_shares_that_are_set() -> None:
    plan, state = planned(learned()), np.array([[0.3, 0.3]])
    for shares, mean in (((0.0,), 0.0), ((1.0,), 0.5), ((0.2, 0.6), 0.2)):  # half of what is drawn anew is the same
        view = Watched(plan.views[0])
        settings = Shooting(shares=shares, trials=2000, first_rounds=1)
        settings.begin_episode(replace(plan, views=[view]), ACTIONS, (2,)).choose(state, 0)
        trials = view.asked[0][1]
        assert (trials[1:] != trials[0]).mean() == pytest.approx(mean, abs=0.02)


# --- in the agent ---


def pendulum(**options: Any) -> CMERL:
    env = gymnasium.make("Pendulum-v1", max_episode_steps=25)
    return CMERL(env, seed=0, model="displacement", **options)


@pytest.fixture
def searching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every displacement is played by a search, whatever simulation says."""

    def choose(
        model: Any, horizon: int, starts: Any, value_kernel: Any, settings: Selection, now: Any = None
    ) -> Choice:
        return Choice(model.with_landmarks(settings.shooting.landmarks), settings.shooting, {})

    monkeypatch.setattr("cmerl.agents.cme_rl.transition_store.choose_actor", choose)


@pytest.mark.usefixtures("searching")
@pytest.mark.parametrize("keep", [20_000, 60])
def test_an_agent_that_searches_goes_on_bit_for_bit_after_loading(keep: int, tmp_path: Any) -> None:
    agent = pendulum(settings=Settings(keep=keep)).learn(3)  # from then on the log is dropped
    assert agent.policy().searches
    agent.save(tmp_path / "agent.cmerl")
    other = CMERL.load(tmp_path / "agent.cmerl", env=gymnasium.make("Pendulum-v1", max_episode_steps=25))
    assert other.policy().searches
    assert [r.ret for r in other.learn(2).history] == [r.ret for r in agent.learn(2).history]


@pytest.mark.usefixtures("searching")
def test_looking_at_a_policy_does_not_change_the_course() -> None:
    watched, alone = pendulum(), pendulum().learn(4)
    for _ in range(4):
        policy = watched.learn(1).policy()
        policy(np.array([1.0, 0.0, 0.0]), 0)
    assert [r.ret for r in watched.history] == [r.ret for r in alone.history]


@pytest.mark.usefixtures("searching")
def test_a_policy_that_searches_does_not_depend_on_what_was_asked_before() -> None:
    agent = pendulum().learn(2)
    up, down = np.array([1.0, 0.0, 0.0]), np.array([-1.0, 0.0, 0.5])
    asked = [(up, 0), (up, 1), (down, 3), (up, 4), (down, 0)]
    fresh = [agent.policy()(obs, step) for obs, step in asked]
    policy = agent.policy()
    np.testing.assert_array_equal([policy(obs, step) for obs, step in asked], fresh)
    np.testing.assert_array_equal([policy(obs, step) for obs, step in reversed(asked)], fresh[::-1])
    np.testing.assert_array_equal([agent.predict(obs, step) for obs, step in asked], fresh)
    episode = policy.begin_episode()
    held = [episode(up, step) for step in range(3)]
    np.testing.assert_array_equal(held, [fresh[0]] * 3)  # an episode does remember


@pytest.mark.usefixtures("searching")
def test_an_episode_begins_with_what_predict_says() -> None:
    agent = pendulum()
    for _ in range(4):
        agent.predict(np.array([1.0, 0.0, 0.0]), 7)  # whatever was asked before
        policy = agent.policy()
        agent.learn(1)
        played = agent.lesson()
        np.testing.assert_array_equal(policy(played["observations"][0], 0), played["actions"][0])


def test_a_plan_alone_decides_where_a_search_was_not_found_better() -> None:
    assert not pendulum(settings=Settings(selection=Selection(worth_a_search=1e9))).learn(2).policy().searches


@pytest.mark.usefixtures("searching")
def test_in_a_known_world_a_search_is_judged_by_what_it_played_and_has_no_table() -> None:
    env = gymnasium.make("cmerl/GridWorld-v0", coordinates=True)
    agent = CMERL(env, seed=0, model="displacement", replan=False).learn(3)
    assert [r.regret_kind for r in agent.history] == ["policy", "gaps", "gaps"]
    with pytest.raises(InputError, match="searches"):
        agent.policy().table(env.unwrapped.observations)


@pytest.mark.slow
def test_a_pole_is_swung_up_within_a_few_episodes() -> None:
    agent = CMERL(gymnasium.make("cmerl/CartPoleSwingUp-v0"), seed=0, reward_range=(0.0, 1.0)).learn(7)
    assert agent.policy().searches
    assert max(r.ret for r in agent.history) > 80.0  # a plan alone reaches about 50


def test_a_deadline_that_has_passed_leaves_the_plan() -> None:
    embedding = learned()
    plan, start = planned(embedding), np.array([[0.4, 0.5]])
    actor = Shooting(hold=1, length=4).begin_episode(plan, ACTIONS, (3,))
    np.testing.assert_array_equal(actor.act(start, 2, deadline=0.0), ACTIONS[plan.act(start, 2)[0]])


def test_a_deadline_far_away_changes_nothing() -> None:
    plan = planned(learned())
    starts = np.random.default_rng(1).uniform([0.1, 0.2], [0.9, 0.9], (10, 1, 2))
    for start in starts:
        free, timed = (Shooting(hold=2, length=4).begin_episode(plan, ACTIONS, (3,)) for _ in range(2))
        for step in range(4):
            np.testing.assert_array_equal(timed.act(start, step, deadline=np.inf), free.act(start, step))


def seen(agent: CMERL) -> list[Any]:
    """Observations of an episode that the agent's plan would play."""
    env, play = pendulum().env, agent.policy().begin_episode()
    path = [env.reset(seed=5)[0]]
    for step in range(12):
        path.append(env.step(play(path[-1], step))[0])
    return path[:-1]


@pytest.mark.usefixtures("searching")
def test_a_search_goes_on_from_step_to_step_as_in_an_episode() -> None:
    agent = pendulum().learn(2)
    lesson: list[Any] = []
    policy = agent.policy()
    agent.learn(1, callback=lambda agent, record: lesson.append(agent.lesson()))
    played = lesson[0]["actions"]
    assert policy.searches
    for _ in range(2):  # from step 0 on it begins anew
        found = [policy(obs, step) for step, obs in enumerate(lesson[0]["observations"][:-1])]
        np.testing.assert_array_equal(found, played)


@pytest.mark.usefixtures("searching")
def test_predict_keeps_its_search_and_answers_the_same_question_alike() -> None:
    agent = pendulum().learn(2)
    path = seen(agent)
    policy = agent.policy().begin_episode()
    for step, obs in enumerate(path):
        action = policy(obs, step)
        assert agent.predict(obs, step) == action
        assert agent.predict(obs, step) == action
    assert agent.predict(path[0], 5) == agent.policy()(path[0], 5)  # any other step begins anew


@pytest.mark.usefixtures("searching")
def test_threads_that_share_a_policy_search_for_themselves() -> None:
    agent = pendulum().learn(2)
    policy, path = agent.policy(), seen(agent)[:6]
    alone = [policy(obs, step) for step, obs in enumerate(path)]
    found: list[Any] = []

    def ask() -> None:
        found.extend(policy(obs, step) for step, obs in enumerate(path))

    policy(path[0], 0)  # this thread is on its way, too
    worker = threading.Thread(target=ask)
    worker.start()
    worker.join()
    assert found == alone
