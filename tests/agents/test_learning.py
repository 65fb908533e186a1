"""The default learns: small runs with wide margins; benchmarks/ has the numbers."""

from __future__ import annotations

import logging

import gymnasium
import numpy as np
import pytest

from cmerl.agents import CMERL
from cmerl.envs import PBall2D, RiverSwim


def regrets(agent: CMERL) -> np.ndarray:
    return np.array([record.regret for record in agent.history])


@pytest.mark.parametrize("coordinates", [False, True])
def test_riverswim_is_solved_in_tens_of_episodes(coordinates: bool) -> None:
    for seed in range(2):
        lost = regrets(CMERL(gymnasium.make("cmerl/RiverSwim-v0", coordinates=coordinates), seed=seed).learn(100))
        assert lost.sum() < 50.0  # random play loses 335
        assert lost[-20:].mean() < 0.1


def test_gridworld_is_solved_in_tens_of_episodes() -> None:
    lost = regrets(CMERL(gymnasium.make("cmerl/GridWorld-v0", coordinates=True), seed=0).learn(60))
    assert lost[-20:].mean() < 1.5  # V* is 10.9, and random play loses 10.8


def test_deep_sea_is_found_by_optimism_and_not_by_chance() -> None:
    """Random play reaches the treasure once in 2^10 episodes."""
    agent = CMERL(gymnasium.make("cmerl/DeepSea-v0"), seed=0).learn(70)
    assert np.all(regrets(agent)[-10:] == 0.0)


def test_pball_reaches_the_reward() -> None:
    agent = CMERL(gymnasium.make("cmerl/PBall2D-v0"), seed=0).learn(25)
    assert np.mean([record.ret for record in agent.history[-5:]]) > 8.0  # V* is 15.1, random play earns 0


@pytest.mark.slow
def test_a_slippery_lake_is_crossed_while_learning(caplog):
    caplog.set_level(logging.ERROR, "cmerl")
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=100)
    returns = [record.ret for record in CMERL(env, seed=0).learn(150).history]
    assert np.mean(returns[-50:]) > 0.5  # V* is 0.74; with a prize hoped for at every step it was 0.1


@pytest.mark.slow
@pytest.mark.parametrize("outlier", [1e6, -1e6])
@pytest.mark.parametrize(("world", "episodes"), [(RiverSwim, 60), (PBall2D, 12)])
def test_an_outlier_does_not_destroy_learning_with_a_direct_model(world, episodes, outlier, caplog):
    caplog.set_level(logging.ERROR, "cmerl")

    class Outlying(world):
        steps = 0

        def step(self, action):
            self.steps += 1
            obs, reward, *rest = super().step(action)
            return obs, outlier if self.steps == 150 else reward, *rest

    def regret(env):
        return sum(record.regret for record in CMERL(env, seed=0, model="direct").learn(episodes).history)

    assert regret(Outlying()) < 1.3 * regret(world()) + 2.0


class Room(gymnasium.Env):
    """A heater with three settings, in a room that loses heat; a step pays minus the distance to 21 °C."""

    observation_space = gymnasium.spaces.Box(0.0, 40.0, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.temperature = self.np_random.uniform(8.0, 12.0)
        return np.array([self.temperature]), {}

    def step(self, action):
        self.temperature += 0.1 * (5.0 + self.np_random.normal() - self.temperature) + 1.5 * action
        return np.array([self.temperature]), -abs(self.temperature - 21.0) - 0.2 * action, False, False, {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_what_was_never_seen_does_not_look_better_than_the_worst_that_was(seed, caplog):
    """A cold room was believed to pay what rooms pay on average, and one whole episode was spent in it."""
    caplog.set_level(logging.ERROR, "cmerl")
    returns = [record.ret for record in CMERL(Room(), horizon=24, seed=seed).learn(7).history]
    assert min(returns[1:]) > -100.0  # the best returns about −35, a heater that is never on −340
