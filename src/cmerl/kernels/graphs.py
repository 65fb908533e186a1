"""Kernels on graphs with labels: Weisfeiler–Lehman subtrees and shortest paths, as explicit counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from cmerl.errors import InputError
from cmerl.kernels.strings import whole
from cmerl.kernels.structured import CountKernel, Counts

Edge = tuple[int, int, Hashable]


@dataclass(frozen=True)
class Graph:
    """An undirected graph with labels.

    Attributes:
        labels: one per node.
        edges: (i, j, label) with i < j, sorted; the label is None for unlabelled edges.
    """

    labels: tuple[Hashable, ...]
    edges: tuple[Edge, ...] = ()

    @classmethod
    def of(cls, labels: Iterable[Any], edges: Iterable[Sequence[Any]] = ()) -> Graph:
        """A validated graph from node labels and edges (i, j) or (i, j, label); (j, i) is the same edge."""
        nodes = tuple(_label(x) for x in labels)
        if not nodes:
            raise InputError("it is an empty graph: graph kernels need at least one node")
        found: dict[tuple[int, int], Hashable] = {}
        for number, edge in enumerate(edges):
            i, j = (_node(end, len(nodes), number) for end in edge[:2])
            found[min(i, j), max(i, j)] = _label(edge[2]) if len(edge) > 2 else None
        return cls(nodes, tuple(sorted(((i, j, x) for (i, j), x in found.items()), key=lambda e: e[:2])))

    @property
    def neighbours(self) -> list[list[tuple[int, Hashable]]]:
        """The neighbours of each node, with edge labels."""
        near: list[list[tuple[int, Hashable]]] = [[] for _ in self.labels]
        for i, j, label in self.edges:
            near[i].append((j, label))
            if i != j:
                near[j].append((i, label))
        return near

    def distances(self) -> list[dict[int, int]]:
        """For each node, the length of a shortest path to every reachable node."""
        near, found = self.neighbours, []
        for source in range(len(self.labels)):
            steps, frontier = {source: 0}, [source]
            while frontier:
                ahead = [j for i in frontier for j, _ in near[i]]
                frontier = [j for j in dict.fromkeys(ahead) if j not in steps]
                steps |= dict.fromkeys(frontier, max(steps.values()) + 1)
            found.append(steps)
        return found


def read_graph(x: Any) -> Graph:
    """A `Graph`, Gymnasium's ``GraphInstance``, or a pair (labels, edges) as a graph."""
    if isinstance(x, Graph):
        return Graph.of(x.labels, x.edges)
    if hasattr(x, "nodes") and hasattr(x, "edge_links"):
        links = [] if x.edge_links is None else np.asarray(x.edge_links).tolist()
        if x.nodes is None:
            raise InputError("it is an empty graph: graph kernels need at least one node")
        if x.edges is None:
            return Graph.of(x.nodes, links)
        if len(x.edges) != len(links):
            raise InputError(f"it has {len(x.edges)} labels of edges for {len(links)} edges")
        return Graph.of(x.nodes, [(*link, label) for link, label in zip(links, x.edges, strict=True)])
    if isinstance(x, tuple) and len(x) == 2 and all(isinstance(part, tuple | list) for part in x):
        return Graph.of(*x)
    raise InputError(f"a {type(x).__name__} is not a graph: give a Graph, a GraphInstance or (labels, edges)")


@dataclass(frozen=True)
class _GraphKernel(CountKernel):
    def _read(self, x: Any) -> Graph:
        return read_graph(x)


@dataclass(frozen=True)
class WeisfeilerLehman(_GraphKernel):
    """Counts of node labels, refined ``iterations`` times by the labels of neighbours [Shervashidze et al. 2011].

    After i iterations the label of a node represents its neighbourhood up to i edges away. Edge labels count too, if
    there are any.

    Args:
        iterations: Number of refinements; 0 compares node labels only.
        normalized: Divide by √(k(x, x) k(y, y)).
        labels: False ignores node labels and compares shapes only.
    """

    iterations: int = 3
    normalized: bool = True
    labels: bool = True

    def __post_init__(self) -> None:
        self._store("iterations", whole("iterations", self.iterations, least=0))

    def _count(self, form: Any) -> Counts:
        near, labels = form.neighbours, [repr(x) if self.labels else "" for x in form.labels]
        counts: Counter[Hashable] = Counter((0, x) for x in labels)
        for i in range(1, self.iterations + 1):
            around = [sorted((labels[j], repr(edge)) for j, edge in near[node]) for node in range(len(labels))]
            labels = [_digest(own, others) for own, others in zip(labels, around, strict=True)]
            counts.update((i, x) for x in labels)
        return counts


@dataclass(frozen=True)
class ShortestPath(_GraphKernel):
    """Counts of (label, length, label) over the shortest paths between all nodes [Borgwardt & Kriegel 2005].

    Args:
        normalized: Divide by √(k(x, x) k(y, y)).
    """

    normalized: bool = True

    def _count(self, form: Any) -> Counts:
        return Counter(
            (repr(form.labels[i]), steps, repr(form.labels[j]))
            for i, reached in enumerate(form.distances())
            for j, steps in reached.items()
            if i != j
        )


def _digest(own: str, others: list[tuple[str, str]]) -> str:
    """A label for a label and those around it: the same in every batch and every process."""
    return blake2b(repr((own, others)).encode(), digest_size=12).hexdigest()


def _label(x: Any) -> Hashable:
    if isinstance(x, np.ndarray | np.generic):
        x = x.tolist()
    if isinstance(x, list):
        x = tuple(x)
    if not isinstance(x, Hashable):
        raise InputError(f"a {type(x).__name__} cannot be a label")
    return x


def _node(end: Any, nodes: int, edge: int) -> int:
    if isinstance(end, bool) or not isinstance(end, int | np.integer) or not 0 <= end < nodes:
        raise InputError(f"edge {edge} names node {end!r}, but nodes are numbered from 0 to {nodes - 1}")
    return int(end)
