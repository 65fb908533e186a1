"""Optimistic (and pessimistic) value iteration over any embedding [CO22, Alg. 1].

Inside a plan rewards are shifted to start at 0, so a value with k steps to go lies in [0, k·width]; what a
plan reports is in the environment's own units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence import BonusTerms, Mode, NearNorms, NormCalculator, Problem, ValueNorms, reward_radius
from cmerl.embedding import Coef, Embedding, Grid, View
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
KnownReward = Callable[[Points], FloatArray]
"""Rewards of all actions at q states (q, A), in the environment's units."""

TIE = 1e-10  # relative to the largest possible value: closer than this, actions are tied


class Hope(NamedTuple):
    """The most that is worth hoping for where nothing is known, in the environment's units.

    Attributes:
        best: the best reward per step.
        more: how much more than was seen there may be, per step.
        once: the most that is paid once more, at an end.
        wait: steps until an end that makes ``best`` possible.
        meanwhile: the best reward per step until then.
    """

    best: float
    more: float = 0.0
    once: float = 0.0
    wait: int = 0
    meanwhile: float = 0.0


@dataclass(frozen=True)
class Task:
    """Everything a plan depends on besides the data.

    Attributes:
        problem: sizes, kernels, constants.
        mode: the bonus mode.
        r_min: the smallest reward; rewards are shifted by it.
        max_return: a known maximal return, or None.
        hope: where it is less than the range of rewards allows; None to hope for all of that.
        known_reward: the reward function, or None to learn it.
        states: all states (S, d) where they are finitely many, else None.
        discount: what the next step counts for, below 1 where a plan must not rely on a late chance.
        hope_only_raises: whether what is expected stays as it is where it is better than what is hoped for.
    """

    problem: Problem
    mode: Mode
    r_min: float
    max_return: float | None = None
    hope: Hope | None = None
    known_reward: KnownReward | None = None
    states: Points | None = None
    discount: float = 1.0
    hope_only_raises: bool = False

    @property
    def reward_bonus(self) -> bool:
        """Whether the learned reward is a regression of its own with a bonus of its own."""
        return self.known_reward is None and self.mode.provable

    def worth(self, steps: int) -> float:
        """What a reward of 1 at each of so many steps is worth at the first of them."""
        return float(steps) if self.discount == 1.0 else (1.0 - self.discount**steps) / (1.0 - self.discount)

    def cap(self, step: int) -> float:
        """The most that can be left at ``step``, shifted."""
        steps = self.problem.horizon - step
        most = steps * self.problem.width
        if self.hope is not None:
            best, more, once, *_ = self.hope
            # What is only hoped for is not discounted: it must be worth the way.
            most = min(most, self.worth(steps) * (best - self.r_min) + steps * more + once)
        if self.max_return is None:
            return most
        return min(most, max(self.max_return - self.problem.horizon * self.r_min, 0.0))

    def hoped(self, step: int) -> float:
        """What is hoped to be left at ``step`` where nothing is known, shifted."""
        if self.hope is None:
            return self.cap(step)
        wait = min(self.hope.wait, self.problem.horizon - step)
        return max(self.cap(step) - self.worth(wait) * (self.hope.best - self.hope.meanwhile), 0.0)


