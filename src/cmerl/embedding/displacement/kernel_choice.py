"""The choice of kernels for displacements, by marginal likelihood on some of the data, and for rewards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.fit_rows import rows_to_fit
from cmerl.embedding.displacement.motion import Motion, varies
from cmerl.embedding.displacement.outliers import outliers_of_a_smooth_kernel
from cmerl.embedding.displacement.regression import farthest_points
from cmerl.embedding.displacement.reward_kernel import RewardKernel, fit_reward
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.growing import Arrays, nested, part
from cmerl.kernels.additive_fitting import AdditiveFit
from cmerl.kernels.fitting import Fit, fit, squared_differences, starting_at

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """The fitted kernels; None for a constant output.

    Attributes:
        displacement: for each column of s' − s.
        reward: for the reward.
    """

    displacement: tuple[Fit | None, ...]
    reward: RewardKernel

    def arrays(self) -> Arrays:
        """For saving."""
        fits = [
            *zip(map(str, range(len(self.displacement))), self.displacement, strict=True),
            ("reward", self.reward.fit),
        ]
        parts = {name: fit.arrays() for name, fit in fits if fit is not None}
        return {"at_next": np.array([self.reward.at_next]), **nested(parts)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, columns: int) -> Shape:
        """Restore saved kernels for a number of state columns."""
        saved = [part(arrays, str(name)) for name in range(columns)]
        moves = tuple(Fit.from_arrays(fit) if fit else None for fit in saved)
        paid = part(arrays, "reward")
        kind = AdditiveFit if "action_lengthscales" in paid else Fit
        return cls(moves, RewardKernel(kind.from_arrays(paid) if paid else None, bool(arrays["at_next"][0])))


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
    return Shape(moves, fit_reward(data, settings) if reward else RewardKernel(None))  # else it is given


def _likeliest(fits: Iterable[Fit | None]) -> Fit | None:
    """The fit with the largest evidence; None if the output does not vary."""
    return max(fits, key=lambda fit: -np.inf if fit is None else fit.evidence)


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
