"""A sampling planner: the cross-entropy method over sequences of actions in a model that can be simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Returns = Callable[[FloatArray], FloatArray]
"""Returns (n,) of sequences of action rows (n, L, d_a)."""


@dataclass(frozen=True, kw_only=True)
class CrossEntropy:
    """Settings of the search.

    Attributes:
        samples: sequences an iteration.
        elites: the best ones, which the next iteration is drawn around.
        iterations: rounds.
        depth: actions of a sequence, at most.
        spread: first standard deviation, for actions in [−1, 1] or for scores of finitely many.
    """

    samples: int = 64
    elites: int = 8
    iterations: int = 6
    depth: int = 20
    spread: float = 0.5

    def search(
        self, returns: Returns, length: int, dims: int, finite: FloatArray | None, rng: np.random.Generator
    ) -> tuple[FloatArray, float]:
        """The best sequence found (L, d_a) and its return.

        Args:
            returns: what sequences earn.
            length: L.
            dims: d_a.
            finite: rows of all actions (A, d_a) where they are finitely many; else actions fill [−1, 1]^d_a.
            rng: source of the sequences.
        """
        channels = dims if finite is None else len(finite)
        mean, sd = (
            np.zeros((length, channels)),
            np.full((length, channels), 2 * self.spread if finite is not None else self.spread),
        )
        best, most = np.zeros((length, dims)), -np.inf
        for _ in range(self.iterations):
            latent = mean + sd * rng.standard_normal((self.samples, length, channels))
            latent[0] = mean
            if finite is None:
                latent = np.clip(latent, -1.0, 1.0)
            rows = latent if finite is None else finite[latent.argmax(axis=2)]
            found = returns(rows)
            order = np.argsort(-found, kind="stable")[: self.elites]
            if found[order[0]] > most:
                best, most = rows[order[0]].copy(), float(found[order[0]])
            mean, sd = latent[order].mean(axis=0), latent[order].std(axis=0) + 1e-3
        return best, most
