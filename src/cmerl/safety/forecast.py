"""Forecasts after an action: simulated paths with model errors drawn from the posterior, and with noise.

Each column of s' − s is a Gaussian process in (s, a), fitted by marginal likelihood. A path has one draw of the model
error, μ + z·σ with a constant z, because model errors do not average out along a path. Noise is drawn at every step.

Ignorance is not noise. More data near a state-action remove ignorance and leave the noise, so that only missing data
make a path lost; noise counts where it leads out of the limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.regression import farthest_points
from cmerl.kernels.fitting import fit, log_evidence, squared_differences
from cmerl.linalg import Cholesky
from cmerl.safety.caution import Caution

FloatArray = NDArray[np.float64]
Follow = Callable[[FloatArray, int], FloatArray]
"""Features of the actions (q, e) that a fallback takes at encoded states (q, d), so many steps from now."""
Inside = Callable[[FloatArray], NDArray[np.bool_]]
"""Whether encoded states (q, d) are within the limits (q,)."""
Shapes = list[tuple[FloatArray, float] | None]
"""Lengthscales and ridge of each column of the displacement; None for one that stands still."""

LEAST = 10  # transitions without which nothing can be said
RIDGES = np.logspace(-6, 4, 41)  # from no noise to nothing but noise
CONSTANT = 1e-9  # a column whose displacement varies less stands still


class Step(NamedTuple):
    """A step of a forecast.

    Attributes:
        mean: what is expected.
        unseen: the share of the signal's variance that is open for want of data: near 0 among them, 1 far from them.
        standard_error: standard deviation of what the noise in the data leaves in the mean.
    """

    mean: FloatArray
    unseen: FloatArray
    standard_error: FloatArray


@dataclass(frozen=True, eq=False)
class Column:
    """A Gaussian process for one column of the displacement.

    Attributes:
        Z: its inputs over the lengthscales (n, c).
        scales: the lengthscales (c,).
        inverse: (K + ridge·I)⁻¹, as variances are asked for again and again.
        coef: (K + ridge·I)⁻¹ (y − mean).
        mean: of the displacement.
        amplitude: standard deviation of the signal.
        noise: standard deviation of the noise.
        ridge: the ridge of the regression.
    """

    Z: FloatArray
    scales: FloatArray
    inverse: FloatArray
    coef: FloatArray
    mean: float
    amplitude: float
    noise: float
    ridge: float

    @classmethod
    def of(cls, Z: FloatArray, y: FloatArray, scales: FloatArray, ridge: float) -> Column:
        """From inputs (n, c) and displacements (n,), with lengthscales (c,) and a ridge.

        With C = K + ridge·I the residuals are ridge·coef, and noise of variance 1 leaves ridge²·tr C⁻² of their
        squares. What the regression misses of the signal counts as noise too, which errs on the safe side. The
        likelihood counts no degrees of freedom and would find too little noise.
        """
        mean = float(y.mean())
        scaled = Z / scales
        inverse = Cholesky.of(_kernel(scaled, scaled), ridge).solve(np.eye(len(y)))
        coef = inverse @ (y - mean)
        amplitude = float(np.sqrt(max(float((y - mean) @ coef) / len(y), 0.0)))
        noise = float(np.sqrt(coef @ coef / np.square(inverse).sum()))
        return cls(scaled, scales, inverse, coef, mean, amplitude, noise, ridge)

    def __call__(self, Zq: FloatArray) -> Step:
        """The displacement at inputs (q, c), with each array (q,).

        The mean is αᵀy with α = C⁻¹k, and its error has two independent parts. Noise in the data gives αᵀε, of
        variance noise²·‖α‖². The signal gives f(z) − αᵀf(Z), of variance amplitude²·(1 − αᵀk − ridge·‖α‖²). Only the
        second says that data are missing here. Their sum is the posterior variance, if noise² = ridge·amplitude².
        """
        K = _kernel(Zq / self.scales, self.Z)
        weights = K @ self.inverse
        squares = np.square(weights).sum(axis=1)
        unseen = 1.0 - np.einsum("ij,ij->i", weights, K) - self.ridge * squares
        return Step(self.mean + K @ self.coef, np.clip(unseen, 0.0, 1.0), self.noise * np.sqrt(squares))


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
    def of(
        cls,
        states: FloatArray,
        actions: FloatArray,
        nexts: FloatArray,
        caution: Caution,
        fitted: dict[int, Shapes] | None = None,
    ) -> Forecast | None:
        """From transitions; None if they are too few.

        Lengthscales are refitted when the data have doubled, so that all of it is a function of the log.

        Args:
            states: encoded (n, d).
            actions: their features (n, e).
            nexts: next states (n, d).
            caution: sizes.
            fitted: lengthscales of earlier forecasts from the same log, which is added to.
        """
        n = len(states)
        if n < LEAST:
            return None
        fitted = {} if fitted is None else fitted
        Z, moves = np.hstack([states, actions]), nexts - states
        settled = LEAST * 2 ** int(np.log2(n / LEAST))
        centre, scale = Z[:settled].mean(axis=0), Z[:settled].std(axis=0)
        scale = np.where(scale > CONSTANT, scale, 1.0)
        d = states.shape[1]
        scale[d:] = np.maximum(Z[:settled, d:].std(axis=0), caution.untried)
        Z = (Z - centre) / scale
        if settled not in fitted:
            fitted[settled] = _shapes(Z[:settled], moves[:settled], caution)
        kept = _kept(Z, caution.rows)
        columns = (
            None if shape is None else Column.of(Z[kept], move, *shape)
            for move, shape in zip(moves[kept].T, fitted[settled], strict=True)
        )
        return cls(centre, scale, tuple(columns))

    def step(self, states: FloatArray, actions: FloatArray) -> Step:
        """Next states after actions (q, e) at states (q, d), with each array (q, d)."""
        Zq = (np.hstack([states, actions]) - self.centre) / self.scale
        mean, unseen, standard_error = states.copy(), np.zeros(states.shape), np.zeros(states.shape)
        for j, column in enumerate(self.columns):
            if column is not None:
                move, unseen[:, j], standard_error[:, j] = column(Zq)
                mean[:, j] += move
        return Step(mean, unseen, standard_error)

    @property
    def amplitudes(self) -> FloatArray:
        """Standard deviations of the displacement's columns (d,)."""
        return np.array([0.0 if column is None else column.amplitude for column in self.columns])

    @property
    def noises(self) -> FloatArray:
        """Standard deviations of the noise (d,)."""
        return np.array([0.0 if column is None else column.noise for column in self.columns])

    def paths(
        self,
        state: FloatArray,
        action: FloatArray,
        follow: Follow,
        inside: Inside,
        caution: Caution,
        rng: np.random.Generator,
    ) -> Paths:
        """Paths after an action (e,) at a state (d,), followed by the fallback; stopped at the first violation.

        Every path is simulated twice, with noise and without. What is known is asked along the path without: noise
        leads out of the data under the fallback as well, and says nothing about the action.

        Args:
            state: where the action is taken.
            action: its features.
            follow: the fallback.
            inside: whether states (q, d) are within the limits.
            caution: how many paths, and how long.
            rng: draws the errors.
        """
        n, d = caution.samples, len(state)
        errors = rng.normal(size=(n, d))
        errors[0] = 0.0  # one path is what is expected
        noise = caution.tail * self.noises * rng.normal(size=(caution.steps, n, d))
        path, lost, left = [np.repeat(state[None], 2 * n, axis=0)], np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        for k in range(caution.steps):
            actions = follow(path[k], k) if k else np.repeat(action[None], 2 * n, axis=0)
            mean, unseen, standard_error = self.step(path[k], actions)
            unseen, standard_error = unseen[n:], standard_error[n:]
            error = errors * np.hypot(caution.inflation * self.amplitudes * np.sqrt(unseen), standard_error)
            path.append(mean + np.concatenate([error + noise[k], error]))
            lost |= (unseen > caution.unknown).any(axis=1)
            left |= ~inside(path[k + 1]).reshape(2, n).all(axis=0)
            if (lost | left).mean() > caution.risk:
                break
        return Paths(np.stack(path, axis=1), lost, left)


