"""A walk that tests of displacements share."""

from __future__ import annotations

import numpy as np

from cmerl.transitions import Transitions


def path(seed: int, push: float) -> Transitions:
    """A walk that swings: the action pushes, and the second column pulls back."""
    rng, x, rows = np.random.default_rng(seed), np.zeros(2), []
    for _ in range(120):
        a = rng.integers(2)
        y = x + np.array([0.2 * x[1], push * (2 * a - 1) - 0.2 * np.sin(x[0])])
        rows.append((*x, a, *y))
        x = y
    table = np.array(rows)
    return Transitions.of(table[:, :3], table[:, 3:], table[:, 0])
