"""Template of an embedding. Copy, rename, replace the mathematics, and run: python embedding.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import cmerl
from cmerl.errors import InputError
from cmerl.kernels import Linear


class WeightSpace:
    """The exact embedding of a linear kernel k(x, y) = xᵀy, solved in its d features: M = λI + Σ x xᵀ."""

    def __init__(self, dimension: int, *, lam: float = 1.0) -> None:
        self.kernel, self.lam = Linear(), lam
        self.X, self.support = np.empty((0, dimension)), np.empty((0, 0))  # inputs, and the states that followed
        self.M = lam * np.eye(dimension)

    @property
    def n(self) -> int:
        """Transitions seen."""
        return len(self.X)

    @property
    def information_gain(self) -> float:
        """½ log det(I + K/λ) = ½ log det(M/λ)."""
        return 0.5 * float(np.linalg.slogdet(self.M / self.lam)[1])

    def update(self, X: Any, Y: Any) -> None:
        """Learn from inputs (n, d) and what followed (n, d'): all of it, or an InputError and nothing."""
        X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
        if X.shape[1:] != self.X.shape[1:] or not (np.isfinite(X).all() and np.isfinite(Y).all()):
            raise InputError(f"inputs must be finite, with {self.X.shape[1]} columns")
        self.M = self.M + X.T @ X
        self.X, self.support = np.vstack([self.X, X]), np.vstack([self.support.reshape(-1, Y.shape[1]), Y])

    def weights(self, Xq: Any) -> Any:
        """α (q, n): E[f | x] = Σ α_i(x) f(s'_i)."""
        return np.asarray(Xq) @ np.linalg.solve(self.M, self.X.T)

    def expectation(self, f: Callable[[Any], Any], Xq: Any) -> Any:
        """E[f(s') | x] at queries (q,)."""
        return self.weights(Xq) @ f(self.support)

    def std(self, Xq: Any) -> Any:
        """σ (q,): σ² = k(x, x) − kᵀ(K + λI)⁻¹k = λ xᵀM⁻¹x."""
        return np.sqrt(self.lam * np.einsum("qd,dq->q", Xq, np.linalg.solve(self.M, np.asarray(Xq).T)))


if __name__ == "__main__":
    x = np.random.default_rng(0).normal(size=(30, 3))
    findings = cmerl.check_embedding(lambda: WeightSpace(3, lam=0.5), x, x**2)
    print(*findings or ["it keeps every promise"], sep="\n")
    raise SystemExit(bool(findings))
