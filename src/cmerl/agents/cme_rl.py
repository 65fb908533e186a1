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
from cmerl.acting import Greedy as ActGreedily
from cmerl.acting import Shooting
from cmerl.agents import storage
from cmerl.agents.balancing import Balance, balance
from cmerl.agents.base import Agent, Policy
from cmerl.agents.calibration import about_next_states, about_values, motion_error, prediction_error
from cmerl.agents.options import Auto, Options, RewardFunction
from cmerl.agents.policies import PlanPolicy
from cmerl.agents.settings import Settings
from cmerl.agents.transition_store import Memory
from cmerl.agents.update_buffer import Pending, Seen
from cmerl.confidence import Auto as AutoMode
from cmerl.confidence import ConfidenceSet, FailureBudget, Greedy, Interval, Mode, Paper, Problem, as_mode
from cmerl.embedding import ConditionalMeanEmbedding
from cmerl.errors import CmerlError, InputError
from cmerl.growing import nested, part
from cmerl.kernels import Delta, Kernel, StateAction
from cmerl.model_selection import planning_discount
from cmerl.optimism import Ceilings, Optimism, RangeCeiling, SeenCeiling, Situation
from cmerl.planning import Plan, Task, is_kernel_embedding, make_plan
from cmerl.rewards import KnownReward, RewardRange
from cmerl.spaces import Angles, StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.transitions import Transitions
from cmerl.validation import check_step

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")


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
        lam: the ridge λ, or "auto": 0.1 in practical mode (λ pseudo-visits to heaven), 1 in provable modes.
        bonus: "practical" (no proof, learns fastest), "paper", "tight", "split", "nonnegative"; "auto"
            (balances scales of the practical one by their regret); or a mode object of ``cmerl.confidence``.
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
        actions: candidate actions, where the action space is not finite; by default a low-discrepancy set, actions
            between them where the agent acts, and with a displacement candidates that follow the actions played.
        states: all observations (S, …), where states are finitely many but not Discrete.
        angles: columns of the observation, or names of its parts, that are angles: a list where the period is 2π, or
            a map from each to its period.
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
        settings: Settings | None = None,
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
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
                settings=settings or Settings(),
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
        self._memory = Memory(
            options.recipe(self.states, self.actions, self.horizon, self.seed),
            1 if options.time_homogeneous else self.horizon,
        )
        self._evidence: dict[str, Any] = {}  # what the last episode proved
        self._unlimited: tuple[Plan, Plan] | None = None  # the latest plan, and the same without max_return
        self._pending = Pending()
        self._plans: dict[tuple[bool, float], Plan] = {}  # the latest; emptied by every update
        self._replans = 0
        self._known_reward: KnownReward | None = None
        if options.reward != "learned":
            proven = rewards.bounds if rewards.declared and self.mode.provable else None
            self._known_reward = KnownReward(options.reward, self.states, self.actions, proven)
            if all_states is not None and (proven or not rewards.declared):
                known = self._known_reward(all_states)  # outside a declared range this is an error
                if not rewards.declared:
                    rewards.include(float(known.min()), float(known.max()))
        self._proofs: certificates.Proofs | None = None  # only provable modes have any
        if self.mode.provable:
            self.mode.check(self._problem())
            self._proofs = certificates.Proofs(self.mode, constants=options.constants, all_states=all_states)
            if options.certify and not isinstance(self.mode, AutoMode):
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
        learned = self._memory.embeddings[0]
        if not is_kernel_embedding(learned):
            raise InputError("the model is a displacement, which has no embedding: use model='direct' to have one")
        return ConditionalMeanEmbedding.wrap(learned, self.value_kernel)

    def policy(self, explore: bool = True) -> PlanPolicy:
        """The plan that the next episode would play; call it with an observation and a step."""
        return self._policy_of(self._plan(explore))

    def _policy_of(self, plan: Plan) -> PlanPolicy:
        actor = self._memory.actor
        if (
            isinstance(actor, ActGreedily)
            and self.actions.continuous
            and self.options.settings.refined.suits(plan, self.actions.rows)
        ):
            actor = self.options.settings.refined
        return PlanPolicy(plan, self.states, self.actions, actor, (self.seed, len(self.history)))

    def q_values(self, obs: Any, step: int = 0) -> FloatArray:
        """Optimistic Q (A,) in the environment's units."""
        check_step(step, self.horizon)
        return np.asarray(self._plan().q(self.states.encode(obs), step)[0])

    def value_bounds(self, obs: Any, step: int = 0) -> tuple[float, float]:
        """(lower, upper) bounds on V* that hold with probability 1 − delta, in provable modes."""
        check_step(step, self.horizon)
        if self._proofs is None or not self._proof().startswith("holds"):
            raise InputError(
                f"bonus {self.mode.name!r} gives no bounds on values here (proof: {self._proof()}): use a provable "
                "mode with its constants"
            )
        state, limited = self.states.encode(obs), None
        if self.options.max_return is not None and step == 0 and np.any(np.all(self._memory.starts == state, axis=1)):
            limited = self._plan()
        return self._proofs.value_bounds(self._unlimited_plan(), self._plan(sign=-1.0), state, step, limited)

    def _unlimited_plan(self) -> Plan:
        """The plan without ``max_return``, which tells nothing of states that no episode reaches at that step."""
        plan = self._plan()
        if self.options.max_return is None:
            return plan
        if self._unlimited is None or self._unlimited[0] is not plan:
            task = replace(plan.task, optimistic=None)
            made = make_plan(self._memory.embeddings, task, episode=plan.episode, order=plan.order)
            self._unlimited = (plan, made)
        return self._unlimited[1]

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
        learned = self._memory.proven
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
        self._check_first_state()
        episode = int(self._rng(4, len(self.history)).integers(len(self.history)))
        policy = self._policy_again(episode)
        bound = self.history[-1].metrics.get("regret_bound") if self._proof().startswith("holds") else None
        found = certificates.statement(bound, len(self.history), failure, epsilon, delta, self._proof())
        return certificates.PacPolicy(policy, episode, *found)

    def diagnostics(self) -> dict[str, Any]:
        """What was chosen, what was learned, and numerical health."""
        return {
            "mode": self.label,
            "proof": self._proof(),
            **({"kernel": repr(self.kernel)} if self._memory.displacement is None else {}),
            "lam": self.lam,
            "reward range": self.reward_range,
            "episodes": len(self.history),
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
        plans = [make_plan(self._memory.embeddings, task, episode=len(self.history), order=order) for task in tasks]
        greedy, hopeful = (float(plan.value(starts, 0).mean()) for plan in plans)
        return about_values(greedy, hopeful, [record.ret for record in self.history])

    def __repr__(self) -> str:
        return f"CMERL({self.label}, horizon={self.horizon}, episodes={len(self.history)}, kernel={self.kernel!r})"

    # --- on disk ---

    def _state(self) -> tuple[storage.Tensors, dict[str, Any]]:
        tensors = {**self._memory.tensors(self.states.dims), "actions": self.actions.table}
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
        self._pending = Pending.from_arrays(part(tensors, "pending"))

    # --- choices ---

    def _encode_all(self, states: ArrayLike) -> FloatArray:
        if self.states.shape is None:
            return self.states.encode_many(list(states))  # type: ignore[arg-type]
        array = np.asarray(states)
        if array.ndim == 0 or array.shape[1:] != self.states.shape:
            raise InputError(f"states must have shape (S, *{self.states.shape}), but has {array.shape}")
        return self.states.encode_many(array)

    # --- proofs ---

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
        begun = len(self.history) + self.broken_off + 1
        return certificates.Grounds(
            self._problem(),
            self._memory.proven,
            self.actions.rows,
            begun,
            self._rewards.assumption,
            self._left_range(),
        )

    def _left_range(self) -> bool:
        """Whether a reward was met outside the range that was assumed, in play or in the known reward function."""
        known = self._known_reward
        outside = known is not None and known.leaves(*self.reward_range)
        return self._rewards.widened or (self._rewards.assumption is not None and outside)

    def _proof(self) -> str:
        """What can be said for this run, in words."""
        return (
            "none" if self._proofs is None else self._proofs.statement(self._rewards.assumption, self._left_range())
        )

    def _gather_evidence(self) -> dict[str, Any]:
        """What the episode that has just been played, but not yet learned from, proves or tells of the candidates."""
        if isinstance(self.mode, AutoMode):
            return self._weigh_candidates(self.mode)
        if self._proofs is None:
            return {}
        Z, complete = self._played()
        self._proofs.check_return(sum(seen.reward for seen in self._pending.seen), self.options.max_return)
        so_far = self.history[-1].metrics.get("excess") if self.history else 0.0
        episodes = len(self.history) + 1
        return self._proofs.evidence(
            self._plan(), self._grounds(), Z, complete=complete, so_far=so_far, episodes=episodes
        )

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
        return PlanPolicy(plan, self.states, self.actions)

    # --- balancing ---

    def _balance(self) -> Balance:
        """Which candidate is to play next; all that this depends on is in the last record."""
        assert isinstance(self.mode, AutoMode)
        lo, hi = self.reward_range
        report = self.history[-1].metrics["learners"] if self.history else None
        return balance(self.mode, report, span=self.horizon * (hi - lo), delta=self.delta)

    def _weigh_candidates(self, mode: AutoMode) -> dict[str, Any]:
        """What the pending episode tells of the candidate that played it."""
        now, (Z, complete) = self._balance(), self._played()
        turn, ret = now.turn(), sum(s.reward for s in self._pending.seen)
        excess = certificates.realised_excess(self._plan(), self._memory.proven, Z, complete=complete)
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
            optimistic=self._ceilings(),
            known_reward=self._known_reward,
            states=self._all_states,
            discount=self._discount,
            with_excess=self.mode.provable or isinstance(self.mode, AutoMode),
        )

    @property
    def _discount(self) -> float:
        return 1.0 if self._memory.displacement is None else planning_discount(self.horizon)

    @property
    def optimism(self) -> Optimism:
        """What is assumed where nothing is known."""
        if self.mode.provable:
            return RangeCeiling()
        return self.options.settings.prize if self._memory.displacement is None else SeenCeiling()

    def _ceilings(self) -> Ceilings:
        episodes, most = len(self.history), self.options.max_return
        return self.optimism.ceilings(Situation(self._rewards, self.horizon, episodes, self._discount, most))

    def _stakes(self) -> tuple[Any, ...]:
        """What a plan depends on besides the data."""
        return self.reward_range, self._rewards.may_end, self._ceilings()

    def _plan(self, explore: bool = True, sign: float = 1.0) -> Plan:
        """The plan of the next episode, made once; one that has outlived its episode only breaks ties anew."""
        key, episode = (explore, sign), len(self.history)
        plan = self._plans.get(key)
        if plan is None or plan.episode != episode + self.broken_off + 1:
            self._plans[key] = self._make_plan(explore, sign, episode, 0, 0)
        return self._plans[key]

    def _replans_inside(self) -> bool:
        """Whether plans are made anew inside episodes; a search also does well with one, and takes time."""
        return self.options.replan and not isinstance(self._memory.actor, Shooting)

    def _make_plan(self, explore: bool, sign: float, episode: int, replans: int, first_step: int) -> Plan:
        return make_plan(
            self._memory.embeddings,
            self._task(explore),
            episode=episode + self.broken_off + 1,  # t counts all that were begun
            order=self._order(episode, replans),
            first_step=first_step,
            sign=sign,
            later=self._plans.get((explore, sign)),
        )

    # --- learning ---

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        self._rewards.see(reward, step if done else None)
        state, next_state = self.states.encode(obs), self.states.encode(next_obs)
        z = np.hstack([state, self.actions.encode(action)])
        nats = 0.0
        if self._replans_inside():
            embedding = self._memory.embeddings[min(step, len(self._memory.embeddings) - 1)]
            nats = float(embedding.information(z)[0])
        self._pending.add(Seen(step, z, next_state, reward, done), nats)

    def _replanned(self, step: int) -> PlanPolicy | None:
        if not self._replans_inside():
            return None
        costly = not self.history or self._memory.displacement is not None
        gained = sum(model.information_gain for model in self._memory.embeddings) if costly else 0.0
        if not self.options.settings.updates.replan_due(self._pending.surprise, gained, costly=costly):
            return None
        self._absorb()
        plan = self._plans[True, 1.0] = self._make_plan(True, 1.0, len(self.history), self._replans, step)
        return self._policy_of(plan)

    def _absorb(self) -> None:
        self._flush(end=False)
        self._replans += 1

    def _end_episode(self) -> None:
        self._replans = 0
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
        nats, waiting, updates = self._pending.surprise, len(self._pending), self.options.settings.updates
        return lazy and updates.may_wait(nats, waiting, self._memory.n) and self._stakes() == self._planned_for

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
            **self._evidence,
        }

    def _uncertainty(self, plan: Plan, state: FloatArray) -> float:
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
        self._planned_for = self._stakes()
