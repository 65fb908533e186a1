"""Checks of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError

FloatArray = NDArray[np.float64]

Strata = Mapping[str, ArrayLike] | Sequence[ArrayLike]
"""Scores of one agent: one array (seeds,) for each environment, named or in order."""

_SHAPES = {1: "(n,)", 2: "(seeds, episodes)"}


def finite(name: str, values: ArrayLike, *, ndim: int) -> FloatArray:
    """``values`` as an array of ``ndim`` axes, at least one entry, and no NaN or infinity."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim or 0 in array.shape:
        raise InputError(f"{name} must have shape {_SHAPES[ndim]} with at least one entry, not {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, but hold NaN or infinity")
    return array


def strata(name: str, scores: Strata) -> dict[str, FloatArray]:
    """``scores`` by environment; those without names are numbered from 0."""
    if not isinstance(scores, Mapping):
        scores = {str(i): values for i, values in enumerate(scores)}
    if not scores:
        raise InputError(f"{name} must hold the scores of at least one environment")
    return {env: finite(f"{name}[{env!r}]", values, ndim=1) for env, values in scores.items()}


def pairs(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """Differences a − b (n,) of two agents' scores on the same seeds in the same order."""
    first, second = finite("a", a, ndim=1), finite("b", b, ndim=1)
    if len(first) != len(second):
        raise InputError(
            f"a paired comparison needs both agents on the same seeds, not {len(first)} and {len(second)} of them"
        )
    return first - second


def level(value: float) -> float:
    """A confidence level."""
    if not 0 < value < 1:
        raise InputError(f"level must lie between 0 and 1, not {value!r}")
    return value


def count(name: str, value: int) -> int:
    """A whole number of at least 1."""
    if value < 1:
        raise InputError(f"{name} must be at least 1, not {value!r}")
    return value
