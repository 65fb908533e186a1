"""What CME-RL can prove of itself: bounds on values, confidence sets, PAC policies, and what each episode tells."""

from __future__ import annotations

import logging
import math
from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl import oracles
from cmerl.agents.balancing import Balance, balance
from cmerl.agents.base import Agent, check_step
from cmerl.agents.guarantees import (
    CERTIFY_UP_TO,
    ROUNDING,
    Certifier,
    estimate_constants,
    realised_excess,
    regret_bound,
)
from cmerl.agents.options import Options
from cmerl.agents.pac import PacPolicy, check_request, statement
from cmerl.agents.policies import PlanPolicy
from cmerl.agents.rewards import KnownReward, RewardRange
from cmerl.agents.transition_store import Memory
from cmerl.agents.update_buffer import Pending
from cmerl.confidence import Auto as AutoMode
from cmerl.confidence import (
    ConfidenceSet,
    FailureBudget,
    FiniteDomain,
    Interval,
    Mode,
    Paper,
    Problem,
    Tight,
)
from cmerl.errors import InputError
from cmerl.kernels import Delta, Kernel, StateAction
from cmerl.planning import Plan, Task, make_plan
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")


class ProvingAgent(Agent):
    """The part of CME-RL that deals in proofs; ``CMERL`` sets it up, plans and learns."""

    options: Options
    states: StateSpace
    actions: ActionSet
    _memory: Memory
    _rewards: RewardRange
    _all_states: FloatArray | None
    _pending: Pending
    _contradicted: list[str]
    _certifier_made: Certifier | None
    _known_reward: KnownReward | None
    _unlimited: tuple[Plan, Plan] | None  # the latest plan, and the same without max_return

    @abstractmethod
    def _plan(self, explore: bool = True, sign: float = 1.0) -> Plan:
        """The plan of the next episode, made once."""

    @abstractmethod
    def _task(self, explore: bool, playing: str | None = None) -> Task:
        """What is planned for; ``playing`` names the candidate of a past episode, where several are balanced."""

    @property
    def mode(self) -> Mode:
        """The rule for bonuses."""
        return self.options.mode

    @property
    def lam(self) -> float:
        """The ridge λ."""
        return self.options.lam

    @property
    def delta(self) -> float:
        """The failure probability of everything that a provable mode claims, together."""
        return self.options.delta

    @property
    def kernel(self) -> Kernel:
        """The kernel k_φ on encoded state-actions; an automatic one may change as data arrive."""
        return self._memory.kernel

    @property
    def value_kernel(self) -> Kernel:
        """The kernel k_ψ on encoded states; an automatic one may change as data arrive."""
        return self._memory.value_kernel

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and largest reward per step; 0 is included once an episode has terminated."""
        return self._rewards.bounds

    def _problem(self) -> Problem:
        lo, hi = self.reward_range
        tabular = None
        delta_kernels = (
            isinstance(self.kernel, StateAction)
            and self.kernel.indicator
            and isinstance(self.kernel.state_kernel, Delta)
            and isinstance(self.value_kernel, Delta)
        )
        if delta_kernels and self.states.states is not None:
            tabular = (self.states.states, len(self.actions))
        return Problem(
            horizon=self.horizon,
            width=hi - lo,
            kernel=self.kernel,
            value_kernel=self.value_kernel,
            tabular=tabular,
            budget=FailureBudget(self.delta, learned_reward=self.options.reward == "learned"),
            embeddings=len(self._memory.embeddings),
            terminations=self._rewards.may_end,
            **self.options.constants,
        )

    def value_bounds(self, obs: Any, step: int = 0) -> tuple[float, float]:
        """(lower, upper) bounds on V* that hold with probability 1 − delta, in provable modes."""
        check_step(step, self.horizon)
        if not self._proof().startswith("holds"):
            raise InputError(
                f"bonus {self.mode.name!r} gives no bounds on values here (proof: {self._proof()}): use a provable "
                "mode with its constants"
            )
        state = self.states.encode(obs)
        least, most = ((self.horizon - step) * r for r in self.reward_range)
        lower = float(self._plan(sign=-1.0).value(state, step)[0])
        upper = float(self._unlimited_plan().value(state, step)[0])
        if self.options.max_return is not None and step == 0 and np.any(np.all(self._memory.starts == state, axis=1)):
            most = min(most, self.options.max_return)
            upper = min(upper, float(self._plan().value(state, step)[0]))
        return max(lower, least), min(upper, most)

    def _unlimited_plan(self) -> Plan:
        """The plan without ``max_return``, which tells nothing of states that no episode reaches at that step."""
        plan = self._plan()
        if self.options.max_return is None:
            return plan
        if self._unlimited is None or self._unlimited[0] is not plan:
            task = replace(plan.task, max_return=None)
            made = make_plan(self._memory.embeddings, task, episode=plan.episode, order=plan.order)
            self._unlimited = (plan, made)
        return self._unlimited[1]

    def confidence_set(self) -> ConfidenceSet:
        """C_t for the next episode, on finite state spaces, in the modes that have one radius."""
        if self._all_states is None:
            raise InputError("a confidence set needs a finite state space: pass states=… with all observations")
        if len(self._memory.embeddings) > 1 or self._rewards.may_end:
            raise InputError("a confidence set needs one transition law for all steps and no early ends")
        if not isinstance(self.mode, Paper | Tight):
            raise InputError(f"bonus {self.mode.name!r} has no single radius: use 'paper' or 'tight'")
        embedding = self._memory.embeddings[0]
        return ConfidenceSet(
            embedding,
            self.mode.radius(self._problem(), embedding, len(self.history) + self.broken_off + 1),
            value_kernel=self.value_kernel,
            states=self._all_states,
            actions=self.actions.rows,
        )

    def estimate_constants(self, delta: float | None = None) -> dict[str, Interval]:
        """What the data say about B_P and B_V: bounds, those on B_P with probability 1 − delta."""
        share = FailureBudget(self.delta if delta is None else delta, learned_reward=False).delta
        return estimate_constants(self._memory, self._problem(), self._plan(), self._all_states, share)

    def _check_constants(self) -> None:
        """Warn once about each constant of the user's that the data contradict."""
        for name, found in self.estimate_constants().items():
            given = self.options.constants[name]
            if given is not None and given < found.lower and name not in self._contradicted:
                self._contradicted.append(name)
                log.warning("%s = %g is contradicted by the data: it is at least %.4g", name, given, found.lower)

    def _check_return(self, ret: float) -> None:
        """Warn once if an episode returned more than any could."""
        most = self.options.max_return
        if (
            most is not None
            and ret > most + ROUNDING * max(abs(most), 1.0)
            and "max_return" not in self._contradicted
        ):
            self._contradicted.append("max_return")
            log.warning("max_return = %g is contradicted by the data: an episode returned %.6g", most, ret)

    def pac_policy(self, epsilon: float, delta: float = 0.5) -> PacPolicy:
        """The policy of an episode drawn uniformly from those played, with the statement that holds for it.

        The draw is part of the agent's tree of seeds, and the plan is made again from the data of that time. All
        episodes must have begun in one state.

        Args:
            epsilon: what the policy may lose.
            delta: failure probability in all, the agent's own included.
        """
        failure = check_request(epsilon, delta, self.delta, len(self.history))
        self._check_first_state()
        episode = int(self._rng(4, len(self.history)).integers(len(self.history)))
        policy = self._policy_again(episode)
        bound = self.history[-1].metrics.get("regret_bound") if self._proof().startswith("holds") else None
        most = self.horizon * (self.reward_range[1] - self.reward_range[0])
        found = statement(bound, len(self.history), failure, epsilon, delta, self._proof(), most=most)
        return PacPolicy(policy, episode, *found)

    def _check_first_state(self) -> None:
        if isinstance(self._model, oracles.FiniteModel):
            varies = int(np.count_nonzero(self._model.start)) > 1
        else:
            begun = [np.asarray(batch.Z)[steps == 0] for steps, batch in self._memory.batches or []]
            first = {z[: self.states.dims].tobytes() for Z in begun for z in Z}
            varies = len(first) > 1
        if varies:
            raise InputError("the first state varies between episodes, and a PAC policy is for one first state only")

    def _policy_again(self, episode: int) -> PlanPolicy:
        """What a past episode began with, from the log up to then."""
        record = self.history[episode].metrics
        if self._memory.batches is None:
            raise InputError("the raw data of past episodes were dropped: use backend='exact' to keep them")
        past = Memory(self._memory.recipe, len(self._memory.embeddings))
        for steps, batch in self._memory.batches:
            if past.n == record["transitions"]:
                break
            past.update(steps, batch)
        now, self._memory = self._memory, past
        try:
            task = self._task(True, playing=record.get("active"))
        finally:
            self._memory = now
        plan = make_plan(past.embeddings, task, episode=record["begun"], order=self._order(episode))
        return PlanPolicy(plan, self.states, self.actions.with_rows(past.actions))

    def _order(self, episode: int, replans: int = 0) -> NDArray[np.intp]:
        """In which order a plan breaks ties (H, A), each step on its own: one order for all would be a direction."""
        orders = np.tile(np.arange(len(self.actions)), (self.horizon, 1))
        return self._rng(1, episode, replans).permuted(orders, axis=1)

    def _proof(self) -> str:
        """What can be said for this run, in words."""
        if not self.mode.provable:
            return "none"
        caveat = self.mode.caveat()
        if caveat is not None:
            return caveat
        if self._contradicted:
            return f"void: the data contradict {' and '.join(self._contradicted)}; give larger ones"
        assumed = self._rewards.assumption
        outside = self._known_reward is not None and self._known_reward.leaves(*self.reward_range)
        if self._rewards.widened or (assumed is not None and outside):
            return "void: a reward outside the assumed range was seen; declare reward_range"
        if self.mode.needs_norms and self._all_states is None:
            return "none: norms of V are taken on the data alone"
        if assumed is not None:
            return f"holds with probability 1 - delta if {assumed}, which nobody declared: pass reward_range"
        return "holds with probability 1 - delta"

    def _balance(self) -> Balance:
        """Which candidate is to play next; all that this depends on is in the last record."""
        assert isinstance(self.mode, AutoMode)
        lo, hi = self.reward_range
        report = self.history[-1].metrics["learners"] if self.history else None
        return balance(self.mode, report, span=self.horizon * (hi - lo), delta=self.delta)

    def _gather_evidence(self) -> dict[str, Any]:
        """What the episode that has just been played, but not yet learned from, proves or tells of the candidates."""
        evidence: dict[str, Any] = {}
        if not (self.mode.provable or isinstance(self.mode, AutoMode)):
            return evidence
        plan, seen = self._plan(), self._pending.seen
        self._check_return(sum(s.reward for s in seen))
        if isinstance(self.mode, AutoMode):
            now = self._balance()
            turn, ret, excess = now.turn(), sum(s.reward for s in seen), self._excess(plan)
            greedy = None
            if not self.mode.provable:
                excess = min(excess, now.span)  # no episode loses more than everything; a martingale must not be cut
                if turn > 0:
                    start = seen[0].z[:, : self.states.dims]
                    greedy = float(self._plan(explore=False).value(start, 0)[0])
            after = now.after(turn, ret, excess, greedy)
            return {"active": now.learners[turn].label, "learners": after.report()}
        certifier = self._certifier
        if certifier is not None:
            evidence |= certifier.check(plan, self._memory.embeddings)
        if self._proof().startswith("holds"):
            total = self._excess(plan) + (self.history[-1].metrics.get("excess", math.inf) if self.history else 0.0)
            evidence |= {"excess": total, "regret_bound": regret_bound(total, len(self.history) + 1, plan)}
            if self._rewards.assumption is not None:
                evidence["assumes"] = self._rewards.assumption
        return evidence

    def _excess(self, plan: Plan) -> float:
        """What the pending episode may have cost at most, by the bonuses that it met."""
        seen = self._pending.seen
        complete = seen[-1].done or seen[-1].step + 1 == self.horizon
        return realised_excess(plan, self._memory.embeddings, np.vstack([s.z for s in seen]), complete=complete)

    @property
    def _certifier(self) -> Certifier | None:
        """What compares plans with the truth, where it is known and small."""
        model, solution = self._model, self._solution
        if not (self.options.certify and isinstance(model, oracles.FiniteModel)):
            return None
        if model.R.size > CERTIFY_UP_TO or model.R.shape[1] != len(self.actions):
            return None
        if self._certifier_made is None:
            assert isinstance(solution, oracles.Solution)
            states = self.states.encode_many(model.observations)
            domain = FiniteDomain(self.kernel, self.value_kernel, states, self.actions.rows)
            self._certifier_made = Certifier(model, solution, domain, states)
        return self._certifier_made
