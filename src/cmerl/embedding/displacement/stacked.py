"""Regressions of several outputs, each with its own kernel, evaluated by one product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.left_out import best_ridge
from cmerl.embedding.displacement.outliers import outliers
from cmerl.embedding.displacement.regression import independent_points, orthonormal_basis, rbf_matrix
from cmerl.embedding.displacement.settings import OutlierSettings, RidgeSettings
from cmerl.kernels.fitting import Fit
from cmerl.linalg import Cholesky
from cmerl.searching.simulator import Regression, stacked_kernels

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]


class StackedRegression:
    """Ridge regressions of the columns of Y (n, p), each in the span of RBF kernels at a few centres of its own.

    Kernels of all columns come from one product, k(x, c) = exp([x², x, 1]·W), and predictions from one more. A
    column without a fit is constant.

    Args:
        X: inputs (n, d).
        Y: outputs (n, p).
        fits: lengthscales and ridge of every column, or None.
        centres: most centres of a column.
        leave_out: defines outliers; a row that is one in any column, such as a collision, is dropped in all: it would
            spoil the fit. None keeps all rows.
        ridges: how ridges are chosen; None takes those of the fits.
        prior: what is predicted far from all data (p,); the mean by default.

    Attributes:
        fits: with the ridges that were chosen.
        residuals: what every row leaves if it is left out (n, p).
        dropped: whether a row was (n,).
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
        ridges: RidgeSettings | None = None,
        prior: FloatArray | None = None,
    ) -> None:
        self._mean, self._origin = Y.mean(axis=0) if prior is None else prior, X.mean(axis=0)
        self.fits, self.residuals = list(fits), Y - self._mean
        columns = {
            j: _Column(X - self._origin, self.residuals[:, j].copy(), fit, centres, ridges)
            for j, fit in enumerate(fits)
            if fit is not None
        }
        self.dropped = np.zeros(len(Y), dtype=bool)
        if leave_out is not None:
            for column in columns.values():
                self.dropped |= column.outliers(leave_out)
        quadratic, linear, coefs = [], [], []
        for j, column in columns.items():
            coef, self.residuals[:, j] = column.regression(~self.dropped)
            self.fits[j], squares = column.fit, np.square(column.fit.lengthscales)
            quadratic.append(np.repeat(-0.5 / squares[:, None], len(coef), axis=1))
            linear.append((column.centres / squares).T)
            coefs.append(coef[:, None] * np.eye(Y.shape[1])[j])
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
    """The regression of one output y (n,), which has mean 0."""

    def __init__(self, X: FloatArray, y: FloatArray, fit: Fit, centres: int, ridges: RidgeSettings | None) -> None:
        self._y, self.fit, self._ridges = y, fit, ridges
        self._features, rows, self._basis = rbf_features(X, fit, centres)
        self.centres = X[rows]
        self._choose_ridge(np.ones(len(y), dtype=bool))

    def _choose_ridge(self, kept: BoolArray) -> None:
        if self._ridges is not None and self._ridges.candidates:
            found = best_ridge(self._features[kept], self._y[kept], self._ridges)
            self.fit = replace(self.fit, ridge=found)

    def outliers(self, settings: OutlierSettings) -> BoolArray:
        """Whether a row is one (n,)."""
        _, left, slack = ridge_regression(self._features, self._y, self.fit.ridge)
        return outliers(left, slack, float(self._y.std()), settings, most=settings.most)

    def regression(self, kept: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients (m,), and what rows leave when they are left out (n,): nothing, if they are not kept."""
        if not kept.all():
            self._choose_ridge(kept)
        coef, left, slack = ridge_regression(self._features[kept], self._y[kept], self.fit.ridge)
        residuals = np.zeros_like(self._y)
        residuals[kept] = left / slack
        return self._basis @ coef, residuals


def rbf_features(X: FloatArray, fit: Fit, centres: int) -> tuple[FloatArray, IntArray, FloatArray]:
    """Orthonormal functions at X (n, m) in the span of RBF kernels, the rows that are its centres, and the basis."""
    Q = X / fit.lengthscales
    rows = independent_points(Q, centres)
    Knm = rbf_matrix(Q, Q[rows])
    basis = orthonormal_basis(Knm[rows])
    return Knm @ basis, rows, basis


def ridge_regression(features: FloatArray, y: FloatArray, ridge: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients, residuals, and 1 − leverage: residual over slack is that of a row left out."""
    factor = Cholesky.of(features.T @ features, ridge)
    coef = factor.solve(features.T @ y)
    slack = np.maximum(1.0 - factor.quadratic(features.T), 0.1)
    return coef, y - features @ coef, slack
