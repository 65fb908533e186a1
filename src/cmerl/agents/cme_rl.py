"""CME-RL: learn the embedding, plan optimistically, act greedily [CO22, Alg. 1]."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl import certificates, oracles
from cmerl.agents import storage
from cmerl.agents.balancing import Balance, balance
from cmerl.agents.base import Agent, Policy, check_step, declared_range
from cmerl.agents.calibration import about_next_states, about_values, motion_error
from cmerl.agents.counting import CountingPlanner
from cmerl.agents.lookahead import Lookahead
from cmerl.agents.model_selection import haste, prediction_error
from cmerl.agents.options import Auto, Options, RewardFunction
from cmerl.agents.policies import PlanPolicy
from cmerl.agents.rewards import KnownReward, RewardRange
from cmerl.agents.transition_store import Memory
from cmerl.agents.update_buffer import Pending, Seen
from cmerl.agents.value_drift import LIMIT, late_rise
from cmerl.confidence import KL, ConfidenceSet, FailureBudget, Greedy, Interval, Mode, Paper, Problem, as_mode
from cmerl.confidence import Auto as AutoMode
from cmerl.embedding import ConditionalMeanEmbedding
from cmerl.errors import CmerlError, InputError, MissingConstantError
from cmerl.finite import TablePlan
from cmerl.growing import nested, part
from cmerl.kernels import Delta, Kernel, StateAction
from cmerl.planning import Hope, Plan, Task, make_plan
from cmerl.spaces import Angles, StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.transitions import Transitions

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")

REPLAN_SHARE = 0.05  # of all information gained so far: what a new plan must bring where it takes long,
FIRST_SHARE = 0.1  # and in the first episode, where everything is a surprise


class CMERL(Agent):
    """Reinforcement learning with conditional mean embeddings.

    >>> import gymnasium, cmerl
    >>> agent = cmerl.CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0).learn(100)
    >>> float(agent.history[-1].regret) < 0.1
    True

    Args:
        env: a Gymnasium environment.
        horizon: steps per episode; defaults to the environment's own.
        seed: root of all randomness.
        kernel: k_φ on state-actions, or "auto": delta kernels on Discrete observations, else RBF kernels on
            observations scaled to [0, 1]: one that all actions share, the more the less a step moves the state, and a
            narrower one for what each action does differently.
        value_kernel: k_ψ on states, or "auto": the state part of ``kernel`` on Discrete observations, else a
            Matérn-3/2 kernel of width 0.1.
        lam: the ridge λ, or "auto": 0.1 in practical mode (λ pseudo-visits to heaven) and where plans come from
            counts, 1 in provable modes with a bonus.
        bonus: "practical" (no proof, learns fastest); in finite worlds "guarded" (its plans while they can be
            defended) and "kl" (the recommended proof); "paper", "tight", "split", "nonnegative"; "auto" (balances
            scales of the practical one by their regret); or a mode object of ``cmerl.confidence``.
        reward: "learned", or the reward function as a callable (observation, action) → reward.
        backend: how the embedding is held: "exact"; "compressed", at a cost that does not grow with the data;
            "nystrom" or "fourier", classical sketches; "auto" is exact while that is quick, then compressed
            (provable modes stay exact).
        model: "direct" regresses V(s') on state-actions; "displacement" regresses s' − s and reads V where that
            leads, which suits small, smooth steps; "auto" compares held-out predictions whenever the data have
            doubled (practical mode on real-valued observations).
        delta: failure probability of everything that a provable mode claims, together.
        reward_range: (lo, hi), or "auto": starts at (0, 1) and widens to what is seen.
        max_return: a known maximal return of an episode, if there is one.
        B_P: bound on ‖Θ_P‖_HS, or "auto" where one always holds (delta kernels); likewise ``B_V`` on ‖V‖_ψ and
            ``B_R`` on ‖R‖_φ, both for rewards counted from the lower end of ``reward_range``.
        misspecification: ζ, where value functions are only known to lie within ζ of functions of norm B_V ("tight",
            "split", "paper").
        replan: plan anew inside an episode once a nat of information was gathered, and let later episodes that bring
            less than half a nat wait to be learned; "auto" does so except in provable modes.
        time_homogeneous: False learns a transition law for each step of the episode.
        certify: in provable modes, where the world is finite and known, record at every episode whether Θ_P lay in
            the confidence set and Q was optimistic.
        actions: candidate actions, where the action space is not finite; by default a low-discrepancy set, actions
            between them where the agent acts, and with a displacement candidates that follow the actions played.
        states: all observations (S, …), where states are finitely many but not Discrete.
        angles: columns of the observation, or names of its parts, that are angles: a list where the period is 2π, or
            a map from each to its period.
    """

    name: ClassVar[str] = "cme-rl"

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        horizon: int | None = None,
        seed: int = 0,
        kernel: Any = "auto",
        value_kernel: Any = "auto",
        lam: float | Auto = "auto",
        bonus: str | Mode = "practical",
        reward: RewardFunction | Literal["learned"] = "learned",
        backend: str = "auto",
        model: str = "auto",
        delta: float = 0.1,
        reward_range: tuple[float, float] | Auto = "auto",
        max_return: float | None = None,
        B_P: float | Auto = "auto",
        B_V: float | Auto = "auto",
        B_R: float | Auto = "auto",
        misspecification: float = 0.0,
        replan: bool | Auto = "auto",
        time_homogeneous: bool = True,
        certify: bool = True,
        actions: Sequence[Any] | None = None,
        states: ArrayLike | None = None,
        angles: Angles = (),
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
        if as_mode(bonus).from_counts and isinstance(reward_range, str):
            reward_range = declared_range(env) or reward_range
        self.states = StateSpace.of(env.observation_space, angles)
        self.actions = ActionSet.of(env.action_space, actions, self._rng(3))
        all_states = self.states.all_states
        if states is not None:
            all_states = self._encode_all(states)
        self._set_up(
            all_states,
            Options.of(
                self.states,
                self.actions,
                kernel=kernel,
                value_kernel=value_kernel,
                lam=lam,
                bonus=bonus,
                reward=reward,
                backend=backend,
                model=model,
                delta=delta,
                max_return=max_return,
                constants={"B_P": B_P, "B_V": B_V, "B_R": B_R},
                replan=replan,
                time_homogeneous=time_homogeneous,
                certify=certify,
                zeta=misspecification,
            ),
            # A proof must allow for early ends from the start; otherwise they count once one was seen.
            RewardRange(
                reward_range,
                may_end=as_mode(bonus).provable and self._may_end,
                robust=not as_mode(bonus).provable,
            ),
        )

    def _set_up(self, all_states: FloatArray | None, options: Options, rewards: RewardRange) -> None:
        """Everything but the environment, the same for a new agent and a loaded one."""
        self._all_states, self.options, self._rewards = all_states, options, rewards
        self._first_actions = self.actions
        self._memory = Memory(
            options.recipe(self.states, self.actions, self.horizon, self.seed),
            1 if options.time_homogeneous else self.horizon,
        )
        self._evidence: dict[str, Any] = {}  # what the last episode proved
        self._rise_reported = False
        self._pending = Pending()
        self._plans: dict[tuple[bool, float], Plan | TablePlan] = {}  # the latest; emptied by every update
        self._replans = 0
        self._known_reward: KnownReward | None = None
        if options.reward != "learned":
            self._known_reward = KnownReward(options.reward, self.states, self.actions)
            if not rewards.declared and all_states is not None:
                known = self._known_reward(all_states)
                rewards.include(float(known.min()), float(known.max()))
        self._counting = self._planner_from_counts()
        self._proofs: certificates.Proofs | None = None  # only provable modes have any
        if self.mode.provable:
            self.mode.check(self._problem())
            self._proofs = certificates.Proofs(self.mode, constants=options.constants, all_states=all_states)
            if options.certify and not isinstance(self.mode, AutoMode) and self._counting is None:
                truth = self._model, self._solution
                self._proofs.know(*truth, self._problem(), self.states, self.actions.rows)
        if self.mode.needs_norms and all_states is None:
            log.warning(
                "bonus %r: the state space is not finite, so norms of V are taken on the data alone; "
                "they are lower bounds and the mode is heuristic here",
                self.mode.name,
            )
        self._planned_for = self._stakes()

    # --- for users ---

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

    @property
    def label(self) -> str:
        """The bonus mode as it should be reported: Alg. 1 with a learned reward is "paper+reward"."""
        extra = "+reward" if isinstance(self.mode, Paper) and self.options.reward == "learned" else ""
        return self.mode.name + extra

    @property
    def embedding(self) -> ConditionalMeanEmbedding:
        """The embedding (of the first step, if each step has its own), on encoded states and actions."""
        return ConditionalMeanEmbedding.wrap(self._memory.embeddings[0], self.value_kernel)

    def policy(self, explore: bool = True) -> PlanPolicy:
        """The plan that the next episode would play; call it with an observation and a step."""
        plan = self._plan(explore)
        ahead = None
        if self._looks_ahead():
            assert isinstance(plan, Plan)
            ahead = Lookahead(plan, (self.seed, len(self.history)))
        return PlanPolicy(plan, self.states, self.actions, ahead)

    def q_values(self, obs: Any, step: int = 0) -> FloatArray:
        """Optimistic Q (A,) in the environment's units."""
        check_step(step, self.horizon)
        return np.asarray(self._plan().q(self.states.encode(obs), step)[0])

    def value_bounds(self, obs: Any, step: int = 0) -> tuple[float, float]:
        """(lower, upper) bounds on V* that hold with probability 1 − delta, in provable modes."""
        check_step(step, self.horizon)
        if self._proofs is None or self._proof().startswith("none"):
            raise InputError(
                f"bonus {self.mode.name!r} gives no bounds on values here (proof: {self._proof()}): use a provable "
                "mode with its constants"
            )
        state = self.states.encode(obs)
        if self._counting is not None:
            plans = [self._table_plan(self._counting, sign) for sign in (-1, 1)]
            lower, upper = (float(plan.value(state, step)[0]) for plan in plans)
            return lower, upper
        optimistic, pessimistic = self._plan(), self._plan(sign=-1.0)
        assert isinstance(optimistic, Plan)
        assert isinstance(pessimistic, Plan)
        return self._proofs.value_bounds(optimistic, pessimistic, state, step)

    def confidence_set(self) -> ConfidenceSet:
        """C_t for the next episode, on finite state spaces, in the modes that have one radius."""
        if self._proofs is None:
            raise InputError(f"bonus {self.mode.name!r} has no single radius: use 'paper' or 'tight'")
        return self._proofs.confidence_set(self._grounds())

    def estimate_constants(self, delta: float | None = None) -> dict[str, Interval]:
        """What the data say about B_P and B_V: bounds, those on B_P with probability 1 − delta."""
        share = FailureBudget(self.delta if delta is None else delta, learned_reward=False).delta
        log_ = self._memory.batches
        data = None if log_ is None else [batch for _, batch in log_]
        actions, plan = self._memory.recipe.actions, self._plan()
        learned = self._memory.embeddings
        return certificates.estimate_constants(learned, data, actions, self._problem(), plan, self._all_states, share)

    def pac_policy(self, epsilon: float, delta: float = 0.5) -> certificates.PacPolicy:
        """The policy of an episode drawn uniformly from those played, with the statement that holds for it.

        The draw is part of the agent's tree of seeds, and the plan is made again from the data of that time. All
        episodes must have begun in one state.

        Args:
            epsilon: what the policy may lose.
            delta: failure probability in all, the agent's own included.
        """
        failure = certificates.check_request(epsilon, delta, self.delta, len(self.history))
        if self._counting is not None:  # the last policy has a bound of its own, so that none needs to be drawn
            policy = self.policy()
            lost = self.certificate(policy).policy_loss_bound
            return certificates.PacPolicy(policy, len(self.history), *certificates.says(lost, epsilon, delta))
        self._check_first_state()
        episode = int(self._rng(4, len(self.history)).integers(len(self.history)))
        policy = self._policy_again(episode)
        bound = self.history[-1].metrics.get("regret_bound") if self._proof() == certificates.HOLDS else None
        found = certificates.statement(bound, len(self.history), failure, epsilon, delta, self._proof())
        return certificates.PacPolicy(policy, episode, *found)

    def diagnostics(self) -> dict[str, Any]:
        """What was chosen, what was learned, and numerical health."""
        return {
            "mode": self.label,
            "proof": self._proof(),
            "kernel": repr(self.kernel),
            "lam": self.lam,
            "reward range": self.reward_range,
            "episodes": len(self.history),
            "late rise of V1": self._late_rise(),
            **({"learners": self._balance().report()} if isinstance(self.mode, AutoMode) else {}),
            **({"prediction of next states": self._about_next_states()} if self.history else {}),
            **({"prediction of values": self._about_values()} if len(self._memory.starts) and self.history else {}),
            **self._memory.embeddings[0].diagnostics(),
        }

    def _about_next_states(self) -> str:
        return about_next_states([r.metrics["model_error"] for r in self.history if "model_error" in r.metrics])

    def _about_values(self) -> str:
        """What plans without haste expect of an episode, compared with what the latest have returned."""
        order, starts = np.arange(len(self.actions)), self._memory.starts
        tasks = [replace(self._task(explore), discount=1.0) for explore in (False, True)]
        if self._counting is not None:
            tasks[1] = tasks[0]  # what is hoped for is in the certificate
        plans = [make_plan(self._memory.embeddings, task, episode=len(self.history), order=order) for task in tasks]
        greedy, hopeful = (float(plan.value(starts, 0).mean()) for plan in plans)
        return about_values(greedy, hopeful, [record.ret for record in self.history])

    def _late_rise(self) -> float:
        return late_rise([record.metrics["value"] for record in self.history if "value" in record.metrics])

    def _watch_values(self) -> None:
        """Say once if values climb where they should not."""
        span = self.horizon * (self.reward_range[1] - self.reward_range[0])
        # A displacement finds better values as it explores, and a guard goes from one plan to another.
        direct = self._memory.displacement is None and self._counting is None
        if direct and not self._rise_reported and (rise := self._late_rise()) > LIMIT * span:
            self._rise_reported = True
            log.warning(
                "the value of the start has risen by %.3g over the later episodes: values may come from the "
                "interpolation rather than from rewards; a narrower value_kernel or backend='exact' would tell",
                rise,
            )

    def __repr__(self) -> str:
        return f"CMERL({self.label}, horizon={self.horizon}, episodes={len(self.history)}, kernel={self.kernel!r})"

    # --- on disk ---

    def _state(self) -> tuple[storage.Tensors, dict[str, Any]]:
        tensors = {**self._memory.tensors(self.states.dims), "actions": self._first_actions.table}
        tensors |= nested({"pending": self._pending.arrays()})
        if self._all_states is not None:
            tensors["all_states"] = self._all_states
        about: dict[str, Any] = {"options": self.options.spec(), "rewards": self._rewards.spec()}
        about["contradicted"] = [] if self._proofs is None else self._proofs.contradicted
        return tensors, {**about, "states": self.states.spec(), "actions": self.actions.spec()}

    def _restore(self, tensors: storage.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        options = meta["options"]
        self.states = StateSpace.from_spec(meta["states"])
        self.actions = ActionSet.from_spec(meta["actions"], tensors["actions"])
        if self.env is not None and not self.states.fits(self.env.observation_space):
            raise InputError("the environment's observations are not those that this agent was saved with")
        if self.env is not None and not all(self.env.action_space.contains(a) for a in self.actions.values):
            raise InputError("the environment's actions are not those that this agent was saved with")
        reward = given.pop("reward", options["reward"])
        if given:
            raise InputError(f"load takes no {', '.join(given)}: only what cannot be saved, such as reward")
        if reward is None:
            raise InputError("this agent was given its reward function, which is not saved: pass reward=…")
        self._set_up(
            tensors.get("all_states"), Options.from_spec(options, reward), RewardRange.from_spec(meta["rewards"])
        )
        if self._proofs is not None:
            self._proofs.contradicted = list(meta["contradicted"])
        self._memory.replay(tensors)
        self._follow_memory()
        self._pending = Pending.from_arrays(part(tensors, "pending"))

    # --- choices ---

    def _encode_all(self, states: ArrayLike) -> FloatArray:
        if self.states.shape is None:
            return self.states.encode_many(list(states))  # type: ignore[arg-type]
        array = np.asarray(states)
        if array.ndim == 0 or array.shape[1:] != self.states.shape:
            raise InputError(f"states must have shape (S, *{self.states.shape}), but has {array.shape}")
        return self.states.encode_many(array)

    # --- counting ---

    def _planner_from_counts(self) -> CountingPlanner | None:
        """What plans in the modes that count; None in others."""
        if not isinstance(self.mode, KL):
            return None
        self.mode.check(self._problem())
        assert self._all_states is not None
        ledger = self._ledger
        if ledger is None:
            raise MissingConstantError(f"bonus {self.mode.name!r} proves from counts, and cannot: {self._books}")
        if len(self.actions) != ledger.world.actions:
            raise InputError(f"bonus {self.mode.name!r} ranges over all actions of the space: drop actions=…")
        return CountingPlanner(self.mode, ledger, self._all_states)

    @property
    def _bookkeeping(self) -> dict[str, Any]:
        return {"growth": self.mode.growth, "eager": True} if isinstance(self.mode, KL) else {}

    def _table_plan(self, counting: CountingPlanner, sign: int) -> TablePlan:
        episode, E = len(self.history), self._memory.embeddings
        return counting.plan(
            self._task(True),
            [e.freeze() for e in E],
            self._order(episode),
            episode=episode + self.broken_off + 1,
            transitions=sum(e.n for e in E),
            sign=sign,
        )

    def _counted_plan(self, counting: CountingPlanner, sign: float) -> TablePlan:
        """The plan of the next episode in the modes that count."""
        table = self._table_plan(counting, 1 if sign > 0 else -1)
        if counting.practical is None or sign < 0:
            return table
        task = replace(table.task, mode=counting.practical)
        proposed = make_plan(self._memory.embeddings, task, episode=table.episode, order=table.order)
        return counting.choose(counting.tabulate(proposed), table)

    def _gap(self, start: int) -> float | None:
        if self._counting is None or self._counting.gaps is None:
            return None
        return float(self._counting.gaps[start])

    def _counted_evidence(self, counting: CountingPlanner) -> dict[str, Any]:
        evidence: dict[str, Any] = {"played": counting.guarded_by}
        if self.options.certify and isinstance(self._model, oracles.FiniteModel):
            assert isinstance(self._solution, oracles.Solution)
            evidence |= counting.check(self._model, self._solution)
        return evidence

    # --- proofs ---

    def _reward_claim(self) -> tuple[tuple[float, float] | None, FloatArray | None]:
        known = None
        if self._known_reward is not None and self._all_states is not None:
            known = self._known_reward(self._all_states)
        return (self._rewards.bounds if self._rewards.declared else None), known

    @property
    def _steps_differ(self) -> bool:
        return not self.options.time_homogeneous

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

    def _grounds(self) -> certificates.Grounds:
        begun, widened = len(self.history) + self.broken_off + 1, self._rewards.widened
        return certificates.Grounds(self._problem(), self._memory.embeddings, self.actions.rows, begun, widened)

    def _proof(self) -> str:
        """What can be said for this run, in words."""
        return "none" if self._proofs is None else self._proofs.statement(widened=self._rewards.widened)

    def _gather_evidence(self) -> dict[str, Any]:
        """What the episode that has just been played, but not yet learned from, proves or tells of the candidates."""
        if isinstance(self.mode, AutoMode):
            return self._weigh_candidates(self.mode)
        if self._proofs is None:
            return {}
        if self._counting is not None:
            return self._counted_evidence(self._counting)
        Z, complete = self._played()
        so_far = self.history[-1].metrics.get("excess") if self.history else 0.0
        episodes = len(self.history) + 1
        plan = self._plan()
        assert isinstance(plan, Plan)
        return self._proofs.evidence(plan, self._grounds(), Z, complete=complete, so_far=so_far, episodes=episodes)

    def _played(self) -> tuple[FloatArray, bool]:
        """The state-actions of the pending episode, and whether it went on to its horizon or a terminal state."""
        seen = self._pending.seen
        return np.vstack([s.z for s in seen]), seen[-1].done or seen[-1].step + 1 == self.horizon

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

    # --- balancing ---

    def _balance(self) -> Balance:
        """Which candidate is to play next; all that this depends on is in the last record."""
        assert isinstance(self.mode, AutoMode)
        lo, hi = self.reward_range
        report = self.history[-1].metrics["learners"] if self.history else None
        return balance(self.mode, report, span=self.horizon * (hi - lo), delta=self.delta)

    def _weigh_candidates(self, mode: AutoMode) -> dict[str, Any]:
        """What the pending episode tells of the candidate that played it."""
        now, (Z, complete), plan = self._balance(), self._played(), self._plan()
        assert isinstance(plan, Plan)
        turn, ret = now.turn(), sum(s.reward for s in self._pending.seen)
        excess = certificates.realised_excess(plan, self._memory.embeddings, Z, complete=complete)
        greedy = None
        if not mode.provable:
            excess = min(excess, now.span)  # no episode loses more than everything; a martingale must not be cut
            if turn > 0:
                greedy = float(self._plan(explore=False).value(Z[:1, : self.states.dims], 0)[0])
        after = now.after(turn, ret, excess, greedy)
        return {"active": now.learners[turn].label, "learners": after.report()}

    # --- planning ---

    def _order(self, episode: int, replans: int = 0) -> NDArray[np.intp]:
        """In which order a plan breaks ties (H, A), each step on its own: one order for all would be a direction."""
        orders = np.tile(np.arange(len(self.actions)), (self.horizon, 1))
        return self._rng(1, episode, replans).permuted(orders, axis=1)

    def _task(self, explore: bool, playing: str | None = None) -> Task:
        """What is planned for; ``playing`` names the candidate of a past episode, where several are balanced."""
        mode, problem = self.mode, self._problem()
        if isinstance(mode, AutoMode):
            labels = [candidate.label for candidate in mode.candidates]
            candidate = mode.candidates[self._balance().turn() if playing is None else labels.index(playing)]
            mode, problem = candidate.mode, candidate.problem(problem)
        return Task(
            problem=problem,
            mode=mode if explore else Greedy(),
            r_min=self.reward_range[0],
            max_return=self.options.max_return,
            hope=self._hope(),
            hope_only_raises=self._memory.displacement is not None,
            known_reward=self._known_reward,
            states=self._all_states,
            discount=haste(self.horizon) if self._memory.displacement else 1.0,
        )

    def _hope(self) -> Hope | None:
        if self.mode.provable:
            return None
        with_displacement = self._memory.displacement is not None
        return self._rewards.hope(len(self.history), self.horizon) if with_displacement else self._rewards.prize()

    def _stakes(self) -> tuple[Any, ...]:
        """What a plan depends on besides the data."""
        return self.reward_range, self._rewards.may_end, self._hope()

    def _plan(self, explore: bool = True, sign: float = 1.0) -> Plan | TablePlan:
        """The plan of the next episode, made once; one that has outlived its episode only breaks ties anew."""
        key, episode = (explore, sign), len(self.history)
        plan = self._plans.get(key)
        if plan is None or plan.episode != episode + self.broken_off + 1:
            self._plans[key] = self._make_plan(explore, sign, episode, 0, 0)
        return self._plans[key]

    def _looks_ahead(self) -> bool:
        """Whether that was found to be better than acting on plans alone."""
        return self._memory.displacement is not None and self._memory.displacement.looks_ahead

    def _replans_inside(self) -> bool:
        """Whether plans are made anew inside episodes; looking ahead also does well with one, and takes time."""
        return self.options.replan and not self._looks_ahead()

    def _make_plan(self, explore: bool, sign: float, episode: int, replans: int, first_step: int) -> Plan | TablePlan:
        if self._counting is not None and explore:
            return self._counted_plan(self._counting, sign)
        later = self._plans.get((explore, sign))
        assert not isinstance(later, TablePlan)
        return make_plan(
            self._memory.embeddings,
            self._task(explore),
            episode=episode + self.broken_off + 1,  # t counts all that were begun
            order=self._order(episode, replans),
            first_step=first_step,
            sign=sign,
            later=later,
        )

    # --- learning ---

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        self._rewards.see(reward, step if done else None)
        state, next_state = self.states.encode(obs), self.states.encode(next_obs)
        z = np.hstack([state, self.actions.encode(action)])
        nats = 0.0
        if self._replans_inside():
            embedding = self._memory.embeddings[min(step, len(self._memory.embeddings) - 1)]
            nats = 0.5 * float(np.log1p(embedding.std(z)[0] ** 2 / self.lam))
        self._pending.add(Seen(step, z, next_state, reward, done), nats)

    def _replanned(self, step: int) -> PlanPolicy | None:
        share = FIRST_SHARE if not self.history else 0.0
        if self._memory.displacement is not None:
            share = REPLAN_SHARE
        if not (self._replans_inside() and self._pending.worth_a_plan(self._memory.embeddings, share)):
            return None
        self._absorb()
        plan = self._plans[True, 1.0] = self._make_plan(True, 1.0, len(self.history), self._replans, step)
        return PlanPolicy(plan, self.states, self.actions)

    def _absorb(self) -> None:
        self._flush(end=False)
        self._replans += 1

    def _end_episode(self) -> None:
        self._replans = 0
        self._watch_values()
        self._evidence = self._gather_evidence() if self._pending and (True, 1.0) in self._plans else {}
        if self._pending and (error := self._model_error(self._pending.split()[1].batch()[1])) is not None:
            self._evidence["model_error"] = error
        if not self._may_wait():
            self._flush()
        begun = len(self.history) + self.broken_off + 1
        if self.mode.provable and any(self.options.constants.values()) and begun.bit_count() == 1:
            assert self._proofs is not None
            self._proofs.check_constants(self.estimate_constants())  # after 1, 2, 4, 8 … episodes
            self._plans.clear()  # what was planned for the check belongs to no episode

    def _may_wait(self) -> bool:
        """Whether the next episode may go on with the last plan, as what is pending would hardly change it."""
        lazy = self.options.replan and self._memory.displacement is None and not self._memory.due
        return lazy and self._pending.may_wait(self._memory.n) and self._stakes() == self._planned_for

    def _model_error(self, data: Transitions) -> float | None:
        """The part of an episode's motion that was not foreseen; None where it is not known."""
        if self._memory.displacement is not None:
            return prediction_error(self._memory.displacement, data)
        if len(self._memory.embeddings) > 1:
            return None
        return motion_error(self._memory.embeddings[0], data, self.states.categories)

    def _metrics(self, policy: Policy, start: Any) -> dict[str, Any]:
        assert isinstance(policy, PlanPolicy)
        embedding = self._memory.embeddings[0]
        return {
            "value": float(policy.plan.value(self.states.encode(start), 0)[0]),
            "information_gain": float(embedding.information_gain),
            "dictionary": len(embedding.support),
            "uncertainty": self._uncertainty(policy.plan, self.states.encode(start)),
            "begun": policy.plan.episode,
            "transitions": policy.plan.transitions,
            **(
                {"regret_bound": self._ledger.bound}
                if self._counting is not None and self._ledger is not None
                else {}
            ),
            **self._evidence,
        }

    def _uncertainty(self, plan: Plan | TablePlan, state: FloatArray) -> float:
        """σ at a first state and the action that the plan takes there."""
        sigma = plan.views[0].grid(state).std()[0, plan.act(state, 0)[0]]
        return float(sigma)

    def _break_off(self) -> None:
        # What was seen before the fault is true all the same; only an episode that the kernel refuses is lost.
        for seen in self._pending.split():
            self._pending = seen
            with contextlib.suppress(CmerlError):
                self._flush()
        self._pending = Pending()
        with contextlib.suppress(CmerlError):
            self._end_episode()

    def _flush(self, *, end: bool = True) -> None:
        """Learn from the pending transitions."""
        self._plans.clear()
        pending, self._pending = self._pending, Pending()
        if pending:
            steps, batch = pending.batch()
            rewards = self._rewards.counted(batch.rewards, batch.terminated)
            try:
                self._memory.update(steps, replace(batch, rewards=rewards), end=end)
            except CmerlError:  # nothing of it was learned
                self._pending = pending
                raise
            self._follow_memory()
        self._planned_for = self._stakes()

    def _follow_memory(self) -> None:
        """Plan with the candidates that the memory has by now."""
        if self._memory.actions is not self.actions.rows:
            self.actions = self._first_actions.with_rows(self._memory.actions)
            if self._known_reward is not None:
                self._known_reward = self._known_reward.with_actions(self.actions)
