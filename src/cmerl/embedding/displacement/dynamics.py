"""A model of smooth motion: where a state goes when an action is held, what that earns, and whether it ends."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.regression import Novelty, SmoothRegression
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.embedding.displacement.terminations import Terminations
from cmerl.kernels.fitting import Fit, fit

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


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


def fit_shape(data: Motion, rows: int) -> Shape:
    """Lengthscales and ridges, from so many rows that are spread evenly in time."""
    part, alive = data[_spread_rows(len(data), rows)], data[~data.ended] if not data.ended.all() else data
    # A reward may be rare: half of the rows are those farthest from the usual.
    rare = np.argsort(-np.abs(alive.r - np.median(alive.r)), kind="stable")[: rows // 2]
    alive = alive[np.unique(np.append(_spread_rows(len(alive), rows)[::2], rare).astype(np.intp))]
    return Shape(
        _fit(part.z, _standardised(part.y - part.x)),
        _fit(alive.z, _standardised(alive.r[:, None])),
    )


def _spread_rows(n: int, rows: int) -> NDArray[np.intp]:
    return np.linspace(0, n - 1, min(n, rows)).astype(np.intp)


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
        """The mean, whatever the input X (…, d): (…, p)."""
        return np.broadcast_to(self._mean, (*X.shape[:-1], len(self._mean)))

    def of_actions(self, actions: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """The same for every action, at states (q, d) or (A, q, d)."""
        return lambda states: np.broadcast_to(self._mean, (len(actions), states.shape[-2], len(self._mean)))


def regress(Z: FloatArray, Y: FloatArray, shape: Fit | None, centres: int) -> SmoothRegression | Mean:
    """A regression of Y (n, p) on Z with the chosen kernel."""
    return Mean(Y) if shape is None else SmoothRegression(Z, Y, shape.lengthscales, shape.ridge, centres)


class Dynamics:
    """Displacement, reward, endings and novelty, learned from data.

    Args:
        data: what was seen.
        shape: the kernels to use.
        actions: features of the actions to plan with (A, e).
        action_gap: by how much action features are stretched where novelty is measured; large keeps actions apart.
        lam: λ of the regression that measures novelty.
        settings: sizes.
    """

    def __init__(
        self,
        data: Motion,
        shape: Shape,
        actions: FloatArray,
        *,
        action_gap: float,
        lam: float,
        settings: DisplacementSettings,
    ) -> None:
        centres = settings.centres
        self.spread = np.maximum((data.y - data.x).std(axis=0), 1e-12)
        self._move = regress(data.z, (data.y - data.x) / self.spread, shape.displacement, centres)
        self.residuals = self._move.residuals * self.spread
        alive = data[~data.ended] if not data.ended.all() else data
        self._reward = regress(alive.z, alive.r[:, None], shape.reward, centres)
        self._least, self._most = float(alive.r.min()), float(alive.r.max())
        self._bounds = np.abs(np.vstack([data.x, data.y])).max(axis=0) + 2.0
        ends = data[data.ended]
        self.terminations = (
            Terminations(ends.y, ends.r, data.y[~data.ended], settings.survivors) if len(ends) else None
        )
        self._width = float(np.sqrt(max(data.x.shape[1] / 2.0, 1.0)))  # more columns lie farther apart
        visited = np.vstack([data.x, data.y[~data.ended]]) / self._width
        self.state_novelty = Novelty(visited, lam, centres)
        self.novelty = Novelty(np.hstack([data.x / self._width, action_gap * data.a]), lam, centres)
        self._action_gap = action_gap
        self._range_over(actions)

    def _range_over(self, actions: FloatArray) -> None:
        self._moves, self._rewards = self._move.of_actions(actions), self._reward.of_actions(actions)
        self._novelties = self.novelty.of_actions(self._action_gap * actions)

    def with_actions(self, actions: FloatArray) -> Dynamics:
        """The same for actions with other features (A, e)."""
        other = copy.copy(self)
        other._range_over(actions)
        return other

    def step(self, x: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """The next state (q, d), the reward (q,) and whether the episode ends (q,), for actions with features a."""
        z = np.hstack([x, a])
        y = self._bounded(x + self._move(z) * self.spread)
        return y, *self._outcome(self._reward(z), y)

    def _bounded(self, y: FloatArray) -> FloatArray:
        return np.asarray(np.minimum(np.maximum(y, -self._bounds), self._bounds))

    def _outcome(self, rewards: FloatArray, y: FloatArray) -> tuple[FloatArray, BoolArray]:
        """The reward and whether the episode ends (…,), from the regression's (…, 1) and the next state (…, d)."""
        r = np.minimum(np.maximum(rewards[..., 0], self._least), self._most)
        if self.terminations is None:
            return r, np.zeros(r.shape, dtype=bool)
        ended, last = self.terminations(y.reshape(-1, y.shape[-1]))
        ended = ended.reshape(r.shape)
        return np.where(ended, last.reshape(r.shape), r), ended

    def path(self, x: FloatArray, held: BoolArray) -> FloatArray:
        """Where every action leads from states (q, d) while it is held, at steps (k, q): (A, k + 1, q, d)."""
        first = self._bounded(x + self._moves(x) * self.spread)
        path = np.empty((len(first), len(held) + 1, *x.shape))
        path[:, 0], path[:, 1] = x, first
        for k, on in enumerate(held[1:], start=1):
            here = path[:, k, on]
            path[:, k + 1, on] = self._bounded(here + self._moves(here) * self.spread)
        return path

    def hold(self, x: FloatArray, steps: int | NDArray[np.intp]) -> tuple[FloatArray, FloatArray, BoolArray]:
        """From states (q, d), every action held for some steps, or until the episode ends.

        Returns:
            The states at last (A, q, d), the sums of rewards (A, q), and whether the episode has ended (A, q).
        """
        longest, steps = int(np.max(steps)), np.broadcast_to(steps, len(x))
        held = np.arange(longest)[:, None] < steps  # (longest, q)
        path = self.path(x, held)
        rewards, ends = np.zeros((2, len(path), *held.shape))
        rewards[:, 0], ends[:, 0] = self._outcome(self._rewards(x), path[:, 1])  # x is the same for all actions
        if longest > 1:
            later = held[1:]
            r = self._rewards(path[:, 1:-1][:, later])
            rewards[:, 1:][:, later], ends[:, 1:][:, later] = self._outcome(r, path[:, 2:][:, later])
        over = np.maximum.accumulate(ends, axis=1)
        rewards[:, 1:] *= 1.0 - over[:, :-1]
        last = np.where(ends.any(axis=1), np.argmax(ends, axis=1), steps - 1)
        y = np.take_along_axis(path, last[:, None, :, None] + 1, axis=1)[:, 0]
        return y, rewards.sum(axis=1), over[:, -1] > 0

    def follow(
        self, x: FloatArray, which: NDArray[np.intp], hold: int, steps: int
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """From one state (d,), what comes of sequences (n, k) of numbers of actions, each held for some steps.

        An action earns at each step what it earns in the middle of its time.

        Returns:
            The states after so many steps (n, d), the reward of each (steps, n), 0 after an end, and whether the
            episode has ended (n,).
        """
        n, rows = len(which), np.arange(len(which))
        turn = np.arange(steps) // hold  # whose turn it is
        path = np.empty((steps + 1, n, len(x)))
        path[0] = x
        for t, k in enumerate(turn):
            path[t + 1] = self._bounded(path[t] + self._moves(path[t])[which[:, k], rows] * self.spread)
        turns = np.arange(turn[-1] + 1)
        middle = path[np.minimum(turns * hold + hold // 2, steps - 1)].reshape(-1, len(x))
        earned = self._rewards(middle)[which[:, turns].T.ravel(), np.arange(len(middle))].reshape(len(turns), n, 1)
        rewards, ends = self._outcome(earned[turn], path[1:])
        over = np.maximum.accumulate(ends, axis=0)
        rewards[1:] *= ~over[:-1]
        return path[-1], rewards, over[-1]

    def unknown(self, x: FloatArray, y: FloatArray, ended: BoolArray) -> FloatArray:
        """U in [0, 1] (A, q): how new it is to take an action at x (q, d), and to get to y (A, q, d).

        A place is entered once, in however many steps it is crossed: a short step counts for its length. An end is
        no news.
        """
        x, y = x / self._width, y / self._width
        both = np.minimum(self._novelties(x), self.state_novelty(y))
        length = np.sqrt(np.square(y - x).sum(axis=-1))
        return np.where(ended, 0.0, both * np.minimum(length, 1.0))
