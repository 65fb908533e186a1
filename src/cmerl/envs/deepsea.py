"""DeepSea: one action sequence pays, and random actions find it with probability 2^−depth."""

from __future__ import annotations

import numpy as np

from cmerl.envs.finite import FiniteMDP, Floats
from cmerl.errors import InputError
from cmerl.validation.numbers import check_count

Cell = tuple[int, int]

LEFT, RIGHT = 0, 1


def deepsea_tables(cells: list[Cell], depth: int, move_cost: float) -> tuple[Floats, Floats]:
    """Transitions (S, 2, S) and rewards (S, 2); the state after all ``cells`` absorbs and pays nothing."""
    number = {cell: s for s, cell in enumerate(cells)}
    floor = len(cells)
    P = np.zeros((floor + 1, 2, floor + 1))
    R = np.zeros((floor + 1, 2))
    for s, (row, column) in enumerate(cells):
        P[s, LEFT, number.get((row + 1, max(column - 1, 0)), floor)] = 1.0
        P[s, RIGHT, number.get((row + 1, column + 1), floor)] = 1.0
    P[floor, :, floor] = 1.0
    R[:floor, RIGHT] = -move_cost / depth
    R[number[depth - 1, depth - 1], RIGHT] += 1.0
    return P, R


class DeepSea(FiniteMDP):
    """A deterministic dive through ``depth`` rows, starting at the top left [Osband et al. 2020, bsuite].

    Every step sinks one row; action 1 drifts one column right and costs ``move_cost / depth``, action 0 one
    column left (not beyond the first). Moving right in the bottom right corner pays 1, so always going right
    returns 1 − move_cost. After the last row the diver rests in an absorbing state that pays nothing.

    The states are the cells that can be reached, (row, column) with column ≤ row, in row-major order, and
    then the absorbing state. Unlike in bsuite, action 1 means right in every cell.

    Args:
        depth: Number of rows, and the suggested episode length.
        move_cost: Total cost of moving right all the way.
        coordinates: Observe (row, column) scaled to [0, 1]² instead of the state's number; the absorbing
            state lies below the middle of the last row.

    Attributes:
        cells: The (row, column) of each state but the absorbing one.
    """

    def __init__(self, depth: int = 10, move_cost: float = 0.0, coordinates: bool = False) -> None:
        depth = check_count("depth", depth)
        if not np.isfinite(move_cost):
            raise InputError(f"move_cost must be finite, but is {move_cost!r}.")
        self.cells: list[Cell] = [(row, column) for row in range(depth) for column in range(row + 1)]
        self.reward_range = (-move_cost / depth, 1.0)  # declared, for certificates
        P, R = deepsea_tables(self.cells, depth, move_cost)
        width = max(depth - 1, 1)
        points = [(row / depth, column / width) for row, column in self.cells] + [(1.0, 0.5)]
        super().__init__(P, R, horizon=depth, coordinates=points if coordinates else None)
