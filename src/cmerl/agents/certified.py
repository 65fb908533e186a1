"""Certificates of a run, for any agent: counts and returns go into a ledger."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.agents.evaluation.values import PessimisticPolicy, Value, pessimistic_policy, value_of
from cmerl.agents.records import Policy, Trajectory
from cmerl.certificates import Certificate, Ledger
from cmerl.errors import InputError
from cmerl.finite import FiniteWorld
from cmerl.oracles.bellman import action_probabilities
from cmerl.oracles.wrapping import is_transformed
from cmerl.validation.functions import count_arguments

FloatArray = NDArray[np.float64]


class Certified(ABC):
    """The part of an agent that keeps its ledger."""

    env: gymnasium.Env[Any, Any] | None
    horizon: int
    _books: Ledger | str | None  # what proves a certificate, or why there is none
    _first_numbers: tuple[int, int] = (0, 0)  # the smallest observation and action, where both are Discrete

    @abstractmethod
    def policy(self, explore: bool = True) -> Policy:
        """The policy of the next episode; without exploration if ``explore`` is False."""

    @property
    @abstractmethod
    def _may_end(self) -> bool:
        """Whether an episode may end early, as far as is known beforehand."""

    def certificate(self, policy: Any = None) -> Certificate:
        """A certificate of this run: proven bounds on its regret and on the loss of a policy.

        It needs Discrete observations and actions, and rewards in a range that was declared: by ``reward_range``, by
        a reward function that was given, or by the environment as ``env.unwrapped.reward_range``.

        Args:
            policy: whose loss is bounded; by default what the next episode would play.
        """
        ledger = self.ledger
        if ledger is None:
            raise InputError(f"there is no certificate for this run: {self._books}")
        return ledger.certificate(self._probabilities(self.policy() if policy is None else policy))

    def value_of(self, policy: Any, start: Any = None) -> Value:
        """Bounds on what any policy earns, by the data alone; see `cmerl.evaluate`."""
        return value_of(policy, self, start)

    def pessimistic_policy(self, start: Any = None) -> PessimisticPolicy:
        """The policy with the highest proven lower bound on its value, by the data alone.

        Where the data prove nothing this is refused, with the reason. It needs what a certificate does.

        Args:
            start: the first observation; by default the first states of the episodes that were played.
        """
        return pessimistic_policy(self, start)

    def _probabilities(self, policy: Any) -> FloatArray:
        """A policy as probabilities (H, S, A), on numbers from 0 on."""
        ledger = self.ledger
        assert ledger is not None
        H, S, A = ledger.world.horizon, ledger.world.states, ledger.world.actions
        first_state, first_action = self._first_numbers
        observations = np.arange(S) + first_state
        if callable(getattr(policy, "probabilities", None)):
            return np.asarray(policy.probabilities(observations))
        table = policy.table(observations) if callable(getattr(policy, "table", None)) else policy
        if isinstance(table, np.ndarray) and table.ndim == 2:
            table = table - first_action
        elif callable(table):
            table = _numbered(table, first_state, first_action)
        return action_probabilities(table, np.arange(S), A, H)

    @property
    def ledger(self) -> Ledger | None:
        """The ledger of the certificate, made once; None if there can be none (`certificate` gives the reason)."""
        if self._books is None:
            world = self._finite_world()
            self._books = (
                world if isinstance(world, str) else Ledger(world, self._certified_delta, **self._bookkeeping)
            )
        return self._books if isinstance(self._books, Ledger) else None

    @property
    def _certified_delta(self) -> float:
        """The failure probability of a certificate."""
        return float(getattr(self, "delta", 0.1))

    @property
    def _bookkeeping(self) -> dict[str, Any]:
        """Options of the ledger."""
        return {}

    def _reward_claim(self) -> tuple[tuple[float, float] | None, FloatArray | None]:
        """The range of rewards that was declared, and mean rewards (S, A) that are known; None for what is not."""
        return None, None

    @property
    def _steps_differ(self) -> bool:
        """Whether each step has a transition distribution of its own."""
        return False

    def _finite_world(self) -> FiniteWorld | str:
        """The finite MDP of a certificate, or the reason why there is none."""
        if self.env is None:
            return "it has no environment"
        spaces = self.env.observation_space, self.env.action_space
        for space in spaces:
            if not isinstance(space, gymnasium.spaces.Discrete):
                return f"it counts visits, and {space} is not Discrete"
        (S, first_state), (A, first_action) = ((int(space.n), int(space.start)) for space in spaces)  # type: ignore[attr-defined]
        self._first_numbers = first_state, first_action
        declared, known = self._reward_claim()
        if declared is None and known is not None:
            declared = float(known.min()), float(known.max())
        if declared is None:
            declared = declared_range(self.env)
        if declared is None:
            return "the range of its rewards was not declared: pass reward_range=(lo, hi)"
        lo, hi = declared
        if self._may_end:
            lo, hi = min(lo, 0.0), max(hi, 0.0)
        if known is not None and known.shape != (S, A):
            return "its reward function was given for some of the actions only"
        return FiniteWorld(
            states=S,
            actions=A,
            horizon=self.horizon,
            r_min=lo,
            width=hi - lo,
            ends=self._may_end,
            per_step=self._steps_differ,
            rewards=None if known is None else known - lo,
        )

    def _enter(
        self, observations: Any, actions: Any, rewards: Any, *, terminated: bool, finished: bool = True
    ) -> None:
        """Enter an episode into the ledger, if there is one."""
        if (ledger := self.ledger) is None or len(actions) == 0:
            return
        first_state, first_action = self._first_numbers
        states = [int(obs) - first_state for obs in observations]
        played = [int(a) - first_action for a in actions]
        gap = self._gap(states[0]) if finished else None
        ledger.enter(
            states, played, [float(r) for r in rewards], terminated=bool(terminated), finished=finished, gap=gap
        )

    def _gap(self, start: int) -> float | None:
        """A bound on the loss of the last episode from state ``start``, if it was known before."""
        return None

    def _enter_seen(self, seen: Trajectory, *, finished: bool = True) -> None:
        """Enter what was seen; where there are gaps, only the transitions count."""
        runs = seen.runs()
        whole = seen.complete and len(runs) == 1
        for run in runs:
            if self._steps_differ and seen.steps[run.start] > 0:
                continue  # the ledger numbers steps from the first one on
            end = seen.terminated and run.stop == len(seen.steps)
            actions, rewards = seen.actions[run], seen.rewards[run]
            self._enter(seen.states(run), actions, rewards, terminated=end, finished=finished and whole)


def declared_range(env: gymnasium.Env[Any, Any]) -> tuple[float, float] | None:
    """The range of rewards that an environment declares as ``reward_range``; None where there is none that holds."""
    claimed = None if is_transformed(env) else getattr(env.unwrapped, "reward_range", None)
    if claimed is None or not np.isfinite(np.asarray(claimed, dtype=np.float64)).all():
        return None
    lo, hi = (float(end) for end in claimed)
    return lo, hi


def _numbered(policy: Callable[..., Any], first_state: int, first_action: int) -> Callable[[Any, int], int]:
    """The same policy on numbers from 0 on."""
    both = count_arguments(policy, "a policy", "(obs, step)", "(obs)") == 2

    def act(state: Any, step: int) -> int:
        obs = int(state) + first_state
        return int(policy(obs, step) if both else policy(obs)) - first_action

    return act
