"""A supervised policy: its actions are checked before they are played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cmerl.agents.policies import PlanEpisode, PlanPolicy
from cmerl.errors import InputError
from cmerl.safety import Intervention, Watch
from cmerl.validation import check_step


@dataclass(frozen=True)
class SupervisedPolicy(PlanPolicy):
    """A plan that acts where that is safe.

    Attributes:
        watch: begins to watch over an episode.
    """

    watch: Callable[[], Watch] = field(kw_only=True, repr=False)

    @property
    def searches(self) -> bool:
        """True: who acts is decided on the way, so that there is no table of actions."""
        return True

    def __call__(self, obs: Any, step: int) -> Any:
        """What an episode that begins with this observation at ``step`` would play."""
        return self.begin_episode()(obs, step)

    def begin_episode(self) -> SupervisedEpisode:
        """The same policy for one episode."""
        begun = super().begin_episode()
        return SupervisedEpisode(self, begun.actor, begun.exploration, watch=self.watch())

    def table(self, observations: Any) -> Any:
        """There is none."""
        raise InputError("a policy with limits or a fallback has no table of actions: play it")


@dataclass(frozen=True, eq=False)
class SupervisedEpisode(PlanEpisode):
    """A supervised policy on its way through one episode."""

    watch: Watch = field(kw_only=True)

    @property
    def interventions(self) -> list[Intervention]:
        """Actions that were not taken."""
        return self.watch.interventions

    @property
    def cost(self) -> float | None:
        """What the episode has cost; None if nothing does."""
        return self.watch.cost

    def within(self, obs: Any, step: int, deadline: float | None) -> Any:
        """The action by a deadline, which the plan's search keeps; looking ahead comes on top."""
        check_step(step, self.policy.plan.task.problem.horizon)
        return self.watch.act(obs, step, lambda: PlanEpisode.within(self, obs, step, deadline))

    def price(self, obs: Any, action: Any, next_obs: Any, info: Any) -> float:
        """What a step has cost; nothing is counted yet."""
        return self.watch.price(obs, action, next_obs, info)

    def price_unseen(self, info: Any) -> float:
        """What a step has cost whose outcome was lost."""
        return self.watch.price_unseen(info)

    def spend(self, value: float) -> None:
        """Count what a step has cost."""
        self.watch.spend(value)

    def go_on_with(self, policy: SupervisedPolicy) -> SupervisedEpisode:
        """The same watch over a new plan."""
        begun = policy.begin_episode()
        self.watch.plans = begun.watch.plans
        return SupervisedEpisode(policy, begun.actor, begun.exploration, watch=self.watch)
