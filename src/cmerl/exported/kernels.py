"""A kernel as a sum of products of simple factors, each of the state's columns or of the action's alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

KINDS = ("rbf", "matern", "delta", "hamming")


@dataclass(frozen=True, eq=False)
class Factor:
    """A factor at fixed points.

    Attributes:
        kind: one of ``KINDS``.
        points: in the factor's own columns (m, k).
        columns: which those are.
        lengthscale: (k,), of ``rbf`` and ``matern``.
        nu: of ``matern``.
    """

    kind: str
    points: FloatArray
    columns: list[int]
    lengthscale: FloatArray
    nu: float

    @cached_property
    def _centred(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The mean of the points, they around it in units of the lengthscale, and ½‖·‖² of those.

        −½‖p − q‖² = ⟨q, p⟩ − ½‖q‖² − ½‖p‖²; around the mean little cancels.
        """
        centre = self.points.mean(axis=0)
        scaled = (self.points - centre) / self.lengthscale
        return centre, scaled, 0.5 * np.square(scaled).sum(axis=1)

    def at(self, rows: FloatArray) -> FloatArray:
        """k(rows, points) (k, m) for rows (k, d)."""
        X = rows[:, self.columns]
        if self.kind == "rbf":
            centre, scaled, half = self._centred
            P = (X - centre) / self.lengthscale
            E: FloatArray = P @ scaled.T
            E -= half
            E -= 0.5 * np.einsum("ij,ij->i", P, P)[:, None]
            np.minimum(E, 0.0, out=E)
            return np.asarray(np.exp(E, out=E))
        if self.kind == "matern":
            apart = (self.points - X[:, None]) / self.lengthscale
            return _matern(np.sqrt(np.square(apart).sum(axis=2)), self.nu)
        same = self.points == X[:, None]
        return np.asarray(same.all(axis=2) if self.kind == "delta" else same.mean(axis=2), dtype=np.float64)

    def slope(self, row: FloatArray) -> FloatArray:
        """∂k(row, points)/∂row in the factor's own columns (m, k); 0 where nothing is smooth."""
        x = row[self.columns]
        apart = (self.points - x) / np.square(self.lengthscale)
        if self.kind == "rbf":
            return np.asarray(apart * self.at(row[None]).T)
        if self.kind == "matern":
            R = np.sqrt(2.0 * self.nu * np.square((self.points - x) / self.lengthscale).sum(axis=1))
            if self.nu == 0.5:
                steep = np.exp(-R) / np.where(R > 0.0, R, np.inf)
            else:
                steep = 3.0 * np.exp(-R) if self.nu == 1.5 else (1.0 + R) * np.exp(-R) * 5.0 / 3.0
            return np.asarray(apart * steep[:, None])
        return np.zeros_like(apart)


def _matern(distance: FloatArray, nu: float) -> FloatArray:
    R = math.sqrt(2.0 * nu) * distance
    if nu == 0.5:
        return np.asarray(np.exp(-R))
    return np.asarray((1.0 + R if nu == 1.5 else 1.0 + R * (1.0 + R / 3.0)) * np.exp(-R))


@dataclass(frozen=True, eq=False)
class Term:
    """scale · Π state factors · Π action factors."""

    scale: float
    state: tuple[Factor, ...]
    action: tuple[Factor, ...]

    def of_state(self, row: FloatArray) -> FloatArray | float:
        """The part that does not depend on the action (m,)."""
        return _product([f.at(row[None])[0] for f in self.state], self.scale)

    def of_actions(self, rows: FloatArray, count: int) -> FloatArray:
        """The part of actions (k, e): (k, m)."""
        found = _product([f.at(rows) for f in self.action], 1.0)
        return np.broadcast_to(found, (len(rows), count))

    def action_slope(self, row: FloatArray, count: int) -> FloatArray:
        """∂(part of the action)/∂a (m, e), by the product rule."""
        values = [f.at(row[None])[0] for f in self.action]
        total = np.zeros((count, len(row)))
        for i, factor in enumerate(self.action):
            others = _product([v for j, v in enumerate(values) if j != i], 1.0)
            total[:, factor.columns] += factor.slope(row) * np.reshape(others, (-1, 1))
        return total


def _product(values: list[FloatArray], scale: float) -> FloatArray | float:
    if not values:
        return scale
    found = values[0] if scale == 1.0 else scale * values[0]
    for value in values[1:]:
        found = found * value
    return found


def terms_of(spec: list[dict[str, Any]], states: FloatArray, actions: FloatArray) -> tuple[Term, ...]:
    """Terms at points whose states (m, d) and actions (m, e) are given."""
    return tuple(
        Term(
            float(entry["scale"]),
            tuple(_factor(f, states) for f in entry["state"]),
            tuple(_factor(f, actions) for f in entry["action"]),
        )
        for entry in spec
    )


def _factor(spec: dict[str, Any], points: FloatArray) -> Factor:
    columns = list(spec["columns"])
    scale = np.array(spec["lengthscale"], dtype=np.float64) if spec["lengthscale"] else np.ones(len(columns))
    return Factor(spec["kind"], np.ascontiguousarray(points[:, columns]), columns, scale, float(spec["nu"]))
