"""Six transitions of three state-actions, whose figures are counts."""

from __future__ import annotations

import numpy as np

from cmerl.confidence import (
    FailureBudget,
    Problem,
)
from cmerl.kernels import Delta, StateAction

S, A, H, WIDTH, LAM, DELTA = 3, 2, 5, 2.0, 0.5, 0.2


SHARE = DELTA / 2
VISITS = [(0, 0), (0, 0), (2, 1), (0, 0), (1, 1), (2, 1)]
COUNTS = np.array([3, 1, 2])  # of the three state-actions that were visited
GAIN = 0.5 * np.log(1 + COUNTS / LAM).sum()
SUM_R = sum(1 / (k + LAM) for N in COUNTS for k in range(1, N + 1))  # w/(1+w) with w = 1/(k−1+λ)


def problem(**changes):
    options = {
        "horizon": H,
        "width": WIDTH,
        "kernel": StateAction(Delta(), Delta()),
        "value_kernel": Delta(),
        "tabular": (S, A),
        "budget": FailureBudget(DELTA, learned_reward=False),
    }
    return Problem(**(options | changes))


def terms(mode, data, step, episode=4, norms=None, **changes):
    return mode.bonus(problem(**changes), data, episode=episode, step=step, norms=norms)
