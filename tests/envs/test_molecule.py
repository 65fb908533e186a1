"""Molecule: budget and valence."""

import numpy as np
import pytest

from cmerl.envs import Molecule
from cmerl.envs.molecule import COSTS, VALENCES, score


def test_molecules_keep_to_budget_and_valence():
    world = Molecule(budget=8)
    for graph in world.model.observations:
        kinds = graph.nodes
        assert sum(COSTS[k] for k in kinds) <= 8
        bonds = np.bincount(graph.edge_links.ravel(), minlength=len(kinds))
        assert all(b <= VALENCES[k] for b, k in zip(bonds, kinds, strict=True))
        assert len(graph.edge_links) == len(kinds) - 1
    # two nitrogens on an oxygen: two bonds of 0.8, less 0.4 for the pair at the oxygen, and 0.3 to the carbon
    assert score(((0, 2, 1), (0, 1))) == pytest.approx(0.3 + 0.8 - 0.4)
    assert score(((0,), ())) == 0.0
