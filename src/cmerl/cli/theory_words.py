"""Constants, legend and verdict of the tables of ``cmerl theory``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cmerl.theory import Setting

Rows = Sequence[dict[str, Any]]

LEGEND = {
    "paper": "the theorem as the paper states it",
    "tight": "the same argument with the smaller radius of bonus='tight'",
    "split": "bias and noise apart; multiplies the norm of the actual V, so compare bonuses, not radii",
    "nonnegative": "for delta kernels only; likewise not to be compared as a radius",
    "trivial": "H times episodes: what no agent can exceed",
    "informative from": "episodes from which the bound is below the trivial one",
    "N": "state-actions seen",
    "at least": "the most that some N points were found to give",
    "at most": "a proven upper bound; the theorems use it",
    "epsilon": "how far from optimal the policy may be",
    "least epsilon": "below it no number of episodes suffices",
}


def constants(setting: Setting, sizes: dict[str, int]) -> str:
    """The constants that the numbers are for."""
    named = {
        **sizes,
        "H": setting.horizon,
        "λ": setting.lam,
        "δ": setting.delta,
        "B_V": setting.B_V,
        "B_P": setting.B_P,
        "ζ": setting.zeta,
    }
    return "with " + ", ".join(f"{name} = {value:.4g}" for name, value in named.items())


def legend(rows: Rows) -> list[str]:
    """A line for each column, and for a last row with a name, that needs explaining."""
    shown = [*rows[0], *(value for value in rows[-1].values() if isinstance(value, str))]
    return [f"{name}: {LEGEND[name]}" for name in shown if name in LEGEND]


def regret_verdict(rows: Rows) -> str:
    """From when on the bounds say anything."""
    told = [_nothing_below(form, count) for form, count in list(rows[-1].items())[1:] if count is not None]
    return "; ".join(told) + "."


def _nothing_below(form: str, count: float) -> str:
    if math.isinf(count):
        return f"the {form} bound says nothing, however many the episodes"
    return f"the {form} bound says nothing below {count:.2g} episodes"


def pac_verdict(rows: Rows) -> str:
    """What the first accuracy costs at best."""
    row = rows[0]
    forms = {name: row[name] for name in row if name not in ("epsilon", "least epsilon")}
    form, count = min(forms.items(), key=lambda item: item[1])
    if math.isinf(count):
        return f"for ε = {row['epsilon']:g} no number of episodes suffices."
    return f"for ε = {row['epsilon']:g} the {form} form asks for {count:.2g} episodes."


def radius_verdict(rows: Rows) -> str:
    """The two radii that multiply the same norm."""
    row = rows[-1]
    times = row["paper"] / row["tight"]
    return f"at episode {row['episode']} the tight radius is {times:.3g} times smaller than the paper's."


def gain_verdict(rows: Rows) -> str:
    """How much can be learned, and how fast that still grows."""
    words = f"{rows[-1]['N']} observations tell at most {rows[-1]['at most']:.3g} nats"
    if len(rows) < 2:
        return f"{words}."
    grown = rows[-1]["at most"] - rows[-2]["at most"]
    return f"{words}, {grown:.3g} more than {rows[-2]['N']}."
