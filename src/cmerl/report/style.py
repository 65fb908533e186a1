"""Colours and dashes of agents, and number formats."""

from __future__ import annotations

import math
from typing import NamedTuple

# Okabe and Ito's colours, told apart by colour-blind people too; the pale ones last, they are faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


class Style(NamedTuple):
    """The colour and the dash of an agent."""

    colour: str
    dash: str


def styles(names: list[str]) -> dict[str, Style]:
    """A style for each name; 35 of them differ."""
    return {name: Style(COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]) for i, name in enumerate(names)}


def number(value: float) -> str:
    """About three significant digits, and exponents only for what is huge or tiny: 0.031, 9.55, 71.9, 974, 12345."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size >= 1e7 or 0 < size < 0.0005:
        mantissa, exponent = f"{value:.1e}".split("e")
        return minus(f"{mantissa}e{int(exponent)}")
    decimals = 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.0995 or size == 0 else 3
    return minus(f"{value:.{decimals}f}")


def minus(text: str) -> str:
    """With the sign that is as wide as a plus, and none before zero."""
    if text.lstrip("-0.") == "":
        text = text.lstrip("-")
    return text.replace("-", "−")


def interval(low: float, high: float) -> str:
    """An interval, or a dash where there is none."""
    if math.isnan(low) or math.isnan(high):
        return "–"
    return f"{number(low)} to {number(high)}" if low < 0 else f"{number(low)} – {number(high)}"


def duration(seconds: float) -> str:
    """A time in the unit that people would use."""
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 90:
        return f"{seconds:.3g} s"
    minutes, hours = seconds / 60, seconds / 3600
    return f"{minutes:.0f} min" if minutes < 90 else f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"
