"""The agent "balanced": CME-RL over candidate bonus scales, misspecifications or bounds on values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import gymnasium

from cmerl.agents.base import find_horizon
from cmerl.agents.cme_rl import CMERL
from cmerl.confidence import Balanced, BalancedProvable, Candidate, Tight, scales
from cmerl.errors import InputError


class BalancedAgent(CMERL):
    """CME-RL with an unknown bonus scale, misspecification or bound on values: it balances candidates.

    The first state must be fixed, or drawn independently in each episode.

    Args:
        env: a Gymnasium environment with finitely many actions.
        over: "scale" of the optimistic prior (proves nothing), or "zeta" or "B_V" of the ``tight`` mode.
        values: the candidates, from small to large; by default scales from 0.03 to 10, or ζ = 0 and H·2⁻ⁱ. B_V has no
            default.
        options: options of CMERL, except bonus, misspecification and replan.
    """

    name: ClassVar[str] = "balanced"
    fixed_options: ClassVar[tuple[str, ...]] = ("bonus", "misspecification", "replan")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        over: Literal["scale", "zeta", "B_V"] = "scale",
        values: Sequence[float] | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(env, gymnasium.Env):  # the horizon is asked for before the base can say so
            raise InputError(f"env must be a Gymnasium environment, such as gymnasium.make({env!r}), not {env!r}")
        horizon = find_horizon(env, options.get("horizon"))
        delta = options.get("delta", 0.1)
        super().__init__(env, bonus=balanced(over, values, horizon=horizon, delta=delta), **options)


def balanced(over: str, values: Sequence[float] | None, *, horizon: int, delta: float, halvings: int = 6) -> Balanced:
    """The candidates for one unknown constant, in a mode that balances them; ζ is 0 or H·2⁻ⁱ for i ≤ ``halvings``."""
    if values is not None and len(values) == 0:
        raise InputError("values must name at least one candidate")
    ordered = None if values is None else tuple(sorted(float(v) for v in values))
    if over == "scale":
        return Balanced() if ordered is None else Balanced(candidates=scales(ordered))
    if over == "zeta":
        found = ordered or (0.0, *(horizon * 2.0**-i for i in range(halvings, 0, -1)))
        candidates = tuple(Candidate(label=f"zeta {z:g}", mode=Tight(zeta=z)) for z in found)
    elif over == "B_V":
        if ordered is None:
            raise InputError("balancing over B_V needs values=[…], the bounds to try")
        candidates = tuple(Candidate(label=f"B_V {b:g}", mode=Tight(), B_V=b) for b in ordered)
    else:
        raise InputError(f"over must be 'scale', 'zeta' or 'B_V', not {over!r}")
    floor = math.sqrt(2.0 * horizon * math.log(2.0 * len(candidates) / delta))
    return dataclasses.replace(BalancedProvable(candidates=candidates), floor=floor)
