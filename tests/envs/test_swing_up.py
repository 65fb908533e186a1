"""CartPoleSwingUp: conservation of energy, the classic equations, and a controller that solves it."""

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.utils.env_checker import check_env

from cmerl.envs import CartPoleSwingUp
from cmerl.envs.swing_up import BODY
from cmerl.errors import InputError


def energy(state):
    """Of a cart of 1 kg and a uniform rod of 0.1 kg and 1 m, by its Lagrangian."""
    _, v, angle, w = state
    M, m, l = 1.0, 0.1, 0.5  # noqa: E741 - half the rod's length
    centre = np.array([v + l * w * np.cos(angle), -l * w * np.sin(angle)])
    kinetic = M * v**2 / 2 + m * centre @ centre / 2 + (m * (2 * l) ** 2 / 12) * w**2 / 2
    return kinetic + m * 9.8 * l * np.cos(angle)


@pytest.mark.filterwarnings("ignore:.*infinity")  # speeds have no bound
def test_gymnasiums_checker_has_no_complaint():
    check_env(CartPoleSwingUp(), skip_render_check=True)  # warnings are errors


def test_without_force_energy_and_momentum_stay():
    state = np.array([0.0, 0.3, 2.0, -4.0])
    before, momentum = energy(state), 1.1 * 0.3 + 0.05 * -4.0 * np.cos(2.0)
    env = CartPoleSwingUp()
    for _ in range(150):
        state = env.move(state, np.zeros(1))
    assert energy(state) == pytest.approx(before, rel=1e-3)
    assert 1.1 * state[1] + 0.05 * state[3] * np.cos(state[2]) == pytest.approx(momentum, abs=1e-3)


@pytest.mark.parametrize("state", [(0.1, -0.5, 0.2, 1.0), (0.0, 2.0, -2.5, -3.0)])
@pytest.mark.parametrize("push", [0, 1])
def test_the_equations_are_those_of_the_classic_cart_pole(state, push):
    classic = CartPoleEnv()
    classic.reset(seed=0)
    classic.tau, classic.state = 1e-3, np.array(state)  # its Euler step is the derivative itself
    classic.step(push)
    derivative = (np.array(classic.state, dtype=np.float64) - state) / 1e-3
    np.testing.assert_allclose(BODY.derivative(np.array(state), 10.0 if push else -10.0), derivative, rtol=1e-9)


def test_rewards_by_hand():
    states = np.array(
        [(0.0, 0.0, np.pi, 0.0), (0.0, 9.0, 0.0, 9.0), (1.2, 0, 0, 0), (0, 0, np.pi / 2, 0), (2.5, 0, 0, 0)]
    )
    paid = CartPoleSwingUp.reward(None, None, CartPoleSwingUp.observe(states))  # of many states at once
    np.testing.assert_allclose(paid, [0.0, 1.0, 0.75, 0.5, 0.0], atol=1e-15)


def test_an_episode_starts_hanging_and_ends_off_the_track():
    env = gymnasium.make("cmerl/CartPoleSwingUp-v0")
    obs, info = env.reset(seed=0)
    assert env.unwrapped.horizon == 150
    np.testing.assert_allclose(obs, [0, 0, -1, 0, 0], atol=0.1)
    assert info["state"][2] == pytest.approx(np.pi, abs=0.1)
    steps = 0
    while steps < 150:
        steps += 1
        obs, paid, terminated, truncated, info = env.step(np.array([1.0]))
        assert obs in env.observation_space
        assert 0 <= paid <= 1
        assert terminated == (abs(obs[0]) > 2.4)
        if terminated:
            break
    assert 5 < steps < 50
    assert not truncated


def test_the_push_is_a_share_of_the_force():
    def speed(force, share):
        env = CartPoleSwingUp(force=force)
        env.reset(seed=0, options={"state": (0.0, 0.0, np.pi, 0.0)})
        return env.step([share])[0][1]

    assert speed(4.0, 1.0) == pytest.approx(speed(10.0, 0.4))
    assert speed(4.0, 0.5) == pytest.approx(2.0 * 0.04 / 1.1, rel=0.1)  # F·t over both masses, the pole still hanging


def test_what_is_returned_may_be_changed_without_moving_the_cart():
    def play(spoil):
        env, seen = CartPoleSwingUp(), []
        obs, info = env.reset(seed=0)
        for _ in range(3):
            if spoil:
                obs[:] = 0.9
                info["state"][:] = 0.9
            obs, _, _, _, info = env.step([0.3])
            seen.append(obs.copy())
        return seen

    np.testing.assert_array_equal(play(True), play(False))


def test_pumping_energy_and_then_balancing_solves_it():
    env = CartPoleSwingUp()
    _, info = env.reset(seed=0)
    total = 0.0
    for _ in range(150):
        x, v, angle, w = info["state"]
        angle = (angle + np.pi) % (2 * np.pi) - np.pi
        if abs(angle) < 0.6:  # gains of a stabilising linear rule
            push = 0.15 * x + 0.35 * v + 4.5 * angle + 1.0 * w
        else:
            pumped = 0.05 * (4 / 3 * 0.5 * w**2 / 2 + 9.8 * (np.cos(angle) - 1))
            push = np.clip(8.0 * pumped * w * np.cos(angle), -0.7, 0.7) - 0.3 * x - 0.15 * v
        _, paid, terminated, _, info = env.step(np.clip([push], -1, 1))
        total += paid
        assert not terminated
    assert total > 90
    assert paid > 0.9


def test_the_same_seed_gives_the_same_episode_from_any_state():
    def play(seed, **options):
        env = CartPoleSwingUp()
        return np.array([env.reset(seed=seed, options=options)[0], *(env.step([0.3])[0] for _ in range(5))])

    np.testing.assert_array_equal(play(3), play(3))
    assert not np.array_equal(play(3), play(4))
    np.testing.assert_allclose(play(0, state=(1.0, 0.0, 0.0, 2.0))[0], [1.0, 0.0, 1.0, 0.0, 2.0])


def test_misuse_is_refused():
    for options, message in (
        ({"force": 0}, "force must be"),
        ({"force": np.inf}, "force must be"),
        ({"horizon": 0}, "horizon must be"),
    ):
        with pytest.raises(InputError, match=message):
            CartPoleSwingUp(**options)
    env = CartPoleSwingUp()
    with pytest.raises(InputError, match="call reset"):
        env.step([0.0])
    with pytest.raises(InputError, match="knows only the option"):
        env.reset(options={"angle": 0.0})
    for state in [(0, 0, 0), (3.0, 0, 0, 0), (0, 0, float("nan"), 0), "down", None]:
        with pytest.raises(InputError, match="within the world's limits"):
            env.reset(options={"state": state})
    env.reset(seed=0)
    for action in ([2.0], 0.0, [float("nan")], [0.1, 0.2]):
        with pytest.raises(InputError, match="the action must be"):
            env.step(action)
