"""The planner of an agent: the task of each plan, and the present plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl import blas
from cmerl.agents.cme_rl.options import Options
from cmerl.agents.cme_rl.parts import Parts
from cmerl.agents.cme_rl.transition_store import TransitionStore
from cmerl.confidence import FailureBudget, Greedy, Problem, Unseen
from cmerl.finite import TablePlan
from cmerl.kernels import Delta, StateAction
from cmerl.optimism import Ceilings, Optimism, RangeCeiling, SeenCeiling, Situation
from cmerl.planning import Plan, Task
from cmerl.rewards import KnownReward, RewardRange
from cmerl.searching.icem import coloured_noise
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.validation import check_step

if TYPE_CHECKING:  # only modes that prove something, or balance candidates, have these
    from cmerl.agents.cme_rl.counting import CountingPlanner
    from cmerl.agents.cme_rl.proving import Balancing

FloatArray = NDArray[np.float64]
AnyPlan = Plan | TablePlan
"""A plan over a model, or a table from counts."""


class Moment(NamedTuple):
    """The progress of an agent.

    Attributes:
        episode: episodes finished, which number the next one.
        learned: those that were learned from, logged ones too.
        begun: t, all of them and those aborted, with the next one.
    """

    episode: int
    learned: int
    begun: int


@dataclass(eq=False)
class Planner:
    """Makes the plans of one agent, and keeps those of the moment.

    Attributes:
        options: what the agent was told.
        states: how observations are encoded.
        actions: the candidates.
        horizon: H.
        model: what was learned.
        rewards: the range of rewards.
        known_reward: the reward function, or None to learn it.
        all_states: every state (S, d) where they are finitely many, else None.
        rng: a generator for a purpose.
        now: how far the agent has come.
        latest: returns of the last few episodes.
        parts: of the user's own.
        balancing: which of several candidate modes plays; None where there is one mode.
        counting: plans from counts, in the modes that do; None in others.
    """

    options: Options
    states: StateSpace
    actions: ActionSet
    horizon: int
    model: TransitionStore
    rewards: RewardRange
    known_reward: KnownReward | None
    all_states: FloatArray | None
    rng: Callable[..., np.random.Generator]
    now: Callable[[], Moment]
    latest: Callable[[int], list[float]]
    parts: Parts = field(default_factory=Parts)
    balancing: Balancing | None = None
    counting: CountingPlanner | None = None
    _plans: dict[tuple[str, float], AnyPlan] = field(init=False, default_factory=dict)  # emptied by every update
    _unlimited: tuple[Plan, Plan] | None = field(init=False, default=None)  # a plan, and one without max_return

    def problem(self) -> Problem:
        """The problem before any data."""
        lo, hi = self.rewards.bounds
        kernel, value_kernel, tabular = self.model.kernel, self.model.value_kernel, None
        delta_kernels = (
            isinstance(kernel, StateAction)
            and kernel.indicator
            and isinstance(kernel.state_kernel, Delta)
            and isinstance(value_kernel, Delta)
        )
        if delta_kernels and self.states.states is not None:
            tabular = (self.states.states, len(self.actions))
        return Problem(
            horizon=self.horizon,
            width=hi - lo,
            kernel=kernel,
            value_kernel=value_kernel,
            tabular=tabular,
            budget=FailureBudget(self.options.delta, learned_reward=self.options.reward == "learned"),
            embeddings=len(self.model.embeddings),
            terminations=self.rewards.may_end,
            **self.options.constants,
        )

    def ceilings(self) -> Ceilings:
        """What is assumed where there are no data."""
        return self.optimism.ceilings(self.situation())

    def situation(self) -> Situation:
        """Rewards and returns so far, of which good episodes are a quantile of the latest."""
        prize = self.options.settings.prize
        # Where states are finitely many each is tried on its own account: a margin over what was seen tripled the
        # regret of random worlds.
        usual = prize.usual(self.latest(prize.recent)) if self.all_states is None else None
        moved = self.model.displacement
        places_pay = moved is None or moved.places_pay
        return Situation(self.rewards, self.horizon, self.now().learned, self.options.max_return, usual, places_pay)

    @property
    def optimism(self) -> Optimism:
        """The rule for what is assumed where there are no data."""
        if self.parts.optimism is not None:
            return self.parts.optimism
        if self.options.mode.provable:
            return RangeCeiling()
        return self.options.settings.prize if self.model.displacement is None else SeenCeiling()

    @property
    def reward_beside_model(self) -> KnownReward | None:
        """A reward function that is no part of the model.

        A displacement pays what it says where it leads; a direct embedding regresses what depends on the next state
        together with its value.
        """
        known = self.known_reward
        return None if known is None or known.of_next or self.model.displacement is not None else known

    def reward_of(self, z: FloatArray, next_state: FloatArray, reward: float) -> float:
        """The reward to learn for a transition (1, d + d_a): that of the user's function, if there is one.

        Proofs are about what the environment pays.
        """
        if self.known_reward is None or self.options.mode.provable:
            return reward
        dims = self.states.dims
        return float(self.known_reward.of(z[:, :dims], z[:, dims:], next_state)[0])

    def stakes(self) -> tuple[Any, ...]:
        """Everything that a plan depends on except the data."""
        return self.rewards.bounds, self.rewards.may_end, self.ceilings()

    def task(self, *, explore: bool = True, unseen: Unseen = "mean") -> Task:
        """The planning task, of the current candidate if several are balanced.

        Args:
            explore: with the optimism of the mode; greedy otherwise.
            unseen: what a greedy plan assumes where there are no data.
        """
        mode, problem = self.options.mode, self.problem()
        if self.balancing is not None:
            candidate = self.balancing.candidate()
            mode, problem = candidate.mode, candidate.problem(problem)
        return Task(
            problem=problem,
            mode=mode if explore or isinstance(mode, Greedy) else Greedy(unseen=unseen),
            r_min=self._least(explore=explore),
            optimistic=self.ceilings(),
            known_reward=self.reward_beside_model,
            states=self.all_states,
            with_excess=self.options.claims,
        )

    def _least(self, *, explore: bool) -> float:
        """The reward that plans count from and fall back on; proofs and functions that are given need their range."""
        needs_range = explore or self.options.mode.provable or self.known_reward is not None
        return self.rewards.bounds[0] if needs_range else self.rewards.fallback

    def order(self, replans: int = 0) -> NDArray[np.intp]:
        """The tie-breaking order of a plan (H, A), drawn for each step."""
        rng = self.rng(1, self.now().episode, replans)
        if self.model.n == 0 and self.options.model != "direct":  # nothing is known: try what lasts, too
            return np.argsort(-coloured_noise(rng, 1, self.horizon, len(self.actions), 1.0)[0], axis=1)
        orders = np.tile(np.arange(len(self.actions)), (self.horizon, 1))
        return rng.permuted(orders, axis=1)

    def plan(self, *, explore: bool = True, sign: float = 1.0, unseen: Unseen = "mean") -> AnyPlan:
        """The plan of the next episode, made once; one that has outlived its episode only breaks ties again."""
        key = "optimistic" if explore else unseen, sign
        plan = self._plans.get(key)
        if plan is None or plan.episode != self.now().begun:
            later, task = plan if isinstance(plan, Plan) else None, self.task(explore=explore, unseen=unseen)
            plan = self._plans[key] = self._make(task, self.order(), sign=sign, later=later)
        return plan

    def replan(self, step: int, replans: int) -> AnyPlan:
        """A plan for the steps from ``step`` on, which is the so many-th inside its episode."""
        plan = self._plans["optimistic", 1.0] = self._make(self.task(), self.order(replans), step)
        return plan

    @blas.one_thread()
    def _make(
        self, task: Task, order: NDArray[np.intp], step: int = 0, *, sign: float = 1.0, later: Plan | None = None
    ) -> AnyPlan:
        models, begun, backward = self.model.embeddings, self.now().begun, self.parts.backward
        if self.counting is not None and task.mode.from_counts:
            return self.counting.plan(models, task, order, begun, sign, backward)
        displacement = self.model.displacement
        if displacement is not None and isinstance(task.mode, Greedy):  # the mean model, taken for the truth
            models = [displacement.with_repeat(displacement.repeat, sure=True)]
        return backward(models, task, episode=begun, order=order, first_step=step, sign=sign, later=later)

    def q_values(self, obs: Any, step: int) -> FloatArray:
        """Optimistic Q (A,) at one observation, in the environment's units."""
        check_step(step, self.horizon)
        return np.asarray(self.plan().q(self.states.encode(obs), step)[0])

    def reward_claim(self) -> tuple[tuple[float, float] | None, FloatArray | None]:
        """The range of rewards that was declared, and mean rewards (S, A) that are known; None for what is not."""
        reward, all_states = self.reward_beside_model, self.all_states
        known = None if reward is None or all_states is None else reward(all_states)
        return (self.rewards.bounds if self.rewards.declared else None), known

    def bounding_plans(self) -> tuple[AnyPlan, AnyPlan]:
        """A plan above V* and one below it, where the mode proves that."""
        if self.counting is None:
            return self.plan(), self.plan(sign=-1.0)
        about = self.model.embeddings, self.task(), self.order(), self.now().begun
        return self.counting.table(*about, 1.0), self.counting.table(*about, -1.0)

    def without_max_return(self, plan: Plan) -> Plan:
        """A plan without a known maximal return, which tells nothing of states that no episode reaches at a step."""
        if self._unlimited is None or self._unlimited[0] is not plan:
            task = replace(plan.task, optimistic=None)
            made = self.parts.backward(self.model.embeddings, task, episode=plan.episode, order=plan.order)
            self._unlimited = (plan, made)
        return self._unlimited[1]

    def past(self, model: TransitionStore, now: Moment) -> Planner:
        """A copy of the planner for an earlier state of learning."""
        return replace(self, model=model, now=lambda: now)

    def forget(self) -> None:
        """Plans of the past are of no use any more."""
        self._plans.clear()

    @property
    def planned(self) -> bool:
        """Whether there is a plan that is being played."""
        return ("optimistic", 1.0) in self._plans
