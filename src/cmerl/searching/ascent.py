"""Projected gradient ascent on Q, from the best candidate action."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def refine(
    q: Callable[[FloatArray], FloatArray],
    slope: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    rounds: int,
    lengths: Sequence[float],
    deadline: float | None = None,
) -> FloatArray:
    """A better action than the best candidate: projected gradient ascent, never worse than where it starts.

    In each round Q is evaluated at steps of many lengths along the gradient, all at once, which takes hardly longer
    than one; the best of them is where the next round begins.

    Args:
        q: values (k,) of actions (k, d) in [−1, 1]^d.
        slope: the gradient of Q (d,) at one action (d,).
        start: the best candidate (d,).
        rounds: gradients that are followed.
        lengths: of the steps that are tried along each.
        deadline: by ``time.perf_counter``, after which no round begins.
    """
    x, best, steps = start, float(q(start[None])[0]), np.array(lengths)[:, None, None]
    for _ in range(rounds):
        if deadline is not None and time.perf_counter() > deadline:
            break
        uphill = slope(x)
        uphill = np.where((x * uphill > 0.0) & (np.abs(x) >= 1.0), 0.0, uphill)  # no way out of the cube
        steepness = float(np.linalg.norm(uphill))
        # Where the gradient vanishes, as between two maxima, all axes are tried.
        ways = uphill[None] / steepness if steepness > 0.0 else np.vstack([np.eye(len(x)), -np.eye(len(x))])
        tried = np.clip(x + (steps * ways).reshape(-1, len(x)), -1.0, 1.0)
        values = q(tried)
        i = int(np.argmax(values))
        if values[i] <= best:
            break
        x, best = tried[i], float(values[i])
    return x
