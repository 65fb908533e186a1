"""The units of a displacement model: states of unit variance, and features of actions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.given_reward import TransitionReward
from cmerl.embedding.displacement.motion import Motion, varies
from cmerl.transitions import Points, Transitions

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Units:
    """Turns encoded states and actions into the units of the model, and back.

    Attributes:
        centre: mean of the states (d,).
        scale: their standard deviations (d,), 1 where a column is constant.
        actions: the finite action set (A, d_a).
        categorical: whether actions are categories, not quantities.
    """

    centre: FloatArray
    scale: FloatArray
    actions: FloatArray
    categorical: bool

    @classmethod
    def of(cls, data: Transitions, actions: FloatArray, *, categorical: bool) -> Units:
        """The mean and the standard deviations of the states and next states of some transitions."""
        states = np.vstack([_split(data.Z, actions)[0], data.next_states])
        centre, spread = states.mean(axis=0), states.std(axis=0)
        moves = [varies(s, max(abs(c), 1e-3)) for s, c in zip(spread, centre, strict=True)]
        scale = np.where(moves, spread, 1.0)  # a column that was constant may move one day
        return cls(centre, scale, actions, categorical)

    @property
    def action_gap(self) -> float:
        """How much action features are stretched where novelty is measured: categories have nothing in common."""
        return 100.0 if self.categorical else 1.0

    @property
    def action_features(self) -> FloatArray:
        """Features of the action set (A, e)."""
        return self.features(self.actions)

    def features(self, actions: FloatArray) -> FloatArray:
        """Features of actions (n, e): categories become unit vectors, quantities stay as they are."""
        if not self.categorical:
            return actions
        return np.asarray(np.all(actions[:, None] == self.actions[None], axis=2), dtype=np.float64)

    def scaled(self, states: FloatArray) -> FloatArray:
        """Encoded states (n, d) in the units of the model."""
        return (states - self.centre) / self.scale

    def encoded(self, x: FloatArray) -> FloatArray:
        """The inverse of ``scaled``."""
        return np.asarray(x * self.scale + self.centre)

    def state_actions(self, Z: Points) -> FloatArray:
        """Encoded state-actions (n, d + d_a) in the units of the model (n, d + e)."""
        states, actions = _split(Z, self.actions)
        return np.hstack([self.scaled(states), self.features(actions)])

    def motion(self, data: Transitions) -> Motion:
        """Transitions in the units of the model."""
        states, actions = _split(data.Z, self.actions)
        y = self.scaled(np.asarray(data.next_states))
        return Motion(self.scaled(states), self.features(actions), y, data.rewards, data.terminated)

    def reward(self, encoded: TransitionReward) -> TransitionReward:
        """A reward function of encoded rows, as a function of rows in the units of the model."""

        def given(x: FloatArray, a: FloatArray, y: FloatArray) -> FloatArray:
            actions = self.actions[np.argmax(a, axis=1)] if self.categorical else a
            return encoded(self.encoded(x), actions, self.encoded(y))

        return given


def nearest_actions(Z: Points, actions: FloatArray) -> tuple[FloatArray, IntArray]:
    """The states (n, d) of encoded state-actions, and the number of the nearest of some actions (n,)."""
    states, taken = _split(Z, actions)
    return states, np.argmin(np.square(taken[:, None] - actions[None]).sum(axis=2), axis=1)


def _split(Z: Points, actions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """States and actions of encoded state-actions."""
    rows = np.asarray(Z)
    d = rows.shape[1] - actions.shape[1]
    return rows[:, :d], rows[:, d:]
