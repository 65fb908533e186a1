"""Reactor: its balances, its steady states, and a controller that holds it."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy.integrate import solve_ivp

from cmerl.envs import PIController, Reactor, ReactorDynamics
from cmerl.errors import InputError


def balances(_, state, coolant):
    """Seborg's equations in their own units: L, min, mol, g, J, K."""
    c, T = state
    reacted = 7.2e10 * np.exp(-8750.0 / T) * c
    heat = 5e4 * reacted * 100.0 + 5e4 * (coolant - T) + 100.0 * 1000.0 * 0.239 * (350.0 - T)
    return [100.0 / 100.0 * (1.0 - c) - reacted, heat / (100.0 * 1000.0 * 0.239)]


@pytest.mark.filterwarnings("ignore:.*symmetric and normalized")  # the coolant is in kelvins
def test_gymnasiums_checker_has_no_complaint():
    check_env(gymnasium.make("cmerl/Reactor-v0").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("coolant", [285.0, 300.0, 315.0])
def test_a_step_solves_the_balances(coolant):
    start = np.array([0.52, 352.0])
    exact = solve_ivp(balances, (0.0, 0.05), start, args=(coolant,), rtol=1e-10, atol=1e-10).y[:, -1]
    np.testing.assert_allclose(ReactorDynamics().move(start, coolant, 0.05), exact, rtol=1e-7)


def test_the_operating_point_is_a_steady_state_that_does_not_stay():
    dynamics = ReactorDynamics()
    assert np.abs(dynamics.derivative(np.array([0.5, 350.0]), 300.0)).max() < 0.3  # of hundreds of K per minute
    hot, cold = np.array([0.5, 352.0]), np.array([0.5, 348.0])
    for _ in range(60):
        hot, cold = (dynamics.move(state, 300.0, 0.05) for state in (hot, cold))
    assert hot[1] > 400.0
    assert cold[1] < 340.0


def test_a_runaway_ends_the_episode_and_pays_nothing():
    env = Reactor()
    env.reset(seed=0, options={"state": (0.5, 375.0)})
    for _ in range(40):
        obs, reward, terminated, _, info = env.step([320.0])
        if terminated:
            break
    assert terminated
    assert info["runaway"]
    assert reward == 0.0
    assert obs[1] > 400.0


def test_the_controller_holds_the_reactor():
    env, controller = Reactor(), PIController()
    for seed in range(20):
        obs, _ = env.reset(seed=seed)
        play = controller.begin_episode()
        for step in range(40):
            obs, _, terminated, _, _ = env.step(play(obs, step))
            assert not terminated
            assert obs[1] < 360.0
        assert abs(obs[1] - 350.0) < 1.0


def test_hotter_pays_up_to_a_point():
    temperatures = np.arange(340.0, 390.0)
    rate = 7.2e10 * np.exp(-8750.0 / temperatures)
    steady = np.stack([1.0 / (1.0 + rate), temperatures], axis=1)
    best = temperatures[ReactorDynamics().product(steady).argmax()]
    assert 358.0 < best < 370.0


@pytest.mark.parametrize("options", [{"minutes": 0.0}, {"minutes": 1.0}, {"noise": (-1.0, 0.0)}])
def test_what_makes_no_sense_is_refused(options):
    with pytest.raises(InputError):
        Reactor(**options)


def test_a_step_before_reset_is_refused():
    with pytest.raises(InputError, match="reset"):
        Reactor().step([300.0])
