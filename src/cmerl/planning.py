"""Optimistic (and pessimistic) value iteration over any model [CO22, Alg. 1].

One formula makes every plan, whatever the model and the mode:

    Q_h(s, a) = reward + E[V_{h+1}] + (1 − mass)·ceiling_h + bonus.

The model gives the mean E[V_{h+1}] and its mass, the mean of the constant 1: Σα for an embedding, 1 − u for a
displacement. Where it knows nothing both are 0, and Q is the ceiling (optimistic initialisation).

Inside a plan rewards count from the least one, so a value with k steps to go lies in [0, k·width]; what a plan
reports is in the environment's own units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence import BonusTerms, Mode, NearNorms, NormCalculator, Problem, ValueNorms, reward_radius
from cmerl.embedding import Coef, Grid, KernelEmbedding, KernelGrid, Model, View
from cmerl.optimism import Ceilings, ceilings, worth
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
KnownReward = Callable[[Points], FloatArray]
"""Rewards of all actions at q states (q, A), in the environment's units."""

TIE = 1e-10  # relative to the largest possible value: closer than this, actions are tied


@dataclass(frozen=True)
class Task:
    """Everything a plan depends on besides the data.

    Attributes:
        problem: sizes, kernels, constants.
        mode: the bonus mode.
        r_min: the smallest reward; rewards count from it.
        optimistic: ceilings on values; None for those of the range of rewards.
        known_reward: the reward function, or None to learn it.
        states: all states (S, d) where they are finitely many, else None.
        discount: what the next step counts for, below 1 where a plan must not rely on a late chance.
        with_excess: whether somebody will ask by how much Q may exceed what it estimates.
    """

    problem: Problem
    mode: Mode
    r_min: float
    optimistic: Ceilings | None = None
    known_reward: KnownReward | None = None
    states: Points | None = None
    discount: float = 1.0
    with_excess: bool = False

    @cached_property
    def ceilings(self) -> Ceilings:
        """Ceilings on values at every step."""
        return self.optimistic or ceilings(self.problem.horizon, self.problem.width, r_min=self.r_min)

    @property
    def limited(self) -> bool:
        """Whether ceilings rest on more than the range of rewards."""
        whole = ceilings(self.problem.horizon, self.problem.width, r_min=self.r_min)
        return bool(np.any(self.ceilings.cap < whole.cap))

    @property
    def reward_bonus(self) -> bool:
        """Whether the learned reward is a regression of its own with a bonus of its own."""
        return self.known_reward is None and self.mode.provable

    @property
    def separate_reward(self) -> bool:
        """Whether the reward is no part of the regression targets."""
        return self.known_reward is not None or self.mode.provable

    def worth(self, steps: int) -> float:
        """What a reward of 1 at each of so many steps is worth at the first of them."""
        return float(worth(np.asarray(steps), self.discount))

    def cap(self, step: int) -> float:
        """The most that V can be at ``step``."""
        return float(self.ceilings.cap[step])


@dataclass(frozen=True)
class Stage:
    """One step of a plan.

    Attributes:
        coef: the regressed target, for the model to read.
        shift: what every target lacks, since rewards count from the least one.
        ceiling: of Q, where nothing is known.
        terms: the bonus.
        excess: the most by which Q can exceed r + E[V_{h+1}], where the mode proves it and somebody asks.
        until: the step whose V was regressed, the next one unless actions are held.
    """

    coef: Coef
    shift: float
    ceiling: float
    terms: BonusTerms
    excess: BonusTerms
    until: int


@dataclass(frozen=True)
class RewardEstimate:
    """A learned reward with its own bonus: clip(α(z)ᵀr + sign·linear·σ(z), 0, width)."""

    coef: Coef
    linear: float
    width: float


