"""Looking ahead: sequences of actions that a model was asked about, and when that is done."""

from __future__ import annotations

import itertools

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.agents import lookahead
from cmerl.agents import model_selection as modelling
from cmerl.agents.lookahead import Lookahead
from cmerl.agents.model_selection import choose_planning, haste, simulate_ahead
from cmerl.confidence import FailureBudget, Greedy, Problem
from cmerl.embedding import DisplacementEmbedding
from cmerl.errors import InputError
from cmerl.kernels import Matern
from cmerl.planning import Plan, Task, make_plan
from cmerl.transitions import Transitions

ACTIONS = np.arange(2.0)[:, None]
HORIZON = 12


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
    budget = FailureBudget(0.5, learned_reward=True)
    problem = Problem(HORIZON, hi - lo, embedding.kernel, Matern(1.5, 0.1), None, budget)
    task = Task(problem, Greedy(), lo, discount=haste(HORIZON))
    return make_plan([embedding], task, episode=1, order=np.arange(2), first_step=first_step)


def step_by_step(embedding: DisplacementEmbedding, x: np.ndarray, which: list[int]) -> tuple[np.ndarray, list, bool]:
    dynamics, rewards, y, over = embedding.model.dynamics, [], x[None], False
    for action in which:
        y, r, ended = dynamics.step(y, embedding.model.actions[[action]])
        rewards.append(0.0 if over else float(r[0]))
        over = over or bool(ended[0])
    return y[0], rewards, over


@pytest.mark.parametrize("start", [(0.2, 0.3), (0.5, 0.9), (0.72, 0.93)])
def test_following_sequences_is_stepping_through_each(start: tuple[float, float]) -> None:
    embedding = learned()
    x = embedding.model.scaled(np.array(start))
    trials = np.random.default_rng(1).integers(0, 2, (6, 5))
    y, rewards, ended = embedding.model.dynamics.follow(x, trials, 1, 5)
    expected = [step_by_step(embedding, x, list(trial)) for trial in trials]
    np.testing.assert_allclose(y, [e[0] for e in expected], atol=1e-5)
    np.testing.assert_allclose(rewards.T, [e[1] for e in expected], atol=1e-5)
    np.testing.assert_array_equal(ended, [e[2] for e in expected])
    assert ended.any() == (start[1] >= 0.9)


def test_an_action_that_is_held_earns_what_it_does_in_the_middle() -> None:
    embedding = learned()
    x = embedding.model.scaled(np.array([0.2, 0.3]))
    y, rewards, _ = embedding.model.dynamics.follow(x, np.array([[1, 0, 1]]), 3, 8)  # the last is cut short
    last, stepwise, _ = step_by_step(embedding, x, [1, 1, 1, 0, 0, 0, 1, 1])
    np.testing.assert_allclose(y[0], last, atol=1e-5)
    np.testing.assert_allclose(rewards[:, 0], np.array(stepwise)[[1, 1, 1, 4, 4, 4, 7, 7]], atol=1e-5)


@pytest.mark.parametrize(("repeat", "first_step", "step", "until"), [(1, 0, 7, 7), (5, 0, 7, 5), (3, 2, 4, 5)])
def test_where_a_sequence_ends_is_worth_what_the_plan_says(
    repeat: int, first_step: int, step: int, until: int
) -> None:
    embedding = learned(repeat)
    plan = planned(embedding, first_step)
    values = Lookahead(plan, ())._values(embedding.model.landmarks, step)
    np.testing.assert_allclose(values, plan.value(embedding.support, until), atol=5e-3)


