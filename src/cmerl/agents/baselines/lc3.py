"""LC3: learning kernelised non-linear regulators.

Reference: S. Kakade, A. Krishnamurthy, K. Lowrey, M. Ohnishi, W. Sun, "Information theoretic regret bounds for online
nonlinear control", NeurIPS 2020, Algorithm 1.

The model is s' = Wφ(s, a) + noise, each coordinate of s' in units of its bounds. With Σ = λI + Σφφᵀ the estimate W̄
is a ridge regression, and the ball of models is ‖(W − W̄)Σ^{1/2}‖² ≤ β.

Constants: with ``theory`` β_t = 2λ‖W‖² + 8σ²(d log 5 + 2 log t + log 4 + log(det Σ/λ^k)), ‖W‖ ≤ ``norm`` and σ =
``noise``; ``models`` models are drawn on the border of the ball. Otherwise one model is drawn for each episode from
the Gaussian posterior, N(W̄, σ̂²Σ⁻¹) with the residual variance σ̂², as in the paper's own experiments.

Differences: planning is a search over sequences of actions at every step (sampling_planner.py) in place of the
paper's planning oracle; with several models the best sequence of any of them is played, decided again at every step.
The paper knows the cost: here it is learned, as a quadratic function of (s, a), unless ``reward`` is given. Early
ends are not modelled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np

from cmerl.agents.base import Policy
from cmerl.agents.baselines.encoded import EncodedAgent, EpisodeData, FloatArray, at_least_zero, positive, whole
from cmerl.agents.baselines.sampling_planner import CrossEntropy
from cmerl.agents.saving import container
from cmerl.errors import InputError
from cmerl.linalg import Cholesky
from cmerl.validation import check_step

Pairs = Callable[[FloatArray, FloatArray], FloatArray]
"""A function of states (n, d) and actions (n, m) in the environment's units."""


def lc3_radius(log_det: float, *, lam: float, size: int, dims: int, norm: float, noise: float, episode: int) -> float:
    """√β_t [Kakade et al. 2020, Eq. 3.2] for log det Σ, ``size`` features and ``dims`` coordinates of the state."""
    growth = dims * math.log(5.0) + 2.0 * math.log(episode) + math.log(4.0) + log_det - size * math.log(lam)
    return math.sqrt(2.0 * lam * norm**2 + 8.0 * noise**2 * growth)


