"""Maps of value, uncertainty, policy and model error over two columns of the observation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.grid import DisplacementView
from cmerl.errors import InputError
from cmerl.validation import check_step

if TYPE_CHECKING:
    from cmerl.agents.cme_rl.agent import CMERL

FloatArray = NDArray[np.float64]

POINTS = 41
LAYERS = {
    "value": "V",
    "uncertainty": "σ of the best action",
    "policy": "greedy action",
    "error": "error of the predicted next state",
}
COLOURS = {"value": "viridis", "uncertainty": "magma", "policy": "coolwarm"}


@dataclass(frozen=True, eq=False)
class Slice:
    """Values on a grid over one or two columns of the observation, the others held fixed.

    Attributes:
        columns: which vary; one where observations have one number only.
        axes: their values, in the environment's units.
        at: the observation that the others are held at (n,).
        value: V (points of the first axis, of the second).
        uncertainty: σ at the preferred action, likewise.
        policy: the preferred action, or its number where actions have several columns, likewise.
        places: where transitions were learned (k, 1 or 2), in the same columns.
        error: distance between the observed and the predicted next state of each (k,), in ``unit``.
        step: of the episode.
        unit: the mean motion of a step; where states are finitely many, the weight that what followed did not have.
    """

    columns: tuple[int, ...]
    axes: tuple[FloatArray, ...]
    at: FloatArray
    value: FloatArray
    uncertainty: FloatArray
    policy: FloatArray
    places: FloatArray
    error: FloatArray
    step: int
    unit: str = "in units of a step"


def slice_of(agent: CMERL, columns: Any, at: Any, step: int, explore: bool, points: int = POINTS) -> Slice:
    """A slice through what an agent believes."""
    check_step(step, agent.horizon)
    if agent.states.all_states is not None:
        return _every_state(agent, columns, step, explore)
    if agent.states.shape is None or agent.states.objects:
        raise InputError("plot shows observations that are numbers; see agent.explain for others")
    data = _data(agent)
    seen = agent.states.columns.invert(np.asarray(data.Z)[:, : agent.states.dims])
    n = seen.shape[1]
    chosen = _columns(columns, n)
    fixed = np.median(seen, axis=0) if at is None else np.asarray(at, dtype=np.float64).ravel()
    if fixed.shape != (n,):
        raise InputError(f"at must be an observation of {n} numbers, not {at!r}")
    low, high = np.percentile(seen, [0, 100], axis=0)
    room = np.where(high > low, 0.05 * (high - low), 0.5)
    axes = tuple(np.linspace(low[c] - room[c], high[c] + room[c], points) for c in chosen)
    mesh = np.meshgrid(*axes, indexing="ij")
    raw = np.tile(fixed, (mesh[0].size, 1))
    for c, values in zip(chosen, mesh, strict=True):
        raw[:, c] = values.ravel()
    layers = _layers(agent, agent.states.columns.apply(raw), mesh[0].shape, step, explore)
    return Slice(chosen, axes, fixed, *layers, seen[:, chosen], _errors(agent, data), step)


def _every_state(agent: CMERL, columns: Any, step: int, explore: bool) -> Slice:
    """All states of a finite MDP, one after another."""
    _columns(columns, 1)
    data, rows = _data(agent), np.asarray(agent.states.all_states)
    layers = _layers(agent, rows, (len(rows),), step, explore)
    Z, after, support = np.asarray(data.Z), np.asarray(data.next_states), np.asarray(agent.model.at(0).support)
    followed = (support[None, :, 0] == after[:, :1]) * agent.model.at(0).weights(Z)
    error = np.where(data.terminated, 0.0, np.clip(1.0 - followed.sum(axis=1), 0.0, 1.0))
    unit = "1 − weight of what followed"
    return Slice((0,), (rows[:, 0],), rows[0], *layers, Z[:, :1], error, step, unit)


def _layers(
    agent: CMERL, rows: FloatArray, shape: tuple[int, ...], step: int, explore: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """V, σ at the preferred action, and that action, at encoded states (q, d)."""
    plan = agent.policy(explore).plan
    best = plan.act(rows, step)
    view = plan.views[min(step, len(plan.views) - 1)]
    if (
        isinstance(view, DisplacementView) and view.sure
    ):  # a displacement without exploration plans as if all were known
        view = replace(view, sure=False)
    sigma = view.grid(rows).std()[np.arange(len(rows)), best]
    table = agent.actions.table
    actions = table[best, 0] if table.shape[1] == 1 else best.astype(np.float64)
    return plan.value(rows, step).reshape(shape), sigma.reshape(shape), actions.reshape(shape)


def _columns(columns: Any, n: int) -> tuple[int, ...]:
    wanted = tuple(range(min(n, 2))) if columns is None else tuple(columns)
    good = all(isinstance(c, int | np.integer) and 0 <= c < n for c in wanted)
    if not good or len(set(wanted)) != len(wanted) or len(wanted) not in (1, 2):
        raise InputError(f"columns must be one or two different numbers from 0 to {n - 1}, not {columns!r}")
    return tuple(int(c) for c in wanted)


def _data(agent: CMERL) -> Any:
    from cmerl.transitions import concatenate

    store = agent.model
    if store.displacement is not None:
        return store.displacement.data
    if not store.batches:
        raise InputError("there is nothing to plot: learn first (or the data were dropped, as they were many)")
    return concatenate([batch for _, batch in store.batches])


def _errors(agent: CMERL, data: Any) -> FloatArray:
    """How far the model's mean next state is from what followed, over the mean distance of a step (n,)."""
    model, Z, after = agent.model.at(0), np.asarray(data.Z), np.asarray(data.next_states)
    before = Z[:, : agent.states.dims]
    if agent.model.displacement is not None:
        missed = np.asarray(agent.model.displacement.left_out_residuals)
    else:
        support = np.asarray(model.support)
        missed = np.vstack(
            [after[i : i + 500] - model.weights(Z[i : i + 500]) @ support for i in range(0, len(Z), 500)]
        )
        missed = np.where(data.terminated[:, None], 0.0, missed)
    moved = np.linalg.norm(after - before, axis=1).mean()
    return np.asarray(np.linalg.norm(missed, axis=1) / max(moved, 1e-12))


