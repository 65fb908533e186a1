"""PBall2D: its dynamics by hand, and the shell around them."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy import stats

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


# --- the shell ---------------------------------------------------------------------------------------------


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


def test_equal_worlds_have_equal_dynamics():
    assert hash(PBall2D(centre=[0.5, 0]).dynamics) == hash(PBall2D(centre=np.array([0.5, 0.0])).dynamics)
    assert PBall2D(centre=[0.5, 0]).dynamics == PBall2D(centre=(0.5, 0.0), horizon=5).dynamics
    assert PBall2D(noise=0.02).dynamics != PBall2D().dynamics


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
