"""The dynamics of a displacement model: next state, reward and termination while an action is held."""

from __future__ import annotations

import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.kernel_choice import Shape
from cmerl.embedding.displacement.motion import Motion
from cmerl.embedding.displacement.regression import Novelty
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.embedding.displacement.stacked import StackedRegression
from cmerl.embedding.displacement.terminations import terminations
from cmerl.kernels.fitting import Fit
from cmerl.searching.simulator import Regression, Simulator
from cmerl.searching.values import QueryNovelty, TerminalValue

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
BoolArray = NDArray[np.bool_]


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
        moved = (data.y - data.x) / self.spread
        self._move = StackedRegression(
            data.z, moved, shape.displacement, centres, leave_out=settings.outliers, ridges=settings.ridges
        )
        self.residuals = self._move.residuals * self.spread
        self.dropped = int(self._move.dropped.sum())
        alive = data.alive
        self._at_next = shape.reward.at_next
        self._least, self._most = float(alive.r.min()), float(alive.r.max())
        self._reward = shape.reward.regression(alive, centres)
        self._bounds = np.abs(np.vstack([data.x, data.y])).max(axis=0) + 2.0
        ends = data[data.ended]
        going_on = data.y[~data.ended]
        self.terminations = terminations(ends.y, ends.r, going_on, centres, settings.end_ridge) if len(ends) else None
        self._width = float(np.sqrt(max(data.x.shape[1] / 2.0, 1.0)))  # more columns lie farther apart
        visited = np.vstack([data.x, going_on]) / self._width
        self.state_novelty = Novelty(visited, lam, centres)
        self.novelty_of = QueryNovelty(self.state_novelty.kernel, self.state_novelty.known, self._width)
        self.novelty = Novelty(np.hstack([data.x / self._width, action_gap * data.a]), lam, centres)
        self._action_gap = action_gap
        self.data = data
        self.terminal_values: dict[int, TerminalValue] = {}  # for searches, by horizon; made when first asked for
        self.followed: Regression | None = None  # the policy that proposes sequences to them; made likewise
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

    def _range_over(self, actions: FloatArray) -> None:
        self._moves, self._rewards = self._move.of_actions(actions), self._reward.of_actions(actions)
        self._novelties = self.novelty.of_actions(self._action_gap * actions)

    def with_actions(self, actions: FloatArray) -> Dynamics:
        """The same for actions with other features (A, e)."""
        other = copy.copy(self)
        other._range_over(actions)
        return other

    @property
    def fits(self) -> list[Fit | None]:
        """Kernels and ridges of the displacement's columns."""
        return self._move.fits

    @property
    def reward_bounds(self) -> tuple[float, float]:
        """The least and the most that a step pays, 0 and what an end may pay included where episodes end."""
        least, most = float(self.data.r.min()), float(self.data.r.max())
        if self.terminations is None:
            return least, most
        worst, best = self.terminations.pays
        return min(least, worst, 0.0), max(most, best, 0.0)

    @cached_property
    def last_of_episode(self) -> NDArray[np.intp]:
        """For every row, the last that follows from it without a break (n,)."""
        ends = np.flatnonzero(self.data.breaks)
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
