"""The general form of a bonus."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class ValueNorms(NamedTuple):
    """RKHS norms of V_{h+1} on a set of states: its own, and the smallest over added constants."""

    norm: float
    centred: float


class BonusTerms(NamedTuple):
    """A bonus linear·σ + quadratic·σ² + weights·‖α‖₁ + constant + shrinkage·λ‖M⁻¹φ‖."""

    linear: float = 0.0
    quadratic: float = 0.0
    weights: float = 0.0
    constant: float = 0.0
    shrinkage: float = 0.0

    def at(
        self, sigma: FloatArray, weight_norm1: FloatArray | float = 0.0, shrinkage: FloatArray | float = 0.0
    ) -> FloatArray:
        """The bonus for given σ, 1-norm of the weights, and λ‖M⁻¹φ‖ (``shrinkage``)."""
        rest = self.weights * weight_norm1 + self.constant + self.shrinkage * shrinkage
        return sigma * (self.linear + self.quadratic * sigma) + rest

    def plus(self, other: BonusTerms) -> BonusTerms:
        """The sum of two bonuses."""
        return BonusTerms(*(a + b for a, b in zip(self, other, strict=True)))

    def times(self, factor: float) -> BonusTerms:
        """A multiple of the bonus."""
        return BonusTerms(*(factor * term for term in self))
