"""Pessimistic agents: what they plan, what they promise, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cmerl
from cmerl.envs import FiniteMDP, random_mdp
from cmerl.errors import InputError
from cmerl.oracles import evaluate


def logged(env: Any, episodes: int, seed: int = 0) -> list[dict[str, Any]]:
    """Random play."""
    rng, found = np.random.default_rng(seed), []
    A = env.R.shape[1]
    for _ in range(episodes):
        obs, _ = env.reset(seed=int(rng.integers(2**31)))
        seen, actions, rewards = [obs], [], []
        for _ in range(env.horizon):
            actions.append(int(rng.integers(A)))
            obs, reward, *_ = env.step(actions[-1])
            seen.append(obs)
            rewards.append(reward)
        found.append({"observations": seen, "actions": actions, "rewards": rewards})
    return found


@pytest.mark.parametrize("bonus", ["practical", "kl"])
def test_on_finite_worlds_the_bound_is_proven_and_holds(bonus: str) -> None:
    env = random_mdp(4, 2, seed=3, horizon=5)
    log = logged(env, 300)
    agent = cmerl.CMERL(env, attitude="pessimistic", bonus=bonus, reward_range=(0.0, 1.0)).fit(log)
    policy = agent.policy()
    starts = [episode["observations"][0] for episode in log]
    true = float(evaluate(env, policy, 5).V[0, starts].mean())
    random = float(evaluate(env, np.full((5, 4, 2), 0.5), 5).V[0, starts].mean())
    assert policy.provable
    assert random < true
    assert policy.lower <= true
    assert policy.lower == pytest.approx(agent.pessimistic_policy(start=starts[0]).lower, rel=0.5)
    assert "With probability at least 0.9" in policy.statement


def cliff() -> FiniteMDP:
    """On a line of six places, seen as a coordinate: 'stay' pays 0.5; 'leap' pays 1, and nothing was seen after it.

    The end of the line pays nothing for ever, which only a leap from the fifth place on reaches.
    """
    P, R = np.zeros((6, 2, 6)), np.zeros((6, 2))
    for s in range(6):
        P[s, 0, s] = P[s, 1, min(s + 3, 5)] = 1.0
        R[s] = (0.0, 0.0) if s == 5 else (0.5, 1.0)
    return FiniteMDP(P, R, horizon=4, coordinates=np.linspace(0.0, 1.0, 6)[:, None])


def staying(leaps: int = 1) -> list[dict[str, Any]]:
    """Forty episodes that stay, and a few that leap at the last step."""
    x = np.zeros(1)
    stay = {"observations": [x] * 5, "actions": [0] * 4, "rewards": [0.5] * 4}
    leap = {"observations": [x] * 4 + [np.array([0.6])], "actions": [0, 0, 0, 1], "rewards": [0.5, 0.5, 0.5, 1.0]}
    return [stay] * 20 + [leap] * leaps


def test_what_nobody_has_seen_is_not_hoped_for() -> None:
    """An optimist leaps at once into the unknown; a pessimist stays until nothing can follow."""
    agents = {
        attitude: cmerl.CMERL(cliff(), attitude=attitude, model="direct", reward_range=(0.0, 1.0), replan=False)
        for attitude in ("optimistic", "pessimistic")
    }
    start = np.zeros(1)
    assert agents["optimistic"].fit(staying()).policy()(start, 0) == 1
    policy = agents["pessimistic"].fit(staying()).policy()
    assert [policy(start, step) for step in range(4)] == [0, 0, 0, 1]
    assert not policy.provable
    assert "not proven" in policy.statement
    assert 0.0 < policy.lower <= 2.5


def test_data_that_support_nothing_are_refused() -> None:
    agent = cmerl.CMERL(cliff(), attitude="pessimistic", model="direct")
    with pytest.raises(InputError, match="no data to be pessimistic about"):
        agent.policy()
    with pytest.raises(InputError, match="16 transitions say nothing"):
        agent.fit(staying()[:4]).policy()
    with pytest.raises(InputError, match="attitude must be"):
        cmerl.CMERL(cliff(), attitude="gloomy")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="does not explore, so that explore means nothing"):
        cmerl.CMERL(cliff(), attitude="pessimistic", explore="greedy")


def test_a_pessimist_plays_learns_and_is_saved(tmp_path: Path) -> None:
    env = random_mdp(4, 2, seed=3, horizon=5)
    agent = cmerl.CMERL(env, attitude="pessimistic", reward_range=(0.0, 1.0)).fit(logged(env, 300)).learn(2)
    assert len(agent.history) == 2
    agent.save(tmp_path / "agent")
    with pytest.raises(InputError, match="was told attitude, which a file does not hold"):
        cmerl.CMERL.load(tmp_path / "agent", env=env)
    again = cmerl.CMERL.load(tmp_path / "agent", env=env, attitude="pessimistic")
    assert again.policy().lower == agent.policy().lower
    policy = agent.policy()
    policy.export(tmp_path / "a.policy")
    loaded = cmerl.load_policy(tmp_path / "a.policy")
    assert [loaded(s, 0) for s in range(4)] == [policy(s, 0) for s in range(4)]