class LC3(EncodedAgent):
    """Non-linear control with a model drawn from its confidence ball, and a search in it [Kakade et al. 2020].

    Args:
        env: with Box observations; actions continuous or finitely many.
        features: φ(states, actions) (n, k) of states (n, d) and actions (n, m) in the environment's units, or
            "linear".
        fourier: random Fourier features of width 1 that are added, on encoded states and actions.
        reward: the reward as such a function (n,), or "learned" as a quadratic one.
        lam: the ridge λ.
        norm: a bound on ‖W‖, for ``theory``.
        noise: σ, the standard deviation of the noise: for ``theory``, and until there are data to estimate it.
        models: models that are drawn with ``theory``.
        depth: steps that the search looks ahead.
        samples: sequences of actions in a round of the search.
        rounds: rounds of the search.
        options: as for every agent with features.
    """

    name: ClassVar[str] = "lc3"
    scales_rewards: ClassVar[bool] = False
    fixed_options: ClassVar[tuple[str, ...]] = ("reward_range",)
    _own: ClassVar[tuple[str, ...]] = ("fourier", "lam", "norm", "noise", "models", "depth", "samples", "rounds")
    _given: ClassVar[tuple[str, ...]] = ("features", "reward")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        features: Pairs | Literal["linear"] = "linear",
        fourier: int = 0,
        reward: Pairs | Literal["learned"] = "learned",
        lam: float = 0.01,
        norm: float = 1.0,
        noise: float = 0.1,
        models: int = 8,
        depth: int = 20,
        samples: int = 64,
        rounds: int = 6,
        **options: Any,
    ) -> None:
        super().__init__(env, **options)
        if not isinstance(env.observation_space, gymnasium.spaces.Box):
            raise InputError(
                f"agent {self.name!r} controls real numbers: it needs a Box of them, not {env.observation_space}"
            )
        self.features, self.reward, self.fourier = features, reward, int(at_least_zero("fourier", fourier))
        self.lam, self.norm, self.noise = positive("lam", lam), positive("norm", norm), positive("noise", noise)
        self.models, self.depth = whole("models", models), whole("depth", depth)
        self.samples, self.rounds = whole("samples", samples), whole("rounds", rounds)
        self._begin()

    def _begin(self) -> None:
        d = self.states.dims
        if self.fourier:
            rng = self._rng(8)
            columns = d + self.actions.rows.shape[1]
            self._frequencies = rng.standard_normal((columns, self.fourier))
            self._phases = rng.uniform(0.0, 2.0 * np.pi, self.fourier)
        k = self.phi(np.full((1, d), 0.5), self.actions.rows[:1]).shape[1]
        q = quadratic_features(np.zeros((1, d)), self.actions.rows[:1]).shape[1]
        # Next states are counted from zero in the environment's units: W maps features to states, without a constant.
        self._origin: FloatArray = self.states.columns.apply(np.zeros((1, len(self.states.columns.low))))[0]
        self.precision: FloatArray = self.lam * np.eye(k)
        self._cross: FloatArray = np.zeros((k, d))
        self._squares: FloatArray = np.zeros(d)
        self._reward_precision: FloatArray = 1e-6 * np.eye(q)
        self._reward_cross: FloatArray = np.zeros(q)
        self._steps = 0

    def _raw(self, states: FloatArray, actions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """States (n, d) and actions (n, m) in the environment's units."""
        scale = self.actions.scale
        played = actions if scale is None else scale.low + (actions + 1.0) / 2.0 * (scale.high - scale.low)
        return self.states.columns.invert(states), played

    def phi(self, states: FloatArray, actions: FloatArray) -> FloatArray:
        """φ (n, k) at encoded states (n, d) and action rows (n, d_a)."""
        if isinstance(self.features, str):
            # Finitely many actions need not be numbers: each has a feature of its own.
            own = actions if self.actions.scale is not None else np.eye(len(self.actions))[self._index(actions)]
            parts = [states, own, np.ones((len(states), 1))]
        else:
            parts = [np.asarray(self.features(*self._raw(states, actions)), dtype=np.float64)]
        if self.fourier:
            parts.append(
                np.sqrt(2.0 / self.fourier) * np.cos(np.hstack([states, actions]) @ self._frequencies + self._phases)
            )
        return np.hstack(parts)

    def _learn(self, data: EpisodeData) -> None:
        phi, q = self.phi(data.states, data.actions), quadratic_features(data.states, data.actions)
        if not np.isfinite(phi).all():
            raise InputError("features are NaN or infinite at a state that was met")
        self.precision += phi.T @ phi
        after = data.next_states - self._origin
        self._cross += phi.T @ after
        self._squares += (after**2).sum(axis=0)
        self._reward_precision += q.T @ q
        self._reward_cross += q.T @ data.rewards
        self._steps += len(data)

    def model_draws(self, explore: bool) -> list[FloatArray]:
        """Operators (k, d) to plan with; W̄ alone without exploration."""
        factor = Cholesky.of(self.precision)
        W = factor.solve(self._cross)
        if not explore or self.bonus_scale == 0.0:
            return [W]
        k, d = W.shape
        rng = self._rng(6, len(self.history))
        if not self.theory:
            return [W + self.bonus_scale * self.residual(W) * factor.back_solve(rng.standard_normal((k, d)))]
        t = len(self.log) + 1
        radius = self.bonus_scale * lc3_radius(
            factor.log_det, lam=self.lam, size=k, dims=d, norm=self.norm, noise=self.noise, episode=t
        )
        draws = [rng.standard_normal((k, d)) for _ in range(self.models)]
        return [W + factor.back_solve(radius / np.linalg.norm(G) * G) for G in draws]

    def residual(self, W: FloatArray) -> FloatArray:
        """σ̂ of each coordinate (d,), ``noise`` while there are fewer data than features."""
        free = self._steps - len(W)
        if free < 1:
            return np.full(W.shape[1], self.noise)
        fitted = 2.0 * (W * self._cross).sum(axis=0) - (W * ((self.precision - self.lam * np.eye(len(W))) @ W)).sum(
            axis=0
        )
        return np.asarray(np.sqrt(np.maximum(self._squares - fitted, 0.0) / free))

    def _make_policy(self, explore: bool) -> Policy:
        settings = CrossEntropy(samples=self.samples, iterations=self.rounds, depth=self.depth)
        rewards = Cholesky.of(self._reward_precision).solve(self._reward_cross)
        return SearchPolicy(self, self.model_draws(explore), rewards, settings, len(self.history))

    def _report(self) -> dict[str, Any]:
        return {"features": len(self.precision)}

    def _state(self) -> tuple[container.Tensors, dict[str, Any]]:
        tensors, meta = super()._state()
        known = {name: isinstance(getattr(self, name), str) for name in self._given}
        return tensors, {**meta, "plain": known}

    def _restore_own(self, tensors: container.Tensors, meta: dict[str, Any]) -> None:
        for name, word in (("features", "linear"), ("reward", "learned")):
            if meta["plain"][name]:
                setattr(self, name, word)
            elif name not in self.__dict__:
                raise InputError(f"this agent was given {name} as a function, which is not saved: pass {name}=…")


@dataclass(frozen=True, eq=False)
class SearchPolicy:
    """Plays the first action of the best sequence, with a new search at every step.

    Attributes:
        agent: whose features and spaces are used; what it learns later does not matter.
        models: operators (k, d).
        reward_weights: of the learned quadratic reward (q,).
        search: settings.
        episode: the search's randomness is that of the episode and the step.
    """

    agent: LC3
    models: list[FloatArray]
    reward_weights: FloatArray
    search: CrossEntropy
    episode: int

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step``; equal ones give equal actions."""
        agent = self.agent
        check_step(step, agent.horizon)
        state, actions = agent.states.encode(obs), agent.actions
        length = min(agent.horizon - step, self.search.depth)
        finite = None if actions.scale is not None else actions.rows
        found = []
        for i, W in enumerate(self.models):
            rng = agent._rng(7, self.episode, step, i)
            returns = lambda rows, W=W: self._simulate(state, rows, W)  # noqa: E731
            found.append(self.search.search(returns, length, actions.rows.shape[1], finite, rng))
        best = max(found, key=lambda pair: pair[1])[0]
        return actions.decode(best[0])

    def _simulate(self, state: FloatArray, rows: FloatArray, W: FloatArray) -> FloatArray:
        """Returns (n,) of sequences (n, L, d_a) from a state (1, d)."""
        agent, s = self.agent, np.repeat(state, len(rows), axis=0)
        total, bounded = np.zeros(len(rows)), agent.states.bounded
        for step in range(rows.shape[1]):
            a = rows[:, step]
            if isinstance(agent.reward, str):
                total += quadratic_features(s, a) @ self.reward_weights
            else:
                total += np.asarray(agent.reward(*agent._raw(s, a)), dtype=np.float64)
            s = agent._origin + agent.phi(s, a) @ W
            s = np.where(bounded, np.clip(s, 0.0, 1.0), np.clip(s, -1e6, 1e6))  # a drawn model may be unstable
        return total


def quadratic_features(states: FloatArray, actions: FloatArray) -> FloatArray:
    """All monomials up to degree two of (s, a) (n, q)."""
    x = np.hstack([np.ones((len(states), 1)), states, actions])
    i, j = np.triu_indices(x.shape[1])
    return np.asarray(x[:, i] * x[:, j])
