"""What is planned for: when values are clipped, and what so many steps are worth."""

import numpy as np
import pytest

from cmerl.confidence import FailureBudget, Paper, Practical, Problem, Tight
from cmerl.embedding import ExactEmbedding
from cmerl.kernels import RBF, Delta, StateAction
from cmerl.optimism import ceilings
from cmerl.planning import Task, clip_value, make_plan
from cmerl.transitions import Transitions


def test_the_paper_clips_only_from_above():
    """With a negative weight the values of Alg. 1 to the letter fall below zero; all others stop there."""
    states, Z = np.array([[0.0], [1.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])

    def values(mode):
        embedding = ExactEmbedding(StateAction(RBF(1.0), Delta()), 1.0, np.zeros((1, 1)))
        embedding.update(Transitions.of(Z, states))
        problem = Problem(
            horizon=3,
            width=1.0,
            kernel=embedding.kernel,
            value_kernel=RBF(1.0),
            tabular=None,
            budget=FailureBudget(0.1, learned_reward=False),
            B_P=1.0,
            B_V=1e-9,
        )
        reward = Task(problem, mode, r_min=0.0, known_reward=lambda X: (X == 0.0).astype(float))
        return make_plan([embedding], reward, episode=1, order=np.arange(1)).value(np.array([[2.0]]), 1)[0]

    alpha = np.linalg.solve(RBF(1.0)(states, states) + np.eye(2), np.exp(-np.array([4.0, 1.0]) / 2))
    assert alpha == pytest.approx([-0.0268, 0.3114], abs=1e-4)
    assert values(Paper()) == pytest.approx(alpha[0], abs=1e-6)
    assert values(Tight()) == 0.0


def problem(horizon, width):
    return Problem(horizon, width, RBF(1.0), RBF(1.0), None, FailureBudget(0.1, learned_reward=False))


def test_values_are_clipped_to_what_can_be_left_at_their_step():
    task, v = Task(problem(5, 2.0), Practical(), r_min=-1.0), np.array([-3.0, 0.5, 7.0, 40.0])
    for step in range(5):
        np.testing.assert_array_equal(clip_value(v, task, step), np.clip(v, 0.0, 2.0 * (5 - step)))
    letter = Task(problem(5, 2.0), Paper(), r_min=-1.0)
    np.testing.assert_array_equal(clip_value(v, letter, 4), [-3.0, 0.5, 7.0, 10.0])  # min{H, ·} at every step
    np.testing.assert_array_equal(clip_value(v, letter, 4, -1.0), [0.0, 0.5, 2.0, 2.0])  # a pessimistic plan


def test_a_task_is_limited_where_its_ceilings_know_more_than_the_range():
    told = ceilings(5, 2.0, r_min=-1.0, max_return=1.0)
    assert Task(problem(5, 2.0), Practical(), r_min=-1.0, optimistic=told).limited
    assert not Task(problem(5, 2.0), Practical(), r_min=-1.0).limited
