"""ConditionalMeanEmbedding: the embedding without an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.embedding.base import KernelEmbedding
from cmerl.embedding.compressed.sketches import compressed, fourier, nystrom
from cmerl.embedding.exact.embedding import ExactEmbedding
from cmerl.errors import InputError
from cmerl.kernels import Kernel, as_kernel
from cmerl.transitions import Points, Transitions, as_points

FloatArray = NDArray[np.float64]


class ConditionalMeanEmbedding:
    """A conditional mean embedding: P(y | x) as weights on the observed y [CO22, Sec. 3].

    >>> import numpy as np
    >>> from cmerl import ConditionalMeanEmbedding
    >>> from cmerl.kernels import RBF
    >>> x = np.linspace(0, 1, 50)[:, None]
    >>> cme = ConditionalMeanEmbedding(RBF(0.2), lam=0.01).update(x, x**2)
    >>> bool(abs(cme.expectation(lambda y: y[:, 0], [[0.5]])[0] - 0.25) < 0.01)
    True

    Args:
        kernel: k_φ on x; a cmerl or scikit-learn kernel.
        lam: the ridge λ > 0.
        backend: "exact", "compressed" (needs value_kernel), "nystrom" or "fourier".
        value_kernel: k_ψ on y; only the confidence set and the compressed backend need it.
    """

    def __init__(self, kernel: Any, lam: float = 1.0, backend: str = "exact", value_kernel: Any = None) -> None:
        self.value_kernel = None if value_kernel is None else as_kernel(value_kernel)
        self._embedding = _make(as_kernel(kernel), lam, backend, self.value_kernel)

    @classmethod
    def wrap(cls, embedding: KernelEmbedding, value_kernel: Kernel | None) -> ConditionalMeanEmbedding:
        """A view of an embedding that is updated elsewhere, such as by an agent."""
        view = cls.__new__(cls)
        view._embedding, view.value_kernel = embedding, value_kernel
        return view

    @property
    def kernel(self) -> Kernel:
        """The kernel k_φ on x."""
        return self._embedding.kernel

    @property
    def lam(self) -> float:
        """The ridge λ."""
        return self._embedding.lam

    @property
    def n(self) -> int:
        """Number of pairs seen."""
        return self._embedding.n

    @property
    def support(self) -> Points:
        """The n values of y in the order given, with repeats; with a sketch, its landmarks."""
        if isinstance(self._embedding, ExactEmbedding):
            return self._embedding.next_states
        return self._embedding.support

    @property
    def information_gain(self) -> float:
        """G = ½ log det(I + K/λ)."""
        return self._embedding.information_gain

    @property
    def sum_r(self) -> float:
        """Σ r_i = Σ w_i/(1+w_i) in the order of arrival."""
        return self._embedding.sum_r

    @property
    def jitter(self) -> float:
        """The largest jitter that any factorisation needed (0.0 if none)."""
        return self._embedding.jitter

    def update(self, X: Points | ArrayLike, Y: Points | ArrayLike) -> ConditionalMeanEmbedding:
        """Learn from pairs (x, y): n×d arrays, one row as (d,), or lists of objects. Returns self."""
        self._embedding.update(Transitions.of(_rows(X), _rows(Y)))
        return self

    def weights(self, Xq: Points | ArrayLike) -> FloatArray:
        """α(x) at the queries, one column for each entry of ``support``."""
        if isinstance(self._embedding, ExactEmbedding):
            return self._embedding.transition_weights(self._queries(Xq))
        return self._embedding.weights(self._queries(Xq))

    def expectation(self, f: Callable[[Points], ArrayLike] | ArrayLike, Xq: Points | ArrayLike) -> FloatArray:
        """E[f(Y) | x] at the queries: (q,), or (q, k) for k functions at once.

        Args:
            f: a function of the array of all y (or the list of objects), or its values on ``support`` (n,).
            Xq: queries (q, d).
        """
        if self.n == 0:
            return np.zeros(len(self._queries(Xq)))
        values = np.asarray(f(self.support) if callable(f) else f, dtype=np.float64)
        if values.ndim == 0 or len(values) != len(self.support):
            raise InputError(
                f"f must give one value for each of the {len(self.support)} support points, "
                f"but gave shape {values.shape}"
            )
        return self.weights(Xq) @ values

    def std(self, Xq: Points | ArrayLike) -> FloatArray:
        """σ(x) at the queries (q,)."""
        return self._embedding.std(self._queries(Xq))

    def weight_norm1(self, Xq: Points | ArrayLike) -> FloatArray:
        """‖α(x)‖₁ at the queries (q,); with a sketch, of the weights on its landmarks."""
        return self._embedding.weight_norm1(self._queries(Xq))

    def visit_counts(self, Xq: Points | ArrayLike) -> FloatArray:
        """Number of exactly equal rows seen, for each query (q,)."""
        if not isinstance(self._embedding, ExactEmbedding):
            raise InputError("only an exact embedding keeps counts: use backend='exact'")
        return self._embedding.visit_counts(self._queries(Xq))

    def diagnostics(self) -> dict[str, Any]:
        """Sizes, information gain and numerical health."""
        return self._embedding.diagnostics()

    def _queries(self, Xq: Points | ArrayLike) -> Points:
        return as_points(_rows(Xq), "the query")

    def __repr__(self) -> str:
        return f"ConditionalMeanEmbedding({self.kernel!r}, lam={self.lam:g}, n={self.n})"


def _make(kernel: Kernel, lam: float, backend: str, value_kernel: Kernel | None) -> KernelEmbedding:
    if backend == "exact":
        return ExactEmbedding(kernel, lam)
    if backend == "compressed":
        if value_kernel is None:
            raise InputError("backend 'compressed' interpolates functions of y: pass value_kernel=…")
        return compressed(kernel, value_kernel, lam)
    if backend in ("nystrom", "fourier"):
        return nystrom(kernel, lam) if backend == "nystrom" else fourier(kernel, lam)
    raise InputError(f"backend {backend!r} is unknown: use 'exact', 'compressed', 'nystrom' or 'fourier'")


def _rows(X: Points | ArrayLike) -> Points | ArrayLike:
    """One numeric row (d,) is a batch of one."""
    return X[None] if isinstance(X, np.ndarray) and X.ndim == 1 else X
