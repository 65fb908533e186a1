"""TwoRooms: its walls by hand and by brute force, and its values by simulation."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cmerl import oracles
from cmerl.envs import RoomDynamics, TwoRooms
from cmerl.errors import InputError

ROOMS = RoomDynamics()  # wall |x| < 0.1 with a door from y = 0.2 to 0.6, moves of 0.1


def test_gymnasiums_checker_has_no_complaint():
    check_env(TwoRooms(), skip_render_check=True)  # warnings are errors


def test_make():
    env = gymnasium.make("cmerl/TwoRooms-v0", prizes=[1, 3])
    assert env.unwrapped.horizon == 50
    assert env.unwrapped.dynamics == RoomDynamics(prizes=(1.0, 3.0))
    assert hash(env.unwrapped.dynamics) == hash(TwoRooms(prizes=(1.0, 3.0)).dynamics)
    assert np.linalg.norm(env.reset(seed=0)[0] - (-0.5, -0.5)) < 0.01


@pytest.mark.parametrize(
    ("state", "action", "expected"),
    [
        ((-0.5, -0.5), 0, (-0.4, -0.5)),
        ((-0.5, -0.5), 3, (-0.5, -0.6)),
        ((-0.15, 0.0), 0, (-0.1, 0.0)),  # stopped by the wall
        ((-0.1, 0.0), 0, (-0.1, 0.0)),
        ((0.13, -0.7), 1, (0.1, -0.7)),  # from the other side
        ((-0.15, 0.4), 0, (-0.05, 0.4)),  # through the door
        ((-0.05, 0.4), 0, (0.05, 0.4)),
        ((0.05, 0.55), 2, (0.05, 0.6)),  # stopped by the door's side
        ((0.0, 0.25), 3, (0.0, 0.2)),
        ((-0.2, 0.55), 2, (-0.2, 0.65)),
    ],
)
def test_moves_by_hand(state, action, expected):
    np.testing.assert_allclose(ROOMS.mean_next(np.array([state]), action)[0], expected, atol=1e-15)
    env = TwoRooms(noise=0.0)
    env.reset(seed=0, options={"state": state})
    np.testing.assert_allclose(env.step(action)[0], expected, atol=1e-15)


def test_projection_goes_to_the_nearest_free_point():
    axis = np.linspace(-1, 1, 201)
    free = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    in_wall = (abs(free[:, 0]) < 0.1 - 1e-9) & ((free[:, 1] < 0.2 - 1e-9) | (free[:, 1] > 0.6 + 1e-9))
    free = free[~in_wall]
    points = np.random.default_rng(0).uniform(-1.2, 1.2, (300, 2))
    points[:150, 0] *= 0.1  # half of them about the wall
    projected = ROOMS.project(points)
    nearest = np.linalg.norm(points[:, None] - free, axis=2).min(axis=1)
    np.testing.assert_allclose(np.linalg.norm(points - projected, axis=1), nearest, atol=0.01)
    np.testing.assert_array_equal(ROOMS.project(projected), projected)


def test_the_wall_keeps_the_point_in_its_room():
    env = TwoRooms()
    obs, _ = env.reset(seed=0, options={"state": (-0.12, -0.5)})
    for _ in range(2000):
        assert obs[0] <= -0.1
        obs, *_ = env.step(0 if obs[1] < 0.0 else 3)


def test_rewards_by_hand():
    states = np.array([[-0.7, -0.7], [-0.7, -0.5], [0.6, 0.5], [0.6, 0.1], [0.5, 0.5], [0.0, 0.0]])
    np.testing.assert_allclose(ROOMS.rewards(states), [1.0, 0.5, 5.0, 0.0, 3.75, 0.0], atol=1e-12)
    env = TwoRooms()
    env.reset(seed=0, options={"state": (0.5, 0.5)})
    assert env.step(2)[1] == pytest.approx(3.75)  # of the state that it leaves


def test_every_option_has_its_effect():
    env = TwoRooms(door=(-0.4, -0.2), distractor=(-0.2, -0.8), radius=0.2, move=0.05, noise=0.0)
    env.reset(seed=0, options={"state": (-0.3, -0.8)})
    obs, reward, *_, info = env.step(1)
    assert reward == pytest.approx(0.5)  # half a radius from the distractor
    np.testing.assert_allclose(obs, (-0.35, -0.8))
    np.testing.assert_array_equal(info["state"], obs)
    env.reset(options={"state": (0.0, -0.3)})  # in the door


def test_starts_are_spread_by_a_thousandth():
    env = TwoRooms()
    starts = np.array([env.reset(seed=seed)[0] for seed in range(400)])
    np.testing.assert_allclose(starts.mean(axis=0), (-0.5, -0.5), atol=2e-4)
    np.testing.assert_allclose(starts.std(axis=0), 0.001, rtol=0.15)


def test_what_is_returned_may_be_changed_without_moving_the_point():
    def play(spoil):
        env, seen = TwoRooms(), []
        obs, info = env.reset(seed=0)
        for _ in range(3):
            if spoil:
                obs[:] = info["state"][:] = 0.9
            obs, _, _, _, info = env.step(0)
            seen.append(obs.copy())
        return seen

    np.testing.assert_array_equal(play(True), play(False))


def test_its_values_are_those_of_simulation():
    env, start = TwoRooms(), (-0.5, -0.5)
    solution = oracles.solve(env, 50)
    returns = []
    for seed in range(40):
        obs, total = env.reset(seed=seed)[0], 0.0
        for h in range(50):
            obs, reward, *_ = env.step(solution.q(obs, h).argmax())
            total += reward
        returns.append(total)
    assert abs(np.mean(returns) - solution.value(start)) < 4 * np.std(returns) / np.sqrt(40)
    assert np.std(returns) / np.sqrt(40) < 1.5
    # The distractor is worth less than a third of what the second room is.
    assert solution.value(start) == pytest.approx(135.3, abs=0.1)
    assert oracles.solve(TwoRooms(prizes=(1.0, 0.0)), 50).value(start) == pytest.approx(41.4, abs=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"door": (0.6, 0.2)}, "door must be"),
        ({"door": 0.5}, "door must be"),
        ({"door": (-1.5, 0.2)}, "door must be"),
        ({"door": (0.2, 1.5)}, "door must be"),
        ({"wall": 0.5}, "below 0.5"),
        ({"move": 0.0}, "move must be"),
        ({"radius": float("inf")}, "radius must be"),
        ({"prizes": (1.0, float("inf"))}, "prizes must be"),
        ({"wall": 0.04}, "wall must be at least half a move"),
        ({"noise": 0.05}, "wall must be at least"),
        ({"noise": -0.05}, "noise must be"),
        ({"radius": 0.0}, "radius must be"),
        ({"horizon": 0}, "horizon must be"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        TwoRooms(**options)


def test_misuse_is_refused():
    env = TwoRooms()
    with pytest.raises(InputError, match="call reset"):
        env.step(0)
    with pytest.raises(InputError, match="knows only the option"):
        env.reset(options={"position": (0.0, 0.0)})
    for state in [(0.0, 0.0), (1.5, 0.0), 3, (float("nan"), 0.0), None]:
        with pytest.raises(InputError, match="state"):
            env.reset(options={"state": state})
    env.reset(seed=0)
    with pytest.raises(InputError, match="the action must be"):
        env.step(4)
