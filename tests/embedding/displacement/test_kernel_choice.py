"""Kernels of displacements and rewards: the starts that they are chosen from, and what they resolve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from swings import path

from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.dynamics import Dynamics
from cmerl.embedding.displacement.kernel_choice import Shape, fit_shape
from cmerl.embedding.displacement.motion import Motion
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.kernels.additive_fitting import AdditiveFit
from cmerl.kernels.fitting import Fit

SETTINGS = DisplacementSettings(fit_rows=100)


def motion(n: int = 150, seed: int = 0) -> Motion:
    """One column moves by the action, one with the other, one never; the reward is that of the next state."""
    rng = np.random.default_rng(seed)
    x, a = rng.normal(size=(n, 3)), rng.uniform(-1, 1, (n, 1))
    x[:, 2] = 0.0
    y = x + np.hstack([0.1 * a, 0.1 * np.sin(3 * x[:, :1]), np.zeros((n, 1))])
    return Motion(x, a, y, np.sin(8 * y[:, 0]), np.zeros(n, dtype=bool))


def test_each_output_has_lengthscales_of_its_own_and_a_constant_column_none() -> None:
    shape = fit_shape(motion(), SETTINGS)
    by_action, by_state, still = shape.displacement
    assert still is None
    assert by_action is not None
    assert by_state is not None
    assert by_state.lengthscales[0] < by_action.lengthscales[0]
    assert by_action.lengthscales[3] < by_state.lengthscales[3]
    assert shape.reward.at_next


def goals(n: int = 200, seed: int = 0) -> Motion:
    """The reward is the distance of the next state to a spot, and a cost of the action ten times as large."""
    rng = np.random.default_rng(seed)
    x, a = rng.normal(size=(n, 2)), rng.uniform(-1, 1, (n, 1))
    y = x + 0.1 * rng.normal(size=(n, 2))
    return Motion(x, a, y, -0.1 * np.linalg.norm(y, axis=1) - a[:, 0] ** 2, np.zeros(n, dtype=bool))


def test_a_reward_that_is_a_sum_gets_a_kernel_that_is_one_and_is_predicted_better() -> None:
    errors = {}
    new = goals(seed=1)
    for additive in (True, False):
        settings = DisplacementSettings(additive=additive)
        shape = fit_shape(goals(), settings)
        assert isinstance(shape.reward.fit, AdditiveFit) is additive
        assert shape.reward.at_next
        restored = Shape.from_arrays(shape.arrays(), 2)
        assert type(restored.reward.fit) is type(shape.reward.fit)
        assert restored.reward.at_next
        model = Dynamics(goals(), restored, np.array([[-1.0], [1.0]]), action_gap=1.0, lam=0.1, settings=settings)
        paid = model.simulator.reward(np.hstack([new.y, new.a]).astype(np.float32))[:, 0]
        errors[additive] = float(np.sqrt(np.square(paid - new.r).mean()))
    assert errors[True] < errors[False] / 2


def test_a_reward_that_is_a_product_keeps_one_kernel() -> None:
    data = goals()
    shape = fit_shape(replace(data, r=np.sin(2 * data.y[:, 0] * data.a[:, 0])), DisplacementSettings())
    assert isinstance(shape.reward.fit, Fit)


def test_a_fit_begins_where_the_last_one_ended() -> None:
    first = fit_shape(motion(), SETTINGS)
    again = fit_shape(motion(), SETTINGS, first)
    for one, other in zip(first.displacement[:2], again.displacement[:2], strict=True):
        assert one is not None
        assert other is not None
        assert other.evidence >= one.evidence - 1e-6


def test_a_search_from_one_start_may_take_all_for_noise_and_from_two_it_does_not() -> None:
    """The second column moves by ±0.1 − 0.2 sin x: nothing of it is noise."""
    ridges = {}
    for starts in ((2.0,), (2.0, 0.5)):
        settings = DisplacementSettings(starts=starts)
        found = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True, settings=settings)
        found.update(path(0, 0.1))
        ridges[starts] = found.shape.displacement[1].ridge
        missed = found.residuals(path(1, 0.1))[:, 1]
        assert bool(np.abs(missed).max() < 0.01) is (len(starts) == 2)
    assert ridges[(2.0,)] > 0.1
    assert ridges[(2.0, 0.5)] < 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_of_rewards_resolves_a_spot(seed: int) -> None:
    """A bell of width 0.15 that a single path crosses: from a smooth start it is taken for noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.7, 1.7, (500, 3))
    x[:12, :2] = np.linspace(-0.5, 0.5, 12)[:, None]
    rewards = np.exp(-0.5 * np.square(x[:, :2] / 0.15).sum(axis=1))
    found = fit_shape(
        Motion(x, np.zeros((500, 1)), x + 0.1, rewards, np.zeros(500, dtype=bool)), DisplacementSettings()
    ).reward.fit
    assert isinstance(found, Fit)
    assert np.all(found.lengthscales[:2] < 0.3)
    assert found.lengthscales[2] > 3.0
    assert found.ridge < 1e-3
