"""The choice of kernels for displacements, by marginal likelihood on some of the data, and for rewards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from cmerl.kernels.left_out import left_out_residuals

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class Shape:
    """The fitted kernels; None for a constant output.

    Attributes:
        displacement: for each column of s' − s.
        reward: for the reward.
    """

    displacement: tuple[Fit | None, ...]
    reward: RewardKernel

    def rescaled(self, factors: FloatArray) -> Shape:
        """The same kernels of displacements, for states in units that are smaller by these factors (d,)."""
        return replace(self, displacement=tuple(fit and fit.rescaled(factors) for fit in self.displacement))

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

    Each kernel is searched for from several lengthscales, and from the earlier kernel if there is one: a search from
    one start may end where all is noise. The likeliest stays, unless another errs clearly less on episodes left out.

    Args:
        data: what was seen.
        settings: all numbers.
        before: the earlier kernels, in the same units.
        reward: whether the reward is to be learned.
    """
    rows = settings.fit_rows
    chosen = rows_to_fit(len(data), farthest_points(data.z, max(rows // 3, 1))[0], rows)
    some, episodes = data[chosen], data.episodes[chosen]
    earlier = before.displacement if before is not None else (None,) * data.x.shape[1]
    squares = squared_differences(some.z)
    begins = [starting_at(start, some.z) for start in settings.starts]
    moves = tuple(
        _fit(some.z, output, [*begins, *([start] if start else [])], squares, episodes, settings)
        for output, start in zip((some.y - some.x).T, earlier, strict=True)
    )
    return Shape(moves, fit_reward(data, settings) if reward else RewardKernel(None))  # else it is given


def _fit(
    Z: FloatArray,
    y: FloatArray,
    starts: Sequence[Fit],
    squares: FloatArray,
    episodes: IntArray,
    settings: DisplacementSettings,
) -> Fit | None:
    """For one output (n,) without its outliers; None if it does not vary."""
    spread = float(y.std())
    if not varies(spread, max(float(np.abs(y).max()), 1.0)):
        return None
    y = (y - y.mean()) / spread
    kept = ~outliers_of_a_smooth_kernel(squares, y, settings.outliers)
    if not kept.all():
        Z, y, squares, episodes = Z[kept], y[kept], squares[:, kept][:, :, kept], episodes[kept]
        y = (y - y.mean()) / max(float(y.std()), 1e-12)
    found = [fit(Z, y[:, None], start=start, most_steps=settings.fit_steps, squares=squares) for start in starts]
    likeliest = int(np.argmax([one.evidence for one in found]))
    if len(np.unique(episodes)) < 2:
        return found[likeliest]
    errors = [float(np.square(left_out_residuals(one, squares, y, episodes)).mean()) for one in found]
    best = int(np.argmin(errors))
    return found[best if errors[best] < settings.left_out_margin * errors[likeliest] else likeliest]
