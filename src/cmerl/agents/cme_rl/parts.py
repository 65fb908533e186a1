"""The parts of CME-RL that a user may replace: optimism, planner and actor; model and updates are options."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cmerl.acting import Actor
from cmerl.optimism import Optimism
from cmerl.planning import Plan, make_plan

Backward = Callable[..., Plan]
"""A backward pass, with the arguments of `cmerl.planning.make_plan`."""


class Parts(NamedTuple):
    """Parts that a user has passed in; None where the agent chooses."""

    optimism: Optimism | None = None
    planner: Backward | None = None
    actor: Actor | None = None

    @property
    def backward(self) -> Backward:
        """The backward pass."""
        return self.planner or make_plan

    @property
    def own(self) -> list[str]:
        """Names of those that were passed in."""
        return [name for name, part in self._asdict().items() if part is not None]
