"""Finite worlds by their counts: values that hold with a stated probability, and plans that maximise them."""

from cmerl.finite.counts import Atoms, Counts, FiniteWorld
from cmerl.finite.values import Balls

__all__ = ["Atoms", "Balls", "Counts", "FiniteWorld"]
