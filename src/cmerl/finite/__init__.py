"""Finite MDPs from counts: value bounds with a stated probability, and plans that maximise them."""

from cmerl.finite.counts import Atoms, Counts, FiniteWorld
from cmerl.finite.plan import TablePlan
from cmerl.finite.values import Balls

__all__ = ["Atoms", "Balls", "Counts", "FiniteWorld", "TablePlan"]
