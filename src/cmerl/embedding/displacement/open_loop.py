"""Open-loop error: how far ahead a model predicts along a path that it has not learned from."""

from __future__ import annotations

import numpy as np

from cmerl.embedding.displacement.dynamics import Dynamics
from cmerl.embedding.displacement.motion import Motion


def open_loop_depth(
    dynamics: Dynamics, path: Motion, *, most: int, tolerance: float, starts: int = 40, fewest: int = 3
) -> int:
    """Steps for which predictions stay close when the actions of a path are followed without looking at it.

    Args:
        dynamics: the model, which has not seen the path.
        path: consecutive transitions of one episode, in the units of the model.
        most: as many steps as are asked about.
        tolerance: the error, in standard deviations of the state, that half of the predictions may exceed.
        starts: along the path.
        fewest: starts below which an error says nothing.
    """
    n = len(path)
    at = np.unique(np.linspace(0, max(n - 2, 0), min(n, starts)).astype(np.intp))
    x, actions = path.x[at].astype(np.float32), path.a.astype(np.float32)
    for steps in range(most):
        within = at + steps < n
        if within.sum() < fewest:
            break
        at, x = at[within], x[within]
        x, _, _ = dynamics.quick_step(x, actions[at + steps])
        errors = np.sqrt(np.mean(np.square(x - path.y[at + steps]), axis=1))
        if np.median(errors) > tolerance:
            return steps
    return most
