"""The kernel of rewards: fitted by marginal likelihood, compared on episodes left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.additive import AdditiveRegression
from cmerl.embedding.displacement.fit_rows import reward_rows, spread_rows
from cmerl.embedding.displacement.motion import Motion, varies
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.embedding.displacement.stacked import StackedRegression
from cmerl.kernels.additive_fitting import AdditiveFit, fit_additive
from cmerl.kernels.fitting import Fit, fit, squared_differences, starting_at

FloatArray = NDArray[np.float64]


class RewardKernel(NamedTuple):
    """A kernel of rewards.

    Attributes:
        fit: a kernel of states and actions together, or the sum of a kernel of each; None if rewards do not vary.
        at_next: whether it is one of (s', a), not of (s, a).
    """

    fit: Fit | AdditiveFit | None
    at_next: bool = False

    def regression(self, data: Motion, centres: int) -> StackedRegression | AdditiveRegression:
        """The regression of the rewards of some data.

        Where nothing was seen a step pays the least: with the mean, a plan that promises most would lead there. To
        look all the same is what the exploration account is for.
        """
        states = self.causes(data)
        if isinstance(self.fit, AdditiveFit):
            return AdditiveRegression(states, data.a, data.r, self.fit, centres)
        prior = np.array([data.r.min()])
        return StackedRegression(np.hstack([states, data.a]), data.r[:, None], [self.fit], centres, prior=prior)

    def causes(self, data: Motion) -> FloatArray:
        """The states (n, d) that rewards follow from."""
        return data.y if self.at_next else data.x


def fit_reward(data: Motion, settings: DisplacementSettings) -> RewardKernel:
    """The likeliest kernel of usual, rare and late rewards; or that of rewards spread widely, if it predicts better.

    Both predict episodes left out. The second must err clearly less: the first is finer where good episodes are. No
    kernel is searched for from an earlier one: once most rows are near the best reward, that has lost a column.
    """
    alive = data.alive
    usual = _likeliest(alive[reward_rows(alive.r, settings.fit_rows)], settings)
    episodes = np.append(0, np.cumsum(alive.breaks)[:-1])
    if usual.fit is None or not settings.reward_margin or episodes[-1] == 0:
        return usual
    spread = _likeliest(alive[spread_rows(alive, settings.fit_rows)], settings)
    folds = episodes % settings.reward_folds
    errors = [left_out_error(alive, kernel, folds, settings.centres) for kernel in (usual, spread)]
    return spread if errors[1] < settings.reward_margin * errors[0] else usual


def left_out_error(data: Motion, kernel: RewardKernel, folds: NDArray[np.intp], centres: int) -> float:
    """Mean squared error of rewards (n,), those of each fold (n,) predicted from all others."""
    missed = np.empty(len(data))
    for fold in np.unique(folds):
        out = folds == fold
        others, held = data[~out], data[out]
        paid = kernel.regression(others, centres)(np.hstack([kernel.causes(held), held.a]))[:, 0]
        missed[out] = np.clip(paid, others.r.min(), others.r.max()) - held.r
    return float(np.square(missed).mean())


def _likeliest(data: Motion, settings: DisplacementSettings) -> RewardKernel:
    """Of kernels of (s, a) and of (s', a), from several starts, and of sums."""
    if not varies(float(data.r.std()), max(float(np.abs(data.r).max()), 1.0)):
        return RewardKernel(None)
    found: list[tuple[Fit | AdditiveFit, bool]] = []
    steps = settings.fit_steps
    r = (data.r - data.r.mean()) / float(data.r.std())
    for at_next, states in ((False, data.x), (True, data.y)):
        Z = np.hstack([states, data.a])
        squares = squared_differences(Z)
        begins = [starting_at(start, Z) for start in settings.starts]
        found += [(fit(Z, r[:, None], start=one, most_steps=steps, squares=squares), at_next) for one in begins]
        if settings.additive:
            start = settings.starts[0]
            found.append((fit_additive(states, data.a, r, lengthscale=start, most_steps=steps), at_next))
    return RewardKernel(*max(found, key=lambda one: one[0].evidence))
