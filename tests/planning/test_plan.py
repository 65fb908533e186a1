"""Plans: tables, the best action, and how ties are broken."""

import numpy as np
import pytest

from cmerl.confidence import FailureBudget, Paper, Practical, Problem, Tight
from cmerl.embedding import ExactEmbedding
from cmerl.kernels import Delta, StateAction
from cmerl.planning import Task, make_plan
from cmerl.transitions import Transitions


@pytest.mark.parametrize("homogeneous", [True, False])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("mode", [Paper(), Tight()])
def test_tables_have_at_every_step_what_is_asked_for_step_by_step(mode, sign, homogeneous):
    rng, states = np.random.default_rng(0), np.arange(4.0)[:, None]
    kernel, actions = StateAction(Delta(), Delta()), np.arange(2.0)[:, None]
    problem = Problem(3, 1.0, kernel, Delta(), (4, 2), FailureBudget(0.1, learned_reward=True))
    embeddings = []
    for _ in range(1 if homogeneous else 3):
        embedding = ExactEmbedding(kernel, 1.0, actions)
        Z = np.column_stack([rng.integers(4, size=50), rng.integers(2, size=50)])
        embedding.update(Transitions.of(Z.astype(float), rng.integers(4, size=(50, 1)).astype(float), rng.random(50)))
        embeddings.append(embedding)
    plan = make_plan(embeddings, Task(problem, mode, 0.0), episode=1, order=np.arange(2), sign=sign)
    np.testing.assert_array_equal(plan.table(states), [plan.act(states, step) for step in range(3)])
    np.testing.assert_allclose(plan.q_table(states), [plan.q(states, step) for step in range(3)])
    np.testing.assert_allclose(plan.value_table(states), [plan.value(states, step) for step in range(3)])
    assert plan.value_table(states).min() >= 0.0


@pytest.mark.parametrize("homogeneous", [True, False])
def test_where_states_are_finitely_many_what_was_asked_before_changes_no_answer(homogeneous):
    rng, states = np.random.default_rng(1), np.arange(4.0)[:, None]
    kernel, actions = StateAction(Delta(), Delta()), np.arange(2.0)[:, None]
    problem = Problem(3, 1.0, kernel, Delta(), (4, 2), FailureBudget(0.1, learned_reward=True))
    embeddings = [ExactEmbedding(kernel, 1.0, actions) for _ in range(1 if homogeneous else 3)]
    for embedding in embeddings:
        Z = np.column_stack([rng.integers(4, size=9), rng.integers(2, size=9)]).astype(float)
        embedding.update(Transitions.of(Z, rng.integers(4, size=(9, 1)).astype(float), rng.random(9)))
    tasks = [Task(problem, Practical(), 0.0, states=known) for known in (states, None)]
    kept, fresh = (make_plan(embeddings, task, episode=1, order=np.arange(2)) for task in tasks)
    for step in (0, 2, 1, 0, 1):
        for rows in (states, states[[1]], states[[3]], states[[1]]):
            np.testing.assert_array_equal(kept.act(rows, step), fresh.act(rows, step))
    np.testing.assert_array_equal(kept.q_table(states), fresh.q_table(states))
    later = kept.with_order(np.array([1, 0]), kept.task, episode=2)
    np.testing.assert_array_equal(later.q_table(states), fresh.q_table(states))
    tied = make_plan([ExactEmbedding(kernel, 1.0, actions)], tasks[0], episode=1, order=np.arange(2))
    turned = tied.with_order(np.array([1, 0]), tied.task, episode=2)
    assert (tied.act(states[[0]], 0)[0], turned.act(states[[0]], 0)[0], turned.episode) == (0, 1, 2)


def tabular_plan(order, visits, *, mode=None, horizon=3, rewards=None, actions=3, first_step=0, width=1.0):
    """A plan with delta kernels and a known reward, on a one-state world visited by the given actions."""
    rows = np.arange(actions, dtype=float)[:, None]
    embedding = ExactEmbedding(StateAction(Delta(), Delta()), 1.0, rows)
    if visits:
        embedding.update(Transitions.of([[0.0, a] for a in visits], np.zeros((len(visits), 1))))
    problem = Problem(
        horizon=horizon,
        width=width,
        kernel=embedding.kernel,
        value_kernel=Delta(),
        tabular=(1, actions),
        budget=FailureBudget(0.1, learned_reward=False),
    )
    R = np.zeros(actions) if rewards is None else np.asarray(rewards)
    task = Task(problem, mode or Tight(), r_min=0.0, known_reward=lambda X: np.tile(R, (len(X), 1)))
    return make_plan([embedding], task, episode=1, order=np.asarray(order), first_step=first_step)


