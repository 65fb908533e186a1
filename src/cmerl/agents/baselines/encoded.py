"""The base of agents with features or kernels: encoded states, scaled rewards, plans by step, saving."""

from __future__ import annotations

import contextlib
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.agents.base import Agent, Policy
from cmerl.agents.saving import container
from cmerl.errors import CmerlError, InputError, RewardRangeError
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.transitions import Transitions
from cmerl.validation import check_step

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
StepQ = Callable[[FloatArray, int], FloatArray]
"""Q (q, A) at encoded states (q, d) and a step, rewards scaled to [0, 1]."""

_COLUMNS = ("states", "actions", "rewards", "next_states", "terminated")  # of an episode on disk


@dataclass(frozen=True)
class EpisodeData:
    """An episode, or the part of it that was played, in the agent's own units.

    Attributes:
        states: encoded (k, d), the one before each action.
        actions: rows (k, d_a).
        rewards: scaled to [0, 1] (k,).
        next_states: encoded (k, d).
        terminated: whether the episode ended for good (k,).
    """

    states: FloatArray
    actions: FloatArray
    rewards: FloatArray
    next_states: FloatArray
    terminated: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def transitions(self) -> Transitions:
        """The same as state-actions and what followed."""
        Z = np.hstack([self.states, self.actions])
        return Transitions.of(Z, self.next_states, self.rewards, self.terminated)

    def columns(self) -> tuple[FloatArray, ...]:
        """All arrays, in the order of the attributes."""
        return self.states, self.actions, self.rewards, self.next_states, self.terminated.astype(np.float64)


