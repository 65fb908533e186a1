"""The backward pass: value iteration with one regression per step [CO22, Alg. 1, lines 3-6]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence import BonusTerms
from cmerl.embedding import Grid, Model
from cmerl.planning.bonuses import Bonuses
from cmerl.planning.plan import TIE, Plan
from cmerl.planning.site import Basis, Site, Stage
from cmerl.planning.task import Task, clip_value
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def make_plan(
    models: Sequence[Model],
    task: Task,
    *,
    episode: int,
    order: IntArray,
    first_step: int = 0,
    sign: float = 1.0,
    later: Plan | None = None,
) -> Plan:
    """Backward pass [CO22, Alg. 1, lines 3-6].

    Args:
        models: one for all steps, or one for each.
        task: what is known besides the data.
        episode: t, from 1.
        order: actions in the order in which ties are broken, at every step (H, A), or one for all (A,).
        first_step: stop there; earlier steps are not needed any more.
        sign: +1 adds bonuses, −1 subtracts them.
        later: a plan of the same task and models, with bonuses that do not depend on t, whose steps are taken over
            and only what comes before them is planned.
    """
    if later is not None and later.first_step == first_step:
        return later.with_order(order, task, episode)
    H, repeat = task.problem.horizon, models[0].repeat
    bases = [Basis.of(model, task) for model in models]
    sites = Support(models, task, bases, sign)
    bonuses = Bonuses(models, task, bases, episode, sign)
    stages: list[Stage] = [] if later is None else list(later.stages[::-1])
    for step in reversed(range(first_step, H if later is None else later.first_step, repeat)):  # line 4: h = H, …, 1
        model, span = models[min(step, len(models) - 1)], min(repeat, H - step)
        v = np.zeros(len(model.support))  # line 3: V_{H+1} = 0
        if stages:
            v = sites.values(stages[-1], step + span)  # line 6: V_{h+1} = min{H, max_a Q_{h+1}}
        stage = regress(model, v, task, step, span, *bonuses.at(model, step, span))  # line 5: Q_h
        if task.mode.reverts:
            stage = replace(stage, ceiling=sites.level(stage, step))
        stages += [stage] * span  # an action that is held may be changed at every step all the same
        bonuses.advance(stage, step)
    views = [model.freeze() for model in models] if later is None else later.views
    n = sum(model.n for model in models)
    orders = np.broadcast_to(order, (H, order.shape[-1]))
    return Plan(task, views, bases, stages[::-1], orders, episode, n, first_step, sign)


def regress(
    model: Model, v: FloatArray, task: Task, step: int, span: int, terms: BonusTerms, excess: BonusTerms
) -> Stage:
    """Regress the value of what follows, and the reward with it unless it is known or has its own bonus."""
    left = task.problem.horizon - span - step
    terminal = -task.r_min * left  # after an end 0 is earned a step, −r_min from the least one on
    separate = task.separate_reward
    ceiling = task.mode.optimism * float(task.ceilings.prior[step + 1 if separate else step])
    coef = model.backup(v, reward=0.0 if separate else span / model.repeat, terminal=terminal)
    return Stage(coef, 0.0 if separate else -task.r_min * span, ceiling, terms, excess, step + span)


class Support:
    """V where backups need it: on the support of the model of the step before, or of the only one."""

    def __init__(self, models: Sequence[Model], task: Task, bases: Sequence[Basis], sign: float) -> None:
        self._models, self._task, self._bases, self._sign = models, task, bases, sign

    def values(self, stage: Stage, step: int) -> FloatArray:
        """V at ``step``, which the step before regresses."""
        i = min(step, len(self._models) - 1)
        states = self._models[i - 1].support
        if len(states) == 0:
            return np.zeros(0)
        site = self._own if i == 0 else self._site(i, self._models[i].grid(states), states)
        return clip_value(site.q(stage).max(axis=1), self._task, step, self._sign)

    def level(self, stage: Stage, step: int) -> float:
        """The mean of what a stage has regressed: the constant whose regression is nearest to it.

        As the ceiling of a plan without optimism it makes up for the mass that regression takes from what was seen
        less, like weights that sum to one.
        """
        i = min(step, len(self._models) - 1)
        states = self._models[i].support
        if len(states) == 0:
            return 0.0
        site = self._own if len(self._models) == 1 else self._site(i, self._models[i].grid(), states)
        mean = site.grid.expectation(stage.coef) + stage.shift * site.mass
        level = float(np.vdot(site.mass, mean) / max(float(np.vdot(site.mass, site.mass)), 1e-300))
        problem = self._task.problem
        return level - 100.0 * TIE * problem.horizon * problem.width  # of equal actions the known one is better

    @cached_property
    def _own(self) -> Site:
        """With one model, its support is the site of every step."""
        return self._site(0, self._models[0].grid(), self._models[0].support)

    def _site(self, i: int, grid: Grid, states: Points) -> Site:
        return Site(grid, states, self._task, self._bases[i], self._sign)
