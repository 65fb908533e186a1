"""UCBVI: value iteration with a count-based bonus [Azar et al. 2017]."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from cmerl.agents.baselines.empirical import EmpiricalModel, FloatArray
from cmerl.agents.baselines.optimistic import OptimisticAgent
from cmerl.agents.baselines.tabular import TablePolicy


class _ValueIteration(OptimisticAgent):
    """Optimistic value iteration: Q = R̂ + P̂V + bonus, and the largest possible return where there are no data."""

    def _bonus(self, model: EmpiricalModel, step: int, V: FloatArray) -> FloatArray:
        """The bonus of every state-action (S, A), at scale 1; what it is where n = 0 does not matter."""
        raise NotImplementedError

    def _upper(self) -> FloatArray:
        """Optimistic Q (H, S, A) from what was counted."""
        model = self._empirical()
        seen = model.visits > 0

        def backup(step: int, V: FloatArray) -> FloatArray:
            Q = model.rewards + model.expect(V) + self.bonus_scale * self._bonus(model, step, V)
            return np.where(seen, Q, self._most(step))

        return self._induct(backup, most=self._least_upper)

    @property
    def _least_upper(self) -> FloatArray | None:
        """Upper bounds on Q (H, S, A) from earlier episodes, where these may be used."""
        return None

    def _optimistic(self) -> TablePolicy:
        return self._greedy(self._upper())


class UCBVI(_ValueIteration):
    """Optimistic value iteration in discrete environments, with bonus scale·(√(1/n) + (H − h)/n) for n visits.

    Counts do not depend on the step; the bonus does. It is the bonus of ``ucbvi-bf`` without logarithms and
    variances, a heuristic at every scale.

    Args:
        env: with Discrete observations and actions.
        bonus_scale: factor of every bonus term; by default 0.03, chosen on random MDPs.
        options: options of every tabular agent.
    """

    name: ClassVar[str] = "ucbvi"
    practical_scale: ClassVar[float] = 0.03
    fixed_options: ClassVar[tuple[str, ...]] = ("theory", "episodes")

    def __init__(self, env: gymnasium.Env[Any, Any], *, bonus_scale: float | None = None, **options: Any) -> None:
        super().__init__(env, bonus_scale=bonus_scale, **options)

    def _bonus(self, model: EmpiricalModel, step: int, V: FloatArray) -> FloatArray:
        n = np.maximum(model.visits, 1.0)
        return np.sqrt(1 / n) + (self.horizon - step) / n


class _PaperUCBVI(_ValueIteration):
    """UCBVI with a bonus of its paper; with ``theory``, no Q ever exceeds an earlier one of the same state-action."""

    saved_arrays: ClassVar[tuple[str, ...]] = ("lowest",)

    def __init__(self, env: gymnasium.Env[Any, Any], **options: Any) -> None:
        super().__init__(env, **options)
        S, A = self.reward_sums.shape
        most = np.array([self._most(step) for step in range(self.horizon)])
        # Kept with ``theory`` alone: a practical bonus is no upper bound, and its errors must not last.
        self.lowest = np.tile(most[:, None, None], (1, S, A)) if self.theory else np.zeros((0, S, A))

    @property
    def _least_upper(self) -> FloatArray | None:
        return self.lowest if self.theory else None

    def _end_episode(self) -> None:
        if self.theory:
            self.lowest = self._upper()


class UCBVICH(_PaperUCBVI):
    """UCBVI with the Chernoff–Hoeffding bonus of its paper.

    With ``theory`` the bonus is 7HL·√(1/n) + √(L/2n), L = log(5SAT/δ), where the second term is for learned rewards.
    Else it is scale·(H − h)·√(1/n).

    Args:
        env: with Discrete observations and actions.
        options: options of every optimistic agent.
    """

    name: ClassVar[str] = "ucbvi-ch"
    practical_scale: ClassVar[float] = 0.03

    def _bonus(self, model: EmpiricalModel, step: int, V: FloatArray) -> FloatArray:
        n = np.maximum(model.visits, 1.0)
        if not self.theory:
            return (self.horizon - step) * np.sqrt(1 / n)
        L = self.log_factor(5.0)
        return hoeffding_bonus(n, horizon=self.horizon, L=L) + reward_bonus(n, L=L)


class UCBVIBF(_PaperUCBVI):
    """UCBVI with the Bernstein–Freedman bonus of its paper.

    With ``theory`` it is √(8L·Var/n) + 14HL/3n + √(8·Σp̂(y)·min(100²H³S²AL²/n′(y), H²)/n) + √(L/2n), L = log(5SAT/δ),
    where n′(y) counts visits of y at the step after, and the last term is for learned rewards. Else it is
    scale·(√(Var/n) + (H − h)/n), Var being the empirical variance of the reward and of the value after it.

    Args:
        env: with Discrete observations and actions.
        options: options of every optimistic agent.
    """

    name: ClassVar[str] = "ucbvi-bf"
    practical_scale: ClassVar[float] = 0.03
    saved_arrays: ClassVar[tuple[str, ...]] = ("step_visits",)

    def __init__(self, env: gymnasium.Env[Any, Any], **options: Any) -> None:
        super().__init__(env, **options)
        self.step_visits: FloatArray = np.zeros((self.horizon + 1, self.counts.shape[2]))  # n′ of step and state

    def learn_step(self, step: int, s: int, a: int, reward: float, after: int) -> None:
        """Learn one transition."""
        if step == 0:
            self.step_visits[0, s] += 1
        self.step_visits[step + 1, after] += 1

    def _bonus(self, model: EmpiricalModel, step: int, V: FloatArray) -> FloatArray:
        n, H = np.maximum(model.visits, 1.0), self.horizon
        if not self.theory:
            return np.sqrt((model.variance(V) + model.reward_variances) / n) + (H - step) / n
        L = self.log_factor(5.0)
        S, A, _ = self._sizes
        doubt = next_value_doubt(self.step_visits[step + 1], horizon=H, S=S, A=A, L=L)
        return bernstein_bonus(n, model.variance(V), model.expect(doubt), horizon=H, L=L) + reward_bonus(n, L=L)


def hoeffding_bonus(n: FloatArray, *, horizon: int, L: float) -> FloatArray:
    """7HL·√(1/n) [Azar et al. 2017, Alg. 3]."""
    return 7.0 * horizon * L * np.sqrt(1.0 / n)


def next_value_doubt(visits: FloatArray, *, horizon: int, S: int, A: int, L: float) -> FloatArray:
    """min(100²H³S²AL²/n′(y), H²) for every state y: how far V may be from V* there, squared."""
    doubt = 100.0**2 * horizon**3 * S**2 * A * L**2 / np.maximum(visits, 1.0)
    return np.where(visits > 0, np.minimum(doubt, horizon**2), float(horizon**2))


def bernstein_bonus(n: FloatArray, variance: FloatArray, doubt: FloatArray, *, horizon: int, L: float) -> FloatArray:
    """√(8L·Var/n) + 14HL/3n + √(8·doubt/n) [Azar et al. 2017, Alg. 4].

    Args:
        n: visits (S, A).
        variance: of the next value under the empirical distribution (S, A).
        doubt: the mean of ``next_value_doubt`` under that law (S, A).
        horizon: H.
        L: log(5SAT/δ).
    """
    return np.sqrt(8 * L * variance / n) + 14 * horizon * L / (3 * n) + np.sqrt(8 * doubt / n)


def reward_bonus(n: FloatArray, *, L: float) -> FloatArray:
    """√(L/2n): Hoeffding's interval for a mean reward in [0, 1], which the paper takes as known."""
    return np.sqrt(L / (2 * n))
