"""Explanations of a decision: expected reward, expected value, evidence and optimism of each action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cmerl import notebooks

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

HEAD = ("action", "Q", "reward", "value", "optimism", "uncertainty", "leads to", "evidence")


@dataclass(frozen=True, eq=False)
class Evidence:
    """A past transition, and what it counts for.

    Attributes:
        weight: its share of the prediction; weights may be negative, and sum to the mass of what is known.
        observation: where it began.
        action: what was done.
        reward: what that earned.
        next_observation: where it led.
        terminated: whether the episode ended there.
        number: of the transition, in the order in which they were learned.
    """

    weight: float
    observation: Any
    action: Any
    reward: float
    next_observation: Any
    terminated: bool
    number: int


@dataclass(frozen=True, eq=False)
class ActionExplanation:
    """The explanation of one action: Q = expected_reward + expected_value + optimism.

    Attributes:
        action: as the environment takes it.
        expected_reward: Σ weight·reward, of the experience that is near.
        expected_value: Σ weight·V(next state), of the same.
        optimism: what is added because too little is known: an optimistic prior, or a bonus.
        uncertainty: σ at this state and action; it falls with every visit nearby.
        trajectory: observations that are expected to follow, the first one after this action, then as planned.
        evidence: the transitions that count most, the heaviest first.
        q: the sum, which the plan maximises.
    """

    action: Any
    expected_reward: float
    expected_value: float
    optimism: float
    uncertainty: float
    trajectory: tuple[Any, ...]
    evidence: tuple[Evidence, ...]

    @property
    def q(self) -> float:
        """Q, in the environment's units."""
        return self.expected_reward + self.expected_value + self.optimism


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a plan prefers an action at an observation.

    Attributes:
        observation: that.
        step: of the episode.
        actions: one entry an action, in the order of the action set.
        best: the number of the one that the plan prefers.
        plan: what kind of plan it is, in words.
    """

    observation: Any
    step: int
    actions: tuple[ActionExplanation, ...]
    best: int
    plan: str

    @property
    def chosen(self) -> ActionExplanation:
        """The preferred one."""
        return self.actions[self.best]

    @property
    def title(self) -> str:
        """A heading."""
        return f"step {self.step} at {short(self.observation)}, {self.plan}"

    def rows(self, most: int = 12) -> list[tuple[str, ...]]:
        """A table, the largest Q first; of many actions some."""
        order = sorted(range(len(self.actions)), key=lambda i: (i != self.best, -self.actions[i].q))
        return [self._row(i) for i in order[:most]]

    def _row(self, i: int) -> tuple[str, ...]:
        a = self.actions[i]
        heavy = ", ".join(f"{e.weight:.2f}·#{e.number}" for e in a.evidence[:3])
        numbers = (a.q, a.expected_reward, a.expected_value, a.optimism, a.uncertainty)
        leads = short(a.trajectory[0]) if a.trajectory else "unknown"
        return (f"{'→ ' if i == self.best else ''}{short(a.action)}", *(f"{x:.4g}" for x in numbers), leads, heavy)

    def to_json(self, most: int = 12) -> dict[str, Any]:
        """The JSON form for reports."""
        return {"title": self.title, "head": list(HEAD), "rows": [list(row) for row in self.rows(most)]}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """A table for the terminal."""
        from rich.table import Table

        table = Table(*HEAD, title=self.title)
        for row in self.rows():
            table.add_row(*row)
        yield table

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(HEAD, *self.rows(), strict=True)]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in (HEAD, *self.rows())
        ]
        return "\n".join([self.title, *(line.rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        return notebooks.grid(self.title, HEAD, self.rows())


def short(value: Any) -> str:
    """An observation or an action in a few signs."""
    if isinstance(value, np.ndarray | list | tuple) and np.asarray(value).dtype.kind in "biuf":
        return "[" + ", ".join(f"{x:.3g}" for x in np.ravel(value)[:6]) + ("…]" if np.size(value) > 6 else "]")
    if isinstance(value, float | np.floating):
        return f"{value:.3g}"
    text = str(value)
    return text if len(text) <= 30 else f"{text[:29]}…"


def heaviest(weights: np.ndarray[Any, Any], most: int) -> Sequence[int]:
    """Numbers of the entries that count most, those of no weight left out."""
    order = np.argsort(-np.abs(weights), kind="stable")[:most]
    return [int(i) for i in order if weights[i] != 0.0]
