"""Policies: rules for acting that speak the environment's language."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC, Actor, EpisodeActor, Greedy, Spending
from cmerl.errors import InputError
from cmerl.finite import TablePlan
from cmerl.planning import Plan
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.validation import check_step

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class PlanPolicy:
    """What a plan would do: a function of the observation and the step, whatever was asked before.

    Attributes:
        plan: the plan.
        states: how observations are encoded.
        actions: the actions that were planned with.
        actor: how the plan becomes actions.
        seed: of what the actor draws.
        spend: what exploring may cost in an episode that begins; None for no limit.
    """

    plan: Plan | TablePlan
    states: StateSpace
    actions: ActionSet
    actor: Actor = field(default_factory=Greedy)
    seed: tuple[int, ...] = ()
    spend: Callable[[], Spending] | None = None

    def __call__(self, obs: Any, step: int) -> Any:
        """What an episode that begins with this observation at ``step`` would play."""
        return self.begin_episode()(obs, step)

    def begin_episode(self) -> PlanEpisode:
        """The same policy for one episode: a search then goes on from what it has found at the step before."""
        spending = None if self.spend is None else self.spend()
        actor = self.actor.begin_episode(self.plan, self.actions.rows, self.seed, spending)
        return PlanEpisode(self, actor, spending)

    @property
    def searches(self) -> bool:
        """Whether actions come from a search, so that there is no table of them."""
        return isinstance(self.actor, MPC)

    def table(self, observations: NDArray[Any]) -> NDArray[np.intp]:
        """The planned action at every step and observation (H, S), where actions are numbers."""
        if self.searches:
            raise InputError("this policy searches from the states that it meets and has no table: play it")
        values = np.array([int(a) for a in self.actions.values], dtype=np.intp)
        return values[self.plan.table(self.states.encode_many(observations))]


@dataclass(frozen=True, eq=False)
class PlanEpisode:
    """A policy on its way through one episode."""

    policy: PlanPolicy
    actor: EpisodeActor
    spending: Spending | None = None

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step``, asked for step after step."""
        return self.within(obs, step, None)

    def within(self, obs: Any, step: int, deadline: float | None) -> Any:
        """The same until a deadline by ``time.perf_counter``: a search then takes the best that it has found."""
        check_step(step, self.policy.plan.task.problem.horizon)
        return self.policy.actions.decode(self.actor.act(self.policy.states.encode(obs), step, deadline))


@dataclass(frozen=True)
class RandomPolicy:
    """Uniformly random actions, fixed for one episode: the same step always draws the same action."""

    space: gymnasium.Space[Any]
    seed: int
    episode: int
    horizon: int

    def __call__(self, obs: Any, step: int) -> Any:
        """The action drawn for ``step``; the observation does not matter."""
        check_step(step, self.horizon)
        sequence = np.random.SeedSequence(self.seed, spawn_key=(2, self.episode, step))
        space = copy.deepcopy(self.space)
        space.seed(int(sequence.generate_state(1)[0]))
        action = space.sample()
        return int(action) if isinstance(space, gymnasium.spaces.Discrete) else action

    def probabilities(self, observations: NDArray[Any]) -> NDArray[np.float64]:
        """The law that actions are drawn from (H, S, A), for exact evaluation."""
        assert isinstance(self.space, gymnasium.spaces.Discrete)
        A = int(self.space.n)
        return np.full((self.horizon, len(observations), A), 1.0 / A)
