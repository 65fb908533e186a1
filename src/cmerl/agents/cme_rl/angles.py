"""Angles that the data show. An agent that finds one learns all it has seen once more, with a point on a circle."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.agents.cme_rl.builder import Host, assemble
from cmerl.agents.cme_rl.planner import Planner
from cmerl.kernels import Delta
from cmerl.spaces.circles import Circle, turns, wraps

FloatArray = NDArray[np.float64]
Log = Mapping[str, NDArray[Any]]
"""Encoded transitions, see ``TransitionStore.tensors``."""

log = logging.getLogger("cmerl")


def with_angles(planner: Planner, host: Host) -> Planner | None:
    """The planner of an agent that has found angles among its observations; None if it has found no new ones.

    It has learned everything again, so it is what it would be had it known from the start.
    """
    states, model = planner.states, planner.model
    if not _may_change(planner):
        return None
    tensors = model.tensors(states.dims)
    found = _circles(planner, tensors)
    if not found:
        return None
    period, origin = np.zeros(len(states.columns.low)), np.zeros(len(states.columns.low))
    for column, circle in found.items():
        period[column], origin[column] = circle
        about = f"angles={{{column}: {circle.period:.6g}}}"
        log.info("column %d of the observation is learned as an angle; %s says so from the start", column, about)
    new_states, d = states.with_angles(period, origin), states.dims
    for name in ("Z", "next_states"):
        rows = tensors[name]
        tensors[name] = np.hstack([states.columns.recoded(rows[:, :d], new_states.columns), rows[:, d:]])
    new = assemble(host, planner.options, new_states, planner.actions, planner.rewards, None, planner.parts)
    if model.log_is_needed:
        new.model.keep_log()
    new.model.replay(tensors)
    return new


def _may_change(planner: Planner) -> bool:
    """Whether observations may be encoded anew: nothing rests on how they were, and all of them were kept."""
    options, model = planner.options, planner.model
    automatic = options.settings.find_angles and options.kernel is None and options.value_kernel is None
    resting = options.claims or planner.all_states is not None or bool(planner.states.objects)
    return automatic and not resting and model.n > 0 and model.batches is not None


def _circles(planner: Planner, tensors: Log, *, most: int = 200) -> dict[int, Circle]:
    """Columns of the observation that are angles; turns are looked for, on some rows, when the data have doubled."""
    columns, d = planner.states.columns, planner.states.dims
    Z, steps, n = tensors["Z"], tensors["steps"], len(tensors["Z"])
    before, after = columns.invert(Z[:, :d]), columns.invert(tensors["next_states"])
    follows = np.concatenate([[False], np.diff(steps) == 1])
    numbers = np.flatnonzero(~columns.angle & ~columns.category).tolist()
    found = {i: wraps(before[:, i], after[:, i], follows) for i in numbers}
    if not any(found.values()) and _doubled(tensors):
        rows = np.linspace(0, n - 1, min(n, most)).astype(np.intp)
        inputs = np.hstack([before, _features(planner, Z[:, d:])])[rows]
        outputs = np.column_stack([after - before, tensors["rewards"]])[rows]
        found = {i: turns(inputs, i, outputs) for i in numbers}
    return {i: circle for i, circle in found.items() if circle is not None}


def _doubled(tensors: Log) -> bool:
    """Whether the last episode has brought the number of transitions to another power of two, or beyond."""
    learned = np.cumsum(tensors["batch_sizes"])
    before = learned[:-1][tensors["batch_ends"][:-1]]
    return bool(np.log2(learned[-1]) // 1.0 > np.log2(before[-1] if len(before) else 0.5) // 1.0)


def _features(planner: Planner, actions: FloatArray) -> FloatArray:
    """Actions (n, e) as inputs of a regression: categories become unit vectors."""
    if not isinstance(planner.actions.kernel, Delta):
        return actions
    return np.asarray(np.all(actions[:, None] == planner.actions.rows[None], axis=2), dtype=np.float64)
