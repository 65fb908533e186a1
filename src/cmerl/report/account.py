"""The cost and gain of exploration in the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.report import curves
from cmerl.report.rundir import Runs

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExplorationAccount:
    """Both sides of the account after every episode, in the units of returns.

    Attributes:
        cost: all that was charged so far (S, T).
        bought: all returns so far, less as many times that of the first episode (S, T).
    """

    cost: FloatArray
    bought: FloatArray

    @classmethod
    def of(cls, runs: Runs) -> ExplorationAccount | None:
        """The account of one agent; None if it has none. An episode without an entry costs nothing."""
        charges, returns = runs.get("metrics.exploration_cost"), runs.get("return")
        if charges is None or returns is None:
            return None
        return cls(np.nancumsum(charges, axis=1), np.cumsum(returns - returns[:, :1], axis=1))

    @classmethod
    def curve(cls, runs: Runs, side: str, most: int) -> curves.Curve | None:
        """One side as a curve of so many points; None if there is no account."""
        account = cls.of(runs)
        return None if account is None else curves.sampled(account.cost if side == "cost" else account.bought, most)

    def words(self, agent: str) -> str:
        """As means over seeds."""
        cost, bought = (float(side[:, -1].mean()) for side in (self.cost, self.bought))
        gained = f"{_number(bought)} more" if bought >= 0 else f"{_number(-bought)} less"
        return (
            f"{agent}: exploration has cost {_number(cost)} by its own account; all episodes together returned "
            f"{gained} than if each had been like the first"
        )


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ") if value >= 100 else f"{value:.3g}"