class Paths(NamedTuple):
    """Paths of a forecast.

    Attributes:
        states: with noise, and then without (2·samples, steps + 1, d).
        lost: which went where too little is known, without noise (samples,).
        left: which have left the limits, with noise or without (samples,).
    """

    states: FloatArray
    lost: NDArray[np.bool_]
    left: NDArray[np.bool_]


def _shapes(Z: FloatArray, moves: FloatArray, caution: Caution) -> Shapes:
    """Lengthscales and ridge of each column of the displacement; None for one that stands still."""
    some = _kept(Z, caution.fit_rows)
    found: Shapes = []
    for move in moves[some].T:
        spread = float(move.std())
        if spread <= CONSTANT * max(1.0, float(np.abs(move).max())):
            found.append(None)
        else:
            lengthscales, ridge = _shape(Z[some], ((move - move.mean()) / spread)[:, None], caution.reach)
            found.append((np.minimum(lengthscales, caution.reach), min(ridge, caution.hidden**-2)))
    return found


def _shape(Z: FloatArray, y: FloatArray, reach: float) -> tuple[FloatArray, float]:
    """Lengthscales and ridge for outputs (n, 1) of mean 0: those fitted, or the smooth ones if data hardly differ.

    In much noise the likelihood is flat, and its maximum may be any short lengthscale: noise would count as a signal
    that is open everywhere. So d lengthscales must gain ½·d·log n nats over ``reach`` (Schwarz's criterion).
    """
    n, d = Z.shape
    squares = squared_differences(Z)
    smooth = [np.append(np.full(d, np.log(reach)), ridge) for ridge in np.log(RIDGES)]
    evidence = [log_evidence(theta, squares, y)[0] for theta in smooth]
    best = int(np.argmax(evidence))
    found = fit(Z, y, most_ridge=RIDGES[-1], squares=squares)
    if found.evidence - evidence[best] < 0.5 * d * np.log(n):
        return np.full(d, reach), float(RIDGES[best])
    return found.lengthscales, found.ridge


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
