"""Agents to be exported: planners on a ball, and searches with a model from a few random episodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium

import cmerl
from cmerl.acting import MPC
from cmerl.searching.icem import Search

BALL = "cmerl/PBall2D-v0"
DIRECT: dict[str, Any] = {"model": "direct", "replan": False}


def learned(world: str, episodes: int = 3, **options: Any) -> cmerl.CMERL:
    return cmerl.CMERL(gymnasium.make(world), seed=0, **options).learn(episodes)


def observations(agent: cmerl.CMERL, count: int) -> list[Any]:
    space = agent.env.observation_space
    space.seed(0)
    return [space.sample() for _ in range(count)]


VALUES = ("fitted", "plan")
WORLDS = {"Pendulum-v1": 25, "CartPole-v1": 25}
QUICK = MPC(search=Search(samples=8, rounds=2, first_rounds=3))


def searcher(world: str, horizon: int, **options: Any) -> cmerl.CMERL:
    """It has a model from a few random episodes."""
    env, log = gymnasium.make(world), []
    env.action_space.seed(0)
    for seed in range(4):
        obs, ended = [env.reset(seed=seed)[0]], False
        actions: list[Any] = []
        rewards: list[float] = []
        while not ended and len(actions) < horizon:
            actions.append(env.action_space.sample())
            after, reward, ended, *_ = env.step(actions[-1])
            obs.append(after)
            rewards.append(float(reward))
        log.append({"observations": obs, "actions": actions, "rewards": rewards, "terminated": ended})
    return cmerl.CMERL(env, horizon=horizon, seed=0, model="displacement", actor=QUICK, **options).fit(log)


def policy_of(agent: cmerl.CMERL, value: Any) -> Any:
    return replace(agent.policy(explore=False), actor=replace(QUICK, value=value))
