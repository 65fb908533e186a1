"""Transitions of small made-up walks, and displacements learned from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cmerl.embedding import DisplacementEmbedding
from cmerl.transitions import Transitions

ACTIONS = np.arange(2.0)[:, None]


def walk(noise: float, n: int = 150, seed: int = 0) -> Transitions:
    rng = np.random.default_rng(seed)
    states, actions = rng.random((n, 2)), rng.integers(2, size=(n, 1))
    push = np.hstack([0.1 * actions - 0.05, 0.1 * states[:, :1] - 0.05])
    nexts = states + push + noise * rng.normal(size=(n, 2))
    return Transitions.of(np.hstack([states, actions]), nexts, -np.ones(n))


def slippery_cells(n: int, seed: int = 0) -> Transitions:
    """A row of five cells, where a move fails half of the time, and always at the walls: noise differs by place."""
    rng = np.random.default_rng(seed)
    cells, actions = rng.integers(5, size=n), rng.integers(2, size=n)
    moved = np.clip(cells + (2 * actions - 1) * (rng.random(n) < 0.5), 0, 4)
    states, nexts = (np.column_stack([x / 4.0, np.zeros(n)]) for x in (cells, moved))
    return Transitions.of(np.column_stack([states, actions]), nexts, -np.ones(n))


def beside_cells(n: int, seed: int = 0) -> Transitions:
    """The same row of cells, and a place beside it that moves smoothly and alone pays."""
    data, rng = slippery_cells(n, seed), np.random.default_rng(seed)
    Z, nexts = np.array(data.Z), np.array(data.next_states)
    Z[:, 1] = rng.random(n)
    nexts[:, 1] = Z[:, 1] + 0.02 * Z[:, 2] - 0.01
    return replace(data, Z=Z, next_states=nexts, rewards=Z[:, 1])


def learned(data: Transitions) -> DisplacementEmbedding:
    embedding = DisplacementEmbedding(ACTIONS, categorical=True)
    embedding.update(data)
    return embedding


def varied(n: int = 150) -> DisplacementEmbedding:
    """A walk whose steps cost 2 on one side."""
    data = walk(0.0, n)
    place = np.asarray(data.Z)[:, 0]
    return learned(replace(data, rewards=np.where(place > np.median(place), -2.0, 0.0)))
