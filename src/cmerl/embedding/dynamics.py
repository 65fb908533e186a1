"""A model of smooth motion: where a state goes when an action is held, what that earns, and whether it ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.endings import Endings
from cmerl.embedding.smooth import Novelty, SmoothRegression
from cmerl.kernels.fitting import Fit, fit

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

CENTRES = 250  # of each regression
FIT_ON = 250  # rows for the marginal likelihood
NOVELTY_RIDGE = 0.1


@dataclass(frozen=True)
class Motion:
    """What was seen, in the units of the model.

    Attributes:
        x: states (n, d) of unit variance.
        a: features of the actions (n, e).
        y: next states (n, d).
        r: rewards (n,).
        ended: whether the episode terminated there (n,).
    """

    x: FloatArray
    a: FloatArray
    y: FloatArray
    r: FloatArray
    ended: BoolArray

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: NDArray[np.intp] | BoolArray) -> Motion:
        return Motion(self.x[rows], self.a[rows], self.y[rows], self.r[rows], self.ended[rows])

    @property
    def z(self) -> FloatArray:
        """State-actions (n, d + e)."""
        return np.hstack([self.x, self.a])


@dataclass(frozen=True)
class Shape:
    """What the marginal likelihood chose for the displacement and for the reward; None where that is constant."""

    displacement: Fit | None
    reward: Fit | None


def fit_shape(data: Motion) -> Shape:
    """Lengthscales and ridges, from rows that are spread evenly in time."""
    part, alive = data[_spread_rows(len(data))], data[~data.ended] if not data.ended.all() else data
    # A reward may be rare: half of the rows are those farthest from the usual.
    rare = np.argsort(-np.abs(alive.r - np.median(alive.r)), kind="stable")[: FIT_ON // 2]
    alive = alive[np.unique(np.append(_spread_rows(len(alive))[::2], rare).astype(np.intp))]
    return Shape(
        _fit(part.z, _standardised(part.y - part.x)),
        _fit(alive.z, _standardised(alive.r[:, None])),
    )


def _spread_rows(n: int) -> NDArray[np.intp]:
    return np.linspace(0, n - 1, min(n, FIT_ON)).astype(np.intp)


def _fit(Z: FloatArray, Y: FloatArray) -> Fit | None:
    return fit(Z, Y) if Y.shape[1] else None


def _standardised(Y: FloatArray) -> FloatArray:
    """The columns that vary, with mean 0 and variance 1."""
    centred = Y - Y.mean(axis=0)
    spread = centred.std(axis=0)
    varies = spread > 1e-9
    return np.asarray(centred[:, varies] / spread[varies])


class Mean:
    """A regression on what does not vary."""

    def __init__(self, Y: FloatArray) -> None:
        self._mean = Y.mean(axis=0)
        self.residuals = Y - self._mean

    def __call__(self, X: FloatArray) -> FloatArray:
        """The mean, whatever the input (q, p)."""
        return np.tile(self._mean, (len(X), 1))


def regress(Z: FloatArray, Y: FloatArray, shape: Fit | None) -> SmoothRegression | Mean:
    """A regression of Y (n, p) on Z with the chosen kernel."""
    return Mean(Y) if shape is None else SmoothRegression(Z, Y, shape.lengthscales, shape.ridge, CENTRES)


class Dynamics:
    """Displacement, reward, endings and novelty, learned from data.

    Args:
        data: what was seen.
        shape: the kernels to use.
        action_gap: by how much action features are stretched where novelty is measured; large keeps actions apart.
    """

    def __init__(self, data: Motion, shape: Shape, action_gap: float) -> None:
        self._gap = action_gap
        self.spread = np.maximum((data.y - data.x).std(axis=0), 1e-12)
        self._move = regress(data.z, (data.y - data.x) / self.spread, shape.displacement)
        self.residuals = self._move.residuals * self.spread
        alive = data[~data.ended] if not data.ended.all() else data
        self._reward = regress(alive.z, alive.r[:, None], shape.reward)
        self._least, self._most = float(alive.r.min()), float(alive.r.max())
        self._bounds = np.abs(np.vstack([data.x, data.y])).max(axis=0) + 2.0
        ends = data[data.ended]
        self.endings = Endings(ends.y, ends.r, data.y[~data.ended]) if len(ends) else None
        self._width = float(np.sqrt(max(data.x.shape[1] / 2.0, 1.0)))  # more columns lie farther apart
        visited = np.vstack([data.x, data.y[~data.ended]]) / self._width
        self.state_novelty = Novelty(visited, NOVELTY_RIDGE, CENTRES)
        self.novelty = Novelty(np.hstack([data.x / self._width, action_gap * data.a]), NOVELTY_RIDGE, CENTRES)

    def step(self, x: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """The next state (q, d), the reward (q,) and whether the episode ends (q,)."""
        y = self._moved(x, a)
        return y, *self._outcome(x, a, y)

    def _moved(self, x: FloatArray, a: FloatArray) -> FloatArray:
        y = x + self._move(np.hstack([x, a])) * self.spread
        return np.asarray(np.clip(y, -self._bounds, self._bounds))

    def _outcome(self, x: FloatArray, a: FloatArray, y: FloatArray) -> tuple[FloatArray, BoolArray]:
        r = np.clip(self._reward(np.hstack([x, a]))[:, 0], self._least, self._most)
        if self.endings is None:
            return r, np.zeros(len(x), dtype=bool)
        ended, last = self.endings(y)
        return np.where(ended, last, r), ended

    def hold(
        self, x: FloatArray, a: FloatArray, steps: int | NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """The same for an action held for some steps, or until the episode ends: the reward is the sum."""
        longest = int(np.max(steps))
        path = [x]
        for _ in range(longest):
            path.append(self._moved(path[-1], a))
        rewards, ends = self._outcome(np.vstack(path[:-1]), np.tile(a, (longest, 1)), np.vstack(path[1:]))
        rewards, ends = rewards.reshape(longest, -1), ends.reshape(longest, -1)
        end = np.where(ends.any(axis=0), np.argmax(ends, axis=0), longest)
        last = np.minimum(end, np.asarray(steps) - 1)
        total = np.where(np.arange(longest)[:, None] <= last, rewards, 0.0).sum(axis=0)
        return np.stack(path[1:])[last, np.arange(len(x))], total, end <= last

    def unknown(self, x: FloatArray, a: FloatArray, y: FloatArray, ended: BoolArray) -> FloatArray:
        """U in [0, 1] (q,): how new it is to take the action there, and to get where it leads; an end is no news.

        A place is entered once, in however many steps it is crossed: a short step counts for its length.
        """
        x, y = x / self._width, y / self._width
        both = np.minimum(self.novelty(np.hstack([x, self._gap * a])), self.state_novelty(y))
        length = np.sqrt(np.square(y - x).sum(axis=1))
        return np.where(ended, 0.0, both * np.minimum(length, 1.0))
