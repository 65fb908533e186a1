"""Encoding of observations as rows: checked, copied, scaled, and decoded again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cmerl.errors import InputError, shown
from cmerl.kernels.interned import table_from_spec, table_spec
from cmerl.spaces.columns import Angles, BoolArray, ColumnScale
from cmerl.spaces.parts import IMAGE_FIX, Part, put_together, take_apart

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")

ROUNDING = 1e-5  # relative: a float32 may stand this far outside of its bounds


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Observations as rows of numbers, the parts of Dict and Tuple side by side.

    Categories (Discrete, MultiDiscrete, MultiBinary, pictures of whole numbers) keep their numbers; a Box is scaled
    to [0, 1] where its bounds are finite, and left as it is where they are not. Objects (Text, Sequence, Graph,
    OneOf, large pictures) are kept as they are, and a row has their number.

    Attributes:
        parts: the arrays inside an observation.
        columns: how each of their numbers is seen.
    """

    parts: tuple[Part, ...]
    columns: ColumnScale
    _said: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, space: spaces.Space[Any], angles: Angles = (), *, warn: bool = True) -> StateSpace:
        """The rows for a Gymnasium space.

        Args:
            space: of observations.
            angles: columns (or parts) to be seen as points of a circle.
            warn: warn about images, from which little can be learned without features.
        """
        parts = tuple(take_apart(space))
        for part in parts:
            if warn and part.image is not None:
                log.warning("%s: %s", part.image, IMAGE_FIX)
        if not parts:
            raise InputError(f"observations of {space} hold no numbers: use a wrapper that gives some")
        return cls(parts, ColumnScale.of(parts, angles))

    @property
    def dims(self) -> int:
        """Columns of a row."""
        return self.columns.dims

    @cached_property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of an observation; None where it is a Dict or Tuple."""
        whole = len(self.parts) == 1 and not self.parts[0].path and not self.objects
        return self.parts[0].shape if whole else None

    @property
    def categories(self) -> BoolArray:
        """Columns of a row that are equal or not (d,)."""
        return self.columns.seen(self.columns.category, False)

    @property
    def bounded(self) -> BoolArray:
        """Columns of a row that the declared bounds put into [0, 1] (d,)."""
        return self.columns.seen(self.columns.bounded, True)

    @cached_property
    def integer(self) -> bool:
        """Whether there are categories only."""
        return bool(self.columns.category.all()) and not self.objects

    @cached_property
    def objects(self) -> tuple[Part, ...]:
        """The parts that are objects."""
        return tuple(part for part in self.parts if part.kind == "objects")

    def columns_of(self, part: Part) -> tuple[int, ...]:
        """Columns of a row in which a part is seen; none for an angle."""
        mine, straight = self._numbers_of(part), np.flatnonzero(~self.columns.angle)
        return tuple(np.flatnonzero(np.isin(straight, mine)).tolist())

    def scale_of(self, part: Part) -> tuple[FloatArray, FloatArray]:
        """Offset and scale of each column of a part."""
        mine = self._numbers_of(part)
        mine = mine[~self.columns.angle[mine]]
        category = self.columns.category[mine]
        return np.where(category, 0.0, self.columns.low[mine]), np.where(category, 1.0, self.columns.scale[mine])

    def _numbers_of(self, part: Part) -> NDArray[np.intp]:
        start = sum(len(p.low) for p in self.parts[: [p is part for p in self.parts].index(True)])
        return np.arange(start, start + len(part.low))

    @cached_property
    def states(self) -> int | None:
        """Number of states of a Discrete space, else None."""
        if self.shape != () or not self.integer:
            return None
        return int(self.parts[0].high[0] - self.parts[0].low[0]) + 1

    @cached_property
    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        """Declared bounds of all numbers (n,)."""
        return np.concatenate([p.low for p in self.parts]), np.concatenate([p.high for p in self.parts])

    @property
    def combinations(self) -> float:
        """Number of combinations of the categories."""
        widths = [p.high - p.low + 1.0 for p in self.parts if p.kind == "categories"]
        with np.errstate(over="ignore"):  # an image has more than a float can count: infinitely many will do
            return float(np.prod(np.concatenate([np.ones(1), *widths])))

    @property
    def all_states(self) -> FloatArray | None:
        """Every state (S, 1) of a Discrete space, else None."""
        if self.states is None:
            return None
        return np.arange(self.states, dtype=np.float64)[:, None] + self.parts[0].low

    def spec(self) -> dict[str, Any]:
        """A JSON-able description, with the objects seen."""
        columns = self.columns
        found = {"parts": [p.spec() for p in self.parts], "periods": columns.period.tolist()}
        if np.any(columns.origin != -columns.period / 2.0):
            found["origins"] = columns.origin.tolist()
        if self.objects:
            found["objects"] = [table_spec(part.table) for part in self.objects if part.table is not None]
        return found

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> StateSpace:
        """The inverse of ``spec``."""
        parts = tuple(Part.from_spec(p) for p in spec["parts"])
        kept = iter(spec.get("objects", ()))
        parts = tuple(
            Part.of_objects(p.space, p.path, table_from_spec(next(kept))) if p.space is not None else p for p in parts
        )
        periods: dict[int | str, float] = {i: p for i, p in enumerate(spec["periods"]) if p}
        return cls(parts, ColumnScale.of(parts, periods, spec.get("origins")))

    def with_angles(self, period: FloatArray, origin: FloatArray) -> StateSpace:
        """The same with more numbers seen as angles: their periods (n,), 0 for none, and origins (n,)."""
        return replace(self, columns=self.columns.with_angles(period, origin))

    def describe(self) -> str:
        """The encoding of observations, in words."""
        if self.states is not None:
            return f"{self.states} states"
        objects = len(self.objects)
        categories, bounded, d = int(self.categories.sum()) - objects, int(self.bounded.sum()), self.dims - objects
        circles = int(self.columns.angle.sum())
        counted = [
            (categories, "category", "categories"),
            (bounded - 2 * circles, "number scaled by its bounds", "numbers scaled by their bounds"),
            (d - categories - bounded, "number scaled by what is seen", "numbers scaled by what is seen"),
            (circles, "angle", "angles"),
        ]
        said = [f"{count} {one if count == 1 else many}" for count, one, many in counted if count > 0]
        return ", ".join([*said, *(f"{type(part.space).__name__} objects" for part in self.objects)])

    def fits(self, space: spaces.Space[Any]) -> bool:
        """Whether a space gives the observations that this was made for."""
        return [p.spec() for p in take_apart(space)] == [p.spec() for p in self.parts]

    def encode(self, obs: Any) -> FloatArray:
        """One observation as a row (1, d), checked."""
        low, high = self._bounds
        if self.states is not None and isinstance(obs, int | np.integer) and low[0] <= obs <= high[0]:
            return np.array([[float(obs)]])  # the common case, quickly
        return self.encode_many([obs])

    def encode_many(self, observations: Sequence[Any] | NDArray[Any]) -> FloatArray:
        """Observations (q of them) as rows (q, d), checked."""
        raw = [np.concatenate([p.find(obs) for p in self.parts]) for obs in observations]
        X = np.array(raw).reshape(len(raw), len(self.columns.low))
        finite = np.isfinite(X)
        if not finite.all():
            row, column = (int(i) for i in np.argwhere(~finite)[0])
            raise InputError(f"{self._part_of(column).where} is NaN or infinite: {shown(observations[row])}")
        self._check_bounds(X)
        with np.errstate(over="ignore"):
            rows = self.columns.apply(X)
        self._check_size(X, rows)
        return rows

    def _check_size(self, X: FloatArray, rows: FloatArray, largest: float = 1e15) -> None:
        """Refuse outliers: beyond ``largest``, distances to all other states cannot be told apart any more."""
        if not np.abs(rows).max(initial=0.0) <= largest:
            row, column = (int(i) for i in np.argwhere(~(np.abs(rows) <= largest))[0])
            raise InputError(
                f"an observation has {rows[row, column]:.3g} in column {column}, too large to learn from: "
                f"clip or rescale observations to at most {largest:g}"
            )

    def decode(self, rows: FloatArray) -> list[Any]:
        """The observations behind rows (q, d), for a user's reward function."""
        stops = np.cumsum([len(p.low) for p in self.parts])[:-1]
        found = []
        for x in self.columns.invert(rows):
            pieces = zip(self.parts, np.split(x, stops), strict=True)
            obs = put_together([(p.path, p.restore(piece)) for p, piece in pieces])
            found.append(int(obs) if self.states is not None else obs)
        return found

    def decode_array(self, rows: FloatArray) -> NDArray[Any] | None:
        """The same as one array (q, *shape); None where observations are not arrays of one kind."""
        if len(self.parts) != 1 or self.parts[0].path or self.parts[0].table is not None:
            return None
        part, raw = self.parts[0], self.columns.invert(rows)
        if np.dtype(part.dtype).kind in "iub":
            raw = np.rint(raw)
        return raw.astype(part.dtype).reshape(len(rows), *part.shape)

    def _check_bounds(self, X: FloatArray) -> None:
        """States must be among those that there are; other numbers outside of their bounds are said once."""
        low, high = self._bounds
        if self.states is not None and np.any((low > X) | (high < X) | (np.floor(X) != X)):
            raise InputError(f"an observation is not a state number from {low[0]:.0f} to {high[0]:.0f}")
        slack = ROUNDING * np.maximum(1.0, np.where(np.isfinite(high), np.abs(high), 0.0))
        outside = np.flatnonzero(np.any((low - slack > X) | (high + slack < X), axis=0))
        if not outside.size:
            return
        part = self._part_of(int(outside[0]))
        if part.name in self._said:
            return
        self._said.add(part.name)
        log.warning(
            "%s leaves the bounds that its space declares (column %d: %g is outside of [%g, %g]); used as it is",
            part.where,
            outside[0],
            next(x for x in X[:, outside[0]] if not low[outside[0]] <= x <= high[outside[0]]),
            low[outside[0]],
            high[outside[0]],
        )

    def _part_of(self, column: int) -> Part:
        stops = np.cumsum([len(p.low) for p in self.parts])
        return self.parts[int(np.searchsorted(stops, column, side="right"))]
