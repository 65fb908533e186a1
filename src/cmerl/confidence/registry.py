"""Bonus modes by name."""

from __future__ import annotations

import dataclasses

from cmerl.confidence.modes import Greedy, Mode, Practical, Sigma
from cmerl.confidence.provable import Misspecified, NonNegative, Paper, Split, Tight
from cmerl.errors import InputError

MODES: dict[str, type[Mode]] = {m.name: m for m in (Practical, Paper, Tight, Split, NonNegative, Sigma, Greedy)}


def as_mode(bonus: str | Mode, *, zeta: float = 0.0) -> Mode:
    """A mode from its name or as it is; ``zeta`` > 0 tells it that value functions are only near the space."""
    if isinstance(bonus, str) and bonus in MODES:
        bonus = MODES[bonus]()
    if not isinstance(bonus, Mode):
        raise InputError(f"bonus {bonus!r} is unknown: use one of {', '.join(MODES)}, or a mode object")
    if zeta == 0.0:
        return bonus
    if not isinstance(bonus, Misspecified):
        raise InputError(f"bonus {bonus.name!r} knows no misspecification: use 'tight', 'split' or 'paper'")
    return dataclasses.replace(bonus, zeta=zeta)
