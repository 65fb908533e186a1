"""Points in a plane: where they start, the moments of their noise, and what a step pays for."""

import numpy as np
import pytest
from scipy import stats

from cmerl.envs import PBall2D
from cmerl.errors import InputError


@pytest.mark.parametrize("action", range(4))
def test_a_step_pays_for_the_state_it_leaves(action):
    env = PBall2D()
    env.reset(seed=0, options={"state": (0.75, 0.05)})
    observation, reward, *_ = env.step(action)
    assert reward == pytest.approx(0.8)
    assert env.step(action)[1] == env.rewards(observation[None])[0]


def test_noise_has_its_moments_in_every_coordinate():
    env, n = PBall2D(), 4000
    env.reset(seed=0)
    moved = np.empty((n, 2))
    for i in range(n):
        env.reset(options={"state": (0.2, 0.3)})
        moved[i] = env.step(1)[0]
    noise = (moved - [0.15, 0.3]) / 0.01
    assert (abs(noise.mean(axis=0)) < 4 / np.sqrt(n)).all()
    assert (abs(noise.std(axis=0) - 1) < 4 / np.sqrt(2 * n)).all()
    assert abs(np.corrcoef(noise.T)[0, 1]) < 4 / np.sqrt(n)
    for coordinate in noise.T:
        assert stats.kstest(coordinate, "norm").pvalue > 1e-4


def test_it_starts_near_the_middle():
    env = PBall2D()
    env.reset(seed=0)
    starts = np.array([env.reset()[0] for _ in range(4000)]) / 0.001
    for coordinate in starts.T:
        assert stats.kstest(coordinate, "norm").pvalue > 1e-4


def test_same_seed_same_trajectory_other_seed_another():
    def play(seed):
        env = PBall2D()
        return np.array([env.reset(seed=seed)[0], *(env.step(a)[0] for a in [0, 1, 2, 3] * 5)])

    np.testing.assert_array_equal(play(3), play(3))
    assert not np.array_equal(play(3), play(4))


def test_changing_an_observation_does_not_move_the_point():
    env = PBall2D(noise=0.0)
    observation, info = env.reset(seed=0, options={"state": (0.5, 0.0)})
    observation[:] = 9.0
    info["state"][:] = 9.0
    np.testing.assert_allclose(env.step(0)[0], [0.55, 0.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"centre": (0.5,)}, "centre must be two"),
        ({"centre": 0.5}, "centre must be two"),
        ({"centre": (0.5, float("nan"))}, "centre must be two"),
        ({"radius": 0.0}, "radius must be positive"),
        ({"move": -0.05}, "move must be positive"),
        ({"noise": -0.01}, "noise must be"),
        ({"noise": float("nan")}, "noise must be"),
        ({"horizon": 0}, "horizon must be"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        PBall2D(**options)
