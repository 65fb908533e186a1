"""Routes a state-action to one of several independent regressions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.exact.grids import Layout
from cmerl.errors import InputError
from cmerl.kernels import Kernel, StateAction
from cmerl.transitions import Points, PointSet, take

IntArray = NDArray[np.intp]


class Router:
    """Sends state-actions to regressions: one for each action where the kernel splits, else one for all."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.actions = PointSet()
        if layout.split and len(layout.actions):
            self.actions.add(layout.actions)

    @property
    def count(self) -> int:
        """Regressions needed so far."""
        return len(self.actions) if self._layout.split else 1

    @property
    def kernel(self) -> Kernel:
        """The kernel that each regression sees."""
        kernel = self._layout.kernel
        return kernel.state_kernel if isinstance(kernel, StateAction) and self._layout.split else kernel

    def assign(self, Z: Points) -> tuple[IntArray, Points]:
        """The regression that each row belongs to (n,), and the points that it sees; a new action makes a new one."""
        states, actions = self._split(Z)
        if actions is None:
            return np.zeros(len(Z), dtype=np.intp), Z
        if len(self._layout.actions) and np.any(self.actions.find(actions) < 0):
            raise InputError("a transition has an action that is not among this embedding's actions")
        return self.actions.add(actions), states

    def parts(self, Zq: Points) -> list[tuple[int, IntArray, Points]]:
        """Queries by regression: its number, the rows that it answers, and the points that it sees."""
        states, actions = self._split(Zq)
        found = np.zeros(len(Zq), dtype=np.intp) if actions is None else self.actions.find(actions)
        rows_of = {int(g): np.flatnonzero(found == g) for g in np.unique(found) if g >= 0}
        return [(g, rows, take(states, rows)) for g, rows in rows_of.items()]

    def _split(self, Z: Points) -> tuple[Points, Points | None]:
        kernel = self._layout.kernel
        return kernel.split(Z) if isinstance(kernel, StateAction) and self._layout.split else (Z, None)
