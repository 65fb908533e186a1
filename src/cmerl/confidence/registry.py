"""Bonus modes by name, and as plain values that can be saved."""

from __future__ import annotations

import dataclasses
from typing import Any

from cmerl.confidence.balanced import Balanced, BalancedProvable, Candidate
from cmerl.confidence.counting import KL, Guarded
from cmerl.confidence.modes import Greedy, Mode, Practical, Sigma
from cmerl.confidence.provable import Misspecified, NonNegative, Paper, Split, Tight
from cmerl.errors import InputError

MODES: dict[str, type[Mode]] = {
    m.name: m for m in (Practical, Guarded, KL, Paper, Tight, Split, NonNegative, Balanced, Sigma, Greedy)
}
_SAVED: dict[str, type[Mode]] = {**MODES, BalancedProvable.name: BalancedProvable}


def as_mode(bonus: str | Mode, *, zeta: float = 0.0) -> Mode:
    """A mode by name, or a mode object unchanged; ``zeta`` > 0 sets its misspecification."""
    if isinstance(bonus, str) and bonus in MODES:
        bonus = MODES[bonus]()
    if not isinstance(bonus, Mode):
        raise InputError(f"bonus {bonus!r} is unknown: use one of {', '.join(MODES)}, or a mode object")
    if zeta == 0.0:
        return bonus
    if not isinstance(bonus, Misspecified):
        raise InputError(f"bonus {bonus.name!r} does not support misspecification: use 'tight', 'split' or 'paper'")
    return dataclasses.replace(bonus, zeta=zeta)


def mode_spec(mode: Mode) -> dict[str, Any]:
    """A JSON description of a mode."""
    if _SAVED.get(mode.name) is not type(mode):
        raise InputError(f"a bonus mode of your own, {type(mode).__name__}, cannot be saved")
    spec = {"name": mode.name, **dataclasses.asdict(mode)}
    if isinstance(mode, Balanced):
        spec["candidates"] = [{"label": c.label, "mode": mode_spec(c.mode), "B_V": c.B_V} for c in mode.candidates]
    return spec


def mode_from_spec(spec: dict[str, Any]) -> Mode:
    """The inverse of ``mode_spec``."""
    options = dict(spec)
    cls = _SAVED[options.pop("name")]
    if "candidates" in options:
        options["candidates"] = tuple(
            Candidate(label=c["label"], mode=mode_from_spec(c["mode"]), B_V=c["B_V"]) for c in options["candidates"]
        )
    return cls(**options)