class Site:
    """A set of states under one model: what does not depend on the step is computed once."""

    def __init__(self, grid: Grid, states: Points, task: Task, basis: Basis, sign: float) -> None:
        self.grid, self._states, self._task, self._basis, self._sign = grid, states, task, basis, sign

    @cached_property
    def sigma(self) -> FloatArray:
        """σ(z) (q, A)."""
        return self.grid.std()

    @cached_property
    def mass(self) -> FloatArray:
        """What the model expects of the constant 1 (q, A)."""
        return self.grid.expectation(self._basis.one)

    @cached_property
    def weight_norm1(self) -> FloatArray:
        """‖α(z)‖₁ (q, A)."""
        assert isinstance(self.grid, KernelGrid)  # only modes for embeddings ask
        return self.grid.weight_norm1()

    @cached_property
    def shrinkage(self) -> FloatArray:
        """λ‖M⁻¹φ(z)‖ (q, A)."""
        assert isinstance(self.grid, KernelGrid)
        return self.grid.shrinkage()

    @cached_property
    def reward(self) -> FloatArray:
        """The reward from the least one on (q, A), where it is not part of the regression targets."""
        if self._task.known_reward is not None:
            return self._task.known_reward(self._states) - self._task.r_min
        estimate = self._basis.reward
        assert estimate is not None
        mean = self.grid.expectation(estimate.coef) - self._task.r_min * self.mass
        return np.clip(mean + self._sign * estimate.linear * self.sigma, 0.0, estimate.width)

    def q(self, stage: Stage) -> FloatArray:
        """Q = reward + mean + (1 − mass)·ceiling + bonus, unclipped (q, A)."""
        q = self.grid.expectation(stage.coef)
        if stage.shift or stage.ceiling:
            q += stage.ceiling + (stage.shift - stage.ceiling) * self.mass
        if self._task.separate_reward:
            q += self.reward
        if any(stage.terms):
            q += self._sign * self.bonus(stage.terms)
        return q

    def bonus(self, terms: BonusTerms) -> FloatArray:
        """A bonus (q, A)."""
        norm1 = self.weight_norm1 if terms.weights else 0.0
        return terms.at(self.sigma, norm1, self.shrinkage if terms.shrinkage else 0.0)


@dataclass(frozen=True)
class Basis:
    """What a model has regressed once for all steps of a plan.

    Attributes:
        one: the constant 1.
        reward: the reward, where it has a bonus of its own.
    """

    one: Coef
    reward: RewardEstimate | None

    @classmethod
    def of(cls, model: Model, task: Task) -> Basis:
        """For one plan."""
        return cls(model.ones(), _reward_estimate(model, task) if task.reward_bonus else None)


