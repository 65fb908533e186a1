"""Continuous actions between the candidates, by projected gradient ascent on Q from the best of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Ascent:
    """The same ascent as `cmerl.acting.Refined` makes, with what an embedding needs of it.

    Args:
        rounds: gradients that are followed.
        lengths: of the steps that are tried along each.
    """

    rounds: int
    lengths: Sequence[float]

    def __call__(
        self, q: Callable[[FloatArray], FloatArray], slope: Callable[[FloatArray], FloatArray], start: FloatArray
    ) -> FloatArray:
        """A better action (e,) in [−1, 1]^e, never worse than where it starts.

        Args:
            q: values (k,) of actions (k, e), up to a constant.
            slope: the gradient of Q (e,) at one action (e,).
            start: the best candidate (e,).
        """
        x, best, lengths = start, float(q(start[None])[0]), np.array(self.lengths)[:, None, None]
        for _ in range(self.rounds):
            uphill = slope(x)
            uphill = np.where((x * uphill > 0.0) & (np.abs(x) >= 1.0), 0.0, uphill)
            steepness = float(np.linalg.norm(uphill))
            ways = uphill[None] / steepness if steepness > 0.0 else np.vstack([np.eye(len(x)), -np.eye(len(x))])
            tried = np.clip(x + (lengths * ways).reshape(-1, len(x)), -1.0, 1.0)
            values = q(tried)
            i = int(np.argmax(values))
            if values[i] <= best:
                break
            x, best = tried[i], float(values[i])
        return x
