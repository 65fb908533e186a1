"""Estimates of a policy's value without a proof: intervals contain it, and what cannot be evaluated is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cmerl
from cmerl.agents.evaluation.practical import act_many
from cmerl.envs import FiniteMDP, RiverSwim
from cmerl.errors import InputError
from cmerl.oracles import evaluate


def logged(env: Any, episodes: int, seed: int = 0) -> list[dict[str, Any]]:
    rng, found = np.random.default_rng(seed), []
    for _ in range(episodes):
        obs, _ = env.reset(seed=int(rng.integers(2**31)))
        seen, actions, rewards = [obs], [], []
        for _ in range(env.horizon):
            actions.append(int(rng.integers(2)))
            obs, reward, *_ = env.step(actions[-1])
            seen.append(obs)
            rewards.append(reward)
        found.append({"observations": seen, "actions": actions, "rewards": rewards})
    return found


def walk(coordinates: bool) -> FiniteMDP:
    """Left or right on five places, one in five steps the other way, and each place pays its number."""
    P = np.zeros((5, 2, 5))
    for s in range(5):
        for a, way in enumerate((-1, 1)):
            P[s, a, np.clip(s + way, 0, 4)] += 0.8
            P[s, a, np.clip(s - way, 0, 4)] += 0.2
    places = np.linspace(0.0, 1.0, 5)[:, None] if coordinates else None
    return FiniteMDP(P, np.repeat(np.arange(5.0)[:, None], 2, axis=1), horizon=6, coordinates=places)


@pytest.mark.parametrize("coordinates", [True, False])
def test_intervals_of_data_contain_the_value(coordinates: bool) -> None:
    env = walk(coordinates)
    exact = float(evaluate(env, np.ones((6, 5), dtype=int), 6).V[0, 0])
    log = logged(env, 20)
    found = cmerl.evaluate(lambda obs, step: 1, log)
    assert found.lower <= exact <= found.upper
    assert abs(found.mean - exact) < 0.2 * exact
    assert not found.provable
    assert "not proven" in found.statement
    wide = cmerl.evaluate(lambda obs: 1, log, delta=0.001)
    assert wide.lower < found.lower < found.upper < wide.upper


def test_an_agent_gives_its_data_and_a_table_or_a_model_is_a_policy() -> None:
    env = walk(coordinates=True)
    agent = cmerl.CMERL(env, model="direct").fit(logged(env, 20))
    by_log = cmerl.evaluate(lambda obs, step: 1, logged(env, 20))
    by_agent = cmerl.evaluate(lambda obs, step: 1, agent)
    assert by_agent.mean == pytest.approx(by_log.mean, rel=1e-6)

    class Model:
        def predict(self, observations: Any, deterministic: bool = False) -> Any:
            assert deterministic
            return np.ones(len(observations), dtype=int), None

    assert cmerl.evaluate(Model(), agent).mean == pytest.approx(by_log.mean, rel=1e-6)
    greedy = cmerl.evaluate(agent.policy(explore=False), agent)
    assert greedy.mean > by_agent.mean - 0.3
    numbered = logged(walk(coordinates=False), 10)
    table = cmerl.evaluate(np.ones(5, dtype=int), numbered)
    assert table.mean == cmerl.evaluate(lambda obs: 1, numbered).mean


def test_what_cannot_be_evaluated_is_said() -> None:
    env = walk(coordinates=True)
    log = logged(env, 10)
    flat = [{**episode, "rewards": np.zeros(6)} for episode in log]
    with pytest.raises(InputError, match="every reward in the data is 0"):
        cmerl.evaluate(lambda obs: 1, flat)
    with pytest.raises(InputError, match="6 transitions say nothing"):
        cmerl.evaluate(lambda obs: 1, log[:1])
    with pytest.raises(InputError, match="keeps no transitions"):
        cmerl.evaluate(lambda obs: 1, cmerl.agents.RandomAgent(RiverSwim(5, 8, coordinates=True)))
    with pytest.raises(InputError, match="a policy is a function"):
        cmerl.evaluate("east", log)
    with pytest.raises(InputError, match="delta must lie between 0 and 1"):
        cmerl.evaluate(lambda obs: 1, log, delta=1.0)
    with pytest.raises(InputError, match="remembers its way or searches"):
        act_many(type("Search", (), {"searches": True})())