@dataclass(frozen=True)
class Plan:
    """A deterministic function of (state, step), valid whatever is learned after it was made.

    Attributes:
        task: what was planned for.
        views: the embedding as it was, one, or one a step.
        bases: what each view has regressed once for all steps.
        stages: one a step, from ``first_step`` on.
        order: actions in the order in which ties are broken, at every step (H, A).
        episode: t, the episodes begun when it was made, this one included.
        transitions: how many it was made from.
        first_step: earlier steps were already played when this plan was made.
        sign: +1 for an optimistic plan, −1 for a pessimistic one.
    """

    task: Task
    views: Sequence[View]
    bases: Sequence[Basis]
    stages: Sequence[Stage]
    order: IntArray
    episode: int
    transitions: int
    first_step: int = 0
    sign: float = 1.0

    def q(self, states: Points, step: int) -> FloatArray:
        """Q (q, A) at ``step`` in the environment's units, unclipped."""
        return self.site(states, step).q(self.stages[step - self.first_step]) + self.shift(step)

    def value(self, states: Points, step: int) -> FloatArray:
        """V (q,) at ``step`` in the environment's units."""
        q = self.site(states, step).q(self.stages[step - self.first_step])
        return clip_value(q.max(axis=1), self.task, step, self.sign) + self.shift(step)

    def act(self, states: Points, step: int) -> IntArray:
        """Index of the best action (q,) at ``step``."""
        return self.best(self.site(states, step).q(self.stages[step - self.first_step]), step)

    def act_on(self, grid: Grid, states: Points, step: int) -> IntArray:
        """The same where one view was already asked, for states of several plans at once."""
        site = self.site_of(grid, states, step)
        return self.best(site.q(self.stages[step - self.first_step]), step)

    def table(self, states: Points) -> IntArray:
        """Index of the best action at every step and state (H, q)."""
        return np.stack([self.best(q, step) for step, q in enumerate(self._all_q(states), start=self.first_step)])

    def q_table(self, states: Points) -> FloatArray:
        """Q at every step and state (H, q, A) in the environment's units, unclipped."""
        shifted = enumerate(self._all_q(states), start=self.first_step)
        return np.stack([q + self.shift(step) for step, q in shifted])

    def value_table(self, states: Points) -> FloatArray:
        """V at every step and state (H, q), shifted to start at 0."""
        shifted = enumerate(self._all_q(states), start=self.first_step)
        return np.stack([clip_value(q.max(axis=1), self.task, step, self.sign) for step, q in shifted])

    def bonus(self, states: Points, step: int) -> FloatArray:
        """The transition and reward bonus (q, A) that Q contains at ``step``."""
        site, stage = self.site(states, step), self.stages[step - self.first_step]
        reward = self.reward_estimate(step)
        return site.bonus(stage.terms) + (reward.linear * site.sigma if reward is not None else 0.0)

    def reward_estimate(self, step: int) -> RewardEstimate | None:
        """The learned reward at ``step``, where it is a regression of its own."""
        return self.basis(step).reward

    def site(self, states: Points, step: int) -> Site:
        """States under the model of ``step``."""
        i = min(step, len(self.views) - 1)
        return self.site_of(self.views[i].grid(states), states, step)

    def site_of(self, grid: Grid, states: Points, step: int) -> Site:
        """The same where the model was already asked."""
        return Site(grid, states, self.task, self.basis(step), self.sign)

    @property
    def repeat(self) -> int:
        """For how many steps a backup held the action."""
        return self.stages[0].until - self.first_step

    def basis(self, step: int) -> Basis:
        """What the view of ``step`` has regressed once for all steps."""
        return self.bases[min(step, len(self.bases) - 1)]

    def _all_q(self, states: Points) -> Iterator[FloatArray]:
        """Shifted Q (q, A) step by step; the kernel is evaluated once."""
        site = self.site(states, self.first_step)
        for step, stage in enumerate(self.stages, start=self.first_step):
            if len(self.views) > 1:
                site = self.site(states, step)
            yield site.q(stage)

    def shift(self, step: int) -> float:
        """What a shifted value at ``step`` lacks in the environment's units."""
        return self.task.r_min * self.task.worth(self.task.problem.horizon - step)

    def best(self, q: FloatArray, step: int) -> IntArray:
        """Index of the largest of Q (q, A), ties broken in the order of ``step``."""
        order = self.order[step]
        q = q[:, order]
        tolerance = TIE * self.task.problem.horizon * self.task.problem.width
        first: IntArray = np.argmax(q >= q.max(axis=1, keepdims=True) - tolerance, axis=1)
        return np.asarray(order[first])


def clip_value(v: FloatArray, task: Task, step: int, sign: float = 1.0) -> FloatArray:
    """V from max_a Q: to [0, what can be left]; Alg. 1 to the letter has min{H, ·} and no more.

    The paper has no pessimistic plans; clipping them on both sides keeps their norm below B_V.
    """
    if task.mode.to_the_letter and sign > 0:
        return np.minimum(v, task.problem.horizon * task.problem.width)
    return np.minimum(np.maximum(v, 0.0), task.cap(step))  # half the time of np.clip, at every step of every plan


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
    H, repeat = task.problem.horizon, models[0].repeat
    bases = [Basis.of(model, task) for model in models]
    sites = _Support(models, task, bases, sign)
    bonuses = _Bonuses(models, task, bases, episode, sign)
    stages: list[Stage] = [] if later is None else list(later.stages[::-1])
    for step in reversed(range(first_step, H if later is None else later.first_step, repeat)):  # line 4: h = H, …, 1
        model, span = models[min(step, len(models) - 1)], min(repeat, H - step)
        v = np.zeros(len(model.support))  # line 3: V_{H+1} = 0
        if stages:
            v = sites.values(stages[-1], step + span)  # line 6: V_{h+1} = min{H, max_a Q_{h+1}}
        stage = _stage(model, v, task, step, span, *bonuses.at(model, step, span))  # line 5: Q_h
        stages += [stage] * span  # an action that is held may be changed at every step all the same
        bonuses.advance(stage, step)
    views = [model.freeze() for model in models] if later is None else later.views
    n = sum(model.n for model in models)
    orders = np.broadcast_to(order, (H, order.shape[-1]))
    return Plan(task, views, bases, stages[::-1], orders, episode, n, first_step, sign)


