"""CME-RL: learn the embedding, plan optimistically, act greedily [CO22, Alg. 1]."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.acting import MPC, Actor, Greedy, Spending
from cmerl.agents import storage
from cmerl.agents.base import Agent, Policy, declared_range
from cmerl.agents.cme_rl.calibration import about_next_states, about_values, model_error
from cmerl.agents.cme_rl.counting import CountingPlanner
from cmerl.agents.cme_rl.options import Auto, Options, RewardFunction
from cmerl.agents.cme_rl.planner import AnyPlan, Backward, Moment, Parts, Planner
from cmerl.agents.cme_rl.settings import Settings
from cmerl.agents.cme_rl.transition_store import TransitionStore
from cmerl.agents.cme_rl.update_buffer import Seen, UpdateBuffer
from cmerl.agents.from_logs import check_length, naming
from cmerl.agents.policies import PlanEpisode, PlanPolicy
from cmerl.agents.saved import check_cme_rl
from cmerl.confidence import KL, Mode, Paper, as_mode
from cmerl.confidence import Auto as AutoMode
from cmerl.embedding import ConditionalMeanEmbedding
from cmerl.errors import CmerlError, InputError, MissingConstantError
from cmerl.exploration import Account
from cmerl.growing import nested, part
from cmerl.logs import LoggedEpisode
from cmerl.optimism import Optimism
from cmerl.planning import Plan, Task, is_kernel_embedding, make_plan
from cmerl.rewards import KnownReward, RewardRange
from cmerl.rollback import all_or_nothing
from cmerl.spaces import Angles, StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.validation import check_step

if TYPE_CHECKING:  # only provable modes import these
    from cmerl.agents.cme_rl.proving import Balancing, Proving
    from cmerl.agents.explanation import Explanation
    from cmerl.certificates import PacPolicy
    from cmerl.confidence import ConfidenceSet, Interval
    from cmerl.kernels import Kernel

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")

LOG_BATCH = 500  # logged transitions that are learned at a time: an exact model hands over before it is slow


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
        lam: the ridge λ, or "auto": 0.1 in practical mode (λ prior visits with the maximal return) and where plans
            come from counts, 1 in provable modes with a bonus.
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
        reward_range: (lo, hi), or "auto": starts at (0, 1) and widens to what is seen. What a provable mode claims
            then holds only if all rewards lie in (0, 1), and is void once one does not; declare the range.
        max_return: a number that no episode from a first state can exceed, however lucky, if there is one.
        B_P: bound on ‖Θ_P‖_HS, or "auto" where one always holds (delta kernels); likewise ``B_V`` on ‖V‖_ψ and
            ``B_R`` on ‖R‖_φ, both for rewards counted from the lower end of ``reward_range``. Where episodes can end
            early, the end counts as one more state whose feature is a unit vector orthogonal to all others: B_P must
            include the probability of ending, and B_V what the end is worth.
        misspecification: ζ, where value functions are only known to lie within ζ of functions of norm B_V ("tight",
            "split", "paper").
        replan: plan anew inside an episode once a nat of information was gathered, and let later episodes that bring
            less than half a nat wait to be learned; "auto" does so except in provable modes.
        time_homogeneous: False learns a transition law for each step of the episode.
        certify: in provable modes, where the world is finite and known, record at every episode whether Θ_P lay in
            the confidence set and Q was optimistic.
        actions: candidate actions, where the action space is not finite; by default a low-discrepancy set, and
            actions between them where the agent acts.
        states: all observations (S, …), where states are finitely many but not Discrete.
        angles: columns of the observation, or names of its parts, that are angles: a list where the period is 2π, or
            a map from each to its period.
        optimism: what is assumed where nothing is known (`cmerl.optimism`); None to follow the mode and the model.
        planner: the backward pass, with the arguments of `cmerl.planning.make_plan`.
        actor: how plans become actions (`cmerl.acting`); None to let the data choose.
        settings: all other numbers, with their defaults (`cmerl.agents.Settings`).
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
        optimism: Optimism | None = None,
        planner: Backward = make_plan,
        actor: Actor | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
        if as_mode(bonus).from_counts and isinstance(reward_range, str):
            reward_range = declared_range(env) or reward_range
        self.states = StateSpace.of(env.observation_space, angles)
        self.actions = ActionSet.of(env.action_space, actions, self._rng(3))
        all_states = self.states.all_states
        if states is not None:
            all_states = self._encode_all(states)
        self._parts = Parts(optimism, planner, actor)
        self._assemble(
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
                settings=settings or Settings(),
            ),
            # A proof must allow for early ends from the start; otherwise they count once one was seen.
            RewardRange(
                reward_range,
                may_end=as_mode(bonus).provable and self._may_end,
                robust=not as_mode(bonus).provable,
            ),
        )

    def _assemble(self, all_states: FloatArray | None, options: Options, rewards: RewardRange) -> None:
        """The parts, the same for a new agent and a loaded one."""
        self.options, self.rewards = options, rewards
        recipe = options.recipe(self.states, self.actions, self.horizon, self.seed)
        self.model = TransitionStore(recipe, 1 if options.time_homogeneous else self.horizon)
        self.planner = Planner(
            options,
            self.states,
            self.actions,
            self.horizon,
            self.model,
            rewards,
            self._known_reward(all_states),
            all_states,
            self._rng,
            self._parts,
        )
        self.planner.counting = self._counting_planner(all_states)
        self.updates = options.settings.updates
        self._pending = UpdateBuffer()
        self._evidence: dict[str, Any] = {}  # what the last episode proved
        self._replans = 0
        self.account = Account()
        self._played: Spending | None = None
        if self.mode.provable:
            self.mode.check(self.planner.problem())
        if self.mode.needs_norms and all_states is None:
            log.warning(
                "bonus %r: the state space is not finite, so norms of V are taken on the data alone; "
                "they are lower bounds and the mode is heuristic here",
                self.mode.name,
            )
        self._planned_for = self.planner.stakes(self._learned_from)

    def _known_reward(self, all_states: FloatArray | None) -> KnownReward | None:
        if self.options.reward == "learned":
            return None
        proven = self.rewards.bounds if self.rewards.declared and self.mode.provable else None
        known = KnownReward(self.options.reward, self.states, self.actions, proven)
        if all_states is not None and (proven or not self.rewards.declared):
            values = known(all_states)  # outside a declared range this is an error
            if not self.rewards.declared:
                self.rewards.include(float(values.min()), float(values.max()))
        return known

    def _counting_planner(self, all_states: FloatArray | None) -> CountingPlanner | None:
        """What plans in the modes that count; None in others."""
        mode, ledger = self.mode, None
        if not isinstance(mode, KL):
            return None
        mode.check(self.planner.problem())
        ledger = self._ledger
        if ledger is None or all_states is None:
            raise MissingConstantError(f"bonus {mode.name!r} proves from counts, and cannot: {self._books}")
        if len(self.actions) != ledger.world.actions:
            raise InputError(f"bonus {mode.name!r} ranges over all actions of the space: drop actions=…")
        return CountingPlanner(mode, ledger, all_states)

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
        return self.model.kernel

    @property
    def value_kernel(self) -> Kernel:
        """The kernel k_ψ on encoded states; an automatic one may change as data arrive."""
        return self.model.value_kernel

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and largest reward per step; 0 is included once an episode has terminated."""
        return self.rewards.bounds

    @property
    def label(self) -> str:
        """The bonus mode as it should be reported: Alg. 1 with a learned reward is "paper+reward"."""
        extra = "+reward" if isinstance(self.mode, Paper) and self.options.reward == "learned" else ""
        return self.mode.name + extra

    @property
    def embedding(self) -> ConditionalMeanEmbedding:
        """The embedding (of the first step, if each step has its own), on encoded states and actions."""
        learned = self.model.embeddings[0]
        if not is_kernel_embedding(learned):
            raise InputError("the model is a displacement, which has no embedding: use model='direct' to have one")
        return ConditionalMeanEmbedding.wrap(learned, self.value_kernel)

    def policy(self, explore: bool = True) -> PlanPolicy:
        """The plan that the next episode would play; call it with an observation and a step."""
        self._check_thread()
        return self._policy_of(self._plan(explore), explore)

    def q_values(self, obs: Any, step: int = 0) -> FloatArray:
        """Optimistic Q (A,) in the environment's units."""
        self._check_thread()
        check_step(step, self.horizon)
        return np.asarray(self._plan().q(self.states.encode(obs), step)[0])

    def explain(self, obs: Any, step: int = 0, *, explore: bool = True, evidence: int = 10) -> Explanation:
        """Why the plan prefers an action here: for each, what is expected, on which evidence, and what is hoped for.

        Args:
            obs: an observation.
            step: of the episode.
            explore: whether the plan is the optimistic one that the next episode would play.
            evidence: past transitions an action that are listed, the heaviest first.
        """
        from cmerl.agents.cme_rl.explaining import explain

        self._check_thread()
        check_step(step, self.horizon)
        kind = "plan of the next episode" if explore else "plan without optimism"
        plan = self._plan(explore)
        return explain(plan, self.model, (self.states, self.actions), obs, step, kind, evidence)

    def value_bounds(self, obs: Any, step: int = 0) -> tuple[float, float]:
        """(lower, upper) bounds on V* that hold with probability 1 − delta, in provable modes."""
        check_step(step, self.horizon)
        plans = self.planner.bounding_plans(self._now, self._task)
        return self.proving.value_bounds(plans, self.states.encode(obs), step)

    def confidence_set(self) -> ConfidenceSet:
        """C_t for the next episode, on finite state spaces, in the modes that have one radius."""
        return self.proving.confidence_set(self._now.begun)

    def estimate_constants(self, delta: float | None = None) -> dict[str, Interval]:
        """What the data say about B_P and B_V: bounds, those on B_P with probability 1 − delta."""
        return self.proving.estimate_constants(self._plan(), delta)

    def pac_policy(self, epsilon: float, delta: float = 0.5) -> PacPolicy:
        """The policy of an episode drawn uniformly from those played, with the statement that holds for it.

        The draw is part of the agent's tree of seeds, and the plan is made again from the data of that time. All
        episodes must have begun in one state.

        Args:
            epsilon: what the policy may lose.
            delta: failure probability in all, the agent's own included.
        """
        if self.planner.counting is not None:
            policy = self.policy()
            return self.proving.last_policy(policy, self.certificate(policy).policy_loss_bound, epsilon, delta)
        return self.proving.pac_policy(epsilon, delta, self.balancing)

    @cached_property
    def proving(self) -> Proving:
        """What this agent can prove."""
        from cmerl.agents.cme_rl.proving import Proving

        return Proving(self.planner, self.history, (self._model, self._solution))

    @cached_property
    def balancing(self) -> Balancing | None:
        """Which of several candidate modes plays; None where there is one mode."""
        if not isinstance(self.mode, AutoMode):
            return None
        from cmerl.agents.cme_rl.proving import Balancing

        return Balancing(self.planner, self.history)

    def diagnostics(self) -> dict[str, Any]:
        """What was chosen, what was learned, and numerical health."""
        errors = [r.metrics["model_error"] for r in self.history if "model_error" in r.metrics]
        return {
            "mode": self.label,
            "proof": self.proving.statement() if self.mode.provable else "none",
            **({"kernel": repr(self.kernel)} if self.model.displacement is None else {}),
            "lam": self.lam,
            "reward range": self.reward_range,
            "episodes": len(self.history),
            **({"learned from logs": list(self.ingested)} if self.ingested else {}),
            **({} if self.balancing is None else {"learners": self.balancing.now().report()}),
            **({"prediction of next states": about_next_states(errors)} if self.history else {}),
            **({"prediction of values": self._about_values()} if len(self.model.starts) and self.history else {}),
            **self.model.diagnostics(),
        }

    def _about_values(self) -> str:
        """What undiscounted plans expect of an episode, compared with what the latest have returned."""
        order, starts = np.arange(len(self.actions)), self.model.starts
        tasks = [replace(self._task(explore), discount=1.0) for explore in (False, self.planner.counting is None)]
        plans = [make_plan(self.model.embeddings, task, episode=len(self.history), order=order) for task in tasks]
        greedy, optimistic = (float(plan.value(starts, 0).mean()) for plan in plans)
        return about_values(greedy, optimistic, [record.ret for record in self.history])

    def __repr__(self) -> str:
        return f"CMERL({self.label}, horizon={self.horizon}, episodes={len(self.history)}, kernel={self.kernel!r})"

    # --- one episode: plan, act, learn [CO22, Alg. 1] ---

    @property
    def _learned_from(self) -> int:
        """Episodes that were learned from, played or logged; a long log counts as many of them."""
        logged = (max(record["episodes"], record["transitions"] // self.horizon) for record in self.ingested)
        return len(self.history) + int(sum(logged))

    @property
    def _now(self) -> Moment:
        """T counts all episodes that were begun."""
        return Moment(len(self.history), self._learned_from + self.broken_off + 1)

    def _task(self, explore: bool = True) -> Task:
        candidate = None if self.balancing is None else self.balancing.candidate()
        return self.planner.task(self._learned_from, candidate, explore=explore)

    def _plan(self, explore: bool = True, sign: float = 1.0) -> AnyPlan:
        """Lines 3-6: the backward pass."""
        return self.planner.plan(self._now, lambda: self._task(explore), explore=explore, sign=sign)

    def _policy_of(self, plan: AnyPlan, explore: bool = True) -> PlanPolicy:
        """Lines 7-8: how the plan becomes actions."""
        refined = self.options.settings.refined
        free = explore and self._explores_freely
        actor: Actor = self._parts.actor or (Greedy() if free else self.model.actor)
        if isinstance(actor, Greedy) and self.actions.continuous and refined.suits(plan, self.actions.rows):
            actor = refined
        spending = self._spending(actor) if explore and not free and isinstance(plan, Plan) else None
        return PlanPolicy(plan, self.states, self.actions, actor, (self.seed, len(self.history)), spending)

    @property
    def _explores_freely(self) -> bool:
        """Whether looking for more costs nothing: greedy already promises all that is known to exist.

        After the first episode little is known to exist; later that is all there is, unless every reward was alike.
        """
        choice = self.model.choice
        return choice.saturated and (len(self.history) == 1 or not choice.compared)

    def _spending(self, actor: Actor) -> Spending | None:
        """What exploring may cost in the next episode, or in what is left of this one; None for no limit."""
        if self.model.displacement is None:
            return None
        returns = [*(record.ret for record in self.history), self.model.choice.promised]
        allowance = self.account.allowance(len(self.history) + 1, max(returns) - min(returns))
        if self._played is not None and self._replans:
            allowance = self._played.allowance
        if isinstance(actor, MPC) and actor.value == "fitted":
            return Spending(allowance, None)
        greedy = self._plan(explore=False)
        assert isinstance(greedy, Plan)
        return Spending(allowance, greedy)

    def _begin_playing(self, policy: Policy) -> Policy:
        play = super()._begin_playing(policy)
        self._played = play.spending if isinstance(play, PlanEpisode) else None
        return play

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        """Line 9: observe a transition."""
        # Everything is checked before anything changes: a refused transition must leave no trace.
        state, next_state = self.states.encode(obs), self.states.encode(next_obs)
        z = np.hstack([state, self.actions.encode(action)])
        nats = float(self.model.at(step).information(z)[0]) if self._replans_inside else 0.0
        self.rewards.see(reward, step if done else None)
        self._pending.add(Seen(step, z, next_state, reward, done), nats)

    @property
    def _replans_inside(self) -> bool:
        """Whether plans are made anew inside episodes; a search also does well with one, and takes time."""
        return self.options.replan and not isinstance(self.model.actor, MPC)

    def _replanned(self, step: int) -> PlanPolicy | None:
        costly = not self.history or self.model.displacement is not None
        due = self._replans_inside and self.updates.replan_due(
            self._pending.surprise, self.model.information_gain if costly else 0.0, costly=costly
        )
        if not due:
            return None
        self._absorb()
        return self._policy_of(self.planner.replan(self._now, self._task(), self._replans, step))

    def _absorb(self) -> None:
        self._learn(end=False)
        self._replans += 1

    def _end_episode(self) -> None:
        self._replans = 0
        self._evidence = self._gather_evidence()
        if self._played is not None:
            self.account = self.account.after(self._played.allowance)
            self._evidence |= {
                "charged": self._played.allowance.spent,
                "promise": self._played.allowance.promise,
                "deviations": self._played.allowance.deviations,
            }
            self._played = None
        if not self._may_wait():
            self._learn()
        if self.mode.provable and any(self.options.constants.values()) and self._now.begun.bit_count() == 1:
            self.proving.check_constants(self._plan())  # after 1, 2, 4, 8 … episodes
            self.planner.forget()  # what was planned for the check belongs to no episode

    def _gather_evidence(self) -> dict[str, Any]:
        """What the episode that has just been played, but not yet learned from, tells."""
        if not self._pending:
            return {}
        evidence: dict[str, Any] = {}
        if self.planner.planned and self.balancing is not None:
            evidence = self.balancing.evidence(self._plan(), self._plan(explore=False), self._pending)
        elif self.planner.planned and self.mode.provable:
            evidence = self.proving.evidence(self._plan(), self._pending)
        error = model_error(self.model, self._pending.split()[1].batch()[1], self.states.categories)
        return evidence if error is None else {**evidence, "model_error": error}

    def _may_wait(self) -> bool:
        """Whether the next episode may go on with the last plan, as what is pending would hardly change it."""
        lazy = self.options.replan and self.model.displacement is None and not self.model.due
        little = self.updates.may_wait(self._pending.surprise, len(self._pending), self.model.n)
        return lazy and little and self.planner.stakes(self._learned_from) == self._planned_for

    def _learn(self, *, end: bool = True) -> None:
        """Give the pending transitions to the model."""
        with all_or_nothing(self):
            self.planner.forget()
            pending, self._pending = self._pending, UpdateBuffer()
            if pending:
                steps, batch = pending.batch()
                rewards = self.rewards.counted(batch.rewards, batch.terminated)
                self.model.update(steps, replace(batch, rewards=rewards), end=end)
            self._planned_for = self.planner.stakes(self._learned_from)

    def _ingest(self, episodes: Sequence[LoggedEpisode]) -> None:
        self._learn()  # what has waited came first
        transitions: list[Seen] = []
        for episode in episodes:
            with naming(episode):
                transitions += self._encoded(episode)
                for seen in transitions[-len(episode) :]:
                    self.rewards.see(seen.reward, seen.step if seen.done else None)
        for start in range(0, len(transitions), LOG_BATCH):
            self._pending = UpdateBuffer(transitions[start : start + LOG_BATCH])
            self._learn(end=start + LOG_BATCH >= len(transitions))

    def _encoded(self, episode: LoggedEpisode) -> list[Seen]:
        """A logged episode as transitions."""
        if not self.options.time_homogeneous:
            check_length(episode, self.horizon)  # a later step has no law to learn
        rows = self.states.encode_many(episode.observations)
        actions = np.vstack([self.actions.encode(action) for action in episode.actions])
        Z, last = np.hstack([rows[:-1], actions]), len(episode) - 1
        return [
            Seen(
                min(t, self.horizon - 1),
                Z[t : t + 1],
                rows[t + 1 : t + 2],
                float(r),
                episode.terminated and t == last,
            )
            for t, r in enumerate(episode.rewards)
        ]

    def _break_off(self) -> None:
        # What was seen before the fault is true all the same; only an episode that the kernel refuses is lost.
        for seen in self._pending.split():
            self._pending = seen
            try:
                self._learn()
            except CmerlError as error:
                log.warning("what was seen last cannot be learned, and is left out: %s", error)
        self._pending = UpdateBuffer()
        with contextlib.suppress(CmerlError):
            self._end_episode()

    def _metrics(self, policy: Policy, start: Any) -> dict[str, Any]:
        assert isinstance(policy, PlanPolicy)
        plan, state, model = policy.plan, self.states.encode(start), self.model.embeddings[0]
        return {
            "value": float(plan.value(state, 0)[0]),
            "information_gain": float(model.information_gain),
            "dictionary": len(model.support),
            "uncertainty": float(plan.views[0].grid(state).std()[0, plan.act(state, 0)[0]]),
            "begun": plan.episode,
            "transitions": plan.transitions,
            **({} if self.planner.counting is None else {"regret_bound": self.planner.counting.ledger.bound}),
            **self._evidence,
        }

    # --- what a certificate is about ---

    def _reward_claim(self) -> tuple[tuple[float, float] | None, FloatArray | None]:
        reward, all_states = self.planner.known_reward, self.planner.all_states
        known = None if reward is None or all_states is None else reward(all_states)
        return (self.rewards.bounds if self.rewards.declared else None), known

    @property
    def _steps_differ(self) -> bool:
        return not self.options.time_homogeneous

    @property
    def _bookkeeping(self) -> dict[str, Any]:
        return {"growth": self.mode.growth, "eager": True} if isinstance(self.mode, KL) else {}

    def _gap(self, start: int) -> float | None:
        counting = self.planner.counting
        return None if counting is None or counting.gaps is None else float(counting.gaps[start])

    # --- on disk ---

    def _state(self) -> tuple[storage.Tensors, dict[str, Any]]:
        if self._parts.own:
            raise InputError(f"an agent with parts of your own ({', '.join(self._parts.own)}) cannot be saved")
        tensors = {**self.model.tensors(self.states.dims), "actions": self.actions.table}
        tensors |= nested({"pending": self._pending.arrays()})
        if self.planner.all_states is not None:
            tensors["all_states"] = self.planner.all_states
        about: dict[str, Any] = {"options": self.options.spec(), "rewards": self.rewards.spec()}
        proofs = self.proving.proofs if self.mode.provable else None
        about["contradicted"] = [] if proofs is None else proofs.contradicted
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
        self._parts = Parts()
        self._assemble(
            tensors.get("all_states"),
            Options.from_spec(options, reward, self.states, self.actions),
            RewardRange.from_spec(meta["rewards"]),
        )
        if self.mode.provable and self.proving.proofs is not None:
            self.proving.proofs.contradicted = list(meta["contradicted"])
        self.model.replay(tensors)
        self._pending = UpdateBuffer.from_arrays(part(tensors, "pending"))
        self._probe()

    def _probe(self) -> None:
        """Refuse to go on from a file whose numbers lead nowhere; the plan is the one that comes next anyway."""
        starts = self.model.starts[-1:]
        if len(starts) and self.horizon <= 1000 and not np.all(np.isfinite(self._plan().q(starts, 0))):
            raise InputError("the file is damaged: values that follow from it are not finite")

    @classmethod
    def _check_saved(cls, tensors: storage.Tensors, meta: dict[str, Any]) -> None:
        check_cme_rl(tensors, meta)

    def _unsaved(self) -> dict[str, Any]:
        return {} if self.options.reward == "learned" else {"reward": self.options.reward}

    def _encode_all(self, states: ArrayLike) -> FloatArray:
        if self.states.shape is None:
            return self.states.encode_many(list(states))  # type: ignore[arg-type]
        array = np.asarray(states)
        if array.ndim == 0 or array.shape[1:] != self.states.shape:
            raise InputError(f"states must have shape (S, *{self.states.shape}), but has {array.shape}")
        return self.states.encode_many(array)