STATE = np.zeros((1, 1))


def test_actions_are_compared_before_clipping():
    """All three are worth more than can be left; the one that was tried least is still the best."""
    plan = tabular_plan([0, 1, 2], [0] * 3 + [1] * 2 + [2])
    assert np.all(plan.q(STATE, 0) > 3.0)
    assert plan.value(STATE, 0)[0] == 3.0
    assert plan.act(STATE, 0)[0] == 2


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_ties_are_broken_by_the_order_given(order):
    plan = tabular_plan(order, [])
    states = np.arange(4.0)[:, None]
    for step in range(3):
        np.testing.assert_array_equal(plan.act(states, step), [order[0]] * 4)
    np.testing.assert_array_equal(plan.table(states), np.full((3, 4), order[0]))
    # Among the best only: action 0 is worse now, whatever the order.
    best = next(a for a in order if a != 0)
    assert tabular_plan(order, [], rewards=[0.0, 0.5, 0.5]).act(STATE, 2)[0] == best


def test_a_difference_of_rounding_is_a_tie_and_a_small_one_is_not():
    assert tabular_plan([0, 1, 2], [], rewards=[0.5, 0.5 + 1e-14, 0.0]).act(STATE, 2)[0] == 0
    assert tabular_plan([0, 1, 2], [], rewards=[0.5, 0.5 + 1e-6, 0.0]).act(STATE, 2)[0] == 1
    for width in (1e-8, 1e8):  # rounding grows with the rewards
        rewards = width * np.array([0.5, 0.5 + 1e-13, 0.0])
        assert tabular_plan([0, 1, 2], [], rewards=rewards, width=width).act(STATE, 2)[0] == 0
        rewards = width * np.array([0.5, 0.5 + 1e-6, 0.0])
        assert tabular_plan([0, 1, 2], [], rewards=rewards, width=width).act(STATE, 2)[0] == 1


def test_every_step_has_an_order_of_its_own_counted_from_the_first_step_of_the_episode():
    orders = [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    states, firsts = np.arange(4.0)[:, None], np.array(orders)[:, 0]
    for first_step in range(3):
        plan = tabular_plan(orders, [], first_step=first_step)
        expected = np.tile(firsts[first_step:, None], 4)
        np.testing.assert_array_equal(plan.table(states), expected)
        np.testing.assert_array_equal([plan.act(states, step) for step in range(first_step, 3)], expected)
        grid = plan.views[0].grid(states)
        np.testing.assert_array_equal([plan.act_on(grid, states, step) for step in range(first_step, 3)], expected)


@pytest.mark.parametrize("laws", [1, 3])
def test_a_state_that_is_met_again_is_answered_alike_at_every_step(laws):
    rng, states = np.random.default_rng(1), np.arange(4.0)[:, None]
    kernel, rows = StateAction(Delta(), Delta()), np.arange(2.0)[:, None]
    embeddings = [ExactEmbedding(kernel, 1.0, rows) for _ in range(laws)]
    for embedding in embeddings:
        Z = np.column_stack([rng.integers(4, size=30), rng.integers(2, size=30)]).astype(float)
        embedding.update(Transitions.of(Z, rng.integers(4, size=(30, 1)).astype(float), rng.random(30)))
    problem = Problem(3, 1.0, kernel, Delta(), (4, 2), FailureBudget(0.1, learned_reward=True))
    plan = make_plan(embeddings, Task(problem, Tight(), 0.0, states=states), episode=1, order=np.arange(2))
    expected = plan.table(states)
    for _ in range(2):  # the second time from what was kept
        one_by_one = [[plan.act(states[[s]], step)[0] for s in range(4)] for step in range(3)]
        np.testing.assert_array_equal(one_by_one, expected)
        embeddings[0].update(Transitions.of([[0.0, 1.0]], [[3.0]], [1.0]))  # changes no plan that was made before
