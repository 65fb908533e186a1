"""Notebook display: small tables and curves in HTML, with everything escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

CELL = 'style="text-align:left;vertical-align:top;padding:.15em .8em .15em 0"'
WIDTH, HEIGHT = 220, 40  # of a curve, in pixels
MOST_POINTS = 200


def facts(title: str, about: Mapping[str, Any], drawn: str = "") -> str:
    """A heading over a table of names and values; ``drawn`` is HTML to put between them."""
    rows = "".join(f"<tr><td {CELL}>{escape(str(k))}</td><td {CELL}>{value(v)}</td></tr>" for k, v in about.items())
    return f"<div><strong>{escape(title)}</strong>{drawn}<table>{rows}</table></div>"


def grid(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A heading over a table with a head."""
    cells = "".join(f"<th {CELL}>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td {CELL}>{value(v)}</td>" for v in row) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><strong>{escape(title)}</strong>{table}</div>"


def value(entry: Any) -> str:
    """A value as HTML: numbers short, mappings as tables inside."""
    if isinstance(entry, Mapping):
        return "".join(f"<div>{escape(str(k))}: {value(v)}</div>" for k, v in entry.items())
    if isinstance(entry, list | tuple):
        return ", ".join(map(value, entry))
    return escape(f"{entry:.4g}" if isinstance(entry, float) else str(entry))


def curve(values: Sequence[float], label: str) -> str:
    """A small curve; of many points some."""
    step = math.ceil(len(values) / MOST_POINTS)
    points = [v for v in values[::step] if math.isfinite(v)] if values else []
    if len(points) < 2:
        return ""
    low, high = min(points), max(points)
    width = high - low or 1.0
    path = " ".join(
        f"{i * WIDTH / (len(points) - 1):.1f},{2 + (HEIGHT - 4) * (high - v) / width:.1f}"
        for i, v in enumerate(points)
    )
    line = f'<polyline points="{path}" fill="none" stroke="#0072B2" stroke-width="1.5"/>'
    drawn = f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(label)}">{line}</svg>'
    return f'<figure style="margin:.3em 0">{drawn}<figcaption>{escape(label)}</figcaption></figure>'
