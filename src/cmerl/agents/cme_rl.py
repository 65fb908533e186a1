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

from cmerl.agents import storage
from cmerl.agents.base import Policy, check_step
from cmerl.agents.calibration import about_next_states, about_values, motion_error
from cmerl.agents.guarantees import Certifier
from cmerl.agents.lookahead import Lookahead
from cmerl.agents.model_selection import haste, prediction_error
from cmerl.agents.options import Auto, Options, RewardFunction
from cmerl.agents.policies import PlanPolicy
from cmerl.agents.proofs import ProvingAgent
from cmerl.agents.rewards import KnownReward, RewardRange
from cmerl.agents.saved import check_cme_rl
from cmerl.agents.transition_store import Memory
from cmerl.agents.update_buffer import Pending, Seen
from cmerl.agents.value_drift import LIMIT, late_rise
from cmerl.confidence import Auto as AutoMode
from cmerl.confidence import Greedy, Mode, Paper, as_mode
from cmerl.embedding import ConditionalMeanEmbedding
from cmerl.errors import CmerlError, InputError
from cmerl.growing import nested, part
from cmerl.planning import Hope, Plan, Task, make_plan
from cmerl.rollback import all_or_nothing
from cmerl.spaces import Angles, StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.transitions import Transitions

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")

REPLAN_SHARE = 0.05  # of all information gained so far: what a new plan must bring where it takes long,
FIRST_SHARE = 0.1  # and in the first episode, where everything is a surprise


class CMERL(ProvingAgent):
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
        self._certifier_made: Certifier | None = None
        self._contradicted: list[str] = []  # constants that the data say are too small
        self._rise_reported = False
        self._pending = Pending()
        self._plans: dict[tuple[bool, float], Plan] = {}  # the latest; emptied by every update
        self._replans = 0
        self._known_reward: KnownReward | None = None
        if options.reward != "learned":
            self._known_reward = KnownReward(options.reward, self.states, self.actions)
            if not rewards.declared and all_states is not None:
                known = self._known_reward(all_states)
                rewards.include(float(known.min()), float(known.max()))
        if self.mode.provable:
            self.mode.check(self._problem())
        if self.mode.needs_norms and all_states is None:
            log.warning(
                "bonus %r: the state space is not finite, so norms of V are taken on the data alone; "
                "they are lower bounds and the mode is heuristic here",
                self.mode.name,
            )
        self._planned_for = self._stakes()

    # --- for users ---

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
        self._check_thread()
        plan = self._plan(explore)
        ahead = Lookahead(plan, (self.seed, len(self.history))) if self._looks_ahead() else None
        return PlanPolicy(plan, self.states, self.actions, ahead)

    def q_values(self, obs: Any, step: int = 0) -> FloatArray:
        """Optimistic Q (A,) in the environment's units."""
        self._check_thread()
        check_step(step, self.horizon)
        return np.asarray(self._plan().q(self.states.encode(obs), step)[0])

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
        plans = [make_plan(self._memory.embeddings, task, episode=len(self.history), order=order) for task in tasks]
        greedy, hopeful = (float(plan.value(starts, 0).mean()) for plan in plans)
        return about_values(greedy, hopeful, [record.ret for record in self.history])

    def _late_rise(self) -> float:
        return late_rise([record.metrics["value"] for record in self.history if "value" in record.metrics])

    def _watch_values(self) -> None:
        """Say once if values climb where they should not."""
        span = self.horizon * (self.reward_range[1] - self.reward_range[0])
        direct = self._memory.displacement is None  # a displacement finds better values as it explores
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
        about["contradicted"] = self._contradicted
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
        self._contradicted = list(meta["contradicted"])
        self._memory.replay(tensors)
        self._follow_memory()
        self._pending = Pending.from_arrays(part(tensors, "pending"))
        self._probe()

    def _probe(self) -> None:
        """Refuse to go on from a file whose numbers lead nowhere; the plan is the one that comes next anyway."""
        starts = self._memory.starts[-1:]
        if len(starts) and self.horizon <= 1000 and not np.all(np.isfinite(self._plan().q(starts, 0))):
            raise InputError("the file is damaged: values that follow from it are not finite")

    @classmethod
    def _check_saved(cls, tensors: storage.Tensors, meta: dict[str, Any]) -> None:
        check_cme_rl(tensors, meta)

    def _unsaved(self) -> dict[str, Any]:
        return {} if self.options.reward == "learned" else {"reward": self.options.reward}

    # --- choices ---

    def _encode_all(self, states: ArrayLike) -> FloatArray:
        if self.states.shape is None:
            return self.states.encode_many(list(states))  # type: ignore[arg-type]
        array = np.asarray(states)
        if array.ndim == 0 or array.shape[1:] != self.states.shape:
            raise InputError(f"states must have shape (S, *{self.states.shape}), but has {array.shape}")
        return self.states.encode_many(array)

    # --- planning ---

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

    def _plan(self, explore: bool = True, sign: float = 1.0) -> Plan:
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
        # Everything is checked before anything changes: a refused transition must leave no trace.
        state, next_state = self.states.encode(obs), self.states.encode(next_obs)
        z = np.hstack([state, self.actions.encode(action)])
        nats = 0.0
        if self._replans_inside():
            embedding = self._memory.embeddings[min(step, len(self._memory.embeddings) - 1)]
            nats = 0.5 * float(np.log1p(embedding.std(z)[0] ** 2 / self.lam))
        self._rewards.see(reward, step if done else None)
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
            self._check_constants()  # after 1, 2, 4, 8 … episodes
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
            try:
                self._flush()
            except CmerlError as error:
                log.warning("what was seen last cannot be learned, and is left out: %s", error)
        self._pending = Pending()
        with contextlib.suppress(CmerlError):
            self._end_episode()

    def _flush(self, *, end: bool = True) -> None:
        """Learn from the pending transitions."""
        with all_or_nothing(self):
            self._plans.clear()
            pending, self._pending = self._pending, Pending()
            if pending:
                steps, batch = pending.batch()
                rewards = self._rewards.counted(batch.rewards, batch.terminated)
                self._memory.update(steps, replace(batch, rewards=rewards), end=end)
                self._follow_memory()
            self._planned_for = self._stakes()

    def _follow_memory(self) -> None:
        """Plan with the candidates that the memory has by now."""
        if self._memory.actions is not self.actions.rows:
            self.actions = self._first_actions.with_rows(self._memory.actions)
            if self._known_reward is not None:
                self._known_reward = self._known_reward.with_actions(self.actions)
