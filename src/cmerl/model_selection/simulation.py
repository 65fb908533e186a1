"""Simulated episodes in a model, disturbed by its residuals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC
from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.grid import DisplacementView
from cmerl.planning import Plan

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def simulate_search(mpc: MPC, plan: Plan, starts: FloatArray, horizon: int, near: int) -> FloatArray:
    """Returns (k,) of a search from several starts at once, when the model is taken for the environment."""
    (view,) = plan.views
    assert isinstance(view, DisplacementView)
    actor = mpc.begin_episode(plan, view.actions, ())
    x, totals, alive = view.scaled(starts).astype(np.float32), np.zeros(len(starts)), np.ones(len(starts), dtype=bool)
    noise = Noise(view.dynamics.data.x, view.dynamics.residuals, horizon, len(x), near)
    start = np.arange(len(x))
    for step in range(horizon):
        features = actor.features(x, step).astype(np.float32)
        y, rewards, ended = view.dynamics.quick_step(x, features)
        y = y + noise.at(step, x, start).astype(np.float32)
        totals[alive] += rewards[alive]
        x = np.where(alive[:, None], y, x)
        if ended is not None:
            alive &= ~ended
            if not alive.any():
                break
    return totals


class Noise:
    """Residual noise around a state, drawn from residuals nearby and equal for all candidates.

    A model that is taken for the environment promises too much for what balances on a knife's edge. Errors made far
    away say nothing of that edge: one blow against a wall would be dealt to all that stands.

    Args:
        states: that residuals belong to (n, d), in the units of the model.
        residuals: (n, d).
        horizon: steps of a simulation.
        starts: simulated side by side.
        near: residuals that one is drawn from.
    """

    def __init__(self, states: FloatArray, residuals: FloatArray, horizon: int, starts: int, near: int) -> None:
        from scipy.spatial import cKDTree  # slow to import

        self._tree, self._residuals, self._near = cKDTree(states), residuals, min(near, len(states))
        self._ranks = np.random.default_rng((horizon, starts)).integers(0, self._near, (horizon, starts))

    def at(self, step: int, states: NDArray[Any], starts: IntArray) -> FloatArray:
        """At a step, for states (q, d) that were reached from the given starts (q,)."""
        rows = np.asarray(self._tree.query(states, k=np.arange(1, self._near + 1))[1])
        return np.asarray(self._residuals[rows[np.arange(len(starts)), self._ranks[step, starts]]])


def simulate(
    model: DisplacementEmbedding, plans: Mapping[int, Plan], starts: FloatArray, horizon: int, near: int
) -> FloatArray:
    """Returns (plans, starts) of the plan for each repeat when the model is taken for the environment."""
    # All plans at once: a small call takes as long as a larger one.
    owner = np.repeat(np.arange(len(plans)), len(starts))
    repeats = np.array(list(plans))
    states, totals, alive = np.tile(starts, (len(plans), 1)), np.zeros(len(owner)), np.arange(len(owner))
    noise = Noise(model.view.dynamics.data.x, model.left_out_residuals, horizon, len(starts), near)
    for step in range(horizon):
        grid = replace(model.view, repeat=repeats[owner[alive]]).grid(states)
        which = np.choose(owner[alive], [plan.act_on(grid, states, step) for plan in plans.values()])
        unexplained = noise.at(step, model.view.scaled(states), alive % len(starts))
        states, rewards, ended = model.step(states, which)
        states = states + unexplained
        totals[alive] += rewards
        states, alive = states[~ended], alive[~ended]
        if not len(alive):
            break
    return totals.reshape(len(plans), len(starts))