def draw(found: Slice, names: Sequence[str] | None = None) -> Any:
    """Four panels, as a figure of matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("plots need matplotlib: pip install 'cmerl[report]'") from None
    if names is not None and len(names) != len(found.at):
        raise InputError(f"names must be those of all {len(found.at)} columns, not {names!r}")
    words = [f"column {c}" for c in range(len(found.at))] if names is None else [str(name) for name in names]
    labels = [words[c] for c in found.columns]
    figure = Figure(figsize=(9.0, 7.2), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    for axes, (layer, title) in zip(panels.flat, LAYERS.items(), strict=True):
        axes.set_title(title, fontsize=10)
        if layer == "error":
            _scatter(figure, axes, found)
        elif len(found.axes) == 1:
            axes.plot(found.axes[0], getattr(found, layer), drawstyle="steps-mid" if layer == "policy" else "default")
        else:
            _map(figure, axes, found, layer)
        if len(found.axes) == 2:
            axes.set_ylabel(labels[1])
    for axes in panels[1]:
        axes.set_xlabel(labels[0])
    held = [f"{words[c]} = {x:.3g}" for c, x in enumerate(found.at) if c not in found.columns]
    figure.suptitle(f"step {found.step}" + (f", {', '.join(held)}" if held else ""), fontsize=11)
    return figure


def _map(figure: Any, axes: Any, found: Slice, layer: str, few: int = 10) -> None:
    """A layer over two columns; a few different actions have a colour each, and nothing between them."""
    colours, values = COLOURS[layer], getattr(found, layer).T
    played = np.unique(values) if layer == "policy" else np.array([])
    if not 1 <= len(played) <= few:
        figure.colorbar(axes.pcolormesh(*found.axes, values, cmap=colours, shading="nearest"), ax=axes)
        return
    from matplotlib import colormaps

    numbers, most = np.searchsorted(played, values), len(played) - 0.5
    separate = colormaps[colours].resampled(len(played))
    shown = axes.pcolormesh(*found.axes, numbers, cmap=separate, vmin=-0.5, vmax=most, shading="nearest")
    figure.colorbar(shown, ax=axes).set_ticks(range(len(played)), labels=[f"{x:.3g}" for x in played])


def _scatter(figure: Any, axes: Any, found: Slice) -> None:
    if len(found.axes) == 1:
        axes.plot(found.places[:, 0], found.error, ".", markersize=3)
        axes.set_ylabel(found.unit)
        return
    most = float(np.percentile(found.error, 98))
    shown = axes.scatter(*found.places.T, c=found.error, s=6, cmap="viridis", vmin=0.0, vmax=max(most, 1e-12))
    figure.colorbar(shown, ax=axes, label=found.unit)
    axes.set_xlim(found.axes[0][0], found.axes[0][-1])
    axes.set_ylim(found.axes[1][0], found.axes[1][-1])