def test_the_best_of_all_sequences_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookahead, "HOLD", 1)
    monkeypatch.setattr(lookahead, "LENGTH", 4)
    embedding = learned()
    plan, discount = planned(embedding), haste(HORIZON)
    for start in ([0.3, 0.3], [0.8, 0.5], [0.6, 0.6], [0.4, 0.85]):
        state, ahead = np.array([start]), Lookahead(plan, (3,))
        worth: dict[tuple[int, ...], float] = {}
        for trial in itertools.product((0, 1), repeat=4):
            y, rewards, over = step_by_step(embedding, embedding.model.scaled(state)[0], list(trial))
            later = 0.0 if over else float(ahead._values(y[None], 6)[0])
            worth[trial] = sum(discount**t * r for t, r in enumerate(rewards)) + discount**4 * later
        best = max(worth.values())
        assert min(worth.values()) < best - 0.05
        trials, x = np.array(list(worth)), embedding.model.scaled(state)[0]
        np.testing.assert_allclose(ahead._worth(x, trials, 2), list(worth.values()), atol=1e-3)
        action = ahead.act(state, 2)
        assert ahead._best is not None
        assert ahead._best[0] == action
        assert worth[tuple(ahead._best.tolist())] > best - 0.01


def test_nothing_is_hoped_for_after_the_horizon() -> None:
    embedding = learned()
    plan, x = planned(embedding), embedding.model.scaled(np.array([0.2, 0.3]))
    trials = np.random.default_rng(0).integers(0, 2, (3, lookahead.LENGTH))
    _, rewards, _ = embedding.model.dynamics.follow(x, trials, lookahead.HOLD, 4)
    expected = haste(HORIZON) ** np.arange(4) @ rewards
    np.testing.assert_allclose(Lookahead(plan, ())._worth(x, trials, HORIZON - 4), expected)


def test_actions_are_held_between_decisions_and_a_search_goes_on_or_begins_anew() -> None:
    embedding = learned()
    ahead, asked = Lookahead(planned(embedding), (0,)), []
    better = ahead._better
    ahead._better = lambda x, trials, step: asked.append((step, tuple(trials[0]))) or better(x, trials, step)  # type: ignore[method-assign]
    state = np.array([[0.3, 0.3]])
    first = ahead.act(state, 0)
    found = ahead._best
    assert found is not None
    assert [step for step, _ in asked] == [0] * lookahead.FIRST_ROUNDS
    assert [ahead.act(state, 1), ahead.act(state, 2)] == [first, first]
    ahead.act(state, 3)
    assert asked[lookahead.FIRST_ROUNDS :] == [(3, (*found[1:], found[-1]))]
    ahead.act(state, 0)
    assert [step for step, _ in asked] == [0] * lookahead.FIRST_ROUNDS + [3] + [0] * lookahead.FIRST_ROUNDS
    assert ahead.act(state, 0) == first == Lookahead(planned(embedding), (0,)).act(state, 0)


def test_simulating_adds_up_what_is_earned_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = learned()
    monkeypatch.setattr(Lookahead, "act", lambda self, state, step: step % 2)
    for start in ([0.2, 0.3], [0.5, 0.9]):
        _, rewards, _ = step_by_step(embedding, embedding.model.scaled(np.array(start)), [0, 1] * 6)
        total = simulate_ahead(embedding, planned(embedding), np.array([start]), HORIZON)
        assert total == pytest.approx(sum(rewards))


