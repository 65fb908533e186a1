"""The policy that the latest episodes have followed, which proposes sequences to searches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.dynamics import Dynamics
from cmerl.embedding.displacement.motion import varies
from cmerl.embedding.displacement.stacked import StackedRegression
from cmerl.kernels.fitting import Fit, fit, starting_at
from cmerl.searching.icem import Channels
from cmerl.searching.simulator import Regression

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """Sizes of the regression of actions on states.

    Args:
        rows: transitions that it is made from.
        episodes: as long as the latest one, over which they are spread at least: the end of a bad one is no law.
        fit_rows: of these that its kernel is fitted to.
        fit_steps: most steps of its ascent.
        centres: of the kernel.
        starts: lengthscales from which it is searched for.
    """

    rows: int = 400
    episodes: int = 3
    fit_rows: int = 200
    fit_steps: int = 30
    centres: int = 200
    starts: tuple[float, ...] = (2.0, 0.5)


def followed_policy(dynamics: Dynamics, channels: Channels, settings: PolicySettings) -> Regression:
    """The regression of the latest actions on states, made once for each model.

    Actions that searches have found are noisy. Their regression is a smooth feedback law, as good as the average of
    what was done nearby.
    """
    if dynamics.followed is None:
        data, n = dynamics.data, len(dynamics.data)
        span = max(settings.rows, settings.episodes * dynamics.latest_length)
        rows = np.unique(np.linspace(max(n - span, 0), n - 1, min(n, settings.rows)).astype(np.intp))
        x, done = data.x[rows], channels.latent_of(data.a[rows].astype(np.float32)).astype(np.float64)
        moving = [varies(float(column.std()), 1.0) for column in done.T]
        some = np.linspace(0, len(x) - 1, min(len(x), settings.fit_rows)).astype(np.intp)
        kernel = _kernel(x[some], done[some][:, moving], settings) if any(moving) else None
        fits = [kernel if moves else None for moves in moving]
        dynamics.followed = StackedRegression(x, done, fits, settings.centres).quick
    return dynamics.followed


def _kernel(X: FloatArray, U: FloatArray, settings: PolicySettings) -> Fit:
    """The likeliest kernel of latent numbers (n, l) at states (n, d)."""
    spread = np.maximum(U.std(axis=0), 1e-12)
    found = (
        fit(X, (U - U.mean(axis=0)) / spread, start=starting_at(start, X), most_steps=settings.fit_steps)
        for start in settings.starts
    )
    return max(found, key=lambda one: one.evidence)
