"""Regressions of several outputs, each with its own kernel, evaluated by one product."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.outliers import outliers
from cmerl.embedding.displacement.regression import NUGGET, independent_points, rbf_matrix
from cmerl.embedding.displacement.settings import OutlierSettings
from cmerl.kernels.fitting import Fit
from cmerl.linalg import Cholesky
from cmerl.searching.simulator import Regression, stacked_kernels

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class StackedRegression:
    """Ridge regressions of the columns of Y (n, p), each in the span of RBF kernels at a few centres of its own.

    Kernels of all columns come from one product, k(x, c) = exp([x², x, 1]·W), and predictions from one more. A
    column without a fit is constant.

    Args:
        X: inputs (n, d).
        Y: outputs (n, p).
        fits: lengthscales and ridge of every column, or None.
        centres: most centres of a column.
        leave_out: defines outliers, which are dropped (one collision would spoil the fit); None keeps all rows.
        prior: what is predicted far from all data (p,); the mean by default.

    Attributes:
        residuals: what every row leaves if it is left out (n, p).
        dropped: rows that were (n, p).
        quick: the same predictions in single precision.
    """

    def __init__(
        self,
        X: FloatArray,
        Y: FloatArray,
        fits: Sequence[Fit | None],
        centres: int,
        *,
        leave_out: OutlierSettings | None = None,
        prior: FloatArray | None = None,
    ) -> None:
        self._mean, self._origin = Y.mean(axis=0) if prior is None else prior, X.mean(axis=0)
        self.residuals, self.dropped = Y - self._mean, np.zeros(Y.shape, dtype=bool)
        quadratic, linear, coefs = [], [], []
        for j, fit in enumerate(fits):
            if fit is None:
                continue
            found = _Column.of(X - self._origin, self.residuals[:, j], fit, centres, leave_out)
            self.residuals[:, j], self.dropped[:, j] = found.residuals, found.dropped
            quadratic.append(np.repeat(-0.5 / np.square(fit.lengthscales)[:, None], len(found.centres), axis=1))
            linear.append((found.centres / np.square(fit.lengthscales)).T)
            coefs.append(found.coef[:, None] * np.eye(Y.shape[1])[j])
        d = X.shape[1]
        self._quadratic = np.hstack([*quadratic, np.empty((d, 0))])
        self._linear = np.hstack([*linear, np.empty((d, 0))])
        self.coef = np.vstack([*coefs, np.empty((0, Y.shape[1]))])
        numbers = self._product(slice(None)), self.coef, self._origin, self._mean
        self.quick = Regression(*(array.astype(np.float32) for array in numbers))

    @property
    def size(self) -> int:
        """Centres in all."""
        return len(self.coef)

    def _product(self, columns: slice) -> FloatArray:
        """W (2d + 1, m) for some columns of the inputs: those of x², those of x, and a constant."""
        quadratic, linear = self._quadratic[columns], self._linear[columns]
        constant = 0.25 * np.sum(np.square(linear) / np.minimum(quadratic, -1e-300), axis=0)  # −½ Σ c²/ℓ²
        return np.vstack([quadratic, linear, constant])

    def __call__(self, X: FloatArray) -> FloatArray:
        """Predictions (…, p)."""
        K = stacked_kernels(X - self._origin, self._product(slice(None)))
        return np.asarray(self._mean + K @ self.coef)

    def of_actions(self, actions: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Predictions (A, q, p) for every action (A, e) at states (q, d), or at states of its own (A, q, d).

        What depends on the action is computed once, and kernels of states are shared by all actions. Products are in
        single precision: what that rounds away is far smaller than what the regression leaves unexplained.
        """
        d = len(self._origin) - actions.shape[1]
        W, mean, origin = self._product(slice(d)), self._mean, self._origin[:d]
        own = stacked_kernels(actions - self._origin[d:], self._product(slice(d, None)))
        coef = (own[:, :, None] * self.coef).astype(np.float32)
        together = np.hstack(list(coef))  # one product for all actions is quicker than one for each

        def predict(states: FloatArray) -> FloatArray:
            if states.ndim == 3:  # one action after the other: kernels of all at once would take too much memory
                each = zip(states, coef, strict=True)
                return np.stack([mean + stacked_kernels(x - origin, W, exp=np.float32) @ own for x, own in each])
            K = stacked_kernels(states - origin, W, exp=np.float32)
            found = (K @ together).reshape(len(states), len(coef), -1)
            return np.asarray(mean + found.transpose(1, 0, 2))

        return predict


class _Column:
    """One output's regression."""

    def __init__(self, centres: FloatArray, coef: FloatArray, residuals: FloatArray, dropped: BoolArray) -> None:
        self.centres, self.coef, self.residuals, self.dropped = centres, coef, residuals, dropped

    @classmethod
    def of(cls, X: FloatArray, y: FloatArray, fit: Fit, centres: int, leave_out: OutlierSettings | None) -> _Column:
        """Of y (n,), which has mean 0; rows that are dropped leave no residual."""
        Q = X / fit.lengthscales
        rows = independent_points(Q, centres)
        Knm = rbf_matrix(Q, Q[rows])
        dropped = np.zeros(len(y), dtype=bool)
        found = _solve(Knm, Knm[rows], y, fit.ridge)
        if leave_out is not None:
            dropped = outliers(*found[1:], float(y.std()), leave_out, most=leave_out.most)
        if dropped.any():
            kept = _solve(Knm[~dropped], Knm[rows], y[~dropped], fit.ridge)
            found = kept[0], np.zeros_like(y), np.ones_like(y)
            found[1][~dropped], found[2][~dropped] = kept[1], kept[2]
        coef, left, slack = found
        return cls(X[rows], coef, left / slack, dropped)


def _solve(
    Knm: FloatArray, Kmm: FloatArray, y: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients, residuals, and 1 − leverage: residual over slack is that of a row left out."""
    moments = Knm.T @ Knm + ridge * Kmm
    factor = Cholesky.of(moments, NUGGET * float(np.trace(moments)) / len(moments))
    coef = factor.solve(Knm.T @ y)
    slack = np.maximum(1.0 - factor.quadratic(Knm.T), 0.1)
    return coef, y - Knm @ coef, slack
