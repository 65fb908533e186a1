"""GridWorld: find the goal among walls, with slippery moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from cmerl.envs.finite import FiniteMDP, Floats
from cmerl.errors import InputError
from cmerl.validation.numbers import check_count, check_probability

Cell = tuple[int, int]

# (row, column) change of actions 0 … 3: column −1, column +1, row +1, row −1
MOVES: tuple[Cell, ...] = ((0, -1), (0, 1), (1, 0), (-1, 0))


def grid_transitions(cells: Sequence[Cell], slip: float) -> Floats:
    """Transitions (S, 4, S) between free ``cells``; all other cells are walls or outside.

    A blocked move stays put for certain. Any other succeeds with probability 1 − slip, and ``slip`` is shared
    equally by the other free neighbours; where there is none, the move always succeeds.
    """
    number = {cell: s for s, cell in enumerate(cells)}
    P = np.zeros((len(cells), len(MOVES), len(cells)))
    for s, (row, column) in enumerate(cells):
        targets = [number.get((row + down, column + right)) for down, right in MOVES]
        for a, target in enumerate(targets):
            others = [t for t in targets if t is not None and t != target]
            if target is None:
                P[s, a, s] = 1.0
            elif not others:
                P[s, a, target] = 1.0
            else:
                P[s, a, target] = 1 - slip
                P[s, a, others] = slip / len(others)
    return P


class GridWorld(FiniteMDP):
    """A grid with walls; any action taken in the goal pays 1, and the goal is not terminal.

    The states are the free cells in row-major order. Actions: 0 column−1, 1 column+1, 2 row+1, 3 row−1.

    Args:
        size: Number of rows and columns: one number for a square, or (rows, columns).
        walls: Cells (row, column) that cannot be entered.
        start: First cell.
        goal: Rewarding cell.
        slip: Probability that an unblocked move ends in another free neighbour instead.
        horizon: Suggested episode length.
        coordinates: Observe (row, column) scaled to [0, 1]² instead of the state's number.

    Attributes:
        cells: The (row, column) of each state.
    """

    reward_range: ClassVar[tuple[float, float]] = (0.0, 1.0)  # declared, for certificates

    def __init__(
        self,
        size: int | Sequence[int] = 5,
        walls: Iterable[Sequence[int]] = ((1, 1), (2, 2)),
        start: Sequence[int] = (0, 0),
        goal: Sequence[int] = (4, 4),
        slip: float = 0.1,
        horizon: int = 20,
        coordinates: bool = False,
    ) -> None:
        rows, columns = _shape(size)
        blocked = {_cell(wall, rows, columns, "each wall") for wall in walls}
        self.cells: list[Cell] = [
            (row, column) for row in range(rows) for column in range(columns) if (row, column) not in blocked
        ]
        R = np.zeros((len(self.cells), len(MOVES)))
        R[self._number(_cell(goal, rows, columns, "goal"), "goal")] = 1.0
        super().__init__(
            grid_transitions(self.cells, check_probability("slip", slip)),
            R,
            self._number(_cell(start, rows, columns, "start"), "start"),
            horizon=horizon,
            # Along a single row or column the scale is arbitrary, but must not be zero.
            coordinates=self.cells / np.maximum([rows - 1, columns - 1], 1) if coordinates else None,
        )

    def _number(self, cell: Cell, name: str) -> int:
        if cell not in self.cells:
            raise InputError(f"{name} must be a free cell, but {cell} is a wall.")
        return self.cells.index(cell)


def _shape(size: int | Sequence[int]) -> Cell:
    pair = list(size) if isinstance(size, Sequence) else [size, size]
    if len(pair) != 2:
        raise InputError(f"size must be one number or (rows, columns), but is {size!r}.")
    return check_count("size", pair[0]), check_count("size", pair[1])


def _cell(cell: Sequence[int], rows: int, columns: int, name: str) -> Cell:
    position = tuple(cell)  # configuration files give lists
    if len(position) != 2 or not (0 <= position[0] < rows and 0 <= position[1] < columns):
        raise InputError(f"{name} must be a (row, column) inside the {rows}×{columns} grid, but is {cell!r}.")
    return position[0], position[1]
