"""Graph kernels against GraKeL, against relabelled copies, and against counts by hand."""

import sys
import types

import gymnasium
import numpy as np
import pytest

from cmerl.errors import InputError, KernelError
from cmerl.kernels import GraKeL, Graph, ShortestPath, WeisfeilerLehman

needs_grakel = pytest.mark.skipif(sys.version_info >= (3, 13), reason="GraKeL has no release for this Python")


def random_graphs(count, rng):
    found = []
    for _ in range(count):
        n = int(rng.integers(2, 8))
        pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.4]
        found.append(Graph.of(rng.choice(list("CNO"), n).tolist(), [(j, i) for i, j in pairs] or [(0, 1)]))
    return found


@needs_grakel
@pytest.mark.parametrize("iterations", [1, 3])
def test_weisfeiler_lehman_agrees_with_grakel(iterations):
    graphs = random_graphs(25, np.random.default_rng(0))
    expected = GraKeL("weisfeiler_lehman", iterations)(graphs)
    np.testing.assert_allclose(WeisfeilerLehman(iterations)(graphs), expected, rtol=1e-10)
    np.testing.assert_allclose(GraKeL("weisfeiler_lehman", iterations)(graphs[:5], graphs), expected[:5], rtol=1e-10)


@needs_grakel
def test_shortest_path_agrees_with_grakel():
    graphs = random_graphs(25, np.random.default_rng(1))
    np.testing.assert_allclose(ShortestPath()(graphs), GraKeL("shortest_path")(graphs), rtol=1e-10)


@pytest.mark.parametrize("kernel", [WeisfeilerLehman(3), ShortestPath()])
def test_the_order_of_nodes_does_not_matter(kernel):
    rng = np.random.default_rng(2)
    for graph in random_graphs(10, rng):
        order = rng.permutation(len(graph.labels))
        place = np.argsort(order)
        same = Graph.of([graph.labels[i] for i in order], [(int(place[i]), int(place[j])) for i, j, _ in graph.edges])
        assert kernel([graph], [same])[0, 0] == 1.0


def test_counts_by_hand():
    path, triangle = Graph.of("CCO", [(0, 1), (1, 2)]), Graph.of("CCO", [(0, 1), (1, 2), (0, 2)])
    # labels alone: 2·2 + 1·1; after one step the O of the path sees one C and that of the triangle two
    assert WeisfeilerLehman(0, normalized=False)([path], [triangle])[0, 0] == 5.0
    # refined once: path has C(C), C(CO), O(C); triangle C(CO) twice, O(CC)
    assert WeisfeilerLehman(1, normalized=False)([path], [triangle])[0, 0] == 7.0
    # ordered pairs: C-C 1 twice in both; C→O 1 once and twice, both directions
    assert ShortestPath(normalized=False)([path], [triangle])[0, 0] == 2 * 2 + 1 * 2 + 1 * 2


def test_labels_of_edges_count_and_labels_of_nodes_may_be_left_out():
    single, double = Graph.of("CC", [(0, 1, 1)]), Graph.of("CC", [(0, 1, 2)])
    assert WeisfeilerLehman(1)([single], [double])[0, 0] < 1.0
    assert WeisfeilerLehman(0)([single], [double])[0, 0] == 1.0
    other = Graph.of("NO", [(0, 1, 1)])
    assert WeisfeilerLehman(2)([single], [other])[0, 0] == 0.0
    assert WeisfeilerLehman(2, labels=False)([single], [other])[0, 0] == 1.0


def test_graphs_of_gymnasium_are_read():
    space = gymnasium.spaces.Graph(gymnasium.spaces.Discrete(3), gymnasium.spaces.Discrete(2), seed=3)
    drawn = space.sample(num_nodes=4, num_edges=5)
    read = Graph.of(drawn.nodes, [(*link, e) for link, e in zip(drawn.edge_links.tolist(), drawn.edges, strict=True)])
    assert WeisfeilerLehman(2)([drawn], [read])[0, 0] == 1.0
    with pytest.raises(InputError, match="object 0: it has 5 labels of edges for 4 edges"):
        WeisfeilerLehman(2)([drawn._replace(edge_links=drawn.edge_links[:4])])


def test_bad_kinds_are_refused():
    with pytest.raises(KernelError, match="kind must be one of"):
        GraKeL("random_walk")


def test_a_grakel_that_is_missing_or_too_old_is_told(monkeypatch):
    graph = Graph.of(["C", "O"], [(0, 1)])
    monkeypatch.setitem(sys.modules, "grakel", types.ModuleType("grakel"))
    monkeypatch.setitem(sys.modules, "grakel.kernels", types.ModuleType("grakel.kernels"))
    with pytest.raises(KernelError, match="GraKeL cannot be imported, it may be too old"):
        GraKeL()([graph])
    monkeypatch.setitem(sys.modules, "grakel.kernels", None)
    with pytest.raises(KernelError, match=r"GraKeL is not installed: pip install 'cmerl\[graphs\]'"):
        GraKeL()([graph])