def _stage(
    model: Model, v: FloatArray, task: Task, step: int, span: int, terms: BonusTerms, excess: BonusTerms
) -> Stage:
    """Regress the value of what follows, and the reward with it unless it is known or has its own bonus."""
    left = task.problem.horizon - span - step
    later, earned = task.discount**span, task.worth(span)
    terminal = -task.r_min * later * task.worth(left)  # after an end 0 is earned a step, −r_min from the least one on
    separate = task.separate_reward
    ceiling = task.mode.optimism * float(task.ceilings.prior[step + 1 if separate else step])
    coef = model.backup(later * v, reward=0.0 if separate else earned / model.repeat, terminal=terminal)
    return Stage(coef, 0.0 if separate else -task.r_min * earned, ceiling, terms, excess, step + span)


class _Support:
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

    @cached_property
    def _own(self) -> Site:
        """With one model, its support is the site of every step."""
        return self._site(0, self._models[0].grid(), self._models[0].support)

    def _site(self, i: int, grid: Grid, states: Points) -> Site:
        return Site(grid, states, self._task, self._bases[i], self._sign)


def _reward_estimate(model: Model, task: Task) -> RewardEstimate:
    problem = task.problem
    assert is_kernel_embedding(model)  # proofs are about embeddings
    B_R = problem.constant("B_R", task.mode.name)
    noise = problem.width / 2  # a bounded reward is sub-Gaussian with half its range
    share, choices = problem.delta_reward, model.choices
    beta = reward_radius(model.information_gain, lam=model.lam, B_R=B_R, noise=noise, delta=share, choices=choices)
    linear = beta / math.sqrt(model.lam)
    if model.projection_loss is not None:  # the part of R that the coordinates miss, at the data and at the query
        linear = math.hypot((beta + B_R * math.sqrt(model.projection_loss[0])) / math.sqrt(model.lam), B_R)
    return RewardEstimate(model.backup(np.zeros(len(model.support)), reward=1.0), linear, problem.width)


def is_kernel_embedding(model: Model) -> TypeGuard[KernelEmbedding]:
    """Whether a model has what proofs need."""
    return isinstance(model, KernelEmbedding)


class _Bonuses:
    """The bonus of every step, with norms of V_{h+1} carried backwards along the pass where the mode wants them.

    Where the states are not finitely many, the support stands in for them: the norms are then lower bounds.
    """

    def __init__(
        self, models: Sequence[Model], task: Task, bases: Sequence[Basis], episode: int, sign: float
    ) -> None:
        self._task, self._episode, self._sign = task, episode, sign
        self._norms: ValueNorms | None = None
        self._calculate: NormCalculator | NearNorms | None = None
        if not task.mode.needs_norms:
            return
        self._norms = ValueNorms(0.0, 0.0)
        states = models[-1].support if task.states is None else task.states
        if len(states):
            kernel, near = task.problem.value_kernel, task.mode.near
            self._calculate = NearNorms(kernel, states, near) if near else NormCalculator(kernel, states)
            pairs = zip(models, bases, strict=True)
            self._sites = [Site(model.grid(states), states, task, basis, sign) for model, basis in pairs]

    def at(self, model: Model, step: int, span: int) -> tuple[BonusTerms, BonusTerms]:
        """The bonus at ``step``, and the most by which Q may exceed what it estimates."""
        task, mode, terms, excess = self._task, self._task.mode, BonusTerms(), BonusTerms()
        if not mode.uses_sigma and not task.with_excess:
            return terms, excess
        assert is_kernel_embedding(model)
        left = task.problem.horizon - span - step
        episode, norms = self._episode, self._norms
        if left > 0 or mode.to_the_letter or (mode.rewards_too and task.known_reward is None):
            terms = mode.bonus(task.problem, model, episode=episode, step=step, norms=norms)
        if task.with_excess and (left > 0 or mode.to_the_letter or not mode.provable):
            excess = mode.excess(task.problem, model, episode=episode, step=step, norms=norms)
        return terms, excess

    def advance(self, stage: Stage, step: int) -> None:
        """From the norms of V_{h+1} to those of V_h."""
        if self._calculate is not None:
            site = self._sites[min(step, len(self._sites) - 1)]
            v = clip_value(site.q(stage).max(axis=1), self._task, step, self._sign)
            problem = self._task.problem
            terminal = -self._task.r_min * (problem.horizon - step) if problem.terminations else None
            self._norms = self._calculate(v, terminal)
