"""Numbers that are angles: those that wrap around, and those whose whole turns make no difference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.kernels.fitting import fit

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

TURNS = (2.0 * np.pi, 360.0)
"""Periods of angles, in radians and in degrees."""


class Circle(NamedTuple):
    """The circle that a number stands for a point of.

    Attributes:
        period: its length.
        origin: the least number.
    """

    period: float
    origin: float


def wraps(
    before: FloatArray, after: FloatArray, follows: BoolArray, *, fewest: int = 6, agree: float = 0.9
) -> Circle | None:
    """The circle of a number that jumps from one end of its range to the other and goes on; None if it does not.

    A jump goes on if the step before it went the same way, and if about as much is left of it. A switch between two
    levels does not go on. Stock that is filled up when it runs low does, but in one direction only, so both are
    asked for.

    Args:
        before: the number before each transition (n,).
        after: and after it.
        follows: whether each transition goes on from the one before it (n,).
        fewest: jumps that it takes to tell.
        agree: share of them that must go on.
    """
    move, ends = after - before, np.concatenate([before, after])
    low, high = float(ends.min()), float(ends.max())
    jumps = np.abs(move) > 0.5 * (high - low)
    if jumps.all() or high == low:
        return None
    step = float(np.abs(move[~jumps]).max())  # the most that it moves otherwise
    known = jumps & follows & ~np.roll(jumps, 1)
    rows = np.flatnonzero(known)
    if len(rows) < fewest or not 0.0 < step < 0.25 * (high - low):
        return None
    size, way, last = np.abs(move[rows]), -np.sign(move[rows]), move[rows - 1]  # a jump down goes on upwards
    fitting = [turn for turn in TURNS if high - low <= 1.001 * turn and np.abs(size - turn).max() <= 1.5 * step]
    period = fitting[0] if fitting else max(float(np.median(size + way * last)), high - low)
    left = period - size
    goes_on = (way * last > 0.0) & (left > 0.0) & (left <= 1.5 * step)
    both = np.any(way[goes_on] > 0.0) and np.any(way[goes_on] < 0.0)
    if not both or goes_on.mean() < agree or np.abs(np.abs(move[jumps]) - period).max() > 2.0 * step:
        return None
    slack = 1e-3 * period
    for origin in (-0.5 * period, 0.0):
        if low >= origin - slack and high <= origin + period + slack:
            return Circle(period, origin)
    return Circle(period, 0.5 * (low + high - period))


def turns(inputs: FloatArray, column: int, outputs: FloatArray, *, least_range: float = 1.25) -> Circle | None:
    """The circle of a number that turns more than once, if whole turns make no difference; None if they do.

    The marginal likelihood compares a line and a circle as inputs of what follows, motion and reward: the circle must
    be more than n times as likely for each output.

    Args:
        inputs: state-actions (n, d).
        column: of the number.
        outputs: what follows from them (n, p).
        least_range: turns that it must have made.
    """
    number = inputs[:, column]
    made = [turn for turn in TURNS if np.ptp(number) > least_range * turn]
    varying = outputs[:, outputs.std(axis=0) > 1e-9 * np.maximum(np.abs(outputs).max(axis=0), 1.0)]
    if not made or not varying.shape[1]:
        return None
    targets, line = _standardised(varying), _standardised(inputs)
    others, margin = np.delete(line, column, axis=1), np.log(len(inputs)) * targets.shape[1]
    least = fit(line, targets, most_steps=30).evidence + margin
    for turn in made:
        angle = 2.0 * np.pi * number / turn
        circle = np.column_stack([others, np.sqrt(2.0) * np.cos(angle), np.sqrt(2.0) * np.sin(angle)])
        if fit(circle, targets, most_steps=30).evidence > least:
            return Circle(turn, -0.5 * turn)
    return None


def _standardised(X: FloatArray) -> FloatArray:
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0))
