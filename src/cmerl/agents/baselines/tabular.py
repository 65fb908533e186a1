"""What agents that count share: tables for Discrete worlds, and a plan as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.agents import storage
from cmerl.agents.base import Agent, check_step
from cmerl.agents.saved import check_tabular
from cmerl.agents.schema import Schema
from cmerl.errors import InputError, RewardRangeError, shown

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class TablePolicy:
    """An action for every step and state (H, S); ``first`` are the smallest numbers of observations and actions."""

    actions: NDArray[np.intp]
    first: tuple[int, int]

    def __call__(self, obs: Any, step: int) -> int:
        """The action for an observation at ``step``."""
        check_step(step, len(self.actions))
        return int(self.actions[step, int(obs) - self.first[0]]) + self.first[1]

    def table(self, observations: NDArray[Any]) -> NDArray[np.intp]:
        """The action at every step and observation (H, S)."""
        found: NDArray[np.intp] = self.actions[:, np.asarray(observations) - self.first[0]] + self.first[1]
        return found


class TabularAgent(Agent):
    """Counts transitions and rewards, whatever the step at which they were seen.

    Args:
        env: with Discrete observations and actions.
        horizon: steps per episode; defaults to the environment's own.
        seed: root of all randomness.
        reward_range: (lo, hi) of all rewards.
    """

    _own_options: ClassVar[dict[str, Schema]] = {}  # what a file says of a subclass's own options

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        horizon: int | None = None,
        seed: int = 0,
        reward_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
        spaces = env.observation_space, env.action_space
        if not all(isinstance(space, gymnasium.spaces.Discrete) for space in spaces):
            raise InputError(f"agent {self.name!r} counts: it needs Discrete spaces, not {spaces[0]} and {spaces[1]}")
        lo, hi = (float(end) for end in reward_range)
        if not lo < hi:
            raise InputError(f"reward_range must be (lo, hi) with lo < hi, not {reward_range!r}")
        self.reward_range = lo, hi
        (S, self._first_state), (A, self._first_action) = ((int(space.n), int(space.start)) for space in spaces)  # type: ignore[attr-defined]
        # Ends of an episode are a state of their own, the last one, worth nothing.
        self.counts: FloatArray = np.zeros((S, A, S + self._may_end))
        self.reward_sums: FloatArray = np.zeros((S, A))  # of rewards scaled to [0, 1]

    @property
    def visits(self) -> FloatArray:
        """How often each state-action was seen (S, A)."""
        seen: FloatArray = self.counts.sum(axis=2)
        return seen

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        lo, hi = self.reward_range
        if not lo <= reward <= hi:
            raise RewardRangeError(
                f"reward {reward:g} lies outside reward_range {self.reward_range}: pass one that holds all rewards"
            )
        s, after = self._number(obs), self._number(next_obs)
        a = int(action) - self._first_action
        ended = done and self.counts.shape[2] > self.counts.shape[0]
        self.counts[s, a, -1 if ended else after] += 1
        self.reward_sums[s, a] += (reward - lo) / (hi - lo)

    def _number(self, obs: Any) -> int:
        """The number of a state, from 0 on; what is none would be counted for another one."""
        first, S = self._first_state, len(self.counts)
        if not np.ndim(obs) and np.asarray(obs).dtype.kind in "biu" and 0 <= int(obs) - first < S:
            return int(obs) - first
        raise InputError(f"the observation {shown(obs)} is not a state number from {first} to {first + S - 1}")

    def _plan(self, P: FloatArray, R: FloatArray, bonus: Callable[[int], FloatArray] | None = None) -> TablePolicy:
        """Backward induction in a model with rewards in [0, 1], each Q at most the number of steps left.

        Args:
            P: (S, A, S) or (S, A, S + 1).
            R: (S, A).
            bonus: added to Q at each step (S, A).
        """
        H, S = self.horizon, len(R)
        V = np.zeros(P.shape[2])
        actions = np.empty((H, S), dtype=np.intp)
        for step in reversed(range(H)):
            Q = R + P @ V
            if bonus is not None:
                Q = np.minimum(Q + bonus(step), H - step)
            actions[step] = Q.argmax(axis=1)
            V[:S] = Q.max(axis=1)
        return TablePolicy(actions, (self._first_state, self._first_action))

    def _means(self) -> tuple[FloatArray, FloatArray]:
        """Empirical P and R; uniform and 0 where nothing was seen."""
        n = self.visits[..., None]
        uniform = np.full_like(self.counts, 1 / self.counts.shape[2])
        P: FloatArray = np.divide(self.counts, n, out=uniform, where=n > 0)
        return P, self.reward_sums / np.maximum(n[..., 0], 1)

    def _state(self) -> tuple[storage.Tensors, dict[str, Any]]:
        first = [self._first_state, self._first_action]
        tensors = {"counts": self.counts, "reward_sums": self.reward_sums}
        return tensors, {"reward_range": list(self.reward_range), "first": first}

    @classmethod
    def _check_saved(cls, tensors: storage.Tensors, meta: dict[str, Any]) -> None:
        check_tabular(tensors, meta, **cls._own_options)

    def _restore(self, tensors: storage.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        self.counts, self.reward_sums = tensors["counts"], tensors["reward_sums"]
        self.reward_range = meta["reward_range"][0], meta["reward_range"][1]
        self._first_state, self._first_action = meta["first"]
        if self.env is not None:
            sizes = [getattr(space, "n", None) for space in (self.env.observation_space, self.env.action_space)]
            if sizes != list(self.reward_sums.shape):
                raise InputError("the environment's states and actions are not those that this agent was saved with")
