"""Learned dynamics with a given reward function."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.dynamics import Dynamics

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
BoolArray = NDArray[np.bool_]
TransitionReward = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Rewards (n,) of states (n, d), actions (n, e) and next states (n, d)."""


class GivenRewardDynamics(Dynamics):
    """``Dynamics`` with a given reward function.

    Args:
        arguments: as for ``Dynamics``.
        reward: the function, of rows in the units of the model.
        probes: states at which it is asked how much it can pay.
        options: as for ``Dynamics``.
    """

    def __init__(self, *arguments: Any, reward: TransitionReward, probes: int = 1000, **options: Any) -> None:
        self._given, self._probes = reward, probes
        super().__init__(*arguments, **options)

    def _range_over(self, actions: FloatArray) -> None:
        super()._range_over(actions)
        self._actions = actions

    @cached_property
    def reward_bounds(self) -> tuple[float, float]:
        """The least and the most that the function pays within the bounds of the model, 0 where episodes end."""
        rng = np.random.default_rng(0)
        x = rng.uniform(-self._bounds, self._bounds, (self._probes, len(self._bounds)))
        a = self._actions[rng.integers(len(self._actions), size=self._probes)]
        paid = np.concatenate([self._given(x, a, x), self.data.r, [0.0] if self.terminations is not None else []])
        return float(paid.min()), float(paid.max())

    def step(self, x: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """The next state (q, d), the reward (q,) and whether the episode ends (q,), for actions with features a."""
        y, _, ended = super().step(x, a)
        return y, self._given(x, a, y), ended

    def quick_step(self, x: SingleArray, a: SingleArray) -> tuple[SingleArray, SingleArray, BoolArray | None]:
        """The same for searches; states are predicted in single precision."""
        y, _, ended = super().quick_step(x, a)
        paid = self._given(*(rows.astype(np.float64) for rows in (x, a, y)))
        return y, paid.astype(np.float32), ended

    def _earned(self, path: FloatArray, held: BoolArray) -> tuple[FloatArray, FloatArray]:
        rewards, ends = super()._earned(path, held)
        x, y = path[:, :-1][:, held], path[:, 1:][:, held]
        a = np.broadcast_to(self._actions[:, None], (*x.shape[:2], self._actions.shape[1]))
        rows = (part.reshape(-1, part.shape[-1]) for part in (x, a, y))
        rewards[:, held] = self._given(*rows).reshape(x.shape[:2])
        return rewards, ends
