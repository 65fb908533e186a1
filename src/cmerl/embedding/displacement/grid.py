"""A displacement model at states × actions: next states, rewards and novelty."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.dynamics import Dynamics
from cmerl.kernels import Matern
from cmerl.linalg import Cholesky
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


class Target(NamedTuple):
    """The target of ``backup``: reward·r + V(s'), V as coefficients around ``mean``, its value far from landmarks."""

    coef: FloatArray
    mean: float
    reward: float
    terminal: float


class DisplacementGrid:
    """States × actions with the action held: where they lead, what they earn, how new they are."""

    def __init__(self, view: DisplacementView, x: FloatArray) -> None:
        self._view = view
        y, reward, ended = view.dynamics.hold(x, view.repeat)
        unknown = np.zeros(ended.shape) if view.sure else view.dynamics.unknown(x, y, ended)
        self._reward, self._ended, self._unknown = reward.T, ended.T, unknown.T  # (q, A)
        self._y = y.transpose(1, 0, 2).reshape(-1, x.shape[1])  # (q·A, d)
        self._K = view.interpolant(self._y, single=True)  # (q·A, m)

    def expectation(self, coef: Target) -> FloatArray:
        """(1 − u)(reward·r + V(s')) (q, A)."""
        v = (self._K @ coef.coef.astype(np.float32)).reshape(self._ended.shape) + coef.mean
        y = coef.reward * self._reward + np.where(self._ended, coef.terminal, v)
        return np.asarray((1.0 - self._unknown) * y)

    def weights(self) -> FloatArray:
        """Weights on V at the landmarks (q·A, m); their mean takes what interpolation leaves."""
        T = self._view.factor.solve(self._view.interpolant(self._y, single=False).T).T
        W = T + ((1.0 - T.sum(axis=1)) / T.shape[1])[:, None]
        return np.asarray(W * ((1.0 - self._unknown) * ~self._ended).reshape(-1, 1))

    def std(self) -> FloatArray:
        """σ (q, A)."""
        return np.sqrt(self._unknown)


@dataclass(frozen=True, eq=False)
class DisplacementView:
    """Everything learned by one moment, for a plan to keep.

    ``repeat`` may differ between the states of a grid. If it is ``sure``, nothing counts as new. ``categorical`` says
    whether actions are names.
    """

    centre: FloatArray
    scale: FloatArray
    actions: FloatArray
    dynamics: Dynamics
    landmarks: FloatArray
    kernel: Matern
    factor: Cholesky
    repeat: int | IntArray
    sure: bool = False
    categorical: bool = False
    _last: dict[bytes, DisplacementGrid] = field(init=False, repr=False, default_factory=dict)
    _single: dict[int, DisplacementView] = field(init=False, repr=False, default_factory=dict)

    def knows(self, states: FloatArray) -> bool:
        """Whether these states were asked last."""
        return states.tobytes() in self._last

    def grid(self, states: Points) -> DisplacementGrid:
        """At encoded states × actions; what was asked last is not computed again."""
        asked = np.asarray(states)
        key = asked.tobytes()
        if key not in self._last:
            self._last.clear()
            self._last[key] = DisplacementGrid(self, self.scaled(asked))
        return self._last[key]

    def std_at(self, states: FloatArray, which: IntArray) -> FloatArray:
        """σ (q,) at encoded states (q, d), each with one of the actions."""
        if len(states) == 1 and not self.knows(states):  # one action alone is quicker
            return np.asarray(self.of(int(which[0])).grid(states).std()[:, 0])
        return np.asarray(self.grid(states).std()[np.arange(len(states)), which])

    def weights_at(self, states: FloatArray, which: IntArray) -> FloatArray:
        """Signed weights on V(landmarks) (q, m) at encoded states (q, d), each with one of the actions."""
        W = self.grid(states).weights()
        return np.asarray(W[np.arange(len(states)) * len(self.actions) + which])

    def with_actions(self, actions: FloatArray) -> DisplacementView:
        """The same at other actions."""
        return replace(self, actions=actions, dynamics=self.dynamics.with_actions(actions))

    def of(self, which: int) -> DisplacementView:
        """The same for one of the actions."""
        if which not in self._single:
            self._single[which] = self.with_actions(self.actions[[which]])
        return self._single[which]

    def scaled(self, states: FloatArray) -> FloatArray:
        """Encoded states in the units of the model."""
        return (states - self.centre) / self.scale

    def value(self, coef: Target, there: NDArray[Any]) -> FloatArray:
        """V at states in the units of the model (n,)."""
        return np.asarray(self.interpolant(there, single=True) @ coef.coef.astype(np.float32) + coef.mean)

    def weights_at_landmarks(self, coef: Target) -> tuple[FloatArray, float]:
        """V as weights (m,) on the kernel at the landmarks, and the mean that they are around."""
        return coef.coef, coef.mean

    def interpolant(self, y: NDArray[Any], *, single: bool) -> NDArray[Any]:
        """k(y, landmarks) (q, m).

        In single precision where it is only multiplied: a backup reads all of it, and values between landmarks are
        far less accurate than that.
        """
        kernel = self.kernel.single if single else self.kernel
        return kernel(y, self.landmarks)
