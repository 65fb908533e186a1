"""Kernels of GraKeL: agreement with those of the project, and versions that cannot be used."""

import sys
import types

import numpy as np
import pytest

from cmerl.errors import KernelError
from cmerl.kernels import GraKeL, Graph, ShortestPath, WeisfeilerLehman

needs_grakel = pytest.mark.skipif(sys.version_info >= (3, 13), reason="GraKeL has no release for this Python")


@needs_grakel
@pytest.mark.parametrize("iterations", [1, 3])
def test_weisfeiler_lehman_agrees_with_grakel(iterations, random_graphs):
    graphs = random_graphs(25, np.random.default_rng(0))
    expected = GraKeL("weisfeiler_lehman", iterations)(graphs)
    np.testing.assert_allclose(WeisfeilerLehman(iterations)(graphs), expected, rtol=1e-10)
    np.testing.assert_allclose(GraKeL("weisfeiler_lehman", iterations)(graphs[:5], graphs), expected[:5], rtol=1e-10)


@needs_grakel
def test_shortest_path_agrees_with_grakel(random_graphs):
    graphs = random_graphs(25, np.random.default_rng(1))
    np.testing.assert_allclose(ShortestPath()(graphs), GraKeL("shortest_path")(graphs), rtol=1e-10)


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
