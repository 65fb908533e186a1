"""Indefinite similarities made positive semi-definite: on request only, and with a record of what was changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cmerl.errors import InputError, KernelError
from cmerl.kernels.base import FloatArray, Kernel, Points
from cmerl.kernels.foreign import as_kernel
from cmerl.linalg import spectrum
from cmerl.objects import freeze, key, to_json

METHODS = ("clip", "shift")


@dataclass(frozen=True)
class Repair:
    """What ``repair`` changed.

    Attributes:
        method: "clip" or "shift".
        smallest: smallest eigenvalue on the reference points; negative if there was something to repair.
        negative: share of the negative eigenvalues in the sum of absolute values; 0 if there was nothing to repair.
        change: ‖K̃ − K‖ / ‖K‖ on the reference points, Frobenius norms.
        references: number of reference points.
    """

    method: str
    smallest: float
    negative: float
    change: float
    references: int


@dataclass(frozen=True)
class Repaired(Kernel):
    """An indefinite similarity, made positive semi-definite on reference points.

    "clip" drops negative eigenvalues: k̃(x, y) = k(x, R) V₊Λ₊⁻¹V₊ᵀ k(R, y), positive semi-definite everywhere, equal
    to the clipped matrix on R, and zero on what R does not represent. "shift" adds the size of the smallest
    eigenvalue where x = y: valid on R and its subsets, not proven elsewhere.

    Args:
        kernel: The similarity, a symmetric function.
        references: R, as objects or rows.
        method: "clip" or "shift".
    """

    kernel: Kernel
    references: tuple[Any, ...]
    method: str = "clip"
    record: Repair = field(init=False, compare=False)
    _half: FloatArray = field(init=False, compare=False, repr=False)  # Λ₊^(−½)V₊ᵀ
    _shift: float = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._store("kernel", as_kernel(self.kernel))
        if self.method not in METHODS:
            raise KernelError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}.")
        self._store("references", tuple(_plain(x) for x in self.references))
        if not self.references:
            raise KernelError("a repair needs reference points, got none.")
        K = self.kernel(self._points)
        if not np.allclose(K, K.T, rtol=1e-8, atol=1e-10):
            raise KernelError("only a symmetric similarity can be repaired: use (k(x, y) + k(y, x))/2.")
        values, V = spectrum((K + K.T) / 2.0)
        kept = values > 1e-10 * max(abs(values).max(), 1e-300)
        self._store("_half", (V[:, kept] / np.sqrt(values[kept])).T)
        self._store("_shift", max(0.0, -float(values.min())) * (1.0 + 1e-9))
        if self.method == "clip":
            changed = (V[:, kept] * values[kept]) @ V[:, kept].T - K
        else:
            changed = self._shift * np.eye(len(K))
        negative = float(-values[values < 0.0].sum() / max(abs(values).sum(), 1e-300))
        size = max(float(np.linalg.norm(K)), 1e-300)
        self._store(
            "record",
            Repair(self.method, float(values.min()), negative, float(np.linalg.norm(changed)) / size, len(K)),
        )

    @property
    def _points(self) -> Any:
        first = self.references[0]
        if isinstance(first, tuple) and all(isinstance(v, float) for v in first):
            return np.array(self.references)
        return list(self.references)

    @property
    def bound(self) -> float:
        """Infinite: there is no bound away from the reference points."""
        return float("inf")

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k̃(x_i, y_j)], shape (n, m)."""
        same = Y is None or Y is X
        if self.method == "clip":
            a = self._coordinates(X)
            b = a if Y is None or same else self._coordinates(Y)
            K: FloatArray = np.asarray(a.T @ b)
            return (K + K.T) / 2.0 if same else K
        return self.kernel(X, Y) + self._shift * _equal(X, X if Y is None else Y)

    def diag(self, X: Points) -> FloatArray:
        """The diagonal [k̃(x_i, x_i)], shape (n,)."""
        if self.method == "clip":
            a = self._coordinates(X)
            return np.asarray(np.einsum("ri,ri->i", a, a))
        return self.kernel.diag(X) + self._shift

    def _coordinates(self, X: Points) -> FloatArray:
        if not len(X):
            return np.zeros((len(self._half), 0))
        return np.asarray(self._half @ self.kernel(self._points, X))

    def __repr__(self) -> str:
        return f"Repaired({self.kernel!r}, {self.record})"

    def spec(self) -> dict[str, Any]:
        """With the reference points as JSON."""
        inner = {"kernel": self.kernel.spec(), "method": self.method}
        return {"type": "Repaired", **inner, "references": [{"object": to_json(x)} for x in self.references]}


def repair(kernel: Any, points: Points, *, method: str = "clip") -> Repaired:
    """Make a positive semi-definite kernel of a similarity; ``.record`` describes the change.

    Args:
        kernel: A kernel, or a function k(X, Y) → matrix.
        points: Reference points, a sample of typical points.
        method: "clip" negative eigenvalues, or "shift" all of them.
    """
    return Repaired(as_kernel(kernel), tuple(points), method)


def _plain(x: Any) -> Any:
    """A reference point that can be compared and saved: rows as tuples of floats."""
    if isinstance(x, np.ndarray) and x.ndim == 1:
        return tuple(map(float, x))
    try:
        return freeze(x)
    except InputError as error:
        raise KernelError(f"a reference point cannot be kept: {error}") from None


def _equal(X: Points, Y: Points) -> FloatArray:
    number: dict[Any, int] = {}
    a, b = (np.array([number.setdefault(key(_plain(x)), len(number)) for x in P], dtype=np.intp) for P in (X, Y))
    return np.equal.outer(a, b).astype(np.float64)
