"""What may follow an action: paths of a smooth model whose errors are drawn from its posterior.

Each column of s' − s is a Gaussian process in (s, a), with lengthscales and noise by marginal likelihood. A path has
one draw of the model's error, μ + z·σ with the same z all along: errors of a model do not average out on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.regression import farthest_points
from cmerl.kernels.fitting import fit
from cmerl.linalg import Cholesky
from cmerl.safety.caution import Caution

FloatArray = NDArray[np.float64]
Follow = Callable[[FloatArray, int], FloatArray]
"""Features of the actions (q, e) that a fallback takes at encoded states (q, d), so many steps from now."""

LEAST = 5  # transitions without which nothing can be said
CONSTANT = 1e-9  # a column whose displacement varies less stands still


@dataclass(frozen=True, eq=False)
class Column:
    """A Gaussian process for one column of the displacement.

    Attributes:
        Z: its inputs over the lengthscales (n, c).
        scales: the lengthscales (c,).
        factor: of K + ridge·I.
        coef: (K + ridge·I)⁻¹ (y − mean).
        mean: of the displacement.
        amplitude: standard deviation of the signal.
        noise: standard deviation of the noise.
    """

    Z: FloatArray
    scales: FloatArray
    factor: Cholesky
    coef: FloatArray
    mean: float
    amplitude: float
    noise: float

    @classmethod
    def of(cls, Z: FloatArray, y: FloatArray, rows: NDArray[np.intp]) -> Column | None:
        """From inputs (n, c) of about unit variance, fitted to some rows; None where nothing moves."""
        mean, spread = float(y.mean()), float(y.std())
        if spread <= CONSTANT * max(1.0, float(np.abs(y).max())):
            return None
        target = (y - mean) / spread
        some = target[rows]
        found = fit(Z[rows], (some - some.mean())[:, None])
        scaled = Z / found.lengthscales
        factor = Cholesky.of(_kernel(scaled, scaled), found.ridge)
        coef = factor.solve(target)
        amplitude = spread * float(np.sqrt(max(float(target @ coef) / len(y), 1e-12)))
        noise = amplitude * float(np.sqrt(found.ridge))
        return cls(scaled, found.lengthscales, factor, spread * coef, mean, amplitude, noise)

    def __call__(self, Zq: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the expected displacement (q,), the noise left out."""
        K = _kernel(Zq / self.scales, self.Z)
        left = np.maximum(1.0 - np.einsum("ij,ji->i", K, self.factor.solve(K.T)), 0.0)
        return self.mean + K @ self.coef, self.amplitude * np.sqrt(left)


@dataclass(frozen=True, eq=False)
class Forecast:
    """A model of next states that knows how little it knows.

    Attributes:
        centre: of the inputs (d + e,).
        scale: their standard deviations.
        columns: one process for each column of the state; None for one that stands still.
    """

    centre: FloatArray
    scale: FloatArray
    columns: tuple[Column | None, ...]

    @classmethod
    def of(cls, states: FloatArray, actions: FloatArray, nexts: FloatArray, caution: Caution) -> Forecast | None:
        """From transitions: encoded states (n, d), features of actions (n, e), next states; None if too few."""
        if len(states) < LEAST:
            return None
        Z = np.hstack([states, actions])
        centre, scale = Z.mean(axis=0), Z.std(axis=0)
        scale = np.where(scale > CONSTANT, scale, 1.0)
        Z = (Z - centre) / scale
        kept = _kept(Z, caution.rows)
        Z, moves = Z[kept], (nexts - states)[kept]
        some = _kept(Z, caution.fit_rows)
        return cls(centre, scale, tuple(Column.of(Z, move, some) for move in moves.T))

    def step(self, states: FloatArray, actions: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Expected next states (q, d), their standard deviations by what is not known, and those of the noise."""
        Zq = (np.hstack([states, actions]) - self.centre) / self.scale
        mean, doubt, noise = states.copy(), np.zeros(states.shape), np.zeros(states.shape)
        for j, column in enumerate(self.columns):
            if column is not None:
                move, doubt[:, j] = column(Zq)
                mean[:, j] += move
                noise[:, j] = column.noise
        return mean, doubt, noise

    def paths(
        self, state: FloatArray, action: FloatArray, follow: Follow, caution: Caution, rng: np.random.Generator
    ) -> FloatArray:
        """States (samples, steps + 1, d) that may follow an action (e,) at a state (d,), and then a fallback."""
        n, d = caution.samples, len(state)
        errors = caution.inflation * rng.normal(size=(n, d))
        errors[0] = 0.0  # one path is what is expected
        path = np.empty((n, caution.steps + 1, d))
        path[:, 0] = state
        actions = np.repeat(action[None], n, axis=0)
        for k in range(caution.steps):
            if k:
                actions = follow(path[:, k], k)
            mean, doubt, noise = self.step(path[:, k], actions)
            path[:, k + 1] = mean + errors * doubt + noise * rng.normal(size=(n, d))
        return path


def _kernel(X: FloatArray, Y: FloatArray) -> FloatArray:
    """exp(−½‖x − y‖²)."""
    squares = (X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1) - 2.0 * X @ Y.T
    return np.asarray(np.exp(-0.5 * np.maximum(squares, 0.0)))


def _kept(Z: FloatArray, count: int) -> NDArray[np.intp]:
    """Rows to keep, in order: the latest, and those that differ most."""
    n = len(Z)
    if n <= count:
        return np.arange(n)
    latest = np.arange(n - count // 3, n)
    different, _ = farthest_points(Z, count - len(latest))
    return np.union1d(latest, different)
