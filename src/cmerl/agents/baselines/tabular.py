"""The base of tabular agents: counts, tabular plans and exact saving."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.agents.base import Agent, Policy
from cmerl.agents.baselines.empirical import EmpiricalModel, FloatArray
from cmerl.agents.saving import container
from cmerl.confidence.kl import CountingBudget
from cmerl.errors import InputError, RewardRangeError
from cmerl.validation import check_step

Backup = Callable[[int, FloatArray], FloatArray]
"""``backup(step, V)`` maps the values (S',) of what follows ``step`` to Q (S, A), before anything is clipped."""


@dataclass(frozen=True, eq=False)
class TablePolicy:
    """An action for every step and state.

    Attributes:
        actions: numbers of the actions from 0 on (H, S).
        first: the smallest numbers of observations and actions.
        Q: what the plan expects of each action, in the environment's units (H, S, A).
    """

    actions: NDArray[np.intp]
    first: tuple[int, int]
    Q: FloatArray

    def __call__(self, obs: Any, step: int) -> int:
        """The action for an observation at ``step``."""
        check_step(step, len(self.actions))
        return int(self.actions[step, check_state(obs, self.first[0], self.actions.shape[1])]) + self.first[1]

    def table(self, observations: NDArray[Any]) -> NDArray[np.intp]:
        """The action at every step and observation (H, S)."""
        found: NDArray[np.intp] = self.actions[:, np.asarray(observations) - self.first[0]] + self.first[1]
        return found

    def value(self, obs: Any, step: int = 0) -> float:
        """What the plan expects from an observation on."""
        return float(self.Q[step, check_state(obs, self.first[0], self.actions.shape[1])].max())


class TabularAgent(Agent):
    """Counts transitions and rewards, pooled over steps.

    Args:
        env: with Discrete observations and actions.
        horizon: steps per episode; defaults to the environment's own.
        seed: root of all randomness.
        reward_range: (lo, hi) of all rewards.
        delta: failure probability of the certificate, and of bonuses that take the constants of their paper.
    """

    saved: ClassVar[tuple[str, ...]] = ("delta",)  # attributes that JSON can hold
    saved_arrays: ClassVar[tuple[str, ...]] = ("counts", "reward_sums", "reward_squares")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        horizon: int | None = None,
        seed: int = 0,
        reward_range: tuple[float, float] = (0.0, 1.0),
        delta: float = 0.1,
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
        spaces = env.observation_space, env.action_space
        if not all(isinstance(space, gymnasium.spaces.Discrete) for space in spaces):
            raise InputError(f"agent {self.name!r} counts: it needs Discrete spaces, not {spaces[0]} and {spaces[1]}")
        self.reward_range = check_range(reward_range)
        self.delta = CountingBudget(check_number("delta", delta), learned_reward=True).delta
        (S, self._first_state), (A, self._first_action) = ((int(space.n), int(space.start)) for space in spaces)  # type: ignore[attr-defined]
        # Ends of an episode are a state of their own, the last one.
        self.counts: FloatArray = np.zeros((S, A, S + self._may_end))
        self.reward_sums: FloatArray = np.zeros((S, A))  # of rewards scaled to [0, 1]
        self.reward_squares: FloatArray = np.zeros((S, A))

    def _reward_claim(self) -> tuple[tuple[float, float] | None, FloatArray | None]:
        return self.reward_range, None

    # --- for users ---

    @property
    def visits(self) -> FloatArray:
        """How often each state-action was seen (S, A)."""
        seen: FloatArray = self.counts.sum(axis=2)
        return seen

    def q_values(self, obs: Any, step: int = 0, explore: bool = True) -> FloatArray:
        """Q (A,) of the next episode's plan, in the environment's units; optimistic where the agent is."""
        check_step(step, self.horizon)
        found: FloatArray = self._table(explore).Q[step, check_state(obs, self._first_state, len(self.reward_sums))]
        return found.copy()

    def policy(self, explore: bool = True) -> Policy:
        """The policy of the next episode; without exploration if ``explore`` is False."""
        return self._table(explore)

    def diagnostics(self) -> dict[str, Any]:
        """How much of the environment was seen, and the agent's settings."""
        visits = self.visits
        return {
            "transitions": int(visits.sum()),
            "state-actions seen": f"{int((visits > 0).sum())} of {visits.size}",
            "reward range": self.reward_range,
            **{name: getattr(self, name) for name in self._names("saved")},
        }

    # --- for subclasses ---

    def _table(self, explore: bool) -> TablePolicy:
        """The plan of the next episode."""
        raise NotImplementedError

    @property
    def _end_value(self) -> float:
        """What a step after the end is worth: a reward of 0, in units of scaled rewards."""
        lo, hi = self.reward_range
        return -lo / (hi - lo)

    def _check_reward(self, reward: float) -> None:
        lo, hi = self.reward_range
        if not lo <= reward <= hi:
            raise RewardRangeError(
                f"reward {reward:g} lies outside reward_range {self.reward_range}: pass one that holds all rewards"
            )

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        lo, hi = self.reward_range
        self._check_reward(reward)
        S = len(self.reward_sums)
        s, a = check_state(obs, self._first_state, S), int(action) - self._first_action
        after = check_state(next_obs, self._first_state, S)
        ended = done and self.counts.shape[2] > S
        scaled = (reward - lo) / (hi - lo)
        self.counts[s, a, -1 if ended else after] += 1
        self.reward_sums[s, a] += scaled
        self.reward_squares[s, a] += scaled**2
        self.learn_step(step, s, a, scaled, S if ended else after)

    def learn_step(self, step: int, s: int, a: int, reward: float, after: int) -> None:
        """What else to learn from a transition that was counted; ``after`` is S where the episode ended."""

    def _empirical(self) -> EmpiricalModel:
        """What was counted so far."""
        return EmpiricalModel.of(self.counts, self.reward_sums, self.reward_squares)

    def _most(self, step: int) -> float:
        """The most that can be left at ``step``, in scaled rewards; an end may be worth more than any reward."""
        return (self.horizon - step) * max(1.0, self._end_value)

    def _induct(self, backup: Backup, *, most: FloatArray | None = None, clip: bool = True) -> FloatArray:
        """Backward induction in scaled rewards: Q (H, S, A).

        Args:
            backup: Q of a step from the values after it.
            most: upper bounds on Q (H, S, A) that are known already.
            clip: let no Q exceed the largest possible remaining return.
        """
        (S, A), H = self.reward_sums.shape, self.horizon
        Q, V = np.empty((H, S, A)), np.zeros(self.counts.shape[2])
        for step in reversed(range(H)):
            V[S:] = self._end_value * (H - step - 1)
            Q[step] = backup(step, V)
            if clip:
                np.minimum(Q[step], self._most(step), out=Q[step])
            if most is not None:
                np.minimum(Q[step], most[step], out=Q[step])
            V[:S] = Q[step].max(axis=1)
        return Q

    def _greedy(self, Q: FloatArray) -> TablePolicy:
        """The policy that maximises Q (H, S, A) in scaled rewards, ties drawn from the seed and the episode."""
        lo, hi = self.reward_range
        left = np.arange(self.horizon, 0, -1.0)[:, None, None]
        actions = break_ties(Q, self._rng(4, len(self.history)))
        return TablePolicy(actions, (self._first_state, self._first_action), Q * (hi - lo) + lo * left)

    def _certain(self) -> TablePolicy:
        """The plan that believes the data, and values what it has not seen at the smallest reward."""
        model = self._empirical()
        return self._greedy(self._induct(lambda step, V: model.rewards + model.expect(V), clip=False))

    def _metrics(self, policy: Policy, start: Any) -> dict[str, Any]:
        return {"value": policy.value(start)} if isinstance(policy, TablePolicy) else {}

    # --- saving ---

    def _names(self, kind: str) -> list[str]:
        """What a class and its bases list to be saved."""
        return [name for base in reversed(type(self).__mro__) for name in vars(base).get(kind, ())]

    def _state(self) -> tuple[container.Tensors, dict[str, Any]]:
        tensors = {name: np.asarray(getattr(self, name)) for name in self._names("saved_arrays")}
        meta = {name: getattr(self, name) for name in self._names("saved")}
        first = [self._first_state, self._first_action]
        return tensors, {**meta, "reward_range": list(self.reward_range), "first": first}

    def _restore(self, tensors: container.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        if given:
            raise InputError(f"agent {self.name!r} was saved whole: drop {', '.join(given)}")
        for name in self._names("saved_arrays"):
            setattr(self, name, tensors[name])
        for name in self._names("saved"):
            setattr(self, name, meta[name])
        self.reward_range = meta["reward_range"][0], meta["reward_range"][1]
        self._first_state, self._first_action = meta["first"]
        if self.env is not None:
            sizes = getattr(self.env.observation_space, "n", None), getattr(self.env.action_space, "n", None)
            if sizes != self.reward_sums.shape:
                S, A = self.reward_sums.shape
                raise InputError(f"the agent was saved with {S} states and {A} actions: pass such an environment")


def break_ties(Q: FloatArray, rng: np.random.Generator, tolerance: float = 1e-9) -> NDArray[np.intp]:
    """The best action of every step and state (H, S), drawn at random among those that are as good.

    Args:
        Q: (H, S, A).
        rng: all randomness.
        tolerance: what rounding may make of equal values, relative to the largest.
    """
    best = Q.max(axis=2, keepdims=True)
    good = best - Q <= tolerance * max(1.0, float(np.abs(best).max(initial=0.0)))
    chosen: NDArray[np.intp] = np.where(good, rng.random(Q.shape), -1.0).argmax(axis=2)
    return chosen


def check_state(obs: Any, first: int, states: int) -> int:
    """The number of a state, from 0 on, for an observation of a Discrete space."""
    try:
        number = int(obs)
        whole = number == obs and not isinstance(obs, bool | np.bool_)
    except (TypeError, ValueError, OverflowError):
        number, whole = 0, False
    if not whole or not first <= number < first + states:
        last = first + states - 1
        raise InputError(f"an observation must be a whole number from {first} to {last}, not {reprlib.repr(obs)}")
    return number - first


def check_range(reward_range: Any) -> tuple[float, float]:
    """A range of rewards as two finite floats."""
    try:
        lo, hi = (float(end) for end in reward_range)
    except (TypeError, ValueError):
        raise InputError(f"reward_range must be (lo, hi) with lo < hi, not {reward_range!r}") from None
    if not (np.isfinite([lo, hi]).all() and lo < hi):
        raise InputError(f"reward_range must be (lo, hi) with lo < hi, both finite, not {reward_range!r}")
    return lo, hi


def check_number(name: str, value: Any, *, least: float = 0.0, above: bool = False, finite: bool = True) -> float:
    """A user's number as a float that is at least, or above, some bound."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    fits = number > least if above else number >= least
    if isinstance(value, bool) or not fits or (finite and not np.isfinite(number)):
        bound = f"above {least:g}" if above else f"of at least {least:g}"
        raise InputError(f"{name} must be a number {bound}, not {value!r}")
    return number
