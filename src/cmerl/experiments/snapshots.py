"""Snapshots of an agent's values over its states at episodes 1, 2, 4, 8 … and the last, for the report's maps.

That is: finite MDPs cell by cell, environments of one or two coordinates on a grid, and of more on a slice. A
snapshot is a tree of plain values and arrays; it depends on the agent and its episodes alone: a resumed run takes the
same.
"""

from __future__ import annotations

import contextlib
import logging
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cmerl.agents import CMERL, Agent, RandomAgent
from cmerl.agents.policies import PlanPolicy
from cmerl.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

log = logging.getLogger("cmerl")

MOST_STATES = 2500
LINE_POINTS, PLANE_POINTS = 101, 31
MOST_COORDINATES = 40  # of a state, of which two are drawn
STRIP = 30  # states that fit into one row
SPREAD = 2.0  # how far beyond the first episode an unbounded coordinate is drawn, in its widths


@dataclass(frozen=True, eq=False)
class Cells:
    """A finite MDP: each state is a cell.

    Attributes:
        observations: of each state (S, …).
        places: row and column of each state (S, 2).
    """

    observations: NDArray[Any]
    places: IntArray

    def index(self, observations: NDArray[Any]) -> IntArray:
        """The state behind each observation."""
        rows = np.asarray(observations, dtype=self.observations.dtype)
        return np.array([self._states.get(row.tobytes(), -1) for row in rows], dtype=np.intp)

    @cached_property
    def _states(self) -> dict[bytes, int]:
        return {row.tobytes(): s for s, row in enumerate(self.observations)}

    def about(self) -> dict[str, Any]:
        """Rows and columns."""
        return {"kind": "cells", "places": self.places.tolist()}


@dataclass(frozen=True, eq=False)
class Grid:
    """A regular grid over one or two coordinates of a state; the others are held.

    Attributes:
        axes: the grid's coordinates along each drawn dimension.
        dims: which coordinates of the state those are.
        base: a state (d,) that provides the other coordinates.
    """

    axes: tuple[FloatArray, ...]
    dims: tuple[int, ...]
    base: FloatArray

    @property
    def observations(self) -> NDArray[Any]:
        """The points of the grid (q, d), the last drawn dimension fastest."""
        mesh = np.meshgrid(*self.axes, indexing="ij")
        points = np.tile(self.base, (mesh[0].size, 1))
        for dim, m in zip(self.dims, mesh, strict=True):
            points[:, dim] = m.ravel()
        return points

    def index(self, observations: NDArray[Any]) -> IntArray:
        """The nearest point of the grid, also for what lies outside of it."""
        x = np.asarray(observations, dtype=np.float64).reshape(len(observations), -1)
        places = [
            np.clip(np.round((x[:, i] - a[0]) / (a[1] - a[0])), 0, len(a) - 1).astype(np.intp)
            for i, a in zip(self.dims, self.axes, strict=True)
        ]
        return np.asarray(np.ravel_multi_index(tuple(places), tuple(len(a) for a in self.axes)), dtype=np.intp)

    def about(self) -> dict[str, Any]:
        """The axes, and what is held."""
        kind = "line" if len(self.axes) == 1 else "plane"
        found: dict[str, Any] = {"kind": kind, "axes": [a.tolist() for a in self.axes], "dims": list(self.dims)}
        held = [[i, float(v)] for i, v in enumerate(self.base.tolist()) if i not in self.dims]
        return {**found, **({"held": held} if held else {})}


Chart = Cells | Grid


class Recorder:
    """Follows an agent episode by episode, counts where it has been, and takes snapshots at doubling episodes."""

    def __init__(self, agent: Agent, last: int | None = None) -> None:
        self._agent, self._last = agent, last
        self._chart: Chart | None = None
        self._start: Any = None  # the first observation of the latest episode
        self._visits: NDArray[np.int64] | None = None
        self._moves: dict[float, FloatArray] = {}  # of each action over cells: rows, columns, how often

    def see(self, lesson: dict[str, Any]) -> None:
        """Count the states of one more episode; ``lesson`` is what ``agent.lesson()`` says of it."""
        observations = lesson.get("observations")
        if not observations:  # an agent that learns nothing remembers nothing
            return
        if self._visits is None:
            self._chart = chart_of(self._agent.env, observations)
            self._visits = np.zeros(0 if self._chart is None else len(self._chart.observations), dtype=np.int64)
        if self._chart is None:
            return
        self._start = observations[0]
        at = self._chart.index(np.asarray(observations))
        np.add.at(self._visits, at[:-1][at[:-1] >= 0], 1)
        if isinstance(self._chart, Cells) and at.min() >= 0 and np.ndim(lesson["actions"][0]) == 0:
            actions, moves = np.array(lesson["actions"], dtype=np.float64), np.diff(self._chart.places[at], axis=0)
            for action in set(actions.tolist()):
                chosen = moves[actions == action]
                self._moves.setdefault(action, np.zeros(3))[:] += [*chosen.sum(axis=0), len(chosen)]

    def snapshot(self) -> dict[str, Any]:
        """{"snapshot": …} of the agent as it is now, or {} if this is no episode for it or no states can be drawn."""
        episode = len(self._agent.history)
        due = episode == self._last or not episode & (episode - 1)
        if self._chart is None or self._visits is None or not due:
            return {}
        try:
            beliefs = believe(self._agent, self._chart.observations)
            if isinstance(self._agent, CMERL):
                with contextlib.suppress(InputError):  # a plan that has no reasons is still a map
                    beliefs["explanation"] = self._agent.explain(self._start, evidence=3).to_json()
        except Exception as error:  # a picture is no reason to end a run
            log.warning("no snapshot after episode %d: %s", episode, error)
            return {}
        if not beliefs and isinstance(self._agent, RandomAgent):  # it learns nothing: there is nothing to show
            return {}
        moves = [[action, *(total[:2] / total[2]).tolist()] for action, total in sorted(self._moves.items())]
        seen = {"episode": episode, "visits": self._visits.copy(), "moves": moves}
        return {"snapshot": {**self._chart.about(), **seen, **beliefs}}


