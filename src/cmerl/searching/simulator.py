"""Simulation steps of a learned model in single precision: next states, rewards, terminations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.lib.introspect import opt_func_info
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
BoolArray = NDArray[np.bool_]

Step = Callable[[SingleArray, SingleArray], tuple[SingleArray, SingleArray, BoolArray | None]]
"""Next states (n, d), rewards (n,) and ends (n,) of states (n, d) and actions (n, e); None where nothing ends."""
Limit = tuple[FloatArray, FloatArray]
"""A corner (lower (d,), upper (d,)): what lies outside it in every direction where it is finite has ended."""


def stacked_kernels(P: NDArray[Any], W: NDArray[Any], exp: type[np.float32] | None = None) -> NDArray[Any]:
    """exp([p², p, 1]·W) (…, m) at points (…, d), in the precision of the points unless another is asked for."""
    K = _quadratics(P.reshape(-1, P.shape[-1])) @ W
    np.minimum(K, 0.0, out=K)
    if exp is not None:
        K = np.maximum(K, LEAST_EXPONENT).astype(exp)
    np.exp(K, out=K)
    return np.asarray(K.reshape(*P.shape[:-1], -1))


def _quadratics(rows: NDArray[Any]) -> NDArray[Any]:
    """[x², x, 1] (n, 2d + 1) of rows (n, d)."""
    d = rows.shape[1]
    found = np.empty((len(rows), 2 * d + 1), dtype=rows.dtype)
    np.square(rows, out=found[:, :d])
    found[:, d : 2 * d], found[:, -1] = rows, 1.0
    return found


LEAST_EXPONENT = np.float32(-83.0)  # smaller exponentials are subnormal numbers, which take many times as long


@cache
def quick_exponential() -> tuple[np.ufunc, np.float32]:
    """A function that takes arguments times a factor to their exponentials, in single precision.

    Where NumPy has vector instructions for exp2 it takes half the time of exp, and elsewhere several times as much.
    """
    (found,) = opt_func_info(func_name="^exp2$", signature="float32")["exp2"].values()
    if found["current"].startswith("baseline"):
        return np.exp, np.float32(1.0)
    return np.exp2, np.float32(np.log2(np.e))


@dataclass(frozen=True, eq=False)
class Regression:
    """Regressions of p outputs on RBF kernels: mean + exp([x², x, 1]·W)·coef, with x counted from the origin.

    Attributes:
        W: (2d + 1, m).
        coef: (m, p).
        origin: (d,).
        mean: (p,).
    """

    W: SingleArray
    coef: SingleArray
    origin: SingleArray
    mean: SingleArray

    @property
    def size(self) -> int:
        """Kernels that a prediction evaluates."""
        return len(self.coef)

    def __call__(self, X: SingleArray) -> SingleArray:
        """Predictions (n, p)."""
        if not len(self.coef):
            return np.broadcast_to(self.mean, (len(X), len(self.mean)))
        exponential, W = self._exponential
        K = _quadratics(X - self.origin) @ W  # below 0 but for rounding
        np.maximum(K, self._least, out=K)
        exponential(K, out=K)
        found: SingleArray = K @ self.coef
        found += self.mean
        return found

    @cached_property
    def _exponential(self) -> tuple[np.ufunc, SingleArray]:
        exponential, factor = quick_exponential()
        return exponential, factor * self.W

    @cached_property
    def _least(self) -> np.float32:
        return LEAST_EXPONENT * quick_exponential()[1]


def matern_kernels(P: NDArray[Any], W: NDArray[Any]) -> NDArray[Any]:
    """(1 + q)·exp(−q) with q² = [p², p, 1]·W, kernels of smoothness 3⁄2 (n, m) at points (n, d)."""
    q = _quadratics(P) @ W
    np.maximum(q, 0.0, out=q)
    np.sqrt(q, out=q)
    K = np.negative(q)
    np.maximum(K, LEAST_EXPONENT, out=K)
    np.exp(K, out=K)
    q += 1.0
    K *= q
    return np.asarray(K)


@dataclass(frozen=True, eq=False)
class AdditiveRegression:
    """A regression of one output that adds what states and what actions contribute.

    Attributes:
        W: of squared distances of states, see ``matern_kernels`` (2d + 1, m).
        coef: (m, 1).
        origin: that states are counted from (d,).
        action: what actions contribute, the mean included.
    """

    W: SingleArray
    coef: SingleArray
    origin: SingleArray
    action: Regression

    @property
    def size(self) -> int:
        """Kernels that a prediction evaluates."""
        return len(self.coef) + self.action.size

    def __call__(self, X: SingleArray) -> SingleArray:
        """Predictions (n, 1) at states and actions (n, d + e)."""
        d = len(self.origin)
        found: SingleArray = matern_kernels(X[:, :d] - self.origin, self.W) @ self.coef
        found += self.action(X[:, d:])
        return found


@dataclass(frozen=True, eq=False)
class Ends:
    """Tells whether a state has ended the episode, and what that paid.

    Attributes:
        ended: states that did (n, d), n > 0.
        rewards: what that paid (n,).
        alive: some of those that did not (m, d), needed where there are no limits.
        limits: that all of the former have crossed and no other state has; None if there are none: then the nearer
            of both decides.
        coef: of the regression of what an end pays (n,), see ``end_kernel``; None in files of earlier versions: then
            it pays what the nearest end did.
    """

    ended: FloatArray
    rewards: FloatArray
    alive: FloatArray
    limits: Sequence[Limit] | None
    coef: FloatArray | None = None

    def __call__(self, y: NDArray[Any]) -> tuple[BoolArray, FloatArray]:
        """Whether states (q, d) have ended, and where they have, what that pays (q,)."""
        if self.limits is None:
            to_ends = _squared_distances(y, self.ended)
            to_alive = _squared_distances(y, self.alive).min(axis=1, initial=np.inf)
            near = to_ends.min(axis=1) < to_alive
            return near, self._paid(y, near)
        crossed = np.zeros(len(y), dtype=bool)
        for lower, upper in self.limits:
            inside = (y >= lower) | (y <= upper)  # comparisons with nan are false
            crossed |= ~np.any(inside, axis=1)
        return crossed, self._paid(y, crossed)

    def _paid(self, y: NDArray[Any], over: BoolArray) -> FloatArray:
        """What ends pay (q,); the other states are not asked."""
        rewards = np.full(len(y), self.rewards[0])
        least, most = self.pays
        if not (over.any() and least < most):
            return rewards
        if self.coef is None:
            rewards[over] = self.rewards[np.argmin(_squared_distances(y[over], self.ended), axis=1)]
        else:
            found = self.rewards.mean() + end_kernel(y[over], self.ended) @ self.coef
            rewards[over] = np.minimum(np.maximum(found, least), most)
        return rewards

    @cached_property
    def pays(self) -> tuple[float, float]:
        """The least and the most that an end may pay: a trend counts for as much again as the ends seen differ by."""
        least, most = float(self.rewards.min()), float(self.rewards.max())
        return 2.0 * least - most, 2.0 * most - least


def end_kernel(y: NDArray[Any], ended: FloatArray) -> FloatArray:
    """Kernels (q, n) of states (q, d) with those that have ended (n, d): a linear trend and an RBF of width 1."""
    centre = ended.mean(axis=0)
    P, Q = y - centre, ended - centre
    inner = P @ Q.T
    squares = np.square(P).sum(axis=1)[:, None] + np.square(Q).sum(axis=1) - 2.0 * inner
    return np.asarray(inner + np.exp(-0.5 * np.maximum(squares, 0.0)))


def _squared_distances(X: NDArray[Any], Y: FloatArray) -> FloatArray:
    """Up to a constant in each row."""
    return np.asarray(np.square(Y).sum(axis=1) - 2.0 * (X @ Y.T))


@dataclass(frozen=True, eq=False)
class Simulator:
    """A step of the model.

    Attributes:
        move: of s' − s, over its spread, at (s, a).
        reward: at (s, a), or at (s', a).
        at_next: whether it is the latter.
        spread: standard deviations of the displacement (d,).
        bounds: beyond which no state is predicted (d,), on both sides of 0.
        pays: the least and the most that a step does.
        ends: where episodes end; None where none ever has.
    """

    move: Regression
    reward: Regression | AdditiveRegression
    at_next: bool
    spread: SingleArray
    bounds: SingleArray
    pays: tuple[np.float32, np.float32]
    ends: Ends | None

    @property
    def centres(self) -> int:
        """Of all its regressions, which a step evaluates kernels at."""
        return self.move.size + self.reward.size

    def __call__(self, x: SingleArray, a: SingleArray) -> tuple[SingleArray, SingleArray, BoolArray | None]:
        """Next states (n, d), rewards (n,) and ends (n,) of states (n, d) and actions with features (n, e)."""
        z = np.concatenate([x, a], axis=1)
        y = self.move(z) * self.spread
        y += x
        np.minimum(y, self.bounds, out=y)
        np.maximum(y, -self.bounds, out=y)
        if self.at_next:
            z[:, : x.shape[1]] = y
        r = np.minimum(np.maximum(self.reward(z)[:, 0], self.pays[0]), self.pays[1])
        if self.ends is None:
            return y, r, None
        ended, last = self.ends(y)
        if ended.any():
            r = np.where(ended, last, r).astype(np.float32)
        return y, r, ended


def roll(
    step: Step, y: SingleArray, sequences: SingleArray, discount: float
) -> tuple[SingleArray, SingleArray, BoolArray | None]:
    """From states (n, d) along sequences (n, L, e): discounted rewards (n,), where that leads, and what has ended."""
    total, over, weight = np.zeros(len(y), dtype=np.float32), None, np.float32(1.0)
    for t in range(sequences.shape[1]):
        y, r, ended = step(y, sequences[:, t])
        total += weight * r if over is None else weight * ~over * r
        weight *= np.float32(discount)
        if ended is not None:
            over = ended if over is None else over | ended
    return total, y, over
