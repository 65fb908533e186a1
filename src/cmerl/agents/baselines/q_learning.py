"""Optimistic Q-learning: no model, a bonus in every update [Jin et al. 2018]."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np

from cmerl.agents.baselines.empirical import FloatArray
from cmerl.agents.baselines.optimistic import OptimisticAgent
from cmerl.agents.baselines.tabular import TablePolicy
from cmerl.errors import InputError

BONUSES = ("hoeffding", "bernstein")


class OptimisticQLearning(OptimisticAgent):
    """Optimistic Q-learning: a table of Q for each step, updated by (H + 1)/(H + t) with a bonus.

    With ``theory`` the Hoeffding bonus is √(H³ι/t), ι = log(SAT/δ), t the visits of the state-action at that step;
    else scale·(H − h)·√(1/t). The Bernstein bonus is explained in the documentation.

    Args:
        env: with Discrete observations and actions.
        bonus: "hoeffding", or "bernstein" from the empirical variance of the next value.
        options: options of every optimistic agent.
    """

    name: ClassVar[str] = "q-learning"
    practical_scale: ClassVar[float] = 0.03
    saved: ClassVar[tuple[str, ...]] = ("bonus",)
    saved_arrays: ClassVar[tuple[str, ...]] = ("Q", "Q_mean", "step_visits", "next_sums", "next_squares", "beta")

    def __init__(
        self, env: gymnasium.Env[Any, Any], *, bonus: Literal["hoeffding", "bernstein"] = "hoeffding", **options: Any
    ) -> None:
        super().__init__(env, **options)
        if bonus not in BONUSES:
            raise InputError(f"bonus must be one of {', '.join(BONUSES)}, not {bonus!r}")
        self.bonus = bonus
        shape = (self.horizon, *self.reward_sums.shape)
        most = np.array([self._most(step) for step in range(self.horizon)])
        self.Q: FloatArray = np.tile(most[:, None, None], (1, *shape[1:]))  # optimistic, of scaled rewards
        self.Q_mean: FloatArray = np.zeros(shape)  # the same without bonus, for those who do not explore
        self.step_visits: FloatArray = np.zeros(shape)
        self.next_sums: FloatArray = np.zeros(shape)  # of V after each, and of its squares
        self.next_squares: FloatArray = np.zeros(shape)
        self.beta: FloatArray = np.zeros(shape)

    def _table(self, explore: bool) -> TablePolicy:
        return self._greedy(self.Q if explore else self.Q_mean)

    def learn_step(self, step: int, s: int, a: int, reward: float, after: int) -> None:
        """Learn one transition."""
        z = step, s, a
        self.step_visits[z] += 1
        t = float(self.step_visits[z])
        rate = (self.horizon + 1) / (self.horizon + t)
        optimistic, mean = (self._value(Q, step + 1, after) for Q in (self.Q, self.Q_mean))
        bonus = self.bonus_scale * self._bonus(z, t, rate, optimistic)
        self.Q[z] = (1 - rate) * self.Q[z] + rate * (reward + optimistic + bonus)
        self.Q_mean[z] = (1 - rate) * self.Q_mean[z] + rate * (reward + mean)

    def _value(self, Q: FloatArray, step: int, state: int) -> float:
        """V at a step and state, at most the largest possible remaining return."""
        if state == self.Q.shape[1]:  # the end
            return self._end_value * (self.horizon - step)
        return 0.0 if step == self.horizon else min(float(Q[step, state].max()), self._most(step))

    def _bonus(self, z: tuple[int, int, int], t: float, rate: float, value: float) -> float:
        """The bonus of the t-th update of a step, state and action, at scale 1."""
        left, iota = (self.horizon, self.log_factor()) if self.theory else (self.horizon - z[0], 1.0)
        hoeffding = float(np.sqrt(left**3 * iota / t)) if self.theory else left / float(np.sqrt(t))
        if self.bonus == "hoeffding":
            return hoeffding
        self.next_sums[z] += value
        self.next_squares[z] += value**2
        variance = max(float(self.next_squares[z] / t - (self.next_sums[z] / t) ** 2), 0.0)
        if self.theory:
            S, A, _ = self._sizes
            bernstein = np.sqrt(left / t * (variance + left) * iota) + np.sqrt(left**7 * S * A) * iota / t
        else:
            bernstein = np.sqrt(variance / t) + left / t
        before, self.beta[z] = float(self.beta[z]), min(float(bernstein), hoeffding)
        return float((self.beta[z] - (1 - rate) * before) / (2 * rate))
