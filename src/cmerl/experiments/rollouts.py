"""Monte Carlo estimates of regret: the same policy is played in a copy of the environment."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from cmerl.agents.base import Agent, EpisodeRecord, Policy, begin
from cmerl.errors import InputError
from cmerl.experiments.environments import make_environment
from cmerl.experiments.statistics import bootstrap_interval

if TYPE_CHECKING:
    from cmerl.experiments.units import Unit

BRANCH = 3  # of the tree of seeds: agents have 0 to 2


class RegretEstimate:
    """Estimates the regret of every episode whose agent gives none.

    It is the optimum that the user gave, less the mean return of ``rollouts`` episodes that follow the plan which the
    episode began with. Its 95 % interval, the metric "regret_interval", is about those episodes only.
    """

    def __init__(self, unit: Unit, agent: Agent) -> None:
        self._unit, self._agent = unit, agent
        self._env: gymnasium.Env[Any, Any] | None = None
        if unit.rollouts and agent._model is None:
            if unit.env.optimum is None:
                raise InputError(
                    f"environment {unit.env.label!r}: rollouts need the best expected return, which no "
                    "oracle knows here: give it as optimum, or leave rollouts out"
                )
            self._env = make_environment(unit.env, unit.allow_env_modules)
            self._policy = agent.policy()

    def __call__(self, record: EpisodeRecord) -> EpisodeRecord:
        """The record with an estimate, to be called after every episode."""
        if self._env is None:
            return record
        policy, self._policy = self._policy, self._agent.policy()
        assert self._unit.env.optimum is not None
        losses = [
            self._unit.env.optimum - self._play(self._env, policy, record.episode, number)
            for number in range(self._unit.rollouts)
        ]
        low, high = bootstrap_interval(losses, seed=0)
        interval = [low, high] if len(losses) > 1 else None
        return dataclasses.replace(
            record,
            regret=float(np.mean(losses)),
            regret_kind="monte-carlo",
            metrics={**record.metrics, "regret_interval": interval},
        )

    def _play(self, env: gymnasium.Env[Any, Any], policy: Policy, episode: int, number: int) -> float:
        sequence = np.random.SeedSequence(self._unit.seed, spawn_key=(BRANCH, episode, number))
        obs, _ = env.reset(seed=int(np.random.default_rng(sequence).integers(2**31)))
        total, play = 0.0, begin(policy)
        for step in range(self._agent.horizon):
            obs, reward, terminated, truncated, _ = env.step(play(obs, step))
            total += float(reward)
            if terminated or truncated:
                break
        return total
