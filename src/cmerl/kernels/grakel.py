"""Graph kernels of GraKeL, the extra ``cmerl[graphs]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cmerl.errors import KernelError
from cmerl.kernels.base import FloatArray, UnitDiagonal
from cmerl.kernels.graphs import read_graph
from cmerl.kernels.strings import whole
from cmerl.kernels.structured import ObjectKernel

KINDS = ("weisfeiler_lehman", "shortest_path")


@dataclass(frozen=True)
class GraKeL(UnitDiagonal, ObjectKernel):
    """A graph kernel of GraKeL, divided by √(k(x, x) k(y, y)).

    Labels of edges are left out. `WeisfeilerLehman` and `ShortestPath` need no extra, see labels of edges, and are
    faster on small graphs; this one is for comparison.

    Args:
        kind: "weisfeiler_lehman" (on histograms of labels) or "shortest_path" (with labels of nodes).
        iterations: Of Weisfeiler–Lehman.
    """

    kind: str = "weisfeiler_lehman"
    iterations: int = 3

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise KernelError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}.")
        self._store("iterations", whole("iterations", self.iterations))

    def _read(self, x: Any) -> Any:
        graph = read_graph(x)
        edges = {i: {} for i in range(len(graph.labels))}  # type: dict[int, dict[int, float]]
        for i, j, _ in graph.edges:
            edges[i][j] = edges[j][i] = 1.0
        return [edges, {i: repr(label) for i, label in enumerate(graph.labels)}]

    def _matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        together = A if B is A else A + B
        K = np.asarray(self._make().fit_transform(together), dtype=np.float64)
        own = np.diagonal(K).copy()
        own[own == 0.0] = 1.0  # a single node has no paths
        K = K / np.sqrt(np.multiply.outer(own, own))
        np.fill_diagonal(K, 1.0)
        return (K + K.T) / 2.0 if B is A else np.ascontiguousarray(K[: len(A), len(A) :])

    def _diag(self, A: list[Any]) -> FloatArray:
        return np.ones(len(A))

    def _make(self) -> Any:
        try:
            from grakel.kernels import ShortestPath, VertexHistogram, WeisfeilerLehman
        except ModuleNotFoundError:
            raise KernelError(
                "GraKeL is not installed: pip install 'cmerl[graphs]', on Python 3.12 or earlier."
            ) from None
        except ImportError as error:
            raise KernelError(f"GraKeL cannot be imported, it may be too old: {error}") from None
        if self.kind == "shortest_path":
            return ShortestPath(with_labels=True, algorithm_type="floyd_warshall")
        return WeisfeilerLehman(n_iter=self.iterations, base_graph_kernel=VertexHistogram)