@dataclass(frozen=True)
class Stage:
    """One step of a plan: Q(z) = prior + α(z)ᵀy + bonus, the reward part aside.

    ``excess`` is the most by which that can exceed E[V_{h+1}], where the mode proves it; V is regressed as it is at
    the step ``until``, the next one unless actions are held.
    """

    coef: Coef
    prior: float
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
    """A set of states under one embedding: what does not depend on the step is computed once."""

    def __init__(self, grid: Grid, states: Points, task: Task, reward: RewardEstimate | None, sign: float) -> None:
        self._grid, self._states, self._task, self._estimate, self._sign = grid, states, task, reward, sign

    @cached_property
    def sigma(self) -> FloatArray:
        """σ(z) (q, A)."""
        return self._grid.std()

    @cached_property
    def weight_norm1(self) -> FloatArray:
        """‖α(z)‖₁ (q, A)."""
        return self._grid.weight_norm1()

    @cached_property
    def shrinkage(self) -> FloatArray:
        """λ‖M⁻¹φ(z)‖ (q, A)."""
        return self._grid.shrinkage()

    @cached_property
    def reward(self) -> FloatArray | float:
        """The shifted reward (q, A), where it is not part of the regression targets."""
        if self._task.known_reward is not None:
            return self._task.known_reward(self._states) - self._task.r_min
        if self._estimate is None:
            return 0.0
        r = self._grid.expectation(self._estimate.coef) + self._sign * self._estimate.linear * self.sigma
        return np.clip(r, 0.0, self._estimate.width)

    def q(self, stage: Stage) -> FloatArray:
        """Shifted, unclipped Q (q, A)."""
        q = self._grid.expectation(stage.coef)
        if stage.prior and self._task.hope_only_raises:  # undo the shrinking by 1 − u towards it
            q = np.where(q > 0.0, q / np.maximum(1.0 - self.sigma**2, 1e-6), q)
        if stage.prior:
            q += stage.prior
        if self._task.known_reward is not None or self._estimate is not None:
            q += self.reward
        if any(stage.terms):
            q += self._sign * self.bonus(stage.terms)
        return q

    def bonus(self, terms: BonusTerms) -> FloatArray:
        """A bonus (q, A)."""
        norm1 = self.weight_norm1 if terms.weights else 0.0
        return terms.at(self.sigma, norm1, self.shrinkage if terms.shrinkage else 0.0)


@dataclass(frozen=True)
class Plan:
    """A deterministic function of (state, step), valid whatever is learned after it was made.

    Attributes:
        task: what was planned for.
        views: the embedding as it was, one, or one a step.
        rewards: the learned reward of each view, where it is a regression of its own.
        stages: one a step, from ``first_step`` on.
        order: actions in the order in which ties are broken, at every step (H, A).
        episode: t, the episodes begun when it was made, this one included.
        transitions: how many it was made from.
        first_step: earlier steps were already played when this plan was made.
        sign: +1 for an optimistic plan, −1 for a pessimistic one.
    """

    task: Task
    views: Sequence[View]
    rewards: Sequence[RewardEstimate | None]
    stages: Sequence[Stage]
    order: IntArray
    episode: int
    transitions: int
    first_step: int = 0
    sign: float = 1.0

    def q(self, states: Points, step: int) -> FloatArray:
        """Q (q, A) at ``step`` in the environment's units, unclipped."""
        return self._site(states, step).q(self.stages[step - self.first_step]) + self.shift(step)

    def value(self, states: Points, step: int) -> FloatArray:
        """V (q,) at ``step`` in the environment's units."""
        q = self._site(states, step).q(self.stages[step - self.first_step])
        return clip_value(q.max(axis=1), self.task, step, self.sign) + self.shift(step)

    def act(self, states: Points, step: int) -> IntArray:
        """Index of the best action (q,) at ``step``."""
        return self._best(self._site(states, step).q(self.stages[step - self.first_step]), step)

    def act_on(self, grid: Grid, states: Points, step: int) -> IntArray:
        """The same where one view was already asked, for states of several plans at once."""
        site = Site(grid, states, self.task, self.rewards[0], self.sign)
        return self._best(site.q(self.stages[step - self.first_step]), step)

    def table(self, states: Points) -> IntArray:
        """Index of the best action at every step and state (H, q)."""
        return np.stack([self._best(q, step) for step, q in enumerate(self._all_q(states), start=self.first_step)])

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
        site, stage = self._site(states, step), self.stages[step - self.first_step]
        reward = self.rewards[min(step, len(self.rewards) - 1)]
        return site.bonus(stage.terms) + (reward.linear * site.sigma if reward is not None else 0.0)

    def _all_q(self, states: Points) -> Iterator[FloatArray]:
        """Shifted Q (q, A) step by step; the kernel is evaluated once."""
        site = self._site(states, self.first_step)
        for step, stage in enumerate(self.stages, start=self.first_step):
            if len(self.views) > 1:
                site = self._site(states, step)
            yield site.q(stage)

    def _site(self, states: Points, step: int) -> Site:
        i = min(step, len(self.views) - 1)
        return Site(self.views[i].grid(states), states, self.task, self.rewards[i], self.sign)

    def shift(self, step: int) -> float:
        """What a shifted value at ``step`` lacks in the environment's units."""
        return self.task.r_min * self.task.worth(self.task.problem.horizon - step)

    def _best(self, q: FloatArray, step: int) -> IntArray:
        order = self.order[step]
        q = q[:, order]
        tolerance = TIE * self.task.problem.horizon * self.task.problem.width
        first: IntArray = np.argmax(q >= q.max(axis=1, keepdims=True) - tolerance, axis=1)
        return np.asarray(order[first])


