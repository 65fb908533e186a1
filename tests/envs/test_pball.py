"""PBall2D: its dynamics by hand, and the shell around them."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cmerl.envs import BallDynamics, PBall2D, register
from cmerl.errors import InputError

register()


def test_gymnasiums_checker_has_no_complaint():
    check_env(PBall2D(), skip_render_check=True)  # warnings are errors


def test_make():
    env = gymnasium.make("cmerl/PBall2D-v0", centre=[0.0, 0.5])
    assert env.spec.max_episode_steps is None
    assert env.unwrapped.horizon == 30
    assert env.unwrapped.dynamics == BallDynamics(centre=(0.0, 0.5))
    assert env.action_space.n == 4
    assert env.observation_space == gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float64)
    env.reset(seed=0)
    for _ in range(100):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert observation in env.observation_space
        assert 0 <= reward <= 1
        assert not terminated
        assert not truncated


# --- dynamics ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "expected"), [(0, [0.15, -0.2]), (1, [0.05, -0.2]), (2, [0.1, -0.15]), (3, [0.1, -0.25])]
)
def test_moves_by_hand(action, expected):
    state = (0.1, -0.2)
    np.testing.assert_allclose(PBall2D().mean_next(np.array([state, state]), action), [expected, expected])
    env = PBall2D(noise=0.0)
    env.reset(seed=0, options={"state": state})
    np.testing.assert_allclose(env.step(action)[0], expected)


def test_longer_moves():
    env = PBall2D(move=0.2, noise=0.0)
    env.reset(seed=0, options={"state": (0.0, 0.0)})
    np.testing.assert_allclose(env.step(3)[0], [0.0, -0.2])


def test_projection_by_hand():
    points = np.array([[3.0, 4.0], [-2.0, 0.0], [0.6, 0.8], [0.3, -0.4], [0.0, 0.0]])
    expected = [[0.6, 0.8], [-1.0, 0.0], [0.6, 0.8], [0.3, -0.4], [0.0, 0.0]]
    np.testing.assert_allclose(PBall2D().project(points), expected, atol=1e-15)
    env = PBall2D(noise=0.0)
    env.reset(seed=0, options={"state": (0.6, 0.8)})
    np.testing.assert_allclose(env.step(0)[0], np.array([0.65, 0.8]) / np.hypot(0.65, 0.8))


def test_walking_into_the_border_stays_in_the_disc():
    env = PBall2D(noise=0.3)
    env.reset(seed=0)
    for _ in range(500):
        observation, *_ = env.step(0)
        assert np.linalg.norm(observation) <= 1 + 1e-12
        assert observation in env.observation_space


def test_rewards_by_hand():
    states = np.array([[0.75, 0.0], [0.75, 0.125], [0.85, 0.0], [0.5, 0.0], [0.0, 0.0], [0.75, -0.2]])
    np.testing.assert_allclose(PBall2D().rewards(states), [1.0, 0.5, 0.6, 0.0, 0.0, 0.2], atol=1e-15)
    np.testing.assert_allclose(PBall2D(radius=0.5).rewards(states), [1.0, 0.75, 0.8, 0.5, 0.0, 0.6], atol=1e-15)


def test_the_centre_is_an_option():
    env = PBall2D(centre=(0.0, -0.5))
    np.testing.assert_allclose(env.rewards(np.array([[0.0, -0.5], [0.1, -0.5], [0.75, 0.0]])), [1.0, 0.6, 0.0])


# --- the shell ---------------------------------------------------------------------------------------------


def test_equal_worlds_have_equal_dynamics():
    assert hash(PBall2D(centre=[0.5, 0]).dynamics) == hash(PBall2D(centre=np.array([0.5, 0.0])).dynamics)
    assert PBall2D(centre=[0.5, 0]).dynamics == PBall2D(centre=(0.5, 0.0), horizon=5).dynamics
    assert PBall2D(noise=0.02).dynamics != PBall2D().dynamics


@pytest.mark.parametrize("state", [(0.8, 0.8), (0.1, 0.2, 0.3), 3, (float("nan"), 0.0), None])
def test_first_states_are_checked(state):
    with pytest.raises(InputError, match="state"):
        PBall2D().reset(options={"state": state})


def test_misuse_is_refused():
    with pytest.raises(InputError, match="call reset"):
        PBall2D().step(0)
    with pytest.raises(InputError, match="knows only the option"):
        PBall2D().reset(options={"position": (0.0, 0.0)})
    env = PBall2D()
    env.reset(seed=0)
    for action in (4, -1, 0.5):
        with pytest.raises(InputError, match="the action must be"):
            env.step(action)
