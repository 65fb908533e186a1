"""The parts of an observation: every array and every object inside a Gymnasium space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cmerl.errors import InputError, shown
from cmerl.objects import ObjectTable
from cmerl.spaces import structured

FloatArray = NDArray[np.float64]
IMAGE_FIX = (
    "if its numbers are colours, pass kernel=cmerl.kernels.FeatureMap(function, RBF(…)) with features that you \
extract; codes, as in MiniGrid, are fine as they are"
)
Path = tuple[str | int, ...]


@dataclass(frozen=True, eq=False)
class Part:
    """One array of numbers, or one object, inside an observation.

    Attributes:
        path: keys and positions that lead to it; empty if it is the whole observation.
        kind: "numbers" have distances between them, "categories" are equal or not; "objects" are text,
            sequences, graphs and the like, and are passed around as their numbers in ``table``.
        shape: its shape.
        low: declared smallest values (d,), −∞ where there are none.
        high: declared largest values (d,).
        dtype: what ``decode`` gives back.
        space: of objects, else None.
        table: the objects seen so far, else None.
    """

    path: Path
    kind: Literal["numbers", "categories", "objects"]
    shape: tuple[int, ...]
    low: FloatArray
    high: FloatArray
    dtype: str
    space: spaces.Space[Any] | None = None
    table: ObjectTable | None = None

    @classmethod
    def of_objects(cls, space: spaces.Space[Any], path: Path, table: ObjectTable | None = None) -> Part:
        """A part whose values are objects of a space."""
        ends = np.zeros(1), np.full(1, np.inf)
        return cls(path, "objects", (), *ends, "<i8", space, ObjectTable() if table is None else table)

    @property
    def name(self) -> str:
        """The name in messages: "pose.velocity" for obs["pose"]["velocity"]."""
        return ".".join(map(str, self.path))

    @property
    def where(self) -> str:
        """The same inside a sentence."""
        return f"the observation's part {self.name!r}" if self.path else "the observation"

    @property
    def image(self) -> str | None:
        """How an image is represented, in a sentence; None for anything else."""
        if isinstance(self.space, spaces.Box):
            return f"{self.where} is an image of shape {self.space.shape}, compared as a whole: equal or not"
        if self.kind == "categories" and len(self.shape) > 1:
            counted = f"each of its {len(self.low)} numbers is a category, equal or not"
            return f"{self.where} is an image of shape {self.shape}: {counted}"
        return None

    def find(self, obs: Any) -> FloatArray:
        """This part of an observation as a row (d,), checked and copied."""
        value = obs
        for key in self.path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                raise InputError(f"{self.where} is missing in {shown(obs)}") from None
        if self.space is not None and self.table is not None:
            try:
                structured.check(self.space, value)
                return np.array([float(self.table.add(value))])
            except InputError as error:
                raise InputError(f"{self.where} is not what its space declares: {error}") from None
        try:
            x = np.array(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{self.where} is not numeric: {shown(value)}") from None
        if x.shape != self.shape:
            raise InputError(f"{self.where} has shape {x.shape}, but the space has {self.shape}")
        return x.ravel()

    def restore(self, row: FloatArray) -> Any:
        """The array (or number, or object) behind a row (d,)."""
        if self.table is not None:
            return self.table[int(row[0])]
        value = np.rint(row) if np.dtype(self.dtype).kind in "iub" else row
        return value.reshape(self.shape).astype(self.dtype) if self.shape else np.dtype(self.dtype).type(value[0])

    def spec(self) -> dict[str, Any]:
        """A JSON-able description, without the objects seen."""
        if self.space is not None:
            return {"path": list(self.path), "kind": self.kind, "space": structured.to_spec(self.space)}
        bounds = [[x if np.isfinite(x) else None for x in bound.tolist()] for bound in (self.low, self.high)]
        about = {"path": list(self.path), "kind": self.kind, "shape": list(self.shape), "dtype": self.dtype}
        return {**about, "low": bounds[0], "high": bounds[1]}

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Part:
        """The inverse of ``spec``."""
        if spec["kind"] == "objects":
            return cls.of_objects(structured.from_spec(spec["space"]), tuple(spec["path"]))
        low = np.array([-np.inf if x is None else x for x in spec["low"]])
        high = np.array([np.inf if x is None else x for x in spec["high"]])
        return cls(tuple(spec["path"]), spec["kind"], tuple(spec["shape"]), low, high, spec["dtype"])


def take_apart(space: spaces.Space[Any], path: Path = ()) -> Iterator[Part]:
    """Every array inside a space, in the space's own order."""
    if isinstance(space, spaces.Dict):
        for key, inner in space.spaces.items():
            yield from take_apart(inner, (*path, key))
    elif isinstance(space, spaces.Tuple):
        for i, inner in enumerate(space.spaces):
            yield from take_apart(inner, (*path, i))
    elif structured.is_structured(space):
        yield Part.of_objects(space, path)
    else:
        yield _leaf(space, path)


def _leaf(space: spaces.Space[Any], path: Path) -> Part:
    if isinstance(space, spaces.Discrete):
        first = float(space.start)
        return Part(path, "categories", (), np.array([first]), np.array([first + float(space.n) - 1]), "<i8")
    if isinstance(space, spaces.MultiDiscrete):
        low = space.start.astype(np.float64).ravel()
        return Part(path, "categories", tuple(space.shape), low, low + space.nvec.ravel() - 1, "<i8")
    if isinstance(space, spaces.MultiBinary):
        d = int(np.prod(space.shape))
        return Part(path, "categories", tuple(space.shape), np.zeros(d), np.ones(d), "<i8")
    if isinstance(space, spaces.Box):
        low, high = (np.asarray(bound, dtype=np.float64).ravel() for bound in (space.low, space.high))
        whole = np.dtype(space.dtype).kind in "iub"
        # A vector of whole numbers counts something; a picture made of them (as in MiniGrid) holds codes.
        kind: Literal["numbers", "categories"] = "categories" if whole and len(space.shape) > 1 else "numbers"
        return Part(path, kind, tuple(space.shape), low, high, "<i8" if whole else "<f8")
    name = f"the observation's part {'.'.join(map(str, path))!r} is a {type(space).__name__}" if path else None
    raise InputError(
        f"{name or f'observations of type {type(space).__name__}'}, which is not supported: use a wrapper that gives "
        "one of Gymnasium's own spaces (cmerl.wrappers.SelectObservation leaves parts out)"
    )


def put_together(values: Sequence[tuple[Path, Any]]) -> Any:
    """The nested observation with these values at these paths; integer keys make tuples."""
    if len(values) == 1 and not values[0][0]:
        return values[0][1]
    branches: dict[str | int, list[tuple[Path, Any]]] = {}
    for path, value in values:
        branches.setdefault(path[0], []).append((path[1:], value))
    found = {key: put_together(inner) for key, inner in branches.items()}
    positions = [key for key in found if isinstance(key, int)]
    return tuple(found.get(i) for i in range(max(positions) + 1)) if positions else found
