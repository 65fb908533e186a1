"""Maps of agents' values over states, from the snapshots in journals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.experiments.journal import Tail
from cmerl.experiments.packing import unpack
from cmerl.report.rundir import RunDirectory
from cmerl.report.sections import digits

FloatArray = NDArray[np.float64]

LAYERS = ("value", "sigma", "visits", "policy")
MARK = b'"snapshot"'  # in the JSON part of a record that has one
MOST_NUMBERS = 250_000  # on a page, about 1.5 MB
ARROWS = {
    (0, -1): "←",
    (0, 1): "→",
    (1, 0): "↓",
    (-1, 0): "↑",
    (0, 0): "·",
    (-1, -1): "↖",
    (-1, 1): "↗",
    (1, 1): "↘",
    (1, -1): "↙",
}
STILL = 0.05  # of a cell: an action that moves less on average has no direction


def figures(run: RunDirectory) -> tuple[dict[str, Any], list[str]]:
    """Maps by id, for each environment and agent that has any, and sentences on what was left out."""
    found: dict[str, Any] = {}
    numbers = left_out = 0
    for env, agent, snapshots in snapshots_in(run.path):
        chart = _map(env, agent, snapshots)
        size = chart.pop("numbers")
        if numbers + size > MOST_NUMBERS:
            left_out += 1
            continue
        numbers += size
        key = f"map-{len(found)}"
        found[key] = {"id": key, **chart}
    notes = [f"{left_out} map{'s' * (left_out > 1)} of states would make this page too large."] if left_out else []
    return found, notes


def snapshots_in(path: Path) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """(environment, agent, snapshots by episode) of every journal that has snapshots; damaged ones have none."""
    found = []
    for journal in sorted((path / "journals").glob("*.journal")):
        try:
            records = [unpack(record) for record in Tail(journal)() if MARK in record]
            line = records[0]["line"] if records else None
            if line is not None:
                by_episode = {record["snapshot"]["episode"]: record["snapshot"] for record in records}
                found.append((str(line["env"]), str(line["agent"]), [by_episode[e] for e in sorted(by_episode)]))
        except Exception:  # whatever a damaged or foreign file holds, the rest of the page is worth showing
            continue
    return found


def _map(env: str, agent: str, snapshots: list[dict[str, Any]]) -> dict[str, Any]:
    last = snapshots[-1]
    drawn = {
        name: [_layer(snapshot, name) for snapshot in snapshots]
        for name in LAYERS
        if all(name in snapshot for snapshot in snapshots)
    }
    chart: dict[str, Any] = {
        "env": env,
        "agent": agent,
        "kind": last["kind"],
        "episodes": [snapshot["episode"] for snapshot in snapshots],
        "actions": [f"{a:g}" for a in last.get("actions", [])],
        "arrows": arrows(last),
        "ranges": {"value": span} if (span := value_range(last)) is not None else {},
        "explanation": explanation(last),
        "numbers": sum(np.size(layer) for layers in drawn.values() for layer in layers),
        **drawn,
    }
    if last["kind"] == "cells":
        rows, columns = _shape(last)
        chart |= {"x": list(range(columns)), "y": list(range(rows)), "rows": rows, "axes": ["", ""]}
        words = "Each cell is a state" + ("; gaps are walls. " if rows > 1 else ", the first one left. ")
    else:
        axes = [digits(np.array(axis)) for axis in last["axes"]]
        names = [f"coordinate {dim}" for dim in last.get("dims", range(len(axes)))]
        chart |= {"x": axes[0], "axes": names}
        if len(axes) > 1:
            chart["y"] = axes[1]
        words = f"To the right: {names[0]} of the state" + (f"; upwards: {names[1]}. " if len(axes) > 1 else ". ")
        if "held" in last:
            held = ", ".join(f"{dim} at {value:.3g}" for dim, value in last["held"])
            words += f"This is a slice: the other coordinates are held ({held}). "
    if chart["ranges"] and "y" in chart:
        words += "The colours of V span the visited states; values beyond them have the colour of the nearest end. "
    chart["words"] = words + (
        "V is the value of the optimistic plan at the first step, σ the largest over actions. "
        "The greedy action is that of the plan without optimism."
    )
    return chart


def explanation(snapshot: dict[str, Any]) -> dict[str, Any] | None:
    """Why the agent acts as it does where the last episode began, as a table of words; None where there is none."""
    told = snapshot.get("explanation")
    if not isinstance(told, dict):
        return None
    head = [str(cell) for cell in told["head"]]
    rows = [[str(cell) for cell in row] for row in told["rows"]]
    return {"title": str(told["title"]), "head": head, "rows": [row for row in rows if len(row) == len(head)]}


def value_range(snapshot: dict[str, Any]) -> list[float] | None:
    """The values (2nd to 98th percentile) of the states that were visited, for the colours.

    Where nothing was seen the optimistic value is a ceiling, far from any value that matters.
    """
    if "value" not in snapshot:
        return None
    values = np.asarray(snapshot["value"], dtype=np.float64)[np.asarray(snapshot["visits"]) > 0]
    values = values[np.isfinite(values)]
    if not len(values) or np.ptp(values) == 0.0:
        return None
    return [float(f"{v:.4g}") for v in np.percentile(values, [2, 98])]


def arrows(snapshot: dict[str, Any]) -> list[str] | None:
    """A sign for each action that says where it leads on average, or None where that does not tell actions apart."""
    moves = snapshot.get("moves", [])
    if not moves or [move[0] for move in moves] != snapshot.get("actions"):
        return None
    signs = []
    for _, down, right in moves:
        size = math.hypot(down, right)
        unit = (0, 0) if size < STILL else (round(down / size), round(right / size))
        signs.append(ARROWS[unit])
    return signs if len(set(signs)) == len(signs) else None


def _shape(snapshot: dict[str, Any]) -> tuple[int, int]:
    places = np.array(snapshot["places"])
    rows, columns = places.max(axis=0) + 1
    return int(rows), int(columns)


def _layer(snapshot: dict[str, Any], name: str) -> list[Any]:
    """One layer as rows of numbers; a line as one row; what is no state as null."""
    values = np.asarray(snapshot[name], dtype=np.float64)
    if name == "policy":
        actions = np.array(snapshot["actions"])
        values = np.searchsorted(actions, values).astype(np.float64)  # by number, which the page names
    if snapshot["kind"] == "line":
        return digits(values, 4)
    if snapshot["kind"] == "plane":
        grid = values.reshape([len(axis) for axis in snapshot["axes"]]).T
    else:
        grid = np.full(_shape(snapshot), np.nan)
        grid[tuple(np.array(snapshot["places"]).T)] = values
    return [digits(row, 3) for row in grid]
