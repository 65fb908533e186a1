"""The usual kernel on state-actions: one kernel for the state times one for the action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmerl.errors import InputError, KernelError
from cmerl.kernels.base import FloatArray, Kernel, Points
from cmerl.kernels.composite import product_bound, product_diameter
from cmerl.kernels.discrete import Delta
from cmerl.kernels.foreign import as_kernel
from cmerl.validation.points import as_points


@dataclass(frozen=True)
class StateAction(Kernel):
    """k((s, a), (s', a')) = k_s(s, s')·k_a(a, a').

    In arrays the last ``action_dims`` columns are the action. In lists every item is a pair (state, action).
    """

    state_kernel: Kernel
    action_kernel: Kernel
    action_dims: int = 1

    def __post_init__(self) -> None:
        self._store("state_kernel", as_kernel(self.state_kernel))
        self._store("action_kernel", as_kernel(self.action_kernel))
        if not isinstance(self.action_dims, int | np.integer) or self.action_dims < 1:
            raise KernelError(f"action_dims must be a whole number, at least 1, got {self.action_dims!r}.")
        self._store("action_dims", int(self.action_dims))

    @property
    def bound(self) -> float:
        """The product of the two bounds."""
        return product_bound((self.state_kernel, self.action_kernel))

    @property
    def nonnegative(self) -> bool:
        """True if both kernels are."""
        return self.state_kernel.nonnegative and self.action_kernel.nonnegative

    @property
    def diameter(self) -> float:
        """As for a `Product` of the two kernels."""
        return product_diameter((self.state_kernel, self.action_kernel))

    @property
    def indicator(self) -> bool:
        """Whether the action kernel is `Delta`, so that a regression splits exactly into one per action."""
        return isinstance(self.action_kernel, Delta)

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(z_i, z'_j)], shape (n, m), for state-actions ``X`` and ``Y`` (None means ``X``)."""
        states, actions = self.split(X)
        other_states, other_actions = (None, None) if Y is None or Y is X else self.split(Y)
        K = self.state_kernel(states, other_states)
        K *= self.action_kernel(actions, other_actions)
        return K

    def diag(self, X: Points) -> FloatArray:
        """The diagonal [k(z_i, z_i)], shape (n,)."""
        states, actions = self.split(X)
        return self.state_kernel.diag(states) * self.action_kernel.diag(actions)

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """∂k/∂(s, a) = (∇k_s·k_a, k_s·∇k_a), shape (m, d)."""
        s, a = x[: -self.action_dims], x[-self.action_dims :]
        S, A = Y[:, : -self.action_dims], Y[:, -self.action_dims :]
        by_state = self.state_kernel.gradient(s, S) * self.action_kernel(a[None], A).T
        by_action = self.action_kernel.gradient(a, A) * self.state_kernel(s[None], S).T
        return np.hstack((by_state, by_action))

    def split(self, X: Points) -> tuple[Points, Points]:
        """States and actions: views (n, d) and (n, action_dims) of an array, or two lists of length n."""
        if isinstance(X, np.ndarray):
            points = as_points(X)
            if points.shape[1] <= self.action_dims:
                raise InputError(
                    f"State-actions need at least one column of state before the {self.action_dims} of "
                    f"action, got {points.shape[1]} in all."
                )
            return points[:, : -self.action_dims], points[:, -self.action_dims :]
        for i, item in enumerate(X):
            if not isinstance(item, tuple | list) or len(item) != 2:
                raise InputError(
                    f"A list of state-actions holds pairs (state, action), but item {i} is {item!r}; "
                    f"numeric state-actions can be rows of a NumPy array instead."
                )
        return [state for state, _ in X], [action for _, action in X]

    @staticmethod
    def join(states: Points, actions: Points) -> Points:
        """The inverse of `split`: an array (n, d + action_dims) from two arrays, else a list of pairs."""
        if len(states) != len(actions):
            raise InputError(f"Each state needs its action, got {len(states)} and {len(actions)}.")
        if isinstance(states, np.ndarray) and isinstance(actions, np.ndarray):
            return np.hstack((as_points(states), as_points(actions)))
        return list(zip(states, actions, strict=True))
