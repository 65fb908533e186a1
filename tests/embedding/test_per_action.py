"""The router: one regression for each action where the kernel separates actions, else one for all."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding.exact.grids import Layout
from cmerl.embedding.per_action import Router
from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, StateAction

Z = np.array([[0.1, 0.2, 1.0], [0.3, 0.4, 0.0], [0.5, 0.6, 1.0]])
SPLIT = StateAction(RBF(0.5), Delta())
SHARED = StateAction(RBF(0.5), RBF(1.0))


def test_where_the_kernel_separates_actions_each_has_a_regression_on_states() -> None:
    router = Router(Layout(SPLIT, np.array([[0.0], [1.0]])))
    assert router.count == 2
    assert router.kernel == RBF(0.5)
    groups, states = router.assign(Z)
    np.testing.assert_array_equal(groups, [1, 0, 1])
    np.testing.assert_array_equal(states, Z[:, :2])
    # the kernel of state-actions is 0 between actions and that of states within one
    np.testing.assert_allclose(SPLIT(Z, Z), router.kernel(Z[:, :2], Z[:, :2]) * (groups[:, None] == groups))


def test_a_kernel_that_shares_between_actions_has_one_regression_on_state_actions() -> None:
    router = Router(Layout(SHARED, np.array([[0.0], [1.0]])))
    assert router.count == 1
    groups, points = router.assign(Z)
    np.testing.assert_array_equal(groups, 0)
    np.testing.assert_array_equal(points, Z)
    ((number, rows, seen),) = router.parts(Z)
    assert number == 0
    np.testing.assert_array_equal(rows, [0, 1, 2])
    np.testing.assert_array_equal(seen, Z)


def test_queries_are_answered_by_the_regression_of_their_action_and_unknown_ones_by_none() -> None:
    router = Router(Layout(SPLIT, np.empty((0, 1))))
    assert router.count == 0
    groups, _ = router.assign(Z)  # actions are numbered as they come
    np.testing.assert_array_equal(groups, [0, 1, 0])
    asked = np.vstack([Z, [[0.7, 0.8, 5.0]]])
    found = {number: rows.tolist() for number, rows, _ in router.parts(asked)}
    assert found == {0: [0, 2], 1: [1]}


def test_an_action_outside_of_a_given_set_is_refused() -> None:
    router = Router(Layout(SPLIT, np.array([[0.0]])))
    with pytest.raises(InputError, match="not among this embedding's actions"):
        router.assign(Z)
