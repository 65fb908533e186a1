"""Certainty-equivalent and optimistic control of linear-quadratic environments, with the Riccati recursion.

References: certainty equivalence: H. Mania, S. Tu, B. Recht, "Certainty equivalence is efficient for linear quadratic
control", NeurIPS 2019, and M. Simchowitz, D. Foster, "Naive exploration is optimal for online LQR", ICML 2020.
Optimism: Y. Abbasi-Yadkori, C. Szepesvári, "Regret bounds for the adaptive control of linear quadratic systems", COLT
2011.

The model s' = As + Ba + w is a ridge regression of s' on (s, a), Θ = (A, B); costs are the least squares of −r on the
squares of s and of a. The gains K_h are those of the Riccati recursion, a = −K_h s.

Constants: certainty equivalence adds noise to actions, its standard deviation ``bonus_scale``·0.2·t^{−1/4} of half
the actions' range in episode t, as the second paper's rate asks for. Optimism draws ``models`` models with ‖(Θ −
Θ̂)V^{1/2}‖ = radius and takes the one that promises most, Θ̂ among them. With ``theory`` radius =
σ√(2d·log(√det(V/λ)/δ)) + √λ·``norm``, the third reference's Eq. 5; otherwise σ̂·√(d + m). λ = 0.01.

Differences: episodes of H steps with gains for each. Costs are learned. The optimistic model is the best of finitely
many draws, not of the whole set. Actions are clipped to the action space.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import gymnasium
import numpy as np

from cmerl.agents.base import Policy
from cmerl.agents.baselines.encoded import EncodedAgent, EpisodeData, FloatArray, positive, whole
from cmerl.errors import InputError
from cmerl.linalg import Cholesky, spectrum
from cmerl.oracles.riccati import LinearQuadraticModel, solve_linear_quadratic
from cmerl.validation import check_step


def lq_radius(log_det: float, *, lam: float, rows: int, dims: int, norm: float, noise: float, delta: float) -> float:
    """σ√(2d·log(√det(V/λ)/δ)) + √λ·S [Abbasi-Yadkori and Szepesvári 2011, Thm 1]; V has ``rows`` rows."""
    growth = 0.5 * (log_det - rows * math.log(lam)) + math.log(1.0 / delta)
    return noise * math.sqrt(2.0 * dims * growth) + math.sqrt(lam) * norm


@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """a = −K_h s, plus what is added at each step, within bounds.

    Attributes:
        K: gains (H, m, d).
        extra: added to the action at each step (H, m).
        low: of actions (m,), and ``high``.
        shape: of an action.
    """

    K: FloatArray
    extra: FloatArray
    low: FloatArray
    high: FloatArray
    shape: tuple[int, ...] = field(default=())

    def __call__(self, obs: Any, step: int) -> FloatArray:
        """The action for an observation at ``step``."""
        check_step(step, len(self.K))
        action = self.extra[step] - self.K[step] @ np.ravel(np.asarray(obs, dtype=np.float64))
        return np.asarray(np.clip(action, self.low, self.high).reshape(self.shape))


class LinearQuadraticAgent(EncodedAgent):
    """Base of agents for linear-quadratic environments.

    Args:
        env: with a Box of observations and a bounded Box of actions.
        lam: the ridge λ.
        options: as for every agent with features.
    """

    scales_rewards: ClassVar[bool] = False
    fixed_options: ClassVar[tuple[str, ...]] = ("reward_range", "actions")
    _own: ClassVar[tuple[str, ...]] = ("lam",)

    def __init__(self, env: gymnasium.Env[Any, Any], *, lam: float = 0.01, **options: Any) -> None:
        super().__init__(env, **options)
        if not isinstance(env.observation_space, gymnasium.spaces.Box) or self.actions.scale is None:
            raise InputError(
                f"agent {self.name!r} needs a Box of observations and a bounded Box of actions, "
                f"not {env.observation_space} and {env.action_space}"
            )
        self.lam = positive("lam", lam)
        self._begin()

    def _begin(self) -> None:
        d, m = len(self.states.columns.low), self.actions.rows.shape[1]
        q = len(np.triu_indices(d)[0]) + len(np.triu_indices(m)[0])
        self.precision: FloatArray = self.lam * np.eye(d + m)
        self._cross: FloatArray = np.zeros((d + m, d))
        self._squares, self._steps = 0.0, 0
        self._cost_precision: FloatArray = 1e-9 * np.eye(q)
        self._cost_cross: FloatArray = np.zeros(q)
        self.latest_start: FloatArray = np.zeros(d)

    def _learn(self, data: EpisodeData) -> None:
        scale = self.actions.scale
        assert scale is not None
        s, after = self.states.columns.invert(data.states), self.states.columns.invert(data.next_states)
        a = scale.low + (data.actions + 1.0) / 2.0 * (scale.high - scale.low)
        z, q = np.hstack([s, a]), np.hstack([_squares(s), _squares(a)])
        self.precision += z.T @ z
        self._cross += z.T @ after
        self._squares += float((after**2).sum())
        self._cost_precision += q.T @ q
        self._cost_cross -= q.T @ data.rewards
        self._steps += len(data)
        self.latest_start = s[0]

    def estimate(self) -> LinearQuadraticModel:
        """The model by least squares, costs included."""
        d = self._cross.shape[1]
        theta = Cholesky.of(self.precision).solve(self._cross)
        return self._model_of(theta, self._residual(theta) ** 2 * np.eye(d))

    def _model_of(self, theta: FloatArray, W: FloatArray) -> LinearQuadraticModel:
        d, m = self._cross.shape[1], len(self.precision) - self._cross.shape[1]
        costs = Cholesky.of(self._cost_precision).solve(self._cost_cross)
        first = len(np.triu_indices(d)[0])
        Q, R = _symmetric(costs[:first], d), _symmetric(costs[first:], m)
        return LinearQuadraticModel(theta[:d].T, theta[d:].T, _definite(Q, 0.0), _definite(R, 1e-3), W)

    def _residual(self, theta: FloatArray) -> float:
        """σ̂, one for all coordinates; 1 while nothing is known."""
        free = self._steps * theta.shape[1] - theta.size
        if free < 1:
            return 1.0
        gram = self.precision - self.lam * np.eye(len(theta))
        fitted = 2.0 * float((theta * self._cross).sum()) - float((theta * (gram @ theta)).sum())
        return math.sqrt(max(self._squares - fitted, 0.0) / free)

    def _make_policy(self, explore: bool) -> Policy:
        scale, H = self.actions.scale, self.horizon
        assert scale is not None
        rng = self._rng(6, len(self.history))
        half = (scale.high - scale.low) / 2.0
        extra = rng.standard_normal((H, len(half))) * half * (self._jitter() if explore else 0.0)
        model = self.chosen_model(explore)
        K = np.zeros((H, len(half), self._cross.shape[1]))
        if self._steps:
            K = solve_linear_quadratic(model, H).K
        return LinearPolicy(K, extra, scale.low, scale.high, scale.shape)

    def _jitter(self) -> float:
        """Standard deviation of the noise added to actions, in units of half their range."""
        return 0.0 if self._steps else 1.0  # the first episode must move

    @abstractmethod
    def chosen_model(self, explore: bool) -> LinearQuadraticModel:
        """The model to control."""


class CertaintyEquivalentLQ(LinearQuadraticAgent):
    """Certainty-equivalent linear-quadratic control with decaying noise on actions [Mania et al. 2019]."""

    name: ClassVar[str] = "ce-lq"
    fixed_options: ClassVar[tuple[str, ...]] = ("reward_range", "actions", "theory", "delta")  # papers give a rate

    def _jitter(self) -> float:
        return self.bonus_scale * 0.2 / math.sqrt(math.sqrt(len(self.log) + 1))

    def chosen_model(self, explore: bool) -> LinearQuadraticModel:
        """The estimate."""
        return self.estimate()


class OptimisticLQ(LinearQuadraticAgent):
    """Linear-quadratic control by the most promising model of a confidence set [Abbasi-Yadkori and Szepesvári 2011].

    Args:
        env: with a Box of observations and a bounded Box of actions.
        models: models drawn from the border of the set.
        norm: a bound on ‖(A, B)‖, for ``theory``.
        noise: sub-Gaussian constant of the noise, for ``theory``.
        options: as for "ce-lq".
    """

    name: ClassVar[str] = "ofu-lq"
    _own: ClassVar[tuple[str, ...]] = ("lam", "models", "norm", "noise")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        models: int = 32,
        norm: float = 1.0,
        noise: float = 0.1,
        **options: Any,
    ) -> None:
        self.models, self.norm, self.noise = whole("models", models), positive("norm", norm), positive("noise", noise)
        super().__init__(env, **options)

    def chosen_model(self, explore: bool) -> LinearQuadraticModel:
        """Of the models that the data allow, the one that promises most."""
        found = self.estimate()
        if not explore or not self._steps:
            return found
        factor = Cholesky.of(self.precision)
        theta = factor.solve(self._cross)
        rng, radius = self._rng(7, len(self.history)), self._radius(factor, theta)
        draws = [rng.standard_normal(theta.shape) for _ in range(self.models)]
        ball = [theta + factor.back_solve(radius / np.linalg.norm(G) * G) for G in draws]
        candidates = [found, *(self._model_of(drawn, found.W) for drawn in ball)]
        promises = [solve_linear_quadratic(model, self.horizon).value(self.latest_start) for model in candidates]
        return candidates[int(np.argmax(promises))]

    def _radius(self, factor: Cholesky, theta: FloatArray) -> float:
        rows, dims = theta.shape
        if not self.theory:
            return self.bonus_scale * self._residual(theta) * math.sqrt(rows)
        return self.bonus_scale * lq_radius(
            factor.log_det, lam=self.lam, rows=rows, dims=dims, norm=self.norm, noise=self.noise, delta=self.delta
        )


def _squares(x: FloatArray) -> FloatArray:
    """x_i x_j for i ≤ j (n, q)."""
    i, j = np.triu_indices(x.shape[1])
    return np.asarray(x[:, i] * x[:, j])


def _symmetric(weights: FloatArray, size: int) -> FloatArray:
    """The symmetric matrix of a quadratic form with weights of x_i x_j for i ≤ j."""
    M = np.zeros((size, size))
    M[np.triu_indices(size)] = weights
    return np.asarray((M + M.T) / 2.0)


def _definite(M: FloatArray, least: float) -> FloatArray:
    """The nearest symmetric matrix with no eigenvalue below ``least``."""
    values, vectors = spectrum(M)
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)
