"""Molecule: grow a small graph of atoms under a budget, bond by bond."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import GraphInstance

from cmerl.envs.object_world import ObjectWorld, enumerate_world
from cmerl.validation.numbers import check_count

Tree = tuple[tuple[int, ...], tuple[int, ...]]
"""Kinds of the atoms, and for each but the first the atom that it hangs on."""

COSTS = (1, 2, 3)  # of an atom of each kind
VALENCES = (4, 3, 2)  # bonds that an atom of each kind can have
BONDS = np.array([[0.1, 0.5, 0.3], [0.5, 0.0, 0.8], [0.3, 0.8, 0.0]])  # what a bond between two kinds is worth


def score(tree: Tree) -> float:
    """What a molecule is worth: its bonds, less 0.4 for every pair of bonds at an atom of the last kind."""
    kinds, hosts = tree
    degrees = np.bincount([*range(1, len(kinds)), *hosts], minlength=len(kinds)) if hosts else np.zeros(1, dtype=int)
    bonds = sum(BONDS[kinds[i + 1], kinds[host]] for i, host in enumerate(hosts))
    crowded = sum(d * (d - 1) // 2 for kind, d in zip(kinds, degrees, strict=True) if kind == 2)
    return float(bonds - 0.4 * crowded)


class Molecule(ObjectWorld):
    """Grow a tree of atoms (carbon, nitrogen, oxygen) from one carbon.

    Action 3h + k attaches an atom of kind k to the earliest atom of kind h with a free bond; without one, or beyond
    the budget, nothing happens. The reward is the gain in value. The best bonds are between expensive kinds, so a
    greedy policy exhausts the budget too early.

    Args:
        budget: Total cost of all atoms.
        horizon: Suggested episode length.
    """

    def __init__(self, budget: int = 10, horizon: int = 6) -> None:
        self.budget = check_count("budget", budget)

        def move(tree: Tree, action: int) -> tuple[Tree, float]:
            after = grow(tree, *divmod(action, 3), self.budget)
            return after, score(after) - score(tree)

        model = enumerate_world(((0,), ()), 9, move, as_graph)
        super().__init__(model, spaces.Graph(spaces.Discrete(3), spaces.Discrete(1)), horizon)


def grow(tree: Tree, host_kind: int, kind: int, budget: int) -> Tree:
    """The tree with one more atom, or as it is where that cannot be."""
    kinds, hosts = tree
    if sum(COSTS[k] for k in kinds) + COSTS[kind] > budget:
        return tree
    bonds = [hosts.count(i) + (i > 0) for i in range(len(kinds))]
    free = [i for i, k in enumerate(kinds) if k == host_kind and bonds[i] < VALENCES[k]]
    return ((*kinds, kind), (*hosts, free[0])) if free else tree


def as_graph(tree: Tree) -> Any:
    """The tree as Gymnasium's graph."""
    kinds, hosts = tree
    links = np.array([[host, i + 1] for i, host in enumerate(hosts)], dtype=np.int32).reshape(-1, 2)
    return GraphInstance(np.array(kinds, dtype=np.int64), np.zeros(len(hosts), dtype=np.int64), links)
