"""Landmarks: the states at which value functions are known, and how values elsewhere follow from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.compressed.dictionary import Dictionary
from cmerl.growing import Arrays, GrowingMatrix
from cmerl.kernels import Kernel
from cmerl.transitions import Points, PointSet, saveable

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class Landmarks(Protocol):
    """States at which V is known, and codes of other states, from which the weights of V(s') on them follow."""

    def __len__(self) -> int:
        """Number of landmarks."""
        ...

    @property
    def points(self) -> PointSet:
        """The landmarks."""
        ...

    @property
    def full(self) -> bool:
        """Whether no landmark can be added."""
        ...

    def encode(self, Y: Points, *, choose: bool) -> tuple[Any, float]:
        """Codes of states and the sum of their squared residuals; ``choose`` selects the landmarks again."""
        ...

    def codes(self, Y: Points) -> Any:
        """Codes of states that were encoded before, or close to those; nothing changes."""
        ...

    def kernel_functions(self, centres: Points) -> Callable[[Points], FloatArray]:
        """Functions of states (c, k), of height 1, to try interpolation with; none where nothing is interpolated."""
        ...

    def accumulate(self, cross: GrowingMatrix, codes: Any, columns: IntArray, phi: FloatArray) -> None:
        """Add Σwφ̃ᵀ to cross (m_next, m), w the weights on V(landmarks), for the given columns and phi (m, k)."""
        ...

    def arrays(self) -> Arrays:
        """All that is kept, for saving."""
        ...

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        ...


class StateTable:
    """Every distinct next state is a landmark: nothing is lost, and the number of landmarks grows with the data."""

    full = False

    def __init__(self) -> None:
        self.points = PointSet()

    def __len__(self) -> int:
        return len(self.points)

    def encode(self, Y: Points, *, choose: bool) -> tuple[IntArray, float]:
        """Ids of the states (k,)."""
        return self.points.add(Y), 0.0

    def codes(self, Y: Points) -> IntArray:
        """Ids of states that are known (k,)."""
        return self.points.find(Y)

    def kernel_functions(self, centres: Points) -> Callable[[Points], FloatArray]:
        """None: values are known everywhere."""
        return lambda states: np.zeros((0, len(states)))

    def accumulate(self, cross: GrowingMatrix, codes: IntArray, columns: IntArray, phi: FloatArray) -> None:
        """Add each φ̃ to the row of its next state."""
        np.add.at(cross.resize(len(self), len(phi)), codes[columns], phi.T)

    def arrays(self) -> Arrays:
        """The states."""
        return {"points": saveable(self.points.points)}

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        self.points = PointSet()
        self.points.add(arrays["points"])


class InterpolatedLandmarks:
    """A dictionary of next states; in between, values are interpolated in the space of k_ψ."""

    def __init__(self, value_kernel: Kernel, tolerance: float, cap: int) -> None:
        self._dictionary = Dictionary(value_kernel, tolerance, cap, widen=True)

    def __len__(self) -> int:
        return len(self._dictionary)

    @property
    def points(self) -> PointSet:
        """The landmarks."""
        return self._dictionary.points

    @property
    def full(self) -> bool:
        """Whether the dictionary has reached its cap."""
        return self._dictionary.full

    def encode(self, Y: Points, *, choose: bool) -> tuple[FloatArray, float]:
        """Triangular coordinates ψ̃ (m_next, k)."""
        codes, residual = self._dictionary.choose(Y) if choose else self._dictionary.absorb(Y)
        return codes, float(np.sum(residual))

    def codes(self, Y: Points) -> FloatArray:
        """Triangular coordinates ψ̃ (m_next, k)."""
        return self._dictionary.coordinates(Y)[0]

    def kernel_functions(self, centres: Points) -> Callable[[Points], FloatArray]:
        """k_ψ around the centres, of height 1."""
        kernel = self._dictionary.kernel
        height = kernel.diag(centres)[:, None]
        return lambda states: kernel(centres, states) / height

    def accumulate(self, cross: GrowingMatrix, codes: FloatArray, columns: IntArray, phi: FloatArray) -> None:
        """Add wφ̃ᵀ, where w = L⁻ᵀψ̃ interpolates: landmarks that are appended later leave w as it is."""
        view, solve = cross.resize(len(self), len(phi)), self._dictionary.factor.back_solve
        few = len(columns) < len(phi)
        view += solve(codes[:, columns]) @ phi.T if few else solve(codes[:, columns] @ phi.T)

    def arrays(self) -> Arrays:
        """The dictionary."""
        return self._dictionary.arrays()

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        self._dictionary.restore(arrays)
