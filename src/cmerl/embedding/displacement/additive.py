"""The regression of rewards that are a sum: what a place pays, and what an action costs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.regression import farthest_points, independent_points, orthonormal_basis
from cmerl.kernels.additive_fitting import AdditiveFit
from cmerl.linalg import Cholesky
from cmerl.searching.simulator import AdditiveRegression as QuickRegression
from cmerl.searching.simulator import Regression, matern_kernels, stacked_kernels

FloatArray = NDArray[np.float64]


class AdditiveRegression:
    """Ridge regression of y (n,) in the span of kernels at a few states and at a few actions.

    Both parts are found together. Then states are regressed once more on what actions leave, from the least of it on:
    far from all data a state contributes no more than the worst that was seen.

    Args:
        S: states (n, d).
        A: actions (n, e).
        y: outputs (n,).
        fit: the kernel.
        centres: most centres of states, and of actions.

    Attributes:
        quick: the same predictions in single precision.
    """

    def __init__(self, S: FloatArray, A: FloatArray, y: FloatArray, fit: AdditiveFit, centres: int) -> None:
        self._origin, self._action_origin = S.mean(axis=0), A.mean(axis=0)
        places, acts = S - self._origin, A - self._action_origin
        rows, _ = farthest_points(places / fit.state_lengthscales, centres, apart=1e-3)
        self._W = _distances_to(places[rows], fit.state_lengthscales)
        own = independent_points(acts / fit.action_lengthscales, centres)
        self._action_W = _exponents_at(acts[own], fit.action_lengthscales)
        by_state, by_action = matern_kernels(places, self._W), stacked_kernels(acts, self._action_W)
        of_state = orthonormal_basis(by_state[rows])
        of_action = np.sqrt(fit.weight) * orthonormal_basis(by_action[own])
        m, features = len(rows), np.hstack([by_state @ of_state, by_action @ of_action])
        moments, mean = features.T @ features, y.mean()
        together = Cholesky.of(moments, fit.ridge).solve(features.T @ (y - mean))
        left = y - features[:, m:] @ together[m:]  # what states contribute
        least = left.min()
        alone = Cholesky.of(moments[:m, :m], fit.ridge).solve(features[:, :m].T @ (left - least))
        self._coef, self._action_coef = of_state @ alone[:, None], of_action @ together[m:, None]
        self._mean = np.array([least])
        action = _single(W=self._action_W, coef=self._action_coef, origin=self._action_origin, mean=self._mean)
        state = _single(W=self._W, coef=self._coef, origin=self._origin)
        self.quick = QuickRegression(**state, action=Regression(**action))

    def __call__(self, X: FloatArray) -> FloatArray:
        """Predictions (n, 1) at states and actions (n, d + e)."""
        d = len(self._origin)
        return np.asarray(self._of_states(X[:, :d]) + self._of_actions(X[:, d:]))

    def of_actions(self, actions: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Predictions (A, q, 1) for every action (A, e) at states (q, d), or at states of its own (A, q, d)."""
        own = self._of_actions(actions)[:, None]

        def predict(states: FloatArray) -> FloatArray:
            paid = self._of_states(states.reshape(-1, states.shape[-1]))
            return np.asarray(paid.reshape(*states.shape[:-1], 1) + own)

        return predict

    def _of_states(self, S: FloatArray) -> FloatArray:
        return np.asarray(matern_kernels(S - self._origin, self._W) @ self._coef)

    def _of_actions(self, A: FloatArray) -> FloatArray:
        return np.asarray(self._mean + stacked_kernels(A - self._action_origin, self._action_W) @ self._action_coef)


def _single(**arrays: FloatArray) -> dict[str, NDArray[np.float32]]:
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def _distances_to(centres: FloatArray, lengthscales: FloatArray) -> FloatArray:
    """W (2d + 1, m) such that [x², x, 1]·W = 3 Σ_j (x_j − c_j)²/ℓ_j² for centres (m, d)."""
    return -6.0 * _exponents_at(centres, lengthscales)


def _exponents_at(centres: FloatArray, lengthscales: FloatArray) -> FloatArray:
    """W (2d + 1, m) such that [x², x, 1]·W = −½ Σ_j (x_j − c_j)²/ℓ_j² for centres (m, d)."""
    inverse = 1.0 / np.square(lengthscales)
    squares = np.repeat(-0.5 * inverse[:, None], len(centres), axis=1)
    return np.vstack([squares, (centres * inverse).T, -0.5 * (np.square(centres) @ inverse)])
