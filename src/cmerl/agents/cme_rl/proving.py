"""Connects an agent's plans and data with `cmerl.certificates`, and candidates with balancing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl import certificates, oracles
from cmerl.agents.base import EpisodeRecord
from cmerl.agents.cme_rl.balancing import Balance, balance
from cmerl.agents.cme_rl.counting import CountingPlanner
from cmerl.agents.cme_rl.planner import Planner
from cmerl.agents.cme_rl.transition_store import TransitionStore
from cmerl.agents.cme_rl.update_buffer import UpdateBuffer
from cmerl.agents.policies import PlanPolicy
from cmerl.confidence import KL, Balanced, Candidate, ConfidenceSet, FailureBudget, Interval
from cmerl.errors import InputError, MissingConstantError
from cmerl.planning import Plan
from cmerl.validation import check_step

FloatArray = NDArray[np.float64]


class Balancing:
    """Which of several candidate modes plays; all that this depends on is in the last record.

    Args:
        planner: of the agent.
        history: its episodes.
        playing: the candidate whose turn it was, for an episode of the past.
    """

    def __init__(self, planner: Planner, history: Sequence[EpisodeRecord], playing: str | None = None) -> None:
        assert isinstance(planner.options.mode, Balanced)
        self._mode, self._planner, self._history = planner.options.mode, planner, history
        self._playing = playing

    def now(self) -> Balance:
        """The candidates after the episodes so far."""
        lo, hi = self._planner.rewards.bounds
        report = self._history[-1].metrics["learners"] if self._history else None
        span = self._planner.horizon * (hi - lo)
        return balance(self._mode, report, span=span, delta=self._planner.options.delta)

    def candidate(self) -> Candidate:
        """The one whose turn it is."""
        labels = [candidate.label for candidate in self._mode.candidates]
        turn = self.now().turn() if self._playing is None else labels.index(self._playing)
        return self._mode.candidates[turn]

    def evidence(self, pending: UpdateBuffer) -> dict[str, Any]:
        """Evidence of the pending episode about its candidate."""
        plan, greedy = self._planner.plan(), self._planner.plan(explore=False, unseen="least")
        assert isinstance(plan, Plan)
        now, Z = self.now(), pending.state_actions
        turn, complete = now.turn(), pending.complete(self._planner.horizon)
        excess = certificates.realised_excess(plan, self._planner.model.proven, Z, complete=complete)
        promised = None
        if not self._mode.provable:
            excess = min(excess, now.span)  # no episode loses more than everything; a martingale must not be cut
            if turn > 0:
                promised = float(greedy.value(Z[:1, : self._planner.states.dims], 0)[0])
        after = now.after(turn, pending.total_reward, excess, promised)
        return {"active": now.learners[turn].label, "learners": after.report()}


class Proving:
    """The proofs of one agent.

    Args:
        planner: makes its plans.
        history: its episodes.
        truth: the environment and its solution, where they are known.
    """

    def __init__(self, planner: Planner, history: Sequence[EpisodeRecord], truth: tuple[Any, Any]) -> None:
        self._planner, self._history, (self._world, self._solution) = planner, history, truth
        self.proofs: certificates.Proofs | None = None
        mode, options = planner.options.mode, planner.options
        if mode.provable:
            self.proofs = certificates.Proofs(mode, constants=options.constants, all_states=planner.all_states)
            if options.certify and not (isinstance(mode, Balanced) or mode.from_counts):
                self.proofs.know(*truth, planner.problem(), planner.states, planner.actions.rows)

    @property
    def contradicted(self) -> list[str]:
        """Constants of the user's that the data say are too small."""
        return [] if self.proofs is None else self.proofs.contradicted

    def statement(self) -> str:
        """The proof status of this run, in words."""
        if self.proofs is None:
            return "none"
        return self.proofs.statement(self._planner.rewards.assumption, self._left_range())

    def _left_range(self) -> bool:
        """Whether a reward was met outside the range that was assumed, in play or in the known reward function."""
        rewards, known = self._planner.rewards, self._planner.known_reward
        outside = known is not None and known.leaves(*rewards.bounds)
        return rewards.widened or (rewards.assumption is not None and outside)

    def _grounds(self, begun: int) -> certificates.Grounds:
        planner = self._planner
        return certificates.Grounds(
            planner.problem(),
            planner.model.proven,
            planner.actions.rows,
            begun,
            planner.rewards.assumption,
            self._left_range(),
        )

    def value_bounds(self, obs: Any, step: int) -> tuple[float, float]:
        """(lower, upper) bounds on V* at one observation, from a plan above V* and one below it."""
        check_step(step, self._planner.horizon)
        mode, most = self._planner.options.mode, self._planner.options.max_return
        if self.proofs is None or not self.statement().startswith("holds"):
            raise InputError(
                f"bonus {mode.name!r} gives no bounds on values here (proof: {self.statement()}): use a provable "
                "mode with its constants"
            )
        (optimistic, pessimistic), state = self._planner.bounding_plans(), self._planner.states.encode(obs)
        if not (isinstance(optimistic, Plan) and isinstance(pessimistic, Plan)):
            return float(pessimistic.value(state, step)[0]), float(optimistic.value(state, step)[0])
        if most is None:
            return self.proofs.value_bounds(optimistic, pessimistic, state, step)
        begins = step == 0 and bool(np.any(np.all(self._planner.model.starts == state, axis=1)))
        unlimited = self._planner.without_max_return(optimistic)
        return self.proofs.value_bounds(unlimited, pessimistic, state, step, optimistic if begins else None)

    def confidence_set(self) -> ConfidenceSet:
        """C_t for the next episode, on finite state spaces, in the modes that have one radius."""
        if self.proofs is None:
            raise InputError(
                f"bonus {self._planner.options.mode.name!r} has no single radius: use 'paper' or 'tight'"
            )
        return self.proofs.confidence_set(self._grounds(self._planner.now().begun))

    def estimate_constants(self, delta: float | None) -> dict[str, Interval]:
        """Estimated bounds on B_P and B_V; those on B_P hold with probability 1 − delta."""
        plan = self._planner.plan()
        planner, model = self._planner, self._planner.model
        share = FailureBudget(planner.options.delta if delta is None else delta, learned_reward=False).delta
        data = None if model.batches is None else [batch for _, batch in model.batches]
        problem, actions = planner.problem(), planner.actions.rows
        return certificates.estimate_constants(model.proven, data, actions, problem, plan, planner.all_states, share)

    def check_constants(self) -> None:
        """Warn about constants of the user's that the data contradict, after 1, 2, 4, 8 … episodes."""
        named = any(self._planner.options.constants.values())
        if self.proofs is None or not named or self._planner.now().begun.bit_count() != 1:
            return
        self.proofs.check_constants(self.estimate_constants(None))
        self._planner.forget()  # what was planned for the check belongs to no episode

    def counting_planner(self, ledger: certificates.Ledger | str | None) -> CountingPlanner:
        """The planner of count-based modes, or the reason why there is none."""
        planner, mode = self._planner, self._planner.options.mode
        assert isinstance(mode, KL)
        if not isinstance(ledger, certificates.Ledger) or planner.all_states is None:
            raise MissingConstantError(f"bonus {mode.name!r} proves from counts, and cannot: {ledger}")
        if len(planner.actions) != ledger.world.actions:
            raise InputError(f"bonus {mode.name!r} ranges over all actions of the space: drop actions=…")
        return CountingPlanner(mode, ledger, planner.all_states, self._history)

    def evidence(self, pending: UpdateBuffer) -> dict[str, Any]:
        """Proofs from an episode that was played but not yet learned."""
        if self._planner.balancing is not None:
            return self._planner.balancing.evidence(pending)
        assert self.proofs is not None
        counting = self._planner.counting
        if counting is not None:
            known = self._planner.options.certify and isinstance(self._world, oracles.FiniteModel)
            said = counting.evidence(pending.state_actions[0])
            return {**said, **(counting.check(self._world, self._solution) if known else {})}
        plan = self._planner.plan()
        assert isinstance(plan, Plan)
        self.proofs.check_return(pending.total_reward, self._planner.options.max_return)
        so_far = self._history[-1].metrics.get("excess") if self._history else 0.0
        return self.proofs.evidence(
            plan,
            self._grounds(plan.episode),
            pending.state_actions,
            complete=pending.complete(self._planner.horizon),
            so_far=so_far,
            episodes=len(self._history) + 1,
        )

    def pac_policy(self, epsilon: float, delta: float) -> certificates.PacPolicy:
        """The policy of an episode drawn uniformly from those played, with the statement that holds for it."""
        episodes, own = len(self._history), self._planner.options.delta
        failure = certificates.check_request(epsilon, delta, own, episodes)
        self._check_first_state()
        episode = int(self._planner.rng(4, episodes).integers(episodes))
        policy = self._policy_again(episode)
        words, (lo, hi) = self.statement(), self._planner.rewards.bounds
        most = self._planner.horizon * (hi - lo)
        bound = self._history[-1].metrics.get("regret_bound") if words.startswith("holds") else None
        return certificates.PacPolicy(
            policy, episode, *certificates.statement(bound, episodes, failure, epsilon, delta, words, most=most)
        )

    def last_policy(self, policy: PlanPolicy, lost: float, epsilon: float, delta: float) -> certificates.PacPolicy:
        """A policy with a bound of its own on what it loses, so that none needs to be drawn."""
        certificates.check_request(epsilon, delta, self._planner.options.delta, len(self._history))
        return certificates.PacPolicy(policy, len(self._history), *certificates.says(lost, epsilon, delta))

    def _check_first_state(self) -> None:
        if isinstance(self._world, oracles.FiniteModel):
            varies = int(np.count_nonzero(self._world.start)) > 1
        else:
            batches, dims = self._planner.model.batches or [], self._planner.states.dims
            begun = [np.asarray(batch.Z)[steps == 0, :dims] for steps, batch in batches]
            varies = len({state.tobytes() for states in begun for state in states}) > 1
        if varies:
            raise InputError("the first state varies between episodes, and a PAC policy is for one first state only")

    def _policy_again(self, episode: int) -> PlanPolicy:
        """The policy of a past episode, rebuilt from the log."""
        record, model = self._history[episode].metrics, self._planner.model
        if model.batches is None:
            raise InputError("the raw data of past episodes were dropped: use backend='exact' to keep them")
        past = TransitionStore(model.recipe, len(model.embeddings))
        for steps, batch in model.batches:
            if past.n == record["transitions"]:
                break
            past.update(steps, batch)
        planner = self._planner.past(past, self._planner.now()._replace(episode=episode, begun=record["begun"]))
        if planner.balancing is not None:
            planner.balancing = Balancing(planner, self._history, record["active"])
        return PlanPolicy(planner.plan(), planner.states, planner.actions)
