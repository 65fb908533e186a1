"""The dynamics of a displacement model: next state, reward and termination while an action is held."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.outliers import outliers_of_a_smooth_kernel
from cmerl.embedding.displacement.regression import Novelty, farthest_points
from cmerl.embedding.displacement.settings import DisplacementSettings, OutlierSettings
from cmerl.embedding.displacement.stacked import StackedRegression
from cmerl.embedding.displacement.terminations import terminations
from cmerl.growing import Arrays, nested, part
from cmerl.kernels.fitting import Fit, fit, squared_differences
from cmerl.searching.simulator import Ends, Simulator
from cmerl.searching.values import QueryNovelty

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Motion:
    """The data in the units of the model.

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
    """The fitted kernels; None for a constant output.

    Attributes:
        displacement: for each column of s' − s.
        reward: for the reward.
        reward_at_next: whether the reward follows from (s', a), not from (s, a): the likelier of the two.
    """

    displacement: tuple[Fit | None, ...]
    reward: Fit | None
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
        saved = [part(arrays, str(name)) for name in (*range(columns), "reward")]
        *moves, reward = (Fit.from_arrays(fit) if fit else None for fit in saved)
        return cls(tuple(moves), reward, bool(arrays["at_next"][0]))


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
        _likeliest(
            _fit(some.z, output, start, squares, leave_out=settings.outliers)
            for start in (*begins, *([known] if known else []))
        )
        for output, known in zip(outputs, earlier, strict=True)
    )
    return Shape(moves, *fit_reward(data, settings)) if reward else Shape(moves, None)  # else it is given


def fit_reward(data: Motion, settings: DisplacementSettings) -> tuple[Fit | None, bool]:
    """The kernel of rewards from some rows (see ``reward_rows``), and whether it is one of (s', a).

    It is never searched for from the earlier kernel: once most rows are near the best reward, that has lost a column.
    """
    alive = data[~data.ended] if not data.ended.all() else data
    alive = alive[reward_rows(alive.r, settings.fit_rows)]
    found = [
        (_fit(Z, alive.r, starting_at(start, Z)), at_next)
        for at_next, Z in ((False, alive.z), (True, np.hstack([alive.y, alive.a])))
        for start in settings.starts
    ]
    return max(found, key=lambda one: -np.inf if one[0] is None else one[0].evidence)


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


def _fit(
    Z: FloatArray,
    y: FloatArray,
    start: Fit | None = None,
    squares: FloatArray | None = None,
    *,
    leave_out: OutlierSettings | None = None,
    most_steps: int = 30,
) -> Fit | None:
    """For one output (n,), without outliers if it is said what they are; None if it does not vary."""
    spread = float(y.std())
    if not varies(spread, max(float(np.abs(y).max()), 1.0)):
        return None
    y = (y - y.mean()) / spread
    if squares is None:
        squares = squared_differences(Z)
    if leave_out is not None:
        kept = ~outliers_of_a_smooth_kernel(squares, y, leave_out)
        if not kept.all():
            Z, y, squares = Z[kept], y[kept], squares[:, kept][:, :, kept]
            y = (y - y.mean()) / max(float(y.std()), 1e-12)
    return fit(Z, y[:, None], start=start, most_steps=most_steps, squares=squares)


