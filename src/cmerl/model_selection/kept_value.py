"""The terminal value that a search has done well with, kept while a newer one does worse.

Every episode brings a new terminal value: other landmarks, another split of them, another kernel. It knows more, and
now and then it is worse all the same. A simulation tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding import DisplacementEmbedding
from cmerl.growing import Arrays
from cmerl.searching.values import TerminalValue

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KeptValue:
    """A terminal value, with the units of the model that it was made in.

    Attributes:
        value: in those units.
        centre: of the states (d,).
        scale: of the states (d,).
    """

    value: TerminalValue
    centre: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, model: DisplacementEmbedding, horizon: int) -> KeptValue | None:
        """The one that searches in a model end with; None before the first search."""
        found = model.dynamics.terminal_values.get(horizon)
        return KeptValue(found, model.units.centre, model.units.scale) if found else None

    def put_into(self, model: DisplacementEmbedding, horizon: int) -> None:
        """Let searches in a model end with it: in its units, and with what it knows of where data lie."""
        units, value = model.units, self.value
        ratio, shift = units.scale / self.scale, (units.centre - self.centre) / self.scale
        model.dynamics.terminal_values[horizon] = replace(
            value,
            landmarks=(value.landmarks - shift / value.lengthscales).astype(np.float32),
            lengthscales=(value.lengthscales / ratio).astype(np.float32),
            novelty=model.dynamics.novelty_of,
        )

    # --- on disk ---

    def arrays(self) -> Arrays:
        """All arrays for saving; how little is known follows from the model."""
        value = self.value
        own = {
            name: getattr(value, name).astype(np.float64) for name in ("landmarks", "lengthscales", "coef", "values")
        }
        return {
            **own,
            "numbers": np.array([value.mean, *value.bounds, value.pessimism]),
            "centre": self.centre,
            "scale": self.scale,
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, model: DisplacementEmbedding) -> KeptValue:
        """The inverse of ``arrays``, for the model that it was kept with."""
        mean, least, most, pessimism = arrays["numbers"].tolist()
        landmarks, lengthscales, coef = (
            arrays[name].astype(np.float32) for name in ("landmarks", "lengthscales", "coef")
        )
        about = landmarks, lengthscales, coef, mean, (least, most), arrays["values"], pessimism
        value = TerminalValue(*about, model.dynamics.novelty_of)
        return cls(value, arrays["centre"], arrays["scale"])
