"""Algorithm 1 with its five parts: learn a model, plan optimistically, act on the plan [CO22, Alg. 1]."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cmerl.agents.base import Agent, Policy
from cmerl.agents.cme_rl import diagnostics
from cmerl.agents.cme_rl.angles import with_angles
from cmerl.agents.cme_rl.builder import Host
from cmerl.agents.cme_rl.explorer import Explorer
from cmerl.agents.cme_rl.learner import Learner
from cmerl.agents.cme_rl.pessimism import pessimistic_policy
from cmerl.agents.evaluation.practical import Transitions
from cmerl.agents.policies import PlanPolicy
from cmerl.errors import CmerlError

if TYPE_CHECKING:
    from cmerl.agents.cme_rl.planner import AnyPlan, Planner
    from cmerl.agents.cme_rl.proving import Proving
    from cmerl.logs import LoggedEpisode


class Algorithm1(Agent):
    """An agent that plans, acts and learns with five parts: model, optimism, planner, actor and updates.

    Attributes:
        model: what was learned.
        planner: makes the model's plans, with the optimism that it holds.
        explorer: lets the actor play a plan, as far as exploring may cost.
        learner: gives transitions to the model when the updates say so, which also say when to replan.
        options: what the agent was told.
        rewards: the range of rewards.
        states: how observations are encoded.
        actions: the candidates.
    """

    def _compose(self, planner: Planner) -> None:
        """The five parts: model, optimism and planner; the actor; and the learner, which follows the updates."""
        self.planner, self.model = planner, planner.model
        self.options, self.rewards = planner.options, planner.rewards
        self.states, self.actions = planner.states, planner.actions
        self.learner = Learner(planner)
        self.explorer = Explorer(planner, self.history)
        self._evidence: dict[str, Any] = {}  # what the last episode told, before it was learned
        if self.options.mode.from_counts:
            planner.counting = self.proving.counting_planner(self.ledger or self._books)

    # --- one episode: plan, act, learn; `Agent._play_episode` is the loop ---

    def policy(self, explore: bool = True) -> PlanPolicy:
        """Lines 3-6: the plan that the next episode would play; call it with an observation and a step."""
        self._check_thread()
        if self.explorer.pessimistic:
            return pessimistic_policy(self, self.transitions())
        explore = explore and self.explorer.explores
        return self._act_on(self.planner.plan(explore=explore), explore=explore)

    def _act_on(self, plan: AnyPlan, *, explore: bool = True) -> PlanPolicy:
        """Lines 7-8: how a plan becomes actions."""
        seed = self.seed, len(self.history)
        policy = self.explorer.act_on(plan, seed, explore=explore, replans=self.learner.replans)
        return self.explorer.supervised(policy, self.learner.transitions, self._rng)

    def _begin_playing(self, policy: Policy, before: Policy | None = None) -> Policy:
        play = super()._begin_playing(policy, before)
        self.explorer.begin(play)
        return play

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        """Line 9: observe a transition."""
        self.learner.observe(step, obs, action, reward, next_obs, done)

    def _replanned(self, step: int) -> PlanPolicy | None:
        """Lines 3-6 once more for the remaining steps, where enough was seen since the last plan."""
        if self.paused or self.explorer.pessimistic or not self.explorer.explores or not self.learner.replan_due():
            return None
        self._absorb()
        return self._act_on(self.planner.replan(step, self.learner.replans))

    def transitions(self) -> Transitions:
        """All transitions that were learned from, played or logged, in the environment's language.

        A long log is not kept where the model does not need it; the pessimistic and the cautious keep it.
        """
        return self.learner.seen()

    def _absorb(self) -> None:
        self.learner.absorb()

    def _end_episode(self) -> None:
        """Line 9: learn what the episode has shown, once it was compared with what was predicted."""
        proving = self.proving if self.options.claims else None
        self._evidence = diagnostics.evidence(self.planner, self.learner.pending, proving) | self.explorer.settle()
        self.learner.end_episode()
        if proving is not None:
            proving.check_constants()
        self._find_angles()

    def _ingest(self, episodes: Sequence[LoggedEpisode]) -> None:
        self.learner.ingest(episodes)
        self._find_angles()

    def _find_angles(self) -> None:
        """Go on with observations encoded anew, if some number of them is seen to be an angle."""
        planner = None if self.learner.pending else with_angles(self.planner, self._host)
        if planner is None:
            return
        explorer, evidence = self.explorer, self._evidence
        self._compose(planner)
        self._evidence = evidence
        self.explorer.restore(explorer.spec())
        self.explorer.supervise(explorer.asked, self.env)

    def _break_off(self) -> None:
        self.learner.break_off()
        with contextlib.suppress(CmerlError):
            self._end_episode()

    def _set_aside(self) -> None:
        """Keep transitions in the buffer, except in provable modes, which learn episode by episode."""
        if self.options.claims:
            self._break_off()
        else:
            self.explorer.settle()
            self.learner.set_aside()

    def _metrics(self, policy: Policy, start: Any) -> dict[str, Any]:
        assert isinstance(policy, PlanPolicy)
        return {**diagnostics.metrics(self.planner, policy, start), **self._evidence}

    # --- what the parts need ---

    @cached_property
    def proving(self) -> Proving:
        """The proofs of this agent."""
        from cmerl.agents.cme_rl.proving import Proving

        return Proving(self.planner, self.history, (self._model, self._solution))

    @property
    def _host(self) -> Host:
        return Host(
            self.env,
            self.horizon,
            self.seed,
            self._rng,
            self.history,
            learned=self._learned_from,
            broken_off=lambda: self.broken_off,
            may_end=self._may_end,
        )

    def _learned_from(self) -> int:
        """Episodes that were learned from, played or logged; a long log counts as many of them."""
        logged = (max(record["episodes"], record["transitions"] // self.horizon) for record in self.ingested)
        return len(self.history) + int(sum(logged))
