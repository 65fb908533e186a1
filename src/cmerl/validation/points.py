"""Checks of points and kernel parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError, KernelError

FloatArray = NDArray[np.float64]


def positive(name: str, value: Any) -> float:
    """Returns ``value`` as a float, or raises `KernelError` if it is not a positive finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise KernelError(f"{name} must be a positive number, got {value!r}.") from None
    if not 0.0 < number < math.inf:
        raise KernelError(f"{name} must be positive and finite, got {number}.")
    return number


def positives(name: str, value: Any) -> float | tuple[float, ...]:
    """Like `positive`, but also takes one value per column, which it returns as a hashable tuple."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not value:
            raise KernelError(f"{name} must be a number or one number per column, got an empty sequence.")
        return tuple(positive(name, v) for v in value)
    return positive(name, value)


def check_columns(name: str, value: Any, X: FloatArray) -> None:
    """Raises `InputError` if a per-column parameter does not have one entry per column of ``X`` (n, d)."""
    if isinstance(value, tuple) and len(value) != X.shape[1]:
        raise InputError(f"{name} has {len(value)} entries but the points have {X.shape[1]} columns.")


def check_radius(radius: float | None, X: FloatArray) -> None:
    """Raises `InputError` if a row of ``X`` (n, d) lies farther than ``radius`` from the origin."""
    if radius is None or not len(X):
        return
    norms = np.linalg.norm(X, axis=1)
    worst = int(norms.argmax())
    if norms[worst] > radius * (1.0 + 1e-9):  # a unit vector may have norm 1 + eps after rounding
        raise InputError(
            f"Row {worst} has norm {norms[worst]:.6g}, outside the declared radius {radius:g}: "
            f"scale the points or raise the radius."
        )


def as_points(X: Any) -> FloatArray:
    """Returns ``X`` as a finite float64 array of shape (n, d), without a copy where it is one already."""
    try:
        points = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"Points of this kernel must be numbers, but the {type(X).__name__} passed cannot be read as a "
            f"float array; for structured objects use Delta, Hamming or a kernel of your own."
        ) from None
    if points.ndim == 1:
        raise InputError(
            f"Points must be a 2-D array, got shape {points.shape}: use X[:, None] for {len(points)} points "
            f"with one coordinate, or X[None, :] for one point."
        )
    if points.ndim != 2 or points.shape[1] == 0:
        raise InputError(f"Points must be an array of shape (n, d) with d ≥ 1, got shape {points.shape}.")
    finite = np.isfinite(points)
    if not np.logical_and.reduce(finite, axis=None):  # half the time of finite.all(), and this is called everywhere
        row, column = np.argwhere(~finite)[0]
        raise InputError(f"Points must be finite, but row {row}, column {column} is {points[row, column]}.")
    return points


def as_pair(X: Any, Y: Any) -> tuple[FloatArray, FloatArray]:
    """Returns both arguments of a kernel as arrays; ``Y=None`` gives back the *same* object twice.

    Kernels use that identity to return an exactly symmetric matrix with an exact diagonal.
    """
    first = as_points(X)
    if Y is None or Y is X:
        return first, first
    second = as_points(Y)
    if first.shape[1] != second.shape[1]:
        raise InputError(f"X has {first.shape[1]} columns but Y has {second.shape[1]}.")
    return first, second


def count(X: Any) -> int:
    """The number of points, for kernels that do not look at them."""
    return len(as_points(X) if isinstance(X, np.ndarray) else X)