def chart_of(env: gymnasium.Env[Any, Any] | None, observations: list[Any]) -> Chart | None:
    """How to draw an environment's states, or None where they cannot be; ``observations`` are those of an episode."""
    if env is None:
        return None
    world, space = env.unwrapped, env.observation_space
    known = getattr(world, "observations", None)
    if isinstance(known, np.ndarray) and len(known) <= MOST_STATES and known.shape[1:] == (space.shape or ()):
        return Cells(known, places_of(world, len(known)))
    if isinstance(space, spaces.Discrete) and space.n <= MOST_STATES:
        return Cells(np.arange(space.start, space.start + space.n), places_of(world, int(space.n)))
    if isinstance(space, spaces.Box) and len(space.shape) == 1 and np.issubdtype(space.dtype, np.floating):
        if space.shape[0] > MOST_COORDINATES:
            return None
        seen = np.asarray(observations, dtype=np.float64).reshape(len(observations), -1)
        count = LINE_POINTS if space.shape == (1,) else PLANE_POINTS
        bounds = zip(space.low.tolist(), space.high.tolist(), seen.min(axis=0), seen.max(axis=0), strict=True)
        ranges = [_range(*bound) for bound in bounds]
        dims = _widest(seen, ranges)
        return Grid(tuple(np.linspace(*ranges[dim], count) for dim in dims), dims, np.median(seen, axis=0))
    return None


def _widest(seen: FloatArray, ranges: list[tuple[float, float]]) -> tuple[int, ...]:
    """At most two coordinates, those that an episode moved most on their scale, in the order of the state."""
    widths = np.ptp(seen, axis=0) / np.array([high - low for low, high in ranges])
    return tuple(sorted(np.argsort(-widths, kind="stable")[:2].tolist()))


def places_of(world: Any, states: int) -> IntArray:
    """Row and column of each state: the environment's own, or one row, or as many as make a square."""
    cells = getattr(world, "cells", None)
    if isinstance(cells, list) and cells and all(isinstance(c, tuple) and len(c) == 2 for c in cells):
        extra = states - len(cells)  # an absorbing state or so, below the rest
        bottom = 1 + max(row for row, _ in cells)
        return np.array([*cells, *((bottom, i) for i in range(extra))], dtype=np.intp)
    shape = getattr(world, "shape", None) or (getattr(world, "nrow", None), getattr(world, "ncol", None))
    if isinstance(shape, tuple) and len(shape) == 2 and None not in shape and math.prod(shape) == states:
        columns = int(shape[1])
    else:
        columns = states if states <= STRIP else math.ceil(math.sqrt(states))
    return np.stack(np.divmod(np.arange(states), columns), axis=1).astype(np.intp)


def believe(agent: Agent, observations: NDArray[Any]) -> dict[str, Any]:
    """V₁, the largest σ over actions, and the greedy action at each observation, as far as the agent has them."""
    played, greedy = agent.policy(), agent.policy(explore=False)
    if not isinstance(played, PlanPolicy) or not isinstance(greedy, PlanPolicy):
        return {}
    rows = played.states.encode_many(observations)
    values = [np.ravel(value) for value in played.actions.values]
    single = all(len(value) == 1 for value in values)
    choice = greedy.plan.act(rows, 0)
    found = {
        "value": played.plan.value(rows, 0),
        "policy": np.array([values[i][0] for i in choice], dtype=np.float64) if single else choice,
        "actions": sorted({float(v[0]) for v in values}) if single else [float(i) for i in range(len(values))],
    }
    if isinstance(agent, CMERL):
        found["sigma"] = agent.model.at(0).grid(rows).std().max(axis=1)
    return found


def _range(low: float, high: float, least: float, most: float) -> tuple[float, float]:
    """Of one coordinate: its bounds where they are sensible, else around what was seen."""
    room = SPREAD * max(most - least, 1e-3 * max(abs(most), abs(least), 1.0))
    return (
        low if abs(low) < 1e6 else least - room,
        high if abs(high) < 1e6 else most + room,
    )