def clip_value(v: FloatArray, task: Task, step: int, sign: float = 1.0) -> FloatArray:
    """V from max_a Q, shifted: to [0, what can be left]; Alg. 1 to the letter has min{H, ·} and no more.

    The paper has no pessimistic plans; clipping them on both sides keeps their norm below B_V.
    """
    if task.mode.to_the_letter and sign > 0:
        return np.minimum(v, task.problem.horizon * task.problem.width)
    return np.minimum(np.maximum(v, 0.0), task.cap(step))  # half the time of np.clip, at every step of every plan


def make_plan(
    embeddings: Sequence[Embedding],
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
        embeddings: one for all steps, or one for each.
        task: what is known besides the data.
        episode: t, from 1.
        order: actions in the order in which ties are broken, at every step (H, A), or one for all (A,).
        first_step: stop there; earlier steps are not needed any more.
        sign: +1 adds bonuses, −1 subtracts them.
        later: a plan of the same task and embeddings, with bonuses that do not depend on t, whose steps are taken
            over and only what comes before them is planned.
    """
    H, mode = task.problem.horizon, task.mode
    rewards = [_reward_estimate(E, task) for E in embeddings]
    norms = _Norms(embeddings, task, rewards, sign) if mode.needs_norms else None
    support = _Support(embeddings, task, rewards, sign)
    stages: list[Stage] = [] if later is None else list(later.stages[::-1])
    repeat = embeddings[0].repeat
    for step in reversed(range(first_step, H if later is None else later.first_step, repeat)):  # line 4
        E = embeddings[min(step, len(embeddings) - 1)]
        span = min(repeat, H - step)
        left = H - span - step
        v = support.values(stages[-1], step + span) if stages else np.zeros(len(E.support))  # V_{H+1} = 0 (line 3)
        terms = excess = BonusTerms()
        value_norms = None if norms is None else norms.current
        if left > 0 or mode.to_the_letter or (mode.rewards_too and task.known_reward is None):
            terms = mode.bonus(task.problem, E, episode=episode, step=step, norms=value_norms)
        if left > 0 or mode.to_the_letter or not mode.provable:
            excess = mode.excess(task.problem, E, episode=episode, step=step, norms=value_norms)
        stage = _stage(E, v, task, step, span, terms, excess)
        stages += [stage] * span  # an action that is held may be changed at every step all the same
        if norms is not None:
            norms.advance(stage, step)
    views = [E.freeze() for E in embeddings] if later is None else later.views
    n = sum(E.n for E in embeddings)
    orders = np.broadcast_to(order, (H, order.shape[-1]))
    return Plan(task, views, rewards, stages[::-1], orders, episode, n, first_step, sign)


class _Support:
    """V where backups need it: on the support of the embedding of the step before, or of the only one."""

    def __init__(
        self, embeddings: Sequence[Embedding], task: Task, rewards: Sequence[RewardEstimate | None], sign: float
    ) -> None:
        self._embeddings, self._task, self._rewards, self._sign = embeddings, task, rewards, sign

    def values(self, stage: Stage, step: int) -> FloatArray:
        """V at ``step``, which the step before regresses [CO22, Alg. 1, lines 5-6]."""
        i = min(step, len(self._embeddings) - 1)
        states = self._embeddings[i - 1].support
        if len(states) == 0:
            return np.zeros(0)
        site = self._own if i == 0 else self._site(i, self._embeddings[i].grid(states), states)
        return clip_value(site.q(stage).max(axis=1), self._task, step, self._sign)

    @cached_property
    def _own(self) -> Site:
        """With one embedding, its support is the site of every step."""
        return self._site(0, self._embeddings[0].grid(), self._embeddings[0].support)

    def _site(self, i: int, grid: Grid, states: Points) -> Site:
        return Site(grid, states, self._task, self._rewards[i], self._sign)


def _stage(
    E: Embedding, v: FloatArray, task: Task, step: int, span: int, terms: BonusTerms, excess: BonusTerms
) -> Stage:
    """Regress the value of what follows, and the reward with it unless it is known or has its own bonus."""
    left = task.problem.horizon - span - step
    later, worth = task.discount**span, task.worth(span)
    terminal = -task.r_min * later * task.worth(left)  # after an end 0 is earned a step, −r_min when shifted
    separate = task.known_reward is not None or task.reward_bonus
    prior = task.mode.optimism * task.hoped(step + 1 if separate else step)
    reward, shift = (0.0, 0.0) if separate else (worth / E.repeat, -task.r_min * worth)
    coef = E.backup(later * v, reward=reward, offset=shift - prior, terminal=terminal)
    return Stage(coef, prior, terms, excess, step + span)


def _reward_estimate(E: Embedding, task: Task) -> RewardEstimate | None:
    if not task.reward_bonus:
        return None
    problem = task.problem
    B_R = problem.constant("B_R", task.mode.name)
    noise = problem.width / 2  # a bounded reward is sub-Gaussian with half its range
    share = problem.delta_reward
    beta = reward_radius(E.information_gain, lam=E.lam, B_R=B_R, noise=noise, delta=share, choices=E.choices)
    linear = beta / math.sqrt(E.lam)
    if E.projection_loss is not None:  # the part of R that the coordinates miss, at the data and at the query
        linear = math.hypot((beta + B_R * math.sqrt(E.projection_loss[0])) / math.sqrt(E.lam), B_R)
    coef = E.backup(np.zeros(len(E.support)), reward=1.0, offset=-task.r_min)
    return RewardEstimate(coef, linear, problem.width)


class _Norms:
    """Norms of V_{h+1} on all states, carried backwards along the pass.

    Where the states are not finitely many, the support stands in for them: the norms are then lower bounds.
    """

    def __init__(
        self,
        embeddings: Sequence[Embedding],
        task: Task,
        rewards: Sequence[RewardEstimate | None],
        sign: float,
    ) -> None:
        self._task, self._sign = task, sign
        states = embeddings[-1].support if task.states is None else task.states
        kernel, near = task.problem.value_kernel, task.mode.near
        self._calculate: NormCalculator | NearNorms | None = None
        if len(states):
            self._calculate = NearNorms(kernel, states, near) if near else NormCalculator(kernel, states)
        self._sites = [
            Site(E.grid(states), states, task, r, sign)
            for E, r in zip(embeddings if len(states) else [], rewards, strict=False)
        ]
        self.current = ValueNorms(0.0, 0.0)

    def advance(self, stage: Stage, step: int) -> None:
        """From V_{h+1} to V_h."""
        if self._calculate is not None:
            site = self._sites[min(step, len(self._sites) - 1)]
            v = clip_value(site.q(stage).max(axis=1), self._task, step, self._sign)
            problem = self._task.problem
            terminal = -self._task.r_min * (problem.horizon - step) if problem.terminations else None
            self.current = self._calculate(v, terminal)