@pytest.mark.parametrize(
    ("already", "gain", "expected"),
    [(False, 0.06, True), (False, 0.04, False), (True, 0.01, True), (True, -0.01, False)],
)
def test_looking_ahead_must_do_clearly_better_to_begin_and_better_to_go_on(
    already: bool, gain: float, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedding = learned()
    embedding.looks_ahead = already
    lo, hi = embedding.reward_range
    span = HORIZON * (hi - lo)
    monkeypatch.setattr(modelling, "simulate", lambda *_: np.tile([-5.0, -9.0], (4, 1)))
    monkeypatch.setattr(modelling, "simulate_ahead", lambda *_: -9.0 + gain * span)
    assert choose_planning(embedding, HORIZON, np.full((2, 2), 0.5), Matern(1.5, 0.1)) == (5, expected)


def test_where_nothing_can_do_better_looking_ahead_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = learned()
    monkeypatch.setattr(modelling, "simulate", lambda *_: np.full((4, 1), HORIZON * embedding.reward_range[1]))
    monkeypatch.setattr(modelling, "simulate_ahead", lambda *_: pytest.fail("tried"))
    assert choose_planning(embedding, HORIZON, np.full((1, 2), 0.5), Matern(1.5, 0.1)) == (5, False)


def pendulum(**options) -> CMERL:
    env = gymnasium.make("Pendulum-v1", max_episode_steps=25)
    return CMERL(env, seed=0, model="displacement", **options)


@pytest.mark.parametrize("keep", [20_000, 60])
def test_an_agent_that_looks_ahead_goes_on_bit_for_bit_after_loading(keep: int, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(modelling, "WORTH_IT", -1e9)
    monkeypatch.setattr("cmerl.agents.transition_store.KEEP", keep)  # from then on the log is dropped
    agent = pendulum().learn(3)
    assert agent.diagnostics()["looks ahead"]
    assert agent.policy().ahead is not None
    agent.save(tmp_path / "agent.cmerl")
    other = CMERL.load(tmp_path / "agent.cmerl", env=gymnasium.make("Pendulum-v1", max_episode_steps=25))
    assert [r.ret for r in other.learn(2).history] == [r.ret for r in agent.learn(2).history]


def test_looking_at_a_policy_does_not_change_the_course(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modelling, "WORTH_IT", -1e9)
    watched, alone = pendulum(), pendulum().learn(4)
    for _ in range(4):
        policy = watched.learn(1).policy()
        policy(np.array([1.0, 0.0, 0.0]), 0)
    assert [r.ret for r in watched.history] == [r.ret for r in alone.history]


def test_a_plan_alone_decides_where_looking_ahead_was_not_found_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modelling, "WORTH_IT", 1e9)
    agent = pendulum().learn(2)
    assert not agent.diagnostics()["looks ahead"]
    assert agent.policy().ahead is None


def test_in_a_known_world_looking_ahead_is_judged_by_what_it_played_and_has_no_table(monkeypatch) -> None:
    monkeypatch.setattr("cmerl.agents.transition_store.choose_planning", lambda *_: (1, True))
    env = gymnasium.make("cmerl/GridWorld-v0", coordinates=True)
    agent = CMERL(env, seed=0, model="displacement", replan=False).learn(3)
    assert [r.regret_kind for r in agent.history] == ["policy", "gaps", "gaps"]
    with pytest.raises(InputError, match="looks ahead"):
        agent.policy().table(env.unwrapped.observations)


def test_what_was_saved_before_there_was_a_lookahead_is_read() -> None:
    embedding = learned(3)
    embedding.looks_ahead = True
    arrays = embedding.arrays()
    again = DisplacementEmbedding(ACTIONS, categorical=True)
    again.restore(arrays)
    assert (again.repeat, again.looks_ahead) == (3, True)
    again.restore({**arrays, "counts": arrays["counts"][:4]})
    assert (again.repeat, again.looks_ahead) == (3, False)


def test_values_may_be_coarser_where_they_only_tell_what_comes_after_a_search() -> None:
    data = walk(900)
    sizes = []
    for ahead in (False, True):
        embedding = DisplacementEmbedding(ACTIONS, categorical=True)
        embedding.looks_ahead = ahead
        embedding.update(data)
        sizes.append(len(embedding.support))
    assert sizes == [600, 300]


def test_a_single_state_action_is_as_new_as_it_is_among_all() -> None:
    embedding = learned(3)
    state = np.array([[0.95, 0.05]])
    alone = embedding.std(np.hstack([state, [[1.0]]]))
    embedding.model.grid(state)
    np.testing.assert_allclose(alone, embedding.std(np.hstack([state, [[1.0]]])), rtol=1e-5)
    assert alone[0] > 0.01


def test_a_pole_is_swung_up_within_a_few_episodes() -> None:
    agent = CMERL(gymnasium.make("cmerl/CartPoleSwingUp-v0"), seed=0, reward_range=(0.0, 1.0)).learn(7)
    assert agent.diagnostics()["looks ahead"]
    assert max(r.ret for r in agent.history) > 80.0  # a plan alone reaches about 50
