"""Units: what is constant, what is a name, and the way there and back."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.units import Units, nearest_actions
from cmerl.transitions import Transitions

ACTIONS = np.array([[-1.0], [0.0], [2.0]])


def test_a_column_that_was_constant_has_scale_1_until_the_data_have_doubled() -> None:
    rng = np.random.default_rng(0)

    def batch(still: np.ndarray, n: int = 60) -> Transitions:
        x, a = np.hstack([rng.random((n, 1)), still[:n, None]]), rng.integers(2, size=(n, 1))
        return Transitions.of(np.hstack([x, a]), x + [[0.05, 0.0]] * (2 * a - 1), x[:, 0])

    found = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True)
    found.update(batch(np.full(60, 7.0)))
    assert found.diagnostics()["scale of states"][1] == 1.0
    assert found.fits == 1
    found.update(batch(np.full(60, 30.0), 59))
    assert found.fits == 1
    found.update(batch(np.full(60, 30.0), 1))
    assert found.fits == 2
    assert found.diagnostics()["scale of states"][1] > 1.0


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
def test_units_do_not_matter(unit: float) -> None:
    rng = np.random.default_rng(0)
    x, a = rng.random((120, 2)), rng.integers(2, size=(120, 1))
    y = x + np.hstack([0.1 * a, 0.05 * np.sin(5 * x[:, :1])])
    scale = np.array([1.0, unit])
    found = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True)
    found.update(Transitions.of(np.hstack([x * scale, a]), y * scale, x[:, 0]))
    assert np.abs(found.left_out_residuals / scale).max() < 0.01


def walk(n: int = 50, seed: int = 0) -> Transitions:
    rng = np.random.default_rng(seed)
    x, a = rng.normal(3.0, [1.0, 20.0], (n, 2)), ACTIONS[rng.integers(3, size=n)]
    return Transitions.of(np.hstack([x, a]), x + 0.1, x[:, 0], x[:, 1] > 30.0)


def test_states_and_next_states_have_mean_0_and_variance_1_and_come_back() -> None:
    data = walk()
    units = Units.of(data, ACTIONS, categorical=False)
    motion = units.motion(data)
    both = np.vstack([motion.x, motion.y])
    np.testing.assert_allclose(both.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(both.std(axis=0), 1.0)
    np.testing.assert_allclose(units.encoded(motion.y), data.next_states)
    np.testing.assert_array_equal(motion.r, data.rewards)
    np.testing.assert_array_equal(motion.ended, data.terminated)
    np.testing.assert_array_equal(units.state_actions(data.Z), motion.z)


def test_names_become_unit_vectors_and_quantities_stay() -> None:
    data = walk()
    names, quantities = (Units.of(data, ACTIONS, categorical=categorical) for categorical in (True, False))
    np.testing.assert_array_equal(names.action_features, np.eye(3))
    np.testing.assert_array_equal(names.motion(data).a @ ACTIONS, data.Z[:, 2:])
    np.testing.assert_array_equal(quantities.action_features, ACTIONS)
    assert names.action_gap > 10 * quantities.action_gap  # names have nothing in common


@pytest.mark.parametrize("categorical", [True, False])
def test_a_reward_function_gets_encoded_rows(categorical: bool) -> None:
    data = walk()
    units = Units.of(data, ACTIONS, categorical=categorical)
    motion = units.motion(data)
    reward = units.reward(lambda x, a, y: x[:, 0] + 10.0 * a[:, 0] + 100.0 * y[:, 1])
    expected = data.Z[:, 0] + 10.0 * data.Z[:, 2] + 100.0 * data.next_states[:, 1]
    np.testing.assert_allclose(reward(motion.x, motion.a, motion.y), expected)


def test_state_actions_are_those_of_the_nearest_action() -> None:
    states, which = nearest_actions(np.array([[5.0, 6.0, 1.4], [7.0, 8.0, -0.6]]), ACTIONS)
    np.testing.assert_array_equal(states, [[5.0, 6.0], [7.0, 8.0]])
    np.testing.assert_array_equal(which, [2, 0])
