"""The base of agents with known features of a finite MDP."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from cmerl.agents.baselines.encoded import EncodedAgent, EpisodeData, FloatArray, IntArray, at_least_zero, positive
from cmerl.agents.saving import container
from cmerl.errors import InputError


class FiniteFeatureAgent(EncodedAgent):
    """Base of agents for discrete environments whose transition distribution has known features.

    Args:
        env: with Discrete observations and actions.
        lam: the ridge λ.
        width: the practical radius is this times the remaining steps.
        options: as for every agent with features.
    """

    _own: ClassVar[tuple[str, ...]] = ("lam", "width")
    _tables: ClassVar[tuple[str, ...]] = ()  # arrays that are options, saved with the agent

    def __init__(self, env: gymnasium.Env[Any, Any], *, lam: float = 1.0, width: float = 0.1, **options: Any) -> None:
        super().__init__(env, **options)
        spaces = env.observation_space, env.action_space
        if not all(isinstance(space, gymnasium.spaces.Discrete) for space in spaces):
            raise InputError(f"agent {self.name!r} needs Discrete spaces, not {spaces[0]} and {spaces[1]}")
        self.lam, self.width = positive("lam", lam), at_least_zero("width", width)

    @property
    def _sizes(self) -> tuple[int, int]:
        """Numbers of states and actions."""
        assert self.states.states is not None
        return self.states.states, len(self.actions)

    def _begin(self) -> None:
        S, A = self._sizes
        # Ends of an episode are a state of their own, the last one.
        self.counts: FloatArray = np.zeros((S, A, S + 1))
        self.reward_sums: FloatArray = np.zeros((S, A))

    def _numbers(self, states: FloatArray) -> IntArray:
        """Numbers (q,) of encoded states (q, 1)."""
        return np.asarray(states[:, 0] - self.states.parts[0].low[0], dtype=np.intp)

    def _count(self, data: EpisodeData) -> tuple[IntArray, IntArray, IntArray]:
        """Count an episode; returns states, actions and next states (k,), S for an end."""
        s, a = self._numbers(data.states), self._index(data.actions)
        after = np.where(data.terminated, self._sizes[0], self._numbers(data.next_states))
        np.add.at(self.counts, (s, a, after), 1.0)
        np.add.at(self.reward_sums, (s, a), data.rewards)
        return s, a, after

    def _reward(self, explore: bool) -> FloatArray:
        """Mean rewards (S, A), with a bonus ½√(v/N): v = 2 log(2SA·N²/δ) with ``theory``, else width²."""
        n = self.counts.sum(axis=2)
        mean: FloatArray = self.reward_sums / np.maximum(n, 1.0)
        if not explore:
            return mean
        S, A = self._sizes
        log = 2.0 * np.log(2.0 * S * A * np.maximum(n, 1.0) ** 2 / self.delta) if self.theory else self.width**2
        bonus = np.where(n > 0.0, 0.5 * np.sqrt(log / np.maximum(n, 1.0)), 1.0)
        return np.minimum(mean + self.bonus_scale * bonus, 1.0)

    def _table(self, name: str, given: ArrayLike | None, shape: tuple[int | None, ...]) -> FloatArray | None:
        """An array given as an option, or the one that the environment exposes under that name, checked; or None."""
        value = getattr(self.env.unwrapped, name, None) if given is None and self.env is not None else given
        if value is None:
            return None
        table = np.array(value, dtype=np.float64)
        fits = table.ndim == len(shape) and all(
            want in (None, have) for want, have in zip(shape, table.shape, strict=True)
        )
        if not fits or not np.isfinite(table).all():
            said = ", ".join("any" if want is None else str(want) for want in shape)
            raise InputError(f"{name} must be a finite array of shape ({said}), not {table.shape}")
        return table

    def _state(self) -> tuple[container.Tensors, dict[str, Any]]:
        tensors, meta = super()._state()
        return {**tensors, **{f"table.{name}": getattr(self, name) for name in self._tables}}, meta

    def _restore_own(self, tensors: container.Tensors, meta: dict[str, Any]) -> None:
        for name in self._tables:
            setattr(self, name, tensors[f"table.{name}"])
