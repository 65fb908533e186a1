"""The landmarks of a displacement model: where V is known, and the kernel that interpolates between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.dynamics import Dynamics
from cmerl.embedding.displacement.regression import farthest_points
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.kernels import Matern
from cmerl.linalg import Cholesky

FloatArray = NDArray[np.float64]


class Landmarks(NamedTuple):
    """States at which V is known, in the units of the model.

    Attributes:
        states: the landmarks (m, d).
        kernel: of V.
        factor: of its Gram matrix at the landmarks.
    """

    states: FloatArray
    kernel: Matern
    factor: Cholesky


def choose_landmarks(dynamics: Dynamics, actions: int, settings: DisplacementSettings) -> Landmarks:
    """Landmarks spread over the data and over what held actions reach from them.

    Args:
        dynamics: the learned dynamics, with their data.
        actions: how many actions a backup compares.
        settings: how many landmarks, and how smooth V is.
    """
    data = dynamics.data
    last = data.breaks & ~data.ended  # the others come again as the next state
    points = np.vstack([data.x, data.y[last], _ahead(dynamics, data.x, settings.reach)])
    count = min(settings.landmarks, int(np.sqrt(settings.most_weights / actions)))
    rows, radius = farthest_points(points, count, apart=1e-3)
    if len(rows) < count:  # all points are landmarks: how far half of them leave the others, halved along a curve
        radius = farthest_points(points, (len(rows) + 1) // 2)[1] / 2.0
    kernel = Matern(1.5, settings.smoothness * max(radius, 1e-3))
    states = points[rows]
    return Landmarks(states, kernel, Cholesky.of(kernel(states, states), 1e-6))


def _ahead(dynamics: Dynamics, x: FloatArray, reach: int) -> FloatArray:
    """States that held actions reach from the data, within their range."""
    some = x[farthest_points(x, 300)[0]]
    path = dynamics.path(some, np.ones((reach, len(some)), dtype=bool))
    y = path[:, -1].reshape(-1, x.shape[1])
    return np.asarray(y[np.all(np.abs(y) < np.abs(x).max(axis=0) + 1.0, axis=1)])
