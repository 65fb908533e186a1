"""A log of two steps, as arrays, tables and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

BOX = spaces.Box(-1.0, 1.0, (2,))
TWO = spaces.Discrete(2)
OBSERVATIONS = np.array([[0.0, 0.1], [0.2, 0.3], [0.4, 0.5]])
PLAYED = {"observations": OBSERVATIONS, "actions": [0, 1], "rewards": [1.0, 2.0], "terminated": True}
NAMES = {"observations": ["x", "v"]}
WHOLE = {**NAMES, "next_observations": ["x2", "v2"]}


def rows(**changed: Any) -> dict[str, list[Any]]:
    """Two episodes, the last row of each says where it ended."""
    table: dict[str, list[Any]] = {
        "episode": ["a"] * 3 + ["b"] * 2,
        "step": [0, 1, 2, 0, 1],
        "x": [0.0, 0.2, 0.4, 0.5, 0.6],
        "v": [0.1, 0.3, 0.5, 0.0, 0.0],
        "action": [0, 1, None, 1, None],
        "reward": [1.0, 2.0, None, 3.0, None],
        "terminated": [False, True, False, False, False],
    }
    return {**table, **changed}


def transitions() -> dict[str, list[Any]]:
    """One episode, every row a whole transition."""
    return {
        "x": [0.0, 0.2],
        "v": [0.1, 0.3],
        "x2": [0.2, 0.4],
        "v2": [0.3, 0.5],
        "action": [0, 1],
        "reward": [1.0, 2.0],
    }


def csv(path: Path, table: dict[str, list[Any]]) -> Path:
    cells = zip(*table.values(), strict=True)
    lines = [",".join(table), *(",".join("" if cell is None else str(cell) for cell in row) for row in cells)]
    path.write_text("\n".join(lines) + "\n")
    return path
