"""Kernels on probability vectors: rows that are non-negative and sum to 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from cmerl.errors import InputError
from cmerl.kernels.base import FloatArray, UnitDiagonal, VectorKernel
from cmerl.validation.points import positive

SUM_TOLERANCE = 1e-6  # of rows that were stored in single precision


@dataclass(frozen=True)
class _DistributionKernel(UnitDiagonal, VectorKernel):
    def _check(self, X: FloatArray) -> None:
        wrong = (X < 0.0).any(axis=1) | (np.abs(X.sum(axis=1) - 1.0) > SUM_TOLERANCE)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise InputError(
                f"row {i} is not a probability vector: its minimum is {X[i].min():g} and its sum {X[i].sum():g}"
            )

    def _diag(self, X: FloatArray) -> FloatArray:
        return np.ones(len(X))


@dataclass(frozen=True)
class Bhattacharyya(_DistributionKernel):
    """Σ √(p_i q_i), one minus the squared Hellinger distance."""

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        K: FloatArray = np.minimum(np.sqrt(X) @ np.sqrt(Y).T, 1.0)
        return (K + K.T) / 2.0 if Y is X else K


@dataclass(frozen=True)
class JensenShannon(_DistributionKernel):
    """exp(−decay · JS(p, q)), the Jensen–Shannon divergence in nats: its root is a metric of a Hilbert space.

    Args:
        decay: Rate at which similarity falls; two distributions without common support have exp(−decay·log 2).
    """

    decay: float = 1.0

    def __post_init__(self) -> None:
        self._store("decay", positive("decay", self.decay))

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        entropies = np.add.outer(_entropy(X), _entropy(Y)) / 2.0
        mixed = np.zeros(entropies.shape)
        for j in range(X.shape[1]):  # column by column, so that no (n, m, d) array is ever made
            half = np.add.outer(X[:, j], Y[:, j]) / 2.0
            mixed -= xlogy(half, half)
        K: FloatArray = np.exp(-self.decay * np.maximum(mixed - entropies, 0.0))
        return K


@dataclass(frozen=True)
class ChiSquare(_DistributionKernel):
    """exp(−decay · Σ (p_i − q_i)²/(p_i + q_i)), for histograms.

    Args:
        decay: Rate at which similarity falls; the sum is at most 2.
    """

    decay: float = 1.0

    def __post_init__(self) -> None:
        self._store("decay", positive("decay", self.decay))

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        total = np.zeros((len(X), len(Y)))
        for j in range(X.shape[1]):
            both = np.add.outer(X[:, j], Y[:, j])
            apart = np.subtract.outer(X[:, j], Y[:, j])
            total += np.square(apart) / np.where(both > 0.0, both, 1.0)
        K: FloatArray = np.exp(-self.decay * total)
        return K


def _entropy(X: FloatArray) -> FloatArray:
    return -np.asarray(xlogy(X, X).sum(axis=1))
