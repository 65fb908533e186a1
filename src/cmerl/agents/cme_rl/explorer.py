"""The explorer of an agent: its exploration account, and the episodes without a limit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np

from cmerl.acting import MPC, Actor, ExplorationBudget, Greedy
from cmerl.agents.cme_rl.planner import AnyPlan, Planner
from cmerl.agents.cme_rl.supervision import Data, ExplorationOptions, Supervision
from cmerl.agents.history import History
from cmerl.agents.policies import PlanEpisode, PlanPolicy
from cmerl.exploration import Account, Allowance
from cmerl.planning import Plan

__all__ = ["ExplorationOptions", "Explorer"]

log = logging.getLogger(__name__)
LOCKED = (
    "the fallback has acted at every step of the last 3 episodes, since too little is known of what others would do: "
    "learn from logs in which actions vary (agent.fit), or rely on forecasts in spite of that, with "
    "caution=cmerl.safety.Caution(steps=5, unknown=1.0), which is less safe: try it on a simulator first"
)


class Explorer:
    """Lets an agent whose model is a displacement explore on a budget.

    Direct embeddings need none: their optimism fades with every visit.

    Args:
        planner: makes plans, optimistic and greedy.
        history: the episodes so far.

    Attributes:
        account: what is left for exploring.
        asked: what the user says of exploration.
        supervision: the same, checked.
    """

    def __init__(self, planner: Planner, history: History) -> None:
        self._planner, self._history = planner, history
        self.account = Account(rate=planner.options.settings.exploration_rate)
        self.asked, self.supervision = ExplorationOptions(), Supervision()
        self._played: Allowance | None = None  # of the episode that is being played
        self._said = False  # that nothing is explored

    def supervise(self, asked: ExplorationOptions, env: gymnasium.Env[Any, Any] | None) -> None:
        """Keep to what a user wants."""
        planner = self._planner
        self.asked = asked
        self.supervision = Supervision.of(asked, env, planner.states, planner.actions, planner.horizon)
        if self.supervision.supervisor is not None or self.pessimistic:
            planner.model.keep_log()  # forecasts and lower bounds are made from it

    @property
    def pessimistic(self) -> bool:
        """Whether plans are for an environment as bad as the data allow."""
        return self.asked.attitude == "pessimistic"

    @property
    def explores(self) -> bool:
        """Whether the next episode explores, as far as the user says."""
        return self.supervision.explores(len(self._history))

    def supervised(self, policy: PlanPolicy, data: Data, rng: Callable[..., np.random.Generator]) -> PlanPolicy:
        """A policy, watched over where there is something to avoid."""

        def greedy() -> PlanPolicy:
            return self.act_on(self._planner.plan(explore=False), policy.seed, explore=False, replans=0)

        if not self._said and self.locked:
            self._said = True
            log.warning(LOCKED)
        return self.supervision.over(policy, greedy, data, rng, len(self._history))

    @property
    def unlimited(self) -> bool:
        """True if exploration needs no budget: no reward is known to depend on the state."""
        model = self._planner.model.displacement
        return model is not None and not model.places_pay

    @property
    def locked(self) -> bool:
        """Whether the fallback has acted at every step of three episodes, the first left out, for want of data."""
        latest = self._history[1:][-3:]
        if self.supervision.supervisor is None or len(latest) < 3:
            return False
        return all(_by_fallback(record.metrics.get("interventions", ())) == record.length for record in latest)

    def act_on(self, plan: AnyPlan, seed: tuple[int, ...], *, explore: bool, replans: int) -> PlanPolicy:
        """The actor of a plan [CO22, Alg. 1, lines 7-8].

        Args:
            plan: optimistic if it is to explore.
            seed: of what is drawn.
            explore: whether it is.
            replans: plans recomputed inside the present episode.
        """
        planner = self._planner
        refined = planner.options.settings.refined
        chosen = Greedy() if explore and self.unlimited else planner.model.actor
        actor: Actor = planner.parts.actor or chosen
        if isinstance(actor, MPC) and planner.model.displacement is None:  # there is nothing to search in
            actor = Greedy()
        if isinstance(actor, Greedy) and planner.actions.continuous and refined.suits(plan, planner.actions.rows):
            actor = refined
        exploration = self.budget(actor, replans=replans) if explore else None
        return PlanPolicy(plan, planner.states, planner.actions, actor, seed, exploration)

    def budget(self, actor: Actor, *, replans: int) -> ExplorationBudget | None:
        """The exploration budget of the next episode, or of the rest of this one; None for no limit."""
        model = self._planner.model
        if model.displacement is None or self.unlimited:
            return None
        spread = float(np.ptp([*self._history.returns(), model.choice.promised]))
        allowance = self.account.allowance(len(self._history) + 1, spread, self.prospect())
        if self._played is not None and replans:
            allowance = self._played
        if isinstance(actor, MPC) and actor.value == "fitted":
            return ExplorationBudget(allowance, None)
        greedy = self._planner.plan(explore=False)
        assert isinstance(greedy, Plan)
        return ExplorationBudget(allowance, greedy)

    def prospect(self) -> float:
        """By how much the best return that is thought possible exceeds the median of the last few."""
        planner = self._planner
        most = float(planner.ceilings().cap[0]) + planner.horizon * planner.rewards.bounds[0]
        latest = planner.latest(planner.options.settings.usual_episodes)
        return most - float(np.median(latest)) if latest else np.inf

    def begin(self, play: Any) -> None:
        """An episode, or the rest of it, plays by this."""
        exploration = play.exploration if isinstance(play, PlanEpisode) else None
        self._played = None if exploration is None else exploration.allowance

    def settle(self) -> dict[str, Any]:
        """Pay for the episode that was played; returns what it was promised and charged, for its record."""
        played, self._played = self._played, None
        if played is None:
            return {}
        self.account = self.account.after(played)
        promised = {} if played.promise is None else {"promised": played.promise}
        return {**promised, "exploration_cost": played.spent, "deviations": played.deviations}

    def report(self) -> dict[str, str]:
        """The account in words."""
        if self.locked:
            return {"exploration": f"none: {LOCKED}"}
        if self._planner.model.displacement is None:
            return {}
        if self.unlimited:
            return {"exploration": "unlimited: nothing is known to be lost by it"}
        account = self.account
        return {"exploration": f"has cost {account.spent:.4g} so far, {account.balance:.4g} may be spent"}

    def spec(self) -> dict[str, float]:
        """As JSON."""
        return {"balance": self.account.balance, "spent": self.account.spent}

    def restore(self, spec: dict[str, Any]) -> None:
        """The inverse of ``spec``."""
        self.account = Account(float(spec["balance"]), float(spec["spent"]), self.account.rate)


def _by_fallback(interventions: Sequence[dict[str, Any]]) -> int:
    """Steps at which the fallback acted for want of data."""
    return sum(entry["by"] == "fallback" and "known" in entry["reason"] for entry in interventions)
