"""What a report is about: the regrets of several agents in several worlds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.experiments.statistics import RegretSummary, mean_curve, summarise_regret, thin

FloatArray = NDArray[np.float64]

MOST_POINTS = 500  # of a drawn curve
BOOTSTRAP_SEED = 0


@dataclass(frozen=True, eq=False)
class Curve:
    """A mean cumulative regret with its band.

    Attributes:
        episodes: (points,), from 1.
        mean: (points,).
        low: (points,), NaN for a single seed; likewise ``high``.
    """

    episodes: NDArray[np.intp]
    mean: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class AgentRuns:
    """Runs of one agent in one world.

    Attributes:
        name: what to call it.
        regrets: (seeds, episodes), each episode's own regret.
        seconds: mean time an episode took.
    """

    name: str
    regrets: FloatArray
    seconds: float

    def __post_init__(self) -> None:
        if np.ndim(self.regrets) != 2 or 0 in np.shape(self.regrets):
            raise InputError(
                f"agent {self.name!r}: regrets must have shape (seeds, episodes), not {np.shape(self.regrets)}"
            )

    @property
    def seeds(self) -> int:
        """Number of runs."""
        return len(self.regrets)

    @property
    def episodes(self) -> int:
        """Episodes of each run."""
        return int(self.regrets.shape[1])

    @cached_property
    def curve(self) -> Curve:
        """Cumulative regret over episodes, at no more points than can be seen."""
        points = thin(self.episodes, MOST_POINTS)
        mean, low, high = mean_curve(self.regrets.cumsum(axis=1)[:, points], seed=BOOTSTRAP_SEED)
        return Curve(points + 1, mean, low, high)


@dataclass(frozen=True, eq=False)
class WorldRuns:
    """Runs of several agents in one world.

    Attributes:
        name: what to call it.
        horizon: steps of an episode.
        optimum: V*, the best expected return of an episode.
        random_loss: V* − V of a player who acts uniformly at random.
        agents: in the order to show them.
    """

    name: str
    horizon: int
    optimum: float
    random_loss: float
    agents: tuple[AgentRuns, ...]

    def __post_init__(self) -> None:
        if not self.agents:
            raise InputError(f"world {self.name!r} has no agents to report on")

    @cached_property
    def summaries(self) -> tuple[RegretSummary, ...]:
        """One for each agent."""
        return tuple(
            summarise_regret(runs.regrets, optimum=self.optimum, seed=BOOTSTRAP_SEED) for runs in self.agents
        )
