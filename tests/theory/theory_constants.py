"""Constants of a world for the theorems, by hand."""

from __future__ import annotations

import math
from typing import Any

from cmerl.kernels import Delta
from cmerl.theory import information_gain


def riverswim() -> dict[str, Any]:
    """cmerl/RiverSwim-v0 with delta kernels: 6 states and 2 actions, so that every constant is known."""
    return {
        "horizon": 20,
        "gamma": lambda N: information_gain(Delta(), N, lam=1.0, candidates=12),
        "lam": 1.0,
        "B_V": 20 * math.sqrt(6),
        "B_P": math.sqrt(12),
        "delta": 0.1,
    }
