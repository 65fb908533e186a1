"""Transitions, validated on creation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError

FloatArray = NDArray[np.float64]
Points = FloatArray | Sequence[Any]
"""n×d float64 array, or a list of objects for structured kernels."""


def as_points(X: Points | ArrayLike, name: str) -> Points:
    """Check and copy points: a finite n×d array, or a list of arbitrary objects as it is."""
    if isinstance(X, list):
        try:
            array = np.asarray(X)
        except ValueError:  # ragged
            return list(X)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            return list(X)
        array = array.astype(np.float64)
    else:
        try:
            array = np.array(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} must be an n×d array of numbers or a list of objects: {error}") from None
    if array.ndim != 2:
        raise InputError(f"{name} must be an n×d array, but has shape {array.shape}")
    bad = ~np.all(np.isfinite(array), axis=1)
    if np.any(bad):
        raise InputError(f"{name} has a NaN or infinite entry in row {int(np.argmax(bad))}")
    array += 0.0  # -0.0 and 0.0 are the same point
    return array


def take(X: Points, rows: NDArray[np.intp]) -> Points:
    """The given rows of points, arrays or lists."""
    return X[rows] if isinstance(X, np.ndarray) else [X[i] for i in rows]


@dataclass(frozen=True)
class Transitions:
    """A batch of n transitions in the order in which they happened.

    Attributes:
        Z: state-actions (n, d) or a list of n objects.
        next_states: states that followed (n, d_s) or a list of n objects.
        rewards: (n,).
        terminated: (n,) booleans; a terminated next state is never acted from, and its value is given.
    """

    Z: Points
    next_states: Points
    rewards: FloatArray
    terminated: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        Z: Points | ArrayLike,
        next_states: Points | ArrayLike,
        rewards: ArrayLike | None = None,
        terminated: ArrayLike | None = None,
    ) -> Transitions:
        """Checked and copied transitions; rewards default to 0, terminated to False."""
        Z, next_states = as_points(Z, "X"), as_points(next_states, "Y")
        n = len(Z)
        try:
            r = np.zeros(n) if rewards is None else np.array(rewards, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("rewards must be numbers") from None
        done = np.zeros(n, dtype=bool) if terminated is None else np.array(terminated, dtype=bool)
        if len(next_states) != n or r.shape != (n,) or done.shape != (n,):
            raise InputError(
                f"a batch needs one next state, reward and flag per state-action, but has {n} state-actions, "
                f"{len(next_states)} next states, rewards of shape {r.shape} and flags of shape {done.shape}"
            )
        if not np.all(np.isfinite(r)):
            raise InputError(f"the reward in row {int(np.argmin(np.isfinite(r)))} is NaN or infinite")
        return cls(Z, next_states, r, done)

    def __len__(self) -> int:
        return len(self.Z)

    def __getitem__(self, rows: slice) -> Transitions:
        return Transitions(self.Z[rows], self.next_states[rows], self.rewards[rows], self.terminated[rows])


def saveable(points: Points) -> FloatArray:
    """Points as an array, or one sentence on why they cannot be saved."""
    if not isinstance(points, np.ndarray):
        raise InputError("points that are objects cannot be saved: only numeric ones can")
    return points


def join_points(parts: Sequence[Points]) -> Points:
    """Points one after the other; parts without any are left out."""
    parts = [part for part in parts if len(part)]
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    if parts and len(arrays) == len(parts):
        return np.concatenate(arrays)
    return [x for part in parts for x in part]


def concatenate(batches: Sequence[Transitions]) -> Transitions:
    """Batches as one."""
    return Transitions(
        join_points([b.Z for b in batches]),
        join_points([b.next_states for b in batches]),
        np.concatenate([b.rewards for b in batches]),
        np.concatenate([b.terminated for b in batches]),
    )


class PointSet:
    """Distinct points in the order of their first arrival; equal rows share one id."""

    def __init__(self) -> None:
        self._ids: dict[Any, int] = {}
        self._array: FloatArray = np.empty((16, 0))
        self._objects: list[Any] | None = None
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def points(self) -> Points:
        """The distinct points: a view (m, d), or the list of objects."""
        return self._array[: self._size] if self._objects is None else self._objects

    not_turned_back = ("_ids",)  # by the number of points, as below, rather than by a copy

    def undo(self) -> Callable[[], None]:
        """Turns back what is added from now on."""
        ids, size = self._ids, self._size

        def undo() -> None:
            while len(ids) > size and ids:
                ids.popitem()  # the last one that came

        return undo

    def check(self, X: Points, name: str) -> None:
        """Raise if X cannot join this set: another dimension, or objects among numbers."""
        if self._size == 0:
            return
        if isinstance(X, np.ndarray) != (self._objects is None):
            raise InputError(f"{name} mixes numeric rows with objects: use one kind for all updates")
        if isinstance(X, np.ndarray) and X.shape[1] != self._array.shape[1]:
            raise InputError(f"{name} has {X.shape[1]} columns, but the data so far has {self._array.shape[1]}")

    def add(self, X: Points) -> NDArray[np.intp]:
        """Ids (n,) of the points, new ones appended."""
        self.check(X, "the batch")
        ids = np.empty(len(X), dtype=np.intp)
        for i, key in enumerate(_keys(X)):
            known = self._ids.get(key)
            if known is None:
                known = self._ids[key] = self._size
                self._append(X, i)
            ids[i] = known
        return ids

    def find(self, X: Points) -> NDArray[np.intp]:
        """Ids (n,) of the points, -1 for those never added."""
        return np.array([self._ids.get(key, -1) for key in _keys(X)], dtype=np.intp)

    def _append(self, X: Points, i: int) -> None:
        if isinstance(X, np.ndarray):
            if self._size == 0:
                self._array = np.empty((16, X.shape[1]))
            elif self._size == len(self._array):
                self._array = np.concatenate([self._array, np.empty_like(self._array)])
            self._array[self._size] = X[i]
        else:
            if self._objects is None:
                self._objects = []
            self._objects.append(X[i])
        self._size += 1


def _keys(X: Points) -> list[Any]:
    """One dictionary key per point; an unhashable object is equal to nothing."""
    if isinstance(X, np.ndarray):
        return [row.tobytes() for row in np.ascontiguousarray(X) + 0.0]  # -0.0 equals 0.0 but has other bytes
    keys = []
    for x in X:
        try:
            hash(x)
            keys.append(x)
        except TypeError:
            keys.append(object())
    return keys
