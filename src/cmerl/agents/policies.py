"""Policies in the environment's own observations and actions."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl import blas
from cmerl.acting import MPC, Actor, EpisodeActor, ExplorationBudget, Greedy
from cmerl.agents.exporting import export
from cmerl.errors import InputError
from cmerl.finite import TablePlan
from cmerl.planning import Plan
from cmerl.searching.last_asked import LastAsked
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.validation import check_step

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class PlanPolicy:
    """The policy of a plan: a function of the observation and the step.

    A search that is asked step after step, for states that it has led to, continues from what it has found; asked for
    anything else it starts again. Each thread that shares a policy has a search of its own.

    Attributes:
        plan: the plan.
        states: how observations are encoded.
        actions: the actions that were planned with.
        actor: how the plan becomes actions.
        seed: of what the actor draws.
        exploration: what exploring may cost in an episode; None for no limit.
    """

    plan: Plan | TablePlan
    states: StateSpace
    actions: ActionSet
    actor: Actor = field(default_factory=Greedy)
    seed: tuple[int, ...] = ()
    exploration: ExplorationBudget | None = None
    _asked: LastAsked = field(init=False, repr=False, compare=False, default_factory=LastAsked)

    @blas.one_thread()
    def __call__(self, obs: Any, step: int) -> Any:
        """The action at this observation and ``step``."""
        if not self.searches:
            return self.begin_episode()(obs, step)
        return self._asked.answer(obs, self.states.encode(obs), step, self.begin_episode)

    def act_many(self, observations: Sequence[Any], step: int) -> list[Any]:
        """Actions at several observations."""
        if not isinstance(self.actor, Greedy) or self.searches:
            return [self(obs, step) for obs in observations]
        rows = self.states.encode_many(list(observations))
        return [self.actions.values[i] for i in self.plan.act(rows, step)]

    def begin_episode(self) -> PlanEpisode:
        """The policy for one episode; its search continues from the step before."""
        exploration = None if self.exploration is None else self.exploration.begun()
        actor = self.actor.begin_episode(self.plan, self.actions.rows, self.seed, exploration)
        return PlanEpisode(self, actor, exploration)

    def export(self, path: str | os.PathLike[str], *, search: bool = True) -> None:
        """Write it to one small file that ``cmerl.load_policy`` reads where nothing but NumPy is installed.

        Args:
            path: of the file.
            search: whether a policy that searches goes on searching, which plays the same; False distils it into
                preferences at landmarks, whose decisions take well under a millisecond and may earn less.
        """
        export(self, path, search=search)

    @property
    def searches(self) -> bool:
        """Whether actions depend on the way to a state, by a search or by what was spent: they have no table."""
        return isinstance(self.actor, MPC) or self.exploration is not None

    def table(self, observations: NDArray[Any]) -> NDArray[np.intp]:
        """The planned action at every step and observation (H, S), where actions are numbers."""
        if self.searches:
            raise InputError("this policy searches or explores on a budget, so it has no table of actions: play it")
        values = np.array([int(a) for a in self.actions.values], dtype=np.intp)
        return values[self.plan.table(self.states.encode_many(observations))]


@dataclass(frozen=True, eq=False)
class PlanEpisode:
    """A policy on its way through one episode."""

    policy: PlanPolicy
    actor: EpisodeActor
    exploration: ExplorationBudget | None = None

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step``, asked for step after step."""
        return self.within(obs, step, None)

    @blas.one_thread()
    def within(self, obs: Any, step: int, deadline: float | None) -> Any:
        """The best action found by a deadline of ``time.perf_counter``."""
        check_step(step, self.policy.plan.task.problem.horizon)
        return self.policy.actions.decode(self.actor.act(self.policy.states.encode(obs), step, deadline))

    def expects(self, state: FloatArray, step: int) -> bool:
        """Whether its search has led to an encoded state (1, d) at this step."""
        expects: Callable[[FloatArray, int], bool] | None = getattr(self.actor, "expects", None)
        return expects is not None and expects(state, step)


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