def varies(spread: float, size: float, *, least: float = 1e-9) -> bool:
    """Whether numbers of this standard deviation and size differ by more than rounding."""
    return spread > least * size


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
        centres = self._centres = settings.centres
        self._outliers = settings.outliers
        self.spread = np.maximum((data.y - data.x).std(axis=0), 1e-12)
        moved = (data.y - data.x) / self.spread
        self._move = StackedRegression(data.z, moved, shape.displacement, centres, leave_out=self._outliers)
        self.residuals = self._move.residuals * self.spread
        self.dropped = int(self._move.dropped.any(axis=1).sum())
        alive = data[~data.ended] if not data.ended.all() else data
        self._at_next = shape.reward_at_next
        causes = np.hstack([alive.y if self._at_next else alive.x, alive.a])
        self._least, self._most = float(alive.r.min()), float(alive.r.max())
        # Where nothing was seen a step pays the least: with the mean, a plan that promises most would lead there.
        # To look all the same is what the exploration account is for.
        self._reward = StackedRegression(
            causes, alive.r[:, None], [shape.reward], centres, prior=np.array([self._least])
        )
        self._bounds = np.abs(np.vstack([data.x, data.y])).max(axis=0) + 2.0
        self.terminations = self._terminations(data, settings)
        self._width = float(np.sqrt(max(data.x.shape[1] / 2.0, 1.0)))  # more columns lie farther apart
        visited = np.vstack([data.x, data.y[~data.ended]]) / self._width
        self.state_novelty = Novelty(visited, lam, centres)
        self.novelty_of = QueryNovelty(self.state_novelty.kernel, self.state_novelty.known, self._width)
        self.novelty = Novelty(np.hstack([data.x / self._width, action_gap * data.a]), lam, centres)
        self._action_gap = action_gap
        self.data = data
        self.terminal_values: dict[int, object] = {}  # for searches, by horizon; made when first asked for
        self.simulator = Simulator(
            self._move.quick,
            self._reward.quick,
            self._at_next,
            self.spread.astype(np.float32),
            self._bounds.astype(np.float32),
            (np.float32(self._least), np.float32(self._most)),
            self.terminations,
        )
        self._range_over(actions)

    def _terminations(self, data: Motion, settings: DisplacementSettings) -> Ends | None:
        """Where episodes end, as far as is known; ``ends_pay`` if they pay more than many usual steps."""
        ends = data[data.ended]
        self.ends_pay = False
        if not len(ends):
            return None
        usual = float(data.r[~data.ended].mean()) if len(ends) < len(data) else 0.0
        self.ends_pay = float(ends.r.mean()) > settings.usual_steps * usual
        within = settings.end_radius if self.ends_pay else np.inf
        return terminations(ends.y, ends.r, data.y[~data.ended], settings.survivors, within=within)

    def _range_over(self, actions: FloatArray) -> None:
        self._moves, self._rewards = self._move.of_actions(actions), self._reward.of_actions(actions)
        self._novelties = self.novelty.of_actions(self._action_gap * actions)

    def with_actions(self, actions: FloatArray) -> Dynamics:
        """The same for actions with other features (A, e)."""
        other = copy.copy(self)
        other._range_over(actions)
        return other

    def errors(self, shape: Shape, rows: NDArray[np.intp], held: NDArray[np.intp]) -> FloatArray:
        """Mean squared errors (k,) on held-out rows of the data, from a regression on other rows, over the spread."""
        motion = (self.data.y - self.data.x) / self.spread
        found = StackedRegression(
            self.data.z[rows], motion[rows], shape.displacement, self._centres, leave_out=self._outliers
        )
        return np.asarray(np.square(motion[held] - found(self.data.z[held])).mean(axis=1))

    @property
    def reward_bounds(self) -> tuple[float, float]:
        """The least and the most that a step pays, 0 included where episodes end."""
        least, most = float(self.data.r.min()), float(self.data.r.max())
        return (least, most) if self.terminations is None else (min(least, 0.0), max(most, 0.0))

    @cached_property
    def last_of_episode(self) -> NDArray[np.intp]:
        """For every row, the last that follows from it without a break (n,)."""
        broken = np.append(np.any(self.data.y[:-1] != self.data.x[1:], axis=1), True)
        ends = np.flatnonzero(broken)
        return np.asarray(ends[np.searchsorted(ends, np.arange(len(self.data)))])

    @property
    def latest_length(self) -> int:
        """Rows of the latest unbroken path."""
        return int(np.sum(self.last_of_episode == len(self.data) - 1))

    def step(self, x: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """The next state (q, d), the reward (q,) and whether the episode ends (q,), for actions with features a."""
        z = np.hstack([x, a])
        y = self._bounded(x + self._move(z) * self.spread)
        return y, *self._outcome(self._reward(np.hstack([y, a]) if self._at_next else z), y)

    def quick_step(self, x: SingleArray, a: SingleArray) -> tuple[SingleArray, SingleArray, BoolArray | None]:
        """A step in single precision, for searches."""
        return self.simulator(x, a)

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
        """Paths (A, k + 1, q, d) from states (q, d) while each action is held."""
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
        rewards, ends = self._earned(path, held)
        over = np.maximum.accumulate(ends, axis=1)
        rewards[:, 1:] *= 1.0 - over[:, :-1]
        last = np.where(ends.any(axis=1), np.argmax(ends, axis=1), steps - 1)
        y = np.take_along_axis(path, last[:, None, :, None] + 1, axis=1)[:, 0]
        return y, rewards.sum(axis=1), over[:, -1] > 0

    def _earned(self, path: FloatArray, held: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Rewards at every step that actions are held along a path (A, k, q), and whether they end the episode."""
        rewards, ends = np.zeros((2, len(path), *held.shape))
        causes = path[:, 1:] if self._at_next else path[:, :-1]
        first = causes[:, 0] if self._at_next else path[0, 0]  # where paths begin is the same for all actions
        rewards[:, 0], ends[:, 0] = self._outcome(self._rewards(first), path[:, 1])
        if len(held) > 1:
            later = held[1:]
            r = self._rewards(causes[:, 1:][:, later])
            rewards[:, 1:][:, later], ends[:, 1:][:, later] = self._outcome(r, path[:, 2:][:, later])
        return rewards, ends

    def unknown(self, x: FloatArray, y: FloatArray, ended: BoolArray) -> FloatArray:
        """U in [0, 1] (A, q): how new it is to take an action at x (q, d), and to get to y (A, q, d).

        A place is entered once, in however many steps it is crossed: a short step counts for its length. An end is
        no news.
        """
        x, y = x / self._width, y / self._width
        both = np.minimum(self._novelties(x), self.state_novelty(y))
        length = np.sqrt(np.square(y - x).sum(axis=-1))
        return np.where(ended, 0.0, both * np.minimum(length, 1.0))
