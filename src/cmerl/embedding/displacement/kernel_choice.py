"""The choice of kernels for displacements and rewards, by marginal likelihood on some of the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.motion import Motion, varies
from cmerl.embedding.displacement.outliers import outliers_of_a_smooth_kernel
from cmerl.embedding.displacement.regression import farthest_points
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.growing import Arrays, nested, part
from cmerl.kernels.additive_fitting import AdditiveFit, fit_additive
from cmerl.kernels.fitting import Fit, fit, squared_differences

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """The fitted kernels; None for a constant output.

    Attributes:
        displacement: for each column of s' − s.
        reward: for the reward.
        reward_at_next: whether the reward follows from (s', a), not from (s, a): the likelier of the two.
    """

    displacement: tuple[Fit | None, ...]
    reward: Fit | AdditiveFit | None
    reward_at_next: bool = False

    def arrays(self) -> Arrays:
        """For saving."""
        fits = [
            *zip(map(str, range(len(self.displacement))), self.displacement, strict=True),
            ("reward", self.reward),
        ]
        parts = {name: fit.arrays() for name, fit in fits if fit is not None}
        return {"at_next": np.array([self.reward_at_next]), **nested(parts)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, columns: int) -> Shape:
        """Restore saved kernels for a number of state columns."""
        saved = [part(arrays, str(name)) for name in range(columns)]
        moves = tuple(Fit.from_arrays(fit) if fit else None for fit in saved)
        paid = part(arrays, "reward")
        kind = AdditiveFit if "action_lengthscales" in paid else Fit
        return cls(moves, kind.from_arrays(paid) if paid else None, bool(arrays["at_next"][0]))


def fit_shape(
    data: Motion, settings: DisplacementSettings, before: Shape | None = None, *, reward: bool = True
) -> Shape:
    """Lengthscales and ridges from some rows (see ``rows_to_fit``); of rewards, see ``fit_reward``.

    Each kernel is searched for from several lengthscales, and from the earlier kernel if there is one, and the
    likeliest stays: a search from one start may end where all is noise.
    """
    rows = settings.fit_rows
    some = data[rows_to_fit(len(data), farthest_points(data.z, max(rows // 3, 1))[0], rows)]
    earlier = before.displacement if before is not None else (None,) * data.x.shape[1]
    squares = squared_differences(some.z)
    outputs, begins = (some.y - some.x).T, [starting_at(start, some.z) for start in settings.starts]
    moves = tuple(
        _likeliest(_fit(some.z, output, start, squares, settings) for start in (*begins, *([known] if known else [])))
        for output, known in zip(outputs, earlier, strict=True)
    )
    return Shape(moves, *fit_reward(data, settings)) if reward else Shape(moves, None)  # else it is given


def fit_reward(data: Motion, settings: DisplacementSettings) -> tuple[Fit | AdditiveFit | None, bool]:
    """The kernel of rewards from some rows (see ``reward_rows``), and whether it is one of (s', a).

    The likeliest stays: a kernel of states and actions together, or the sum of a kernel of each. It is never searched
    for from the earlier kernel: once most rows are near the best reward, that has lost a column.
    """
    alive = data.alive
    alive = alive[reward_rows(alive.r, settings.fit_rows)]
    if not varies(float(alive.r.std()), max(float(np.abs(alive.r).max()), 1.0)):
        return None, False
    found: list[tuple[Fit | AdditiveFit, bool]] = []
    steps = settings.fit_steps
    r = (alive.r - alive.r.mean()) / float(alive.r.std())
    for at_next, states in ((False, alive.x), (True, alive.y)):
        Z = np.hstack([states, alive.a])
        squares = squared_differences(Z)
        begins = [starting_at(start, Z) for start in settings.starts]
        found += [(fit(Z, r[:, None], start=one, most_steps=steps, squares=squares), at_next) for one in begins]
        if settings.additive:
            start = settings.starts[0]
            found.append((fit_additive(states, alive.a, r, lengthscale=start, most_steps=steps), at_next))
    return max(found, key=lambda one: one[0].evidence)


def _likeliest(fits: Iterable[Fit | None]) -> Fit | None:
    """The fit with the largest evidence; None if the output does not vary."""
    return max(fits, key=lambda fit: -np.inf if fit is None else fit.evidence)


def starting_at(lengthscale: float, Z: FloatArray) -> Fit:
    """A start with this lengthscale for every column of the inputs (n, d), and nearly without noise."""
    return Fit(np.full(Z.shape[1], lengthscale), 1e-3, 0.0)


def reward_rows(rewards: FloatArray, rows: int) -> NDArray[np.intp]:
    """Rows of rewards (n,) to fit their kernel to; rare are those farthest from the usual (see ``rows_to_fit``)."""
    rare = np.argsort(-np.abs(rewards - np.median(rewards)), kind="stable")[: max(rows // 3, 1)]
    return rows_to_fit(len(rewards), rare, rows)


def rows_to_fit(n: int, rare: NDArray[np.intp], rows: int) -> NDArray[np.intp]:
    """At most so many of n rows that a kernel is fitted to: a third each spread in time, rare, and the latest.

    Time alone misses what is rare. What is rare is often of the first, wild episodes: without the latest, a kernel
    fits states and costs that no good episode meets, and what matters near the optimum hardly counts.
    """
    third = max(rows // 3, 1)
    in_time = np.linspace(0, n - 1, min(n, third)).astype(np.intp)
    return np.unique(np.concatenate([in_time, rare, np.arange(max(n - third, 0), n)]))


def _fit(Z: FloatArray, y: FloatArray, start: Fit, squares: FloatArray, settings: DisplacementSettings) -> Fit | None:
    """For one output (n,) without its outliers; None if it does not vary."""
    spread = float(y.std())
    if not varies(spread, max(float(np.abs(y).max()), 1.0)):
        return None
    y = (y - y.mean()) / spread
    kept = ~outliers_of_a_smooth_kernel(squares, y, settings.outliers)
    if not kept.all():
        Z, y, squares = Z[kept], y[kept], squares[:, kept][:, :, kept]
        y = (y - y.mean()) / max(float(y.std()), 1e-12)
    return fit(Z, y[:, None], start=start, most_steps=settings.fit_steps, squares=squares)
