"""Value iteration at landmarks: most rounds read the best sequences only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]


class Backup:
    """R + γ^L V(y) for sequences that end at y, V the lesser of two regressions of values at the landmarks.

    Args:
        K: kernels of the ends (q, m) with the landmarks.
        earned: R (q,).
        later: γ^L, or 0 where the episode is over (q,).
        unknown: what is taken off V less the least value, as a share (q,).
        inverse: of the kernel matrix of each half (2, m, m).
        bounds: the least and the most that V can be.
    """

    def __init__(
        self,
        K: SingleArray,
        earned: SingleArray,
        later: SingleArray,
        unknown: SingleArray,
        inverse: SingleArray,
        bounds: tuple[float, float],
    ) -> None:
        self._K, self._earned, self._later, self._unknown = K, earned, later, unknown
        self._inverse, self._bounds = inverse, bounds

    def __call__(self, v: FloatArray) -> SingleArray:
        """Values of the sequences (q,) given values v (m,) of the landmarks."""
        mean, coef = self.regressed(v)
        follows = np.clip((self._K @ coef).min(axis=1) + np.float32(mean), *self._bounds)
        follows -= self._unknown * (follows - np.float32(v.min()))
        return np.asarray(self._earned + self._later * follows)

    def regressed(self, v: FloatArray) -> tuple[float, SingleArray]:
        """The mean of v, and the coefficients of both regressions around it (m, 2)."""
        mean = float(v.mean())
        return mean, (self._inverse @ (v - mean).astype(np.float32)).T

    def __getitem__(self, rows: NDArray[np.intp]) -> Backup:
        """The same for some of the sequences."""
        parts = self._K[rows], self._earned[rows], self._later[rows], self._unknown[rows]
        return Backup(*parts, self._inverse, self._bounds)


def modified_policy_iteration(
    backup: Backup, v: FloatArray, choices: int, tolerance: float, rounds: int, sweeps: int
) -> FloatArray:
    """The fixed point of v_i = max_k backup(v)_ik, from v (m,) on.

    A maximum reads all sequences; between two of them the best ones so far are taken for granted, which reads one
    sequence a landmark [Puterman 1994, §6.5].

    Args:
        backup: what all sequences are worth (m·choices,), those of a landmark side by side.
        v: where to begin.
        choices: sequences of a landmark.
        tolerance: change of v by a maximum below which it counts as fixed.
        rounds: most maxima.
        sweeps: backups of the best sequences after each.
    """
    first = np.arange(len(v)) * choices
    for _ in range(rounds):
        worth = backup(v).reshape(-1, choices)
        best = worth.argmax(axis=1)
        new = worth[np.arange(len(v)), best].astype(np.float64)
        change, v = float(np.abs(new - v).max()), new
        if change < tolerance:
            break
        taken = backup[first + best]
        for _ in range(sweeps):
            v = taken(v).astype(np.float64)
    return v