@dataclass(frozen=True, eq=False)
class StepPolicy:
    """Acts by Q at every step; ties go to the first action in an order that the plan drew.

    Attributes:
        q: Q at encoded states and a step.
        order: actions in the order in which ties are broken, at every step (H, A).
        states: how observations are encoded.
        actions: what the columns of Q stand for.
        tie: actions closer than this, times the horizon, are tied.
    """

    q: StepQ
    order: IntArray
    states: StateSpace
    actions: ActionSet
    tie: float = 1e-10

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step``."""
        check_step(step, len(self.order))
        return self.actions.values[self._best(self.states.encode(obs), step)[0]]

    def table(self, observations: NDArray[Any]) -> IntArray:
        """The action at every step and observation (H, S), where actions are numbers."""
        rows = self.states.encode_many(observations)
        values = np.array([int(a) for a in self.actions.values], dtype=np.intp)
        return values[np.stack([self._best(rows, step) for step in range(len(self.order))])]

    def _best(self, rows: FloatArray, step: int) -> IntArray:
        order = self.order[step]
        q = self.q(rows, step)[:, order]
        first = np.argmax(q >= q.max(axis=1, keepdims=True) - self.tie * len(self.order), axis=1)
        return np.asarray(order[first])


class EncodedAgent(Agent):
    """Base of agents that see states and actions as rows of numbers.

    Args:
        env: a Gymnasium environment.
        horizon: steps per episode; defaults to the environment's own.
        seed: root of all randomness.
        reward_range: (lo, hi) of all rewards; they are scaled to [0, 1].
        bonus_scale: factor of every term of the bonus, or of the spread of what is drawn.
        theory: True for the constants of the agent's paper, False for practical ones.
        delta: failure probability that the paper's constants are for.
        actions: candidate actions where the action space is not finite.
    """

    scales_rewards: ClassVar[bool] = True  # False: rewards are used as they are, whatever their range
    _own: ClassVar[tuple[str, ...]] = ()  # attributes that are options of a subclass, plain JSON values
    _given: ClassVar[tuple[str, ...]] = ()  # options that are functions: not saved, to be passed to load

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        horizon: int | None = None,
        seed: int = 0,
        reward_range: tuple[float, float] = (0.0, 1.0),
        bonus_scale: float = 1.0,
        theory: bool = False,
        delta: float = 0.1,
        actions: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
        self.states = StateSpace.of(env.observation_space)
        self.actions = ActionSet.of(env.action_space, actions, self._rng(3))
        self.reward_range = _range(reward_range, self._may_end)
        self.bonus_scale = at_least_zero("bonus_scale", bonus_scale)
        self.theory = bool(theory)
        if not 0.0 < float(delta) < 1.0:
            raise InputError(f"delta must lie strictly between 0 and 1, not {delta!r}")
        self.delta = float(delta)
        self._reset()

    def _reset(self) -> None:
        self._seen: list[tuple[FloatArray, ...]] = []  # steps of the episode that is being played
        self.log: list[EpisodeData] = []
        self._made: dict[tuple[bool, int], Policy] = {}

    # --- for users ---

    def policy(self, explore: bool = True) -> Policy:
        """The plan that the next episode would play; without bonus or draw if ``explore`` is False."""
        key = bool(explore), len(self.history)
        if key not in self._made:
            self._made = {k: p for k, p in self._made.items() if k[1] == key[1]}
            self._made[key] = self._make_policy(key[0])
        return self._made[key]

    def q_values(self, obs: Any, step: int = 0, explore: bool = True) -> FloatArray:
        """Q of every action (A,) in the environment's units, optimistic or drawn unless ``explore`` is False."""
        check_step(step, self.horizon)
        policy = self.policy(explore)
        if not isinstance(policy, StepPolicy):
            raise InputError(f"agent {self.name!r} does not plan by values of actions: call its policy instead")
        lo, hi = self.reward_range
        return np.asarray((hi - lo) * policy.q(self.states.encode(obs), step)[0] + lo * (self.horizon - step))

    def diagnostics(self) -> dict[str, Any]:
        """What was chosen and how much was learned, ready for JSON."""
        return {
            "constants": "the paper's" if self.theory else "practical",
            "bonus scale": self.bonus_scale,
            "reward range": self.reward_range,
            "episodes": len(self.history),
            "transitions": sum(len(data) for data in self.log),
            **self._report(),
        }

    # --- for subclasses ---

    @abstractmethod
    def _make_policy(self, explore: bool) -> Policy:
        """Plan with what was learned."""

    @abstractmethod
    def _begin(self) -> None:
        """Forget all data; called when all options are known."""

    @abstractmethod
    def _learn(self, data: EpisodeData) -> None:
        """Learn from an episode; change nothing if that fails."""

    def _report(self) -> dict[str, Any]:
        """What else there is to say in ``diagnostics``."""
        return {}

    def _step_policy(self, q: StepQ) -> StepPolicy:
        """A policy on Q, with ties broken in an order that is the episode's own."""
        rng = self._rng(4, len(self.history))
        order = np.stack([rng.permutation(len(self.actions)) for _ in range(self.horizon)])
        return StepPolicy(q, order, self.states, self.actions)

    def _terminal(self, step: int) -> float:
        """What an end is worth before ``step``: the reward 0 in each step that is left, scaled."""
        lo, hi = self.reward_range
        return -lo / (hi - lo) * (self.horizon - step)

    def _index(self, rows: FloatArray) -> IntArray:
        """Numbers (k,) of actions given as rows (k, d_a)."""
        known = {row.tobytes(): i for i, row in enumerate(self.actions.rows + 0.0)}
        try:
            return np.array([known[row.tobytes()] for row in rows + 0.0], dtype=np.intp)
        except KeyError:
            raise InputError("an action was played that is not among those that this agent considers") from None

    # --- the loop ---

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        lo, hi = self.reward_range
        if self.scales_rewards and not lo <= reward <= hi:
            raise RewardRangeError(
                f"reward {reward:g} lies outside reward_range {self.reward_range}: pass one that holds all rewards"
            )
        state, row = self.states.encode(obs)[0], self.actions.encode(action)[0]
        scaled = np.array([(reward - lo) / (hi - lo)])
        self._seen.append((state, row, scaled, self.states.encode(next_obs)[0], np.array([float(done)])))

    def _end_episode(self) -> None:
        seen, self._seen = self._seen, []
        if not seen:
            return
        states, actions, rewards, nexts, ended = (np.array(column) for column in zip(*seen, strict=True))
        self._take(EpisodeData(states, actions, rewards[:, 0], nexts, ended[:, 0] > 0.0))

    def _break_off(self) -> None:
        with contextlib.suppress(CmerlError):  # what was seen before the fault is true all the same
            self._end_episode()

    def _take(self, data: EpisodeData) -> None:
        self._learn(data)
        self.log.append(data)
        self._made.clear()

    # --- on disk ---

    def _state(self) -> tuple[container.Tensors, dict[str, Any]]:
        tensors: container.Tensors = {}
        for name, parts in zip(_COLUMNS, zip(*(data.columns() for data in self.log), strict=True), strict=False):
            tensors[f"log.{name}"] = np.concatenate(parts)
        tensors["log.lengths"] = np.array([len(data) for data in self.log], dtype=np.int64)
        tensors["candidates"] = self.actions.table
        options = {name: getattr(self, name) for name in ("bonus_scale", "theory", "delta", *self._own)}
        spaces = {"states": self.states.spec(), "actions": self.actions.spec()}
        return tensors, {"options": options, "reward_range": list(self.reward_range), **spaces}

    def _restore(self, tensors: container.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        self.states = StateSpace.from_spec(meta["states"])
        self.actions = ActionSet.from_spec(meta["actions"], tensors["candidates"])
        if self.env is not None and not self.states.fits(self.env.observation_space):
            raise InputError("the environment's observations are not those that this agent was saved with")
        self.reward_range = meta["reward_range"][0], meta["reward_range"][1]
        for name, value in meta["options"].items():
            setattr(self, name, value)
        self._take_given(given)
        self._reset()
        self._restore_own(tensors, meta)
        self._begin()
        stops = np.cumsum(tensors["log.lengths"])[:-1]
        if len(tensors["log.lengths"]):
            parts = [np.split(tensors[f"log.{name}"], stops) for name in _COLUMNS]
            for states, actions, rewards, nexts, ended in zip(*parts, strict=True):
                self._take(EpisodeData(states, actions, rewards, nexts, ended > 0.0))

    def _restore_own(self, tensors: container.Tensors, meta: dict[str, Any]) -> None:
        """Set what else a subclass has saved."""

    def _take_given(self, given: dict[str, Any]) -> None:
        """Options that are functions come back from the user."""
        wrong = [name for name in given if name not in self._given]
        if wrong:
            raise InputError(f"load takes no {', '.join(wrong)} for agent {self.name!r}")
        for name, value in given.items():
            setattr(self, name, value)


def at_least_zero(name: str, value: Any) -> float:
    """An option as a finite float from 0 on."""
    with contextlib.suppress(TypeError, ValueError):
        if 0.0 <= float(value) < math.inf:
            return float(value)
    raise InputError(f"{name} must be a number of at least 0, not {value!r}")


def positive(name: str, value: Any) -> float:
    """An option as a finite float above 0."""
    with contextlib.suppress(TypeError, ValueError):
        if 0.0 < float(value) < math.inf:
            return float(value)
    raise InputError(f"{name} must be a number above 0, not {value!r}")


def whole(name: str, value: Any) -> int:
    """An option as a whole number from 1 on."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
    return int(value)


def one_law(time_homogeneous: bool | Literal["auto"], theory: bool) -> bool:
    """Whether all steps share one law: by default not with a paper's constants, as papers keep one for each step."""
    return not theory if isinstance(time_homogeneous, str) else bool(time_homogeneous)


def _range(reward_range: Any, may_end: bool) -> tuple[float, float]:
    """A range of rewards with lo < hi; it holds 0 where episodes may end, as nothing is earned after that."""
    try:
        lo, hi = (float(end) for end in reward_range)
    except (TypeError, ValueError):
        lo, hi = 0.0, 0.0
    if not (math.isfinite(lo) and math.isfinite(hi) and lo < hi):
        raise InputError(f"reward_range must be (lo, hi) with lo < hi, not {reward_range!r}")
    return (min(lo, 0.0), max(hi, 0.0)) if may_end else (lo, hi)
