"""The kernel of rewards: what it remembers, and what it tells of episodes that it has not seen."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge

from cmerl.embedding.displacement.motion import Motion
from cmerl.embedding.displacement.reward_kernel import RewardKernel, fit_reward, left_out_error
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.kernels.additive_fitting import AdditiveFit
from cmerl.kernels.fitting import Fit

MEMORY, COMPARED = DisplacementSettings(reward_margin=0.0), DisplacementSettings()


def rests(seed: int, episodes: int = 5, n: int = 200) -> Motion:
    """Paths to places where they rest, at or near goals; a step pays where the goal is less than 0.4 away.

    An observation is the place and the way to the goal. Where all rest, the place tells what is paid as well as the
    way to the goal does, but not in other episodes.
    """
    rng = np.random.default_rng(seed)
    paths = []
    for _ in range(episodes):
        start, stop = rng.uniform(-1.7, 1.7, (2, 2))
        goal = stop + rng.choice([0.0, 0.35, 0.6]) * rng.choice([-1, 1], 2)
        gone = np.minimum(np.arange(n + 1) / 30, 1.0)[:, None]
        place = start + (stop - start) * gone + 0.02 * rng.normal(size=(n + 1, 2))
        paths.append(np.hstack([place, goal - place]))
    x, y = (np.vstack([path[some] for path in paths]) for some in (slice(-1), slice(1, None)))
    paid = (np.abs(x[:, 2:]).max(axis=1) < 0.4).astype(float)
    return Motion(x, rng.uniform(-1, 1, (len(x), 1)), y, paid, np.zeros(len(x), dtype=bool))


def error(kernel: RewardKernel, data: Motion, new: Motion) -> float:
    paid = kernel.regression(data, 200)(np.hstack([kernel.causes(new), new.a]))[:, 0]
    return float(np.sqrt(np.square(np.clip(paid, 0.0, 1.0) - new.r).mean()))


@pytest.mark.slow
def test_a_kernel_that_remembers_where_episodes_rest_gives_way_to_one_that_predicts_others() -> None:
    errors = []
    for seed in (1, 2, 3):
        data, new = rests(seed), rests(100 + seed, 20)
        errors.append([error(fit_reward(data, settings), data, new) for settings in (MEMORY, COMPARED)])
    memory, compared = np.array(errors).T
    assert np.all(compared < memory + 0.01)
    assert compared.mean() < 0.7 * memory.mean()  # 0.57 and 0.34 when this was written


def test_with_one_episode_the_likeliest_kernel_is_taken() -> None:
    data = rests(1, episodes=1)
    one, other = fit_reward(data, MEMORY), fit_reward(data, COMPARED)
    assert type(one.fit) is type(other.fit)
    for name, array in one.fit.arrays().items():
        np.testing.assert_array_equal(array, other.fit.arrays()[name])


def test_rewards_that_are_alike_have_no_kernel() -> None:
    data = rests(0, episodes=2, n=20)
    alike = Motion(data.x, data.a, data.y, np.full(len(data), 0.3), data.ended)
    assert fit_reward(alike, COMPARED) == RewardKernel(None)
    assert RewardKernel(None).regression(alike, 50)(data.z)[0, 0] == pytest.approx(0.3)


@pytest.mark.parametrize("at_next", [False, True])
def test_the_error_on_episodes_left_out_is_that_of_a_kernel_ridge_regression_of_the_others(at_next: bool) -> None:
    rng = np.random.default_rng(3)
    x, a = rng.normal(size=(60, 2)), rng.uniform(-1, 1, (60, 1))
    y = x + 0.3 * rng.normal(size=(60, 2))
    data = Motion(x, a, y, np.sin(2 * x[:, 0]) + a[:, 0], np.zeros(60, dtype=bool))
    scales, ridge, folds = np.array([0.7, 1.5, 2.0]), 0.05, np.arange(60) % 3
    kernel = RewardKernel(Fit(scales, ridge, 0.0), at_next)
    Z, squares = np.hstack([y if at_next else x, a]), []
    for fold in range(3):
        held, others = folds == fold, folds != fold
        least, most = data.r[others].min(), data.r[others].max()
        theirs = KernelRidge(alpha=ridge, kernel=RBF(scales)).fit(Z[others], data.r[others] - least)
        squares.append(np.square(np.clip(theirs.predict(Z[held]) + least, least, most) - data.r[held]))
    assert left_out_error(data, kernel, folds, 60) == pytest.approx(np.concatenate(squares).mean(), rel=1e-4)


def test_a_sum_of_kernels_is_left_out_alike() -> None:
    data = rests(2, episodes=3, n=40)
    kernel = RewardKernel(AdditiveFit(np.ones(4), np.ones(1), 0.1, 1e-2, 0.0))
    folds = np.repeat(np.arange(3), 40)
    squares = [
        np.square(
            np.clip(kernel.regression(data[folds != k], 50)(data[folds == k].z)[:, 0], 0, 1) - data.r[folds == k]
        )
        for k in range(3)
    ]
    assert left_out_error(data, kernel, folds, 50) == pytest.approx(np.mean(squares))
    assert left_out_error(data, kernel, folds, 50) > 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_tiny_episodes_are_no_obstacle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    x = rng.normal(size=(n, 1))
    data = Motion(x, np.zeros((n, 1)), x + 1.0, rng.normal(size=n), np.zeros(n, dtype=bool))
    found = fit_reward(data, COMPARED)
    assert np.all(np.isfinite(found.regression(data, 10)(data.z)))
