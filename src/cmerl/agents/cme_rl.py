"""CME-RL: learn the embedding, plan optimistically, act greedily [CO22, Alg. 1]."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.agents import storage
from cmerl.agents.base import Agent, Policy, check_reward, check_step
from cmerl.agents.memory import BACKENDS, WIDTH, Memory, Recipe, automatic_kernel
from cmerl.agents.policies import PlanPolicy
from cmerl.agents.rewards import RewardRange
from cmerl.agents.spaces import ActionSet, StateSpace
from cmerl.confidence import MODES, ConfidenceSet, FailureBudget, Greedy, Mode, Paper, Problem, Tight, as_mode
from cmerl.embedding import ConditionalMeanEmbedding
from cmerl.errors import CmerlError, InputError
from cmerl.kernels import Delta, Kernel, Matern, StateAction, as_kernel, from_spec
from cmerl.planning import Plan, Task, make_plan
from cmerl.transitions import Points, Transitions

FloatArray = NDArray[np.float64]
Auto = Literal["auto"]
RewardFunction = Callable[[Any, Any], float]

log = logging.getLogger("cmerl")

REPLAN_SURPRISE = 1.0  # nats of information gained since the last plan, after which a new one is worth its time


class CMERL(Agent):
    """Reinforcement learning with conditional mean embeddings.

    >>> import gymnasium, cmerl
    >>> agent = cmerl.CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0).learn(100)
    >>> float(agent.history[-1].regret) < 0.1
    True

    Args:
        env: a Gymnasium environment with finitely many actions.
        horizon: steps per episode; defaults to the environment's own.
        seed: root of all randomness.
        kernel: k_φ on state-actions, or "auto": delta kernels on Discrete observations, else RBF kernels on
            observations scaled to [0, 1]: one that all actions share, the more the less a step moves the state, and a
            narrower one for what each action does differently.
        value_kernel: k_ψ on states, or "auto": the state part of ``kernel`` on Discrete observations, else a
            Matérn-3/2 kernel of width 0.1.
        lam: the ridge λ, or "auto": 0.1 in practical mode (λ pseudo-visits to heaven), 1 in provable modes.
        bonus: "practical" (no proof, learns fastest), "paper", "tight", "split", "nonnegative", or a mode object
            of ``cmerl.confidence``.
        reward: "learned", or the reward function as a callable (observation, action) → reward.
        backend: how the embedding is held: "exact"; "compressed", at a cost that does not grow with the data;
            "nystrom" or "fourier", classical sketches; "auto" is exact while that is quick, then compressed
            (provable modes stay exact).
        delta: failure probability of everything that a provable mode claims, together.
        reward_range: (lo, hi), or "auto": starts at (0, 1) and widens to what is seen.
        max_return: a known maximal return of an episode, if there is one.
        B_P: bound on ‖Θ_P‖_HS, or "auto" where one always holds (delta kernels); likewise ``B_V`` on ‖V‖_ψ and
            ``B_R`` on ‖R‖_φ, both for rewards counted from the lower end of ``reward_range``.
        replan: plan anew inside an episode once enough was learned; "auto" does so except in provable modes.
        time_homogeneous: False learns a transition law for each step of the episode.
        actions: candidate actions, where the action space is not finite.
        states: all observations (S, …), where states are finitely many but not Discrete.
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
        delta: float = 0.1,
        reward_range: tuple[float, float] | Auto = "auto",
        max_return: float | None = None,
        B_P: float | Auto = "auto",
        B_V: float | Auto = "auto",
        B_R: float | Auto = "auto",
        replan: bool | Auto = "auto",
        time_homogeneous: bool = True,
        actions: Sequence[Any] | None = None,
        states: ArrayLike | None = None,
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
        self.states = StateSpace.of(env.observation_space)
        self.actions = ActionSet.of(env.action_space, actions)
        all_states = self.states.all_states
        if states is not None:
            all_states = self._encode_all(states)
        self._set_up(
            all_states=all_states,
            kernel=kernel,
            value_kernel=value_kernel,
            lam=lam,
            mode=as_mode(bonus),
            reward=reward,
            backend=backend,
            delta=delta,
            reward_range=reward_range,
            max_return=max_return,
            constants={"B_P": B_P, "B_V": B_V, "B_R": B_R},
            replan=replan,
            time_homogeneous=time_homogeneous,
        )

    def _set_up(
        self,
        *,
        all_states: FloatArray | None,
        kernel: Any,
        value_kernel: Any,
        lam: float | Auto,
        mode: Mode,
        reward: RewardFunction | Literal["learned"],
        backend: str,
        delta: float,
        reward_range: tuple[float, float] | Auto,
        max_return: float | None,
        constants: dict[str, float | Auto],
        replan: bool | Auto,
        time_homogeneous: bool,
    ) -> None:
        """Everything but the environment, the same for a new agent and a loaded one."""
        self._all_states = all_states
        self.mode = mode
        self.value_kernel = self._choose_value_kernel(value_kernel, self._choose_kernel(kernel))
        self.lam = (1.0 if self.mode.provable else 0.1) if lam == "auto" else check_constant("lam", lam)
        if reward != "learned" and not callable(reward):
            raise InputError(f"reward must be 'learned' or a callable (observation, action), not {reward!r}")
        self.reward = reward
        self.delta = FailureBudget(check_constant("delta", delta), learned_reward=reward == "learned").delta
        # A proof must allow for early ends from the start; otherwise they count once one was seen.
        self._rewards = RewardRange(reward_range, may_end=self.mode.provable and self._model is None)
        if max_return is not None:
            max_return = check_reward(max_return)
        self.max_return = max_return
        self._constants = {
            name: None if value == "auto" else check_constant(name, value) for name, value in constants.items()
        }
        if replan not in (True, False, "auto"):
            raise InputError(f"replan must be True, False or 'auto', not {replan!r}")
        if replan is True and self.mode.provable:
            raise InputError(f"bonus {self.mode.name!r} never replans inside an episode: drop replan=True")
        self.replan = not self.mode.provable if replan == "auto" else bool(replan)
        provable_on = (
            ("auto", "exact", "compressed", "nystrom") if self.mode.survives_projection else ("auto", "exact")
        )
        if self.mode.provable and backend in BACKENDS and backend not in provable_on:
            raise InputError(f"bonus {self.mode.name!r} proves nothing on backend {backend!r}: use 'exact'")
        recipe = Recipe(
            kernel=self._choose_kernel(kernel),
            value_kernel=self.value_kernel,
            lam=self.lam,
            actions=self.actions.rows,
            backend=backend,
            track_std=self.mode.uses_sigma,
            provable=self.mode.provable,
            seed=self.seed,
        )
        self._memory = Memory(recipe, 1 if time_homogeneous else self.horizon)
        self._pending: list[tuple[int, FloatArray, FloatArray, float, bool]] = []
        self._plans: dict[tuple[bool, float], Plan] = {}  # of the next episode; emptied by every update
        self._surprise = 0.0
        self._replans = 0
        self._rewards_at: dict[bytes, FloatArray] = {}
        if self.reward != "learned" and not self._rewards.declared and all_states is not None:
            known = self._known_reward(all_states)
            self._rewards.include(float(known.min()), float(known.max()))
        if self.mode.provable:
            self.mode.check(self._problem())
        if self.mode.needs_norms and self._all_states is None:
            log.warning(
                "bonus %r: the state space is not finite, so norms of V are taken on the data alone; "
                "they are lower bounds and the mode is heuristic here",
                self.mode.name,
            )

    # --- for users ---

    @property
    def label(self) -> str:
        """The bonus mode as it should be reported: Alg. 1 with a learned reward is "paper+reward"."""
        extra = "+reward" if isinstance(self.mode, Paper) and self.reward == "learned" else ""
        return self.mode.name + extra

    @property
    def embedding(self) -> ConditionalMeanEmbedding:
        """The embedding (of the first step, if each step has its own), on encoded states and actions."""
        return ConditionalMeanEmbedding.wrap(self._memory.embeddings[0], self.value_kernel)

    @property
    def kernel(self) -> Kernel:
        """The kernel k_φ on encoded state-actions; an automatic one may change as data arrive."""
        return self._memory.kernel

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and largest reward per step; 0 is included once an episode has terminated."""
        return self._rewards.bounds

    def policy(self, explore: bool = True) -> PlanPolicy:
        """The plan that the next episode would play; call it with an observation and a step."""
        return PlanPolicy(self._plan(explore), self.states, self.actions)

    def q_values(self, obs: Any, step: int = 0) -> FloatArray:
        """Optimistic Q (A,) in the environment's units."""
        check_step(step, self.horizon)
        return np.asarray(self._plan().q(self.states.encode(obs), step)[0])

    def value_bounds(self, obs: Any, step: int = 0) -> tuple[float, float]:
        """(lower, upper) bounds on V* that hold with probability 1 − delta, in provable modes."""
        check_step(step, self.horizon)
        if self._proof().startswith("none"):
            raise InputError(
                f"bonus {self.mode.name!r} gives no bounds on values here (proof: {self._proof()}): use a provable "
                "mode with its constants"
            )
        state = self.states.encode(obs)
        least, most = ((self.horizon - step) * r for r in self.reward_range)
        lower = float(self._plan(sign=-1.0).value(state, step)[0])
        upper = float(self._plan().value(state, step)[0])
        return max(lower, least), min(upper, most)

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

    def diagnostics(self) -> dict[str, Any]:
        """What was chosen, what was learned, and numerical health."""
        return {
            "mode": self.label,
            "proof": self._proof(),
            "kernel": repr(self.kernel),
            "lam": self.lam,
            "reward range": self.reward_range,
            "episodes": len(self.history),
            **self._memory.embeddings[0].diagnostics(),
        }

    def _proof(self) -> str:
        """What can be said for this run, in words."""
        if not self.mode.provable:
            return "none"
        if self._rewards.widened:
            return "none: rewards left the range assumed at first; declare reward_range"
        if self.mode.needs_norms and self._all_states is None:
            return "none: norms of V are taken on the data alone"
        return "holds with probability 1 - delta"

    def __repr__(self) -> str:
        return f"CMERL({self.label}, horizon={self.horizon}, episodes={len(self.history)}, kernel={self.kernel!r})"

    # --- on disk ---

    def _state(self) -> tuple[storage.Tensors, dict[str, Any]]:
        tensors = {**self._memory.tensors(len(self.states.low)), "actions": self.actions.rows}
        if self._all_states is not None:
            tensors["all_states"] = self._all_states
        if MODES.get(self.mode.name) is not type(self.mode):
            raise InputError(f"a bonus mode of your own, {type(self.mode).__name__}, cannot be saved")
        options = {
            "kernel": "auto" if self._memory.recipe.kernel is None else self.kernel.spec(),
            "backend": self._memory.recipe.backend,
            "value_kernel": self.value_kernel.spec(),
            "lam": self.lam,
            "mode": {"name": self.mode.name, **dataclasses.asdict(self.mode)},
            "reward": self.reward if self.reward == "learned" else None,
            "delta": self.delta,
            "rewards": self._rewards.spec(),
            "max_return": self.max_return,
            "constants": self._constants,
            "replan": self.replan,
            "time_homogeneous": len(self._memory.embeddings) == 1,
        }
        return tensors, {"options": options, "states": self.states.spec(), "actions": self.actions.spec()}

    def _restore(self, tensors: storage.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        options = meta["options"]
        self.states = StateSpace.from_spec(meta["states"])
        self.actions = ActionSet.from_spec(meta["actions"], tensors["actions"])
        if self.env is not None and StateSpace.of(self.env.observation_space).spec() != meta["states"]:
            raise InputError("the environment's observations are not those that this agent was saved with")
        if self.env is not None and not all(self.env.action_space.contains(a) for a in self.actions.values):
            raise InputError("the environment's actions are not those that this agent was saved with")
        reward = given.pop("reward", options["reward"])
        if given:
            raise InputError(f"load takes no {', '.join(given)}: only what cannot be saved, such as reward")
        if reward is None:
            raise InputError("this agent was given its reward function, which is not saved: pass reward=…")
        mode = dict(options["mode"])
        self._set_up(
            all_states=tensors.get("all_states"),
            kernel="auto" if options["kernel"] == "auto" else from_spec(options["kernel"]),
            value_kernel=from_spec(options["value_kernel"]),
            lam=options["lam"],
            mode=MODES[mode.pop("name")](**mode),
            reward=reward,
            backend=options["backend"],
            delta=options["delta"],
            reward_range="auto",
            max_return=options["max_return"],
            constants={name: "auto" if value is None else value for name, value in options["constants"].items()},
            replan=options["replan"],
            time_homogeneous=options["time_homogeneous"],
        )
        self._rewards = RewardRange.from_spec(options["rewards"])
        self._memory.replay(tensors)

    # --- choices ---

    def _encode_all(self, states: ArrayLike) -> FloatArray:
        array = np.asarray(states)
        if array.ndim == 0 or array.shape[1:] != self.states.shape:
            raise InputError(f"states must have shape (S, *{self.states.shape}), but has {array.shape}")
        return self.states.encode_many(array)

    def _choose_kernel(self, kernel: Any) -> Kernel | None:
        """The kernel, or None to let the memory choose it from the data."""
        if not isinstance(kernel, str):
            return as_kernel(kernel)
        if kernel != "auto":
            raise InputError(f"kernel must be a kernel or 'auto', not {kernel!r}")
        if self.states.integer:
            return StateAction(Delta(), Delta(), self.actions.rows.shape[1])
        # A proof is about one kernel, fixed before the data.
        return automatic_kernel(0.5, self.actions.rows.shape[1]) if self.mode.provable else None

    def _choose_value_kernel(self, value_kernel: Any, kernel: Kernel | None) -> Kernel:
        if not isinstance(value_kernel, str):
            return as_kernel(value_kernel)
        if self.states.integer:
            return kernel.state_kernel if isinstance(kernel, StateAction) else Delta()
        return Matern(1.5, WIDTH)  # value functions have kinks, which a smoother kernel would ring around

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
            budget=FailureBudget(self.delta, learned_reward=self.reward == "learned"),
            embeddings=len(self._memory.embeddings),
            terminations=self._rewards.may_end,
            **self._constants,
        )

    # --- planning ---

    def _task(self, explore: bool) -> Task:
        return Task(
            problem=self._problem(),
            mode=self.mode if explore else Greedy(),
            r_min=self.reward_range[0],
            max_return=self.max_return,
            known_reward=None if self.reward == "learned" else self._known_reward,
            states=self._all_states,
        )

    def _plan(self, explore: bool = True, sign: float = 1.0) -> Plan:
        """The plan of the next episode, made once."""
        key = (explore, sign)
        if key not in self._plans:
            self._plans[key] = self._make_plan(explore, sign, len(self.history), 0, 0)
        return self._plans[key]

    def _make_plan(self, explore: bool, sign: float, episode: int, replans: int, first_step: int) -> Plan:
        order = self._rng(1, episode, replans).permutation(len(self.actions))
        return make_plan(
            self._memory.embeddings,
            self._task(explore),
            episode=episode + self.broken_off + 1,  # t counts all that were begun
            order=order,
            first_step=first_step,
            sign=sign,
        )

    def _known_reward(self, states: Points) -> FloatArray:
        """The user's reward function at states × actions (q, A); each state is asked for once."""
        assert callable(self.reward)
        assert isinstance(states, np.ndarray)
        rows = []
        for state in states:
            key = state.tobytes()
            if key not in self._rewards_at:
                obs = self.states.decode(state[None])[0]
                self._rewards_at[key] = np.array([check_reward(self.reward(obs, a)) for a in self.actions.values])
            rows.append(self._rewards_at[key])
        return np.array(rows).reshape(-1, len(self.actions))

    # --- learning ---

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        self._rewards.see(reward)
        state, next_state = self.states.encode(obs), self.states.encode(next_obs)
        z = np.hstack([state, np.array([np.ravel(action)], dtype=np.float64)])
        if self.replan:
            embedding = self._memory.embeddings[min(step, len(self._memory.embeddings) - 1)]
            self._surprise += math.log1p(float(embedding.std(z)[0]) ** 2 / self.lam)
        self._rewards.may_end |= done
        self._pending.append((step, z, next_state, reward, done))

    def _replanned(self, step: int) -> PlanPolicy | None:
        if not self.replan or self._surprise <= REPLAN_SURPRISE:
            return None
        self._flush()
        self._replans += 1
        plan = self._make_plan(True, 1.0, len(self.history), self._replans, step)
        return PlanPolicy(plan, self.states, self.actions)

    def _end_episode(self) -> None:
        self._replans = 0
        self._flush()

    def _metrics(self, policy: Policy, start: Any) -> dict[str, Any]:
        assert isinstance(policy, PlanPolicy)
        embedding = self._memory.embeddings[0]
        return {
            "value": float(policy.plan.value(self.states.encode(start), 0)[0]),
            "information_gain": float(embedding.information_gain),
            "dictionary": len(embedding.support),
        }

    def _break_off(self) -> None:
        # What was seen before the fault is true all the same; only a batch that the kernel refuses is lost.
        with contextlib.suppress(CmerlError):
            self._end_episode()

    def _flush(self) -> None:
        """Learn from the pending transitions."""
        self._surprise = 0.0
        self._plans.clear()
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        steps, Z, next_states, rewards, done = zip(*pending, strict=True)
        batch = Transitions.of(np.vstack(Z), np.vstack(next_states), rewards, done)
        self._memory.update(np.array(steps, dtype=np.intp), batch)


def check_constant(name: str, value: Any) -> float:
    """A user's constant as a positive float."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"{name} must be a positive number or 'auto', not {value!r}")
    return number
