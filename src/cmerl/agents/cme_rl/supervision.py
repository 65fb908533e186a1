"""How an agent explores: optimistically, cautiously within limits, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.agents.policies import PlanPolicy
from cmerl.agents.supervised import SupervisedPolicy
from cmerl.errors import InputError
from cmerl.safety import Caution, Limits, Plans, Supervisor, Watch, as_cost, as_fallback, as_mask
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.validation.numbers import check_finite

FloatArray = NDArray[np.float64]
Data = Callable[[], tuple[FloatArray, FloatArray]]
"""All transitions so far: state-actions (n, d + e) and next states (n, d)."""
Explore = Literal["auto", "optimistic", "cautious", "greedy"]
AUTO: Explore = "auto"
Attitude = Literal["optimistic", "pessimistic"]


class ExplorationOptions(NamedTuple):
    """The exploration options of ``CMERL``."""

    explore: Explore = AUTO
    limits: Any = None
    cost: Any = None
    cost_budget: float | None = None
    fallback: Any = None
    allowed: Any = None
    exploratory_episodes: int | None = None
    caution: Caution | None = None
    attitude: Attitude = "optimistic"

    @property
    def given(self) -> list[str]:
        """Names of those that are not as by default."""
        usual = self._field_defaults

        def told(name: str, value: Any) -> bool:
            return bool(value != usual[name]) if isinstance(value, str) else value is not usual[name]

        return [name for name, value in self._asdict().items() if told(name, value)]

    @classmethod
    def again(cls, names: Sequence[str], given: dict[str, Any]) -> ExplorationOptions:
        """The exploration options of a loaded agent, taken out of ``given``."""
        told = {name: given.pop(name) for name in cls._fields if name in given}
        missing = [name for name in names if name not in told]
        if missing:
            raise InputError(
                f"this agent was told {', '.join(missing)}, which a file does not hold: pass {missing[0]}=… again"
            )
        return cls(**told)


@dataclass(frozen=True, eq=False)
class Supervision:
    """The checked exploration options.

    Attributes:
        explore: "optimistic", "cautious" or "greedy".
        episodes: how many may explore; None for all.
        supervisor: what is forbidden; None where nothing is.
    """

    explore: str = "optimistic"
    episodes: int | None = None
    supervisor: Supervisor | None = None

    @classmethod
    def of(
        cls,
        asked: ExplorationOptions,
        env: gymnasium.Env[Any, Any] | None,
        states: StateSpace,
        actions: ActionSet,
        horizon: int,
    ) -> Supervision:
        """From what a user says."""
        bounded = asked.limits is not None or asked.cost is not None
        explore = asked.explore
        if asked.attitude not in ("optimistic", "pessimistic"):
            raise InputError(f"attitude must be 'optimistic' or 'pessimistic', not {asked.attitude!r}")
        if asked.attitude == "pessimistic" and len(asked.given) > 1:
            others = ", ".join(name for name in asked.given if name != "attitude")
            raise InputError(f"a pessimistic agent does not explore, so that {others} means nothing: leave it out")
        if explore not in ("auto", "optimistic", "cautious", "greedy"):
            raise InputError(f"explore must be 'optimistic', 'cautious' or 'greedy', not {explore!r}")
        if explore == "auto":
            explore = "cautious" if bounded else "optimistic"
        if explore == "cautious" and not bounded:
            raise InputError("explore='cautious' needs to know what to avoid: pass limits=… or cost=…")
        cost = as_cost(asked.cost)
        if (cost is None) != (asked.cost_budget is None):
            raise InputError("cost and cost_budget belong together: pass both")
        budget = np.inf if asked.cost_budget is None else check_finite("cost_budget", asked.cost_budget)
        if asked.fallback is not None and not bounded:
            raise InputError("a fallback acts where limits or a budget would be exceeded: pass limits=… or cost=…")
        if asked.caution is not None and not isinstance(asked.caution, Caution):
            raise InputError(f"caution must be a cmerl.safety.Caution, not {asked.caution!r}")
        if explore == "optimistic" and asked.allowed is None:
            return cls(explore, _episodes(asked.exploratory_episodes))
        if not bounded and asked.allowed is None:
            return cls(explore, _episodes(asked.exploratory_episodes))
        guard = bounded and explore != "optimistic"
        if env is None:
            raise InputError("an agent with limits, a cost or a mask needs its environment: pass env=…")
        names = getattr(env.unwrapped, "columns", ())
        supervisor = Supervisor(
            states,
            actions,
            horizon,
            limits=Limits.of(asked.limits, states, names) if guard and asked.limits is not None else None,
            cost=cost if guard else None,
            cost_budget=budget,
            fallback=as_fallback(asked.fallback, env.action_space) if guard else None,
            allowed=as_mask(asked.allowed, actions),
            caution=asked.caution or Caution(),
        )
        return cls(explore, _episodes(asked.exploratory_episodes), supervisor)

    def explores(self, episode: int) -> bool:
        """Whether an episode with this number explores."""
        return self.explore != "greedy" and (self.episodes is None or episode < self.episodes)

    def over(
        self,
        policy: PlanPolicy,
        greedy: Callable[[], PlanPolicy],
        data: Data,
        rng: Callable[..., np.random.Generator],
        episode: int,
    ) -> PlanPolicy:
        """A policy, watched over where there is something to avoid.

        Args:
            policy: it.
            greedy: makes the one without exploration, when that is asked for.
            data: all transitions so far.
            rng: a generator for a purpose.
            episode: the number of the episode that it is for.
        """
        if self.supervisor is None:
            return policy
        supervisor = self.supervisor

        def watch() -> Watch:
            plans = _Greedy(policy, greedy).plans
            return Watch(supervisor, plans, data, lambda number: rng(12, number), episode)  # a branch of its own

        own = {name: getattr(policy, name) for name in ("plan", "states", "actions", "actor", "seed", "exploration")}
        return SupervisedPolicy(**own, watch=watch)


class _Greedy:
    """The plan without exploration, made when it is asked for."""

    def __init__(self, policy: PlanPolicy, make: Callable[[], PlanPolicy]) -> None:
        self._policy, self._make = policy, make

    @cached_property
    def _greedy(self) -> PlanPolicy:
        return self._make()

    @cached_property
    def _episode(self) -> Callable[[Any, int], Any]:
        return self._greedy.begin_episode()

    def _rows(self, states: FloatArray, step: int) -> FloatArray:
        return np.asarray(self._greedy.actions.rows[self._greedy.plan.act(states, step)])

    def _q(self, obs: Any, step: int) -> FloatArray:
        return np.asarray(self._policy.plan.q(self._policy.states.encode(obs), step)[0])

    @property
    def plans(self) -> Plans:
        return Plans(lambda obs, step: self._episode(obs, step), self._rows, self._q)


def _episodes(count: Any) -> int | None:
    if count is None:
        return None
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise InputError(f"exploratory_episodes must be a whole number of at least 0, or None, not {count!r}")
    return int(count)
