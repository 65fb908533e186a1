"""Fitted Q evaluation: the value of a policy by kernel regression on data, with its uncertainty.

Q_h is a ridge regression of r + V_{h+1}(s') on state-actions, V_h(s') what it says of the policy's action there. The
value is a smooth function of the weight of every transition; its derivative is the transition's influence, and the
sum of their squares the variance that noise causes (the infinitesimal jackknife). To this come what smoothing may
hide, by the posterior of the same regression, and first states that were drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.regression import independent_points
from cmerl.kernels import RBF
from cmerl.kernels.fitting import Fit, fit
from cmerl.linalg import Cholesky

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """Sizes.

    Args:
        centres: most centres of the regression.
        fit_rows: transitions that its kernel is fitted to.
        passes: of fitting the kernel to targets, and finding targets with it.
        constant: penalty of the constant, relative to the ridge: hardly any.
        least_rows: transitions without which nothing is said.
    """

    centres: int = 200
    fit_rows: int = 120
    passes: int = 2
    constant: float = 1e-6
    least_rows: int = 20


@dataclass(frozen=True, eq=False)
class Steps:
    """Transitions as rows of numbers, and what the policy does after them.

    Attributes:
        Z: state-actions (n, c).
        rewards: (n,).
        alive: whether the episode goes on (n,).
        after: the state-actions (n, c) that the policy makes of the next states at a step.
        first: the same of first states (k, c), at step 0.
    """

    Z: FloatArray
    rewards: FloatArray
    alive: FloatArray
    after: Callable[[int], FloatArray]
    first: FloatArray


class Estimate(NamedTuple):
    """What a policy is worth.

    Attributes:
        mean: it.
        influence: of every transition (n,): the derivative by its weight.
        leverage: of every transition (n,): how much of its own target it takes.
        firsts: the value of every first state (k,).
        smoothing: one standard deviation of what smoothing may hide.
        unsupported: the share of the policy's state-actions that the data say nothing of.
    """

    mean: float
    influence: FloatArray
    leverage: FloatArray
    firsts: FloatArray
    smoothing: float
    unsupported: float

    @property
    def deviation(self) -> float:
        """The standard deviation of the error; each transition counts as if it were left out (HC3)."""
        k, apart = len(self.firsts), self.influence / np.maximum(1.0 - self.leverage, 0.1)
        drawn = float(self.firsts.var(ddof=1)) / k if k > 1 else 0.0
        return float(np.sqrt(np.square(apart).sum() + drawn + self.smoothing**2))


def evaluate_steps(steps: Steps, horizon: int, settings: EvaluationSettings) -> Estimate:
    """The value of a policy over ``horizon`` steps, with a kernel that suits its own targets."""
    centre, scale = steps.Z.mean(axis=0), steps.Z.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    scaled = Steps(
        (steps.Z - centre) / scale,
        steps.rewards,
        steps.alive,
        lambda step: (steps.after(step) - centre) / scale,
        (steps.first - centre) / scale,
    )
    n = len(steps.Z)
    some = np.linspace(0, n - 1, min(n, settings.fit_rows)).astype(np.intp)
    targets = np.column_stack([steps.rewards, scaled.Z])  # at first, what can be known of the world
    shape: Fit | None = None
    found: tuple[Estimate, FloatArray] | None = None
    for _ in range(settings.passes):
        Y = targets[some] - targets[some].mean(axis=0)
        Y = Y[:, Y.std(axis=0) > 1e-9]
        if not Y.shape[1]:  # all rewards are alike
            Y = scaled.Z[some] - scaled.Z[some].mean(axis=0)
        shape = fit(scaled.Z[some], Y / np.maximum(Y.std(axis=0), 1e-12), start=shape, most_steps=20)
        found = regress(scaled, horizon, shape, settings)
        targets = found[1]
    assert found is not None
    return found[0]


def regress(
    steps: Steps, horizon: int, shape: Fit, settings: EvaluationSettings, weights: FloatArray | None = None
) -> tuple[Estimate, FloatArray]:
    """The estimate with one kernel, and regression targets of a few steps (n, ·).

    Args:
        steps: with inputs of about unit variance.
        horizon: H.
        shape: lengthscales and ridge.
        settings: sizes.
        weights: of the transitions (n,); 1 by default.
    """
    w = np.ones(len(steps.Z)) if weights is None else weights
    basis = Basis.of(steps.Z, shape, settings)
    phi = basis(steps.Z)
    moments = Cholesky.of(phi.T @ (w[:, None] * phi) + basis.penalty, 1e-10 * len(phi))

    # backwards: Q_h = φᵀc_h
    least, most = float(steps.rewards.min()), float(steps.rewards.max())
    if not steps.alive.all():  # after an end nothing is paid
        least, most = min(least, 0.0), max(most, 0.0)
    coef, left, sizes, inside = [], [], [], []
    follows = [basis(steps.after(step)) for step in range(1, horizon)]
    lacks = [basis.lack(phi_h) for phi_h in follows]
    value, kept = np.zeros(len(phi)), []
    for step in reversed(range(horizon)):
        y = steps.rewards + steps.alive * value
        c = moments.solve(phi.T @ (w * y))
        coef.append(c)
        left.append(y - phi @ c)
        sizes.append(np.sqrt(max(float(y @ (w * left[-1])), 0.0) / (shape.ridge * len(y))))  # of the signal
        kept.append(y)
        if step:
            bounds, value = ((horizon - step) * least, (horizon - step) * most), follows[step - 1] @ c
            inside.append((value > bounds[0]) & (value < bounds[1]))
            value = np.clip(value, *bounds)  # what cannot be is no value, and has no slope
    coef, left, sizes, inside = coef[::-1], left[::-1], sizes[::-1], inside[::-1]

    # forwards: how often the policy comes by, as weights on the transitions
    first = basis(steps.first)
    firsts, going = first @ coef[0], np.full(len(first), 1.0 / len(first))
    at, lack = first.mean(axis=0), basis.lack(first)
    leverage = w * moments.quadratic(phi.T)
    influence, smoothing, unsupported = np.zeros(len(phi)), 0.0, 0.0
    for step in range(horizon):
        solved, away = moments.solve(at), float(np.abs(going) @ lack)
        visits = phi @ solved
        influence += visits * left[step]
        hidden = np.sqrt(max(shape.ridge * float(solved @ basis.penalty @ solved), 0.0))
        smoothing += sizes[step] ** 2 * (hidden + away) ** 2
        unsupported += away / max(float(np.abs(going).sum()), 1e-300)
        if step + 1 < horizon:
            going = w * visits * steps.alive * inside[step]
            at, lack = follows[step].T @ going, lacks[step]
    estimate = Estimate(
        float(firsts.mean()), influence, leverage, firsts, float(np.sqrt(smoothing)), unsupported / horizon
    )
    return estimate, np.column_stack([kept[i] for i in sorted({0, len(kept) // 2, len(kept) - 1})])


@dataclass(frozen=True, eq=False)
class Basis:
    """RBF functions at centres, and a constant.

    Attributes:
        kernel: it.
        centres: (m, c).
        factor: of the kernel at the centres.
        penalty: of coefficients (m + 1, m + 1).
    """

    kernel: RBF
    centres: FloatArray
    factor: Cholesky
    penalty: FloatArray

    @classmethod
    def of(cls, Z: FloatArray, shape: Fit, settings: EvaluationSettings) -> Basis:
        """At centres that span the data."""
        kernel = RBF(shape.lengthscales.tolist())
        centres = Z[independent_points(Z / shape.lengthscales, settings.centres)]
        K = kernel(centres, centres)
        penalty = np.zeros((len(K) + 1, len(K) + 1))
        penalty[:-1, :-1] = shape.ridge * K
        penalty[-1, -1] = shape.ridge * settings.constant
        return cls(kernel, centres, Cholesky.of(K, 1e-8), penalty)

    def __call__(self, Z: FloatArray) -> FloatArray:
        """φ (q, m + 1)."""
        return np.hstack([self.kernel(Z, self.centres), np.ones((len(Z), 1))])

    def lack(self, phi: FloatArray) -> FloatArray:
        """What the centres leave of the kernel at points with features φ (q,), as a standard deviation."""
        return np.asarray(np.sqrt(np.clip(1.0 - self.factor.quadratic(phi[:, :-1].T), 0.0, 1.0)))
