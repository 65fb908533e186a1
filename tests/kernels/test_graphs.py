"""Graph kernels against relabelled copies and against counts by hand."""

import gymnasium
import numpy as np
import pytest

from cmerl.errors import InputError
from cmerl.kernels import Graph, ShortestPath, WeisfeilerLehman


@pytest.mark.parametrize("kernel", [WeisfeilerLehman(3), ShortestPath()])
def test_the_order_of_nodes_does_not_matter(kernel, random_graphs):
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
