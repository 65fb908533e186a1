"""Conversion between Gymnasium's action spaces and the candidate actions of plans."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, Kernel
from cmerl.objects import ObjectTable
from cmerl.spaces.candidates import candidates

FloatArray = NDArray[np.float64]

MOST_ACTIONS = 1000  # enumerating more than this is surely not meant
WIDTH = 0.25  # of the automatic kernel on continuous actions, scaled to [−1, 1]


@dataclass(frozen=True, eq=False)
class ActionScale:
    """Continuous actions as points of the cube [−1, 1]^d, and back.

    Attributes:
        low: what becomes −1 (d,).
        high: what becomes 1 (d,).
        shape: shape of an action of the environment.
        dtype: its type.
    """

    low: FloatArray
    high: FloatArray
    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, box: spaces.Box) -> ActionScale | None:
        """The scale of a bounded Box; None if a bound is missing."""
        if not box.is_bounded():
            return None
        low, high = (np.asarray(bound, dtype=np.float64).ravel() for bound in (box.low, box.high))
        return cls(low, high, tuple(box.shape), np.dtype(box.dtype).str)

    def encode(self, actions: NDArray[Any]) -> FloatArray:
        """Actions (q, *shape) as rows (q, d)."""
        x = np.asarray(actions, dtype=np.float64).reshape(len(actions), -1)
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        return np.where(self.high > self.low, 2.0 * (x - self.low) / width - 1.0, 0.0) + 0.0  # no negative zeros

    def decode(self, rows: FloatArray) -> list[NDArray[Any]]:
        """Actions for ``env.step`` from rows (q, d)."""
        return list(self.decode_array(rows))

    def decode_array(self, rows: FloatArray) -> NDArray[Any]:
        """The same as one array (q, *shape)."""
        actions = self.low + (rows + 1.0) / 2.0 * (self.high - self.low)
        if np.dtype(self.dtype).kind != "f":
            actions = np.rint(actions)
        # The rounding of a narrower type must not leave the box.
        low, high = self.low.astype(self.dtype), self.high.astype(self.dtype)
        return np.asarray(np.clip(actions.astype(self.dtype), low, high).reshape(len(rows), *self.shape))

    @property
    def zero(self) -> FloatArray:
        """Doing nothing, as a row (d,): the action 0, or the nearest that there is."""
        nearest = np.clip(np.zeros_like(self.low), self.low, self.high)
        return np.asarray(self.encode(nearest[None])[0])


@dataclass(frozen=True, eq=False)
class ActionSet:
    """The finitely many actions that are considered.

    Attributes:
        values: what ``env.step`` takes, by index.
        rows: what the kernel sees (A, d_a): finitely many actions as they are, continuous ones scaled to [−1, 1].
        scale: of continuous actions; None where there are no others but these.
        objects: the actions where they are objects (of Tuple, Dict, Text, …), whose rows are numbers of this table.
    """

    values: tuple[Any, ...]
    rows: FloatArray
    scale: ActionScale | None = None
    objects: ObjectTable | None = None

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def of(
        cls,
        space: spaces.Space[Any],
        actions: Sequence[Any] | None = None,
        rng: np.random.Generator | None = None,
    ) -> ActionSet:
        """All actions of a finite space, candidates of a continuous one, or those given.

        Args:
            space: the environment's action space.
            actions: candidates of any space; then there are no others.
            rng: places automatic candidates of a continuous space.
        """
        if not isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary | spaces.Box):
            values = _given(space, actions) if actions is not None else enumerate_objects(space)
            return cls._of_objects(values, ObjectTable())
        if actions is not None:
            return cls._with_rows(_given(space, actions), None)
        scale = ActionScale.of(space) if isinstance(space, spaces.Box) else None
        if scale is None:
            return cls._with_rows(_enumerate(space), None)
        return cls._with_rows(scale.decode(candidates(scale.zero, rng or np.random.default_rng(0))), scale)

    @property
    def continuous(self) -> bool:
        """Whether there are more actions between these."""
        return self.scale is not None

    def describe(self) -> str:
        """The candidate actions, in words."""
        return f"{len(self)} candidates of a continuous action" if self.continuous else f"{len(self)} actions"

    @property
    def kernel(self) -> Kernel:
        """The default action kernel: smooth for continuous actions, else a delta kernel."""
        return RBF(WIDTH * float(np.sqrt(self.rows.shape[1]))) if self.continuous else Delta()

    def encode(self, action: Any) -> FloatArray:
        """The encoding of an action (1, d_a)."""
        if self.objects is not None:
            return np.array([[float(self.objects.add(action))]])
        if self.scale is not None:
            return self.scale.encode(np.asarray(action)[None])
        return np.array([np.ravel(action)], dtype=np.float64)

    def decode(self, row: FloatArray) -> Any:
        """The action of the environment behind a row (d_a,)."""
        if self.objects is not None:
            return self.objects[int(row[0])]
        if self.scale is not None:
            return self.scale.decode(row[None])[0]
        first = self.values[0]
        return row.reshape(first.shape).astype(first.dtype) if isinstance(first, np.ndarray) else int(row[0])

    def decode_array(self, rows: FloatArray) -> NDArray[Any] | None:
        """The actions behind rows (q, d_a) as one array; None where they are objects."""
        if self.objects is not None:
            return None
        if self.scale is not None:
            return self.scale.decode_array(rows)
        first = self.values[0]
        if isinstance(first, np.ndarray):
            return rows.reshape(len(rows), *first.shape).astype(first.dtype)
        return rows[:, 0].astype(np.int64)

    def spec(self) -> dict[str, Any]:
        """The conversion of actions, as JSON."""
        if self.objects is not None:
            return {"objects": self.objects.to_json()}
        first = np.asarray(self.values[0])
        bounds = None if self.scale is None else [self.scale.low.tolist(), self.scale.high.tolist()]
        return {"shape": list(first.shape), "dtype": first.dtype.str, "bounds": bounds}

    @property
    def table(self) -> FloatArray:
        """The actions as they are (A, d_a), for saving."""
        if self.objects is not None:
            return self.rows
        return np.array([np.ravel(a) for a in self.values], dtype=np.float64)

    @classmethod
    def from_spec(cls, spec: dict[str, Any], table: FloatArray) -> ActionSet:
        """The inverse of ``spec`` and ``table``."""
        if "objects" in spec:
            known = ObjectTable.from_json(spec["objects"])
            return cls._of_objects([known[int(row[0])] for row in table], known)
        values: list[Any] = [row.reshape(spec["shape"]).astype(spec["dtype"]) for row in table]
        if not spec["shape"]:
            values = [int(a) for a in values]
        if spec["bounds"] is None:
            return cls._with_rows(values, None)
        low, high = (np.array(bound) for bound in spec["bounds"])
        return cls._with_rows(values, ActionScale(low, high, tuple(spec["shape"]), spec["dtype"]))

    @classmethod
    def _of_objects(cls, values: Sequence[Any], table: ObjectTable) -> ActionSet:
        rows = np.array([[float(table.add(a))] for a in values])
        return cls(tuple(table[int(row[0])] for row in rows), rows, None, table)

    @classmethod
    def _with_rows(cls, values: Sequence[Any], scale: ActionScale | None) -> ActionSet:
        found = cls(tuple(values), np.empty((0, 1)), scale)
        return cls(found.values, np.vstack([found.encode(a) for a in values]), scale)


def _given(space: spaces.Space[Any], actions: Sequence[Any]) -> list[Any]:
    values = [np.asarray(a, dtype=space.dtype) if space.shape and not isinstance(a, str) else a for a in actions]
    for a in values:
        if not space.contains(a):
            raise InputError(f"the candidate action {a!r} is not in the action space {space}")
    if not values:
        raise InputError("actions must hold at least one candidate")
    return values


def enumerate_objects(space: spaces.Space[Any]) -> list[Any]:
    """All elements of a small finite space of objects: Text, Tuple, Dict and OneOf of finite spaces."""
    found = list(itertools.islice(_elements(space), MOST_ACTIONS + 1))
    if len(found) > MOST_ACTIONS:
        raise InputError(
            f"the action space {space} has more than {MOST_ACTIONS} actions: pass actions=[…] with candidates"
        )
    return found


def _elements(space: spaces.Space[Any]) -> Iterator[Any]:
    if isinstance(space, spaces.Tuple):
        yield from itertools.product(*(list(_few(inner)) for inner in space.spaces))
    elif isinstance(space, spaces.Dict):
        for values in itertools.product(*(list(_few(inner)) for inner in space.spaces.values())):
            yield dict(zip(space.spaces, values, strict=True))
    elif isinstance(space, spaces.OneOf):
        for i, inner in enumerate(space.spaces):
            yield from ((np.int64(i), value) for value in _few(inner))
    elif isinstance(space, spaces.Text):
        for length in range(space.min_length, space.max_length + 1):
            yield from map("".join, itertools.product(space.character_list, repeat=length))
    else:
        yield from _enumerate(space)


def _few(space: spaces.Space[Any]) -> Iterator[Any]:
    return itertools.islice(_elements(space), MOST_ACTIONS + 1)


def _enumerate(space: spaces.Space[Any]) -> list[Any]:
    if isinstance(space, spaces.Discrete) and space.n <= MOST_ACTIONS:
        return list(range(int(space.start), int(space.start + space.n)))
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        starts, sizes = np.zeros(space.shape, dtype=np.int64), np.full(space.shape, 2)
        if isinstance(space, spaces.MultiDiscrete):
            starts, sizes = space.start, space.nvec
        if np.prod(sizes, dtype=float) <= MOST_ACTIONS:
            grid = itertools.product(
                *(range(int(s), int(s + n)) for s, n in zip(starts.flat, sizes.flat, strict=True))
            )
            return [np.array(a, dtype=space.dtype).reshape(space.shape) for a in grid]
    raise InputError(
        f"the action space {space} has no small finite set of actions and no finite bounds: pass actions=[…] with "
        "candidates, or use a wrapper that bounds or discretises it"
    )
