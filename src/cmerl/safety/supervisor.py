"""The supervisor: plays the plan if its action is predicted to be safe, else the greedy plan or the fallback."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError, shown
from cmerl.safety.caution import Caution, Intervention
from cmerl.safety.finite import finite_risk, known_laws
from cmerl.safety.forecast import Forecast, Shapes
from cmerl.safety.given import fallback_action
from cmerl.safety.limits import Limits
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.validation.numbers import check_finite

FloatArray = NDArray[np.float64]
Acts = Callable[[Any, int], Any]


class Plans(NamedTuple):
    """The present plans of the agent.

    Attributes:
        greedy: the action of the plan without exploration, at an observation and a step.
        greedy_rows: the same at encoded states (q, d): rows of actions (q, e).
        q: Q (A,) of the plan at an observation and a step, for the best action that is allowed.
    """

    greedy: Acts
    greedy_rows: Callable[[FloatArray, int], FloatArray]
    q: Callable[[Any, int], FloatArray]


@dataclass(frozen=True, eq=False)
class Supervisor:
    """Enforces limits, costs and masks: checks each action and replaces unsafe ones.

    Attributes:
        states: how observations are encoded.
        actions: the candidate actions.
        horizon: H.
        limits: on the numbers of observations; None for none.
        cost: of a transition as cost(obs, action, next_obs), or the key of ``info`` that has it; None for none.
        cost_budget: the most that an episode may cost.
        fallback: what acts where nothing else is safe: a function of (obs, step), or None for the greedy plan.
        allowed: whether an action is allowed at an observation; None if all are.
        caution: how far ahead to look, and with how much doubt.
        lam: λ of the embedding, which is what unknown state-actions of a finite MDP lack.
    """

    states: StateSpace
    actions: ActionSet
    horizon: int
    limits: Limits | None = None
    cost: Callable[[Any, Any, Any], float] | str | None = None
    cost_budget: float = np.inf
    fallback: Acts | None = None
    allowed: Callable[[Any, Any], bool] | None = None
    caution: Caution = field(default_factory=Caution)
    lam: float = 0.1
    _fitted: dict[int, Shapes] = field(init=False, repr=False, default_factory=dict)

    @property
    def looks_ahead(self) -> bool:
        """Whether actions are checked by a forecast."""
        return self.limits is not None or self.cost is not None

    def foresee(self, Z: FloatArray, nexts: FloatArray) -> Forecast | FloatArray | None:
        """A forecast from transitions: state-actions (n, d + e) and next states (n, d); laws (S, A, S) if finite."""
        d = self.states.dims
        if self.states.states is not None:
            S, A = self.states.states, len(self.actions)
            counts = np.zeros((S, A, S))
            if len(Z):
                first = self.states.parts[0].low[0]
                place = [(Z[:, 0] - first).astype(int), self._indices(Z[:, d:]), (nexts[:, 0] - first).astype(int)]
                np.add.at(counts, tuple(place), 1.0)
            return known_laws(counts, self.lam)
        return Forecast.of(Z[:, :d], self.features(Z[:, d:]), nexts, self.caution, self._fitted)

    def features(self, rows: FloatArray) -> FloatArray:
        """Actions as a forecast sees them: numbers as they are, finitely many as indicators."""
        return rows if self.actions.continuous else np.eye(len(self.actions))[self._indices(rows)]

    def rows(self, actions: Sequence[Any]) -> FloatArray:
        """Actions as rows (q, e)."""
        scale = self.actions.scale
        if scale is not None:
            return scale.encode(np.stack([np.asarray(action, dtype=np.float64) for action in actions]))
        return np.vstack([self.actions.encode(action) for action in actions])

    def observations(self, rows: FloatArray) -> Sequence[Any]:
        """The observations behind rows (q, d)."""
        states = self.states
        if states.shape is None or states.integer:
            return states.decode(rows)
        return list(states.columns.invert(rows).reshape(-1, *states.shape))

    def _indices(self, rows: FloatArray) -> NDArray[np.intp]:
        same = (rows[:, None] == self.actions.rows[None]).all(axis=2)
        return np.asarray(same.argmax(axis=1))


class Watch:
    """A supervisor on its way through one episode.

    Args:
        supervisor: what is forbidden.
        plans: what the agent would do.
        data: all transitions so far: state-actions and next states.
        rng: errors of the model are drawn with it, the same ones at every step.
        episode: its number.

    Attributes:
        interventions: actions that were not taken.
        spent: what the episode has cost.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        plans: Plans,
        data: Callable[[], tuple[FloatArray, FloatArray]],
        rng: Callable[[int], np.random.Generator],
        episode: int,
    ) -> None:
        self._by, self.plans, self._data, self._rng, self._episode = supervisor, plans, data, rng, episode
        start = getattr(supervisor.fallback, "begin_episode", None)
        self._fallback = supervisor.fallback if start is None else start()
        self.interventions: list[Intervention] = []
        self.spent = self._largest = 0.0
        self._forecast: Forecast | FloatArray | None = None
        self._made_from = -1  # transitions that the forecast was made from

    @property
    def cost(self) -> float | None:
        """What the episode has cost; None if nothing does."""
        return None if self._by.cost is None else self.spent

    # --- act ---

    def act(self, obs: Any, step: int, propose: Callable[[], Any]) -> Any:
        """The action at an observation; ``propose`` gives what the plan would do."""
        before = copy.deepcopy(self._fallback)  # a controller may remember what it was asked
        rescue = self._rescue(obs, step)
        outside = self._breach(obs)
        if outside is not None and rescue is not None:
            return self._instead(step, None, rescue, "fallback", outside)
        proposed, why = self._permitted(obs, step, propose())
        if not self._by.looks_ahead:
            return proposed if why is None else self._instead(step, why[0], proposed, "mask", why[1])
        reason = outside or self._objection(obs, proposed, step, before)
        if reason is None:
            return proposed if why is None else self._instead(step, why[0], proposed, "mask", why[1])
        greedy, _ = self._permitted(obs, step, self.plans.greedy(obs, step))
        other = not _same(greedy, proposed)
        safe = other and self._objection(obs, greedy, step, before) is None
        if rescue is None and not safe:
            return greedy if not other else self._instead(step, proposed, greedy, "greedy", reason)
        for between in self._between(greedy if safe else rescue, proposed):
            allowed = self._by.allowed is None or self._by.allowed(obs, between)
            if allowed and self._objection(obs, between, step, before) is None:
                return self._instead(step, proposed, between, "moderation", reason)
        return self._instead(step, proposed, *((greedy, "greedy") if safe else (rescue, "fallback")), reason)

    def _rescue(self, obs: Any, step: int) -> Any:
        """The fallback's action, which must be allowed; None without a fallback."""
        if self._fallback is None:
            return None
        action = fallback_action(self._fallback(obs, step), self._by.actions)
        if self._by.allowed is not None and not self._by.allowed(obs, action):
            raise InputError(
                f"the fallback's action is {shown(action)}, which is forbidden at the observation {shown(obs)}: "
                "pass a fallback that keeps to allowed=…"
            )
        return action

    def _between(self, safe: Any, bold: Any) -> list[Any]:
        """Actions on the way from a safe one to a bold one, the boldest first; none if actions are few."""
        actions = self._by.actions
        if actions.scale is None:
            return []
        a, b = actions.encode(safe)[0], actions.encode(bold)[0]
        return [actions.decode(a + share * (b - a)) for share in self._by.caution.shares]

    def price(self, obs: Any, action: Any, next_obs: Any, info: Any) -> float:
        """What a step has cost; nothing is counted yet."""
        cost = self._by.cost
        if isinstance(cost, str):
            if not isinstance(info, dict) or cost not in info:
                raise InputError(f"the step's info has no {cost!r}, which is to be the cost: pass info=… to observe")
            found = info[cost]
        elif cost is not None:
            found = cost(obs, action, next_obs)
        else:
            return 0.0
        return check_finite("the cost of a step", found)

    def price_unseen(self, info: Any) -> float:
        """What a step with a lost outcome has cost: what ``info`` says, or the most of a step so far."""
        cost = self._by.cost
        if isinstance(cost, str) and isinstance(info, dict) and cost in info:
            return check_finite("the cost of a step", info[cost])
        return self._largest

    def spend(self, value: float) -> None:
        """Count what a step has cost."""
        self.spent += value
        self._largest = max(self._largest, value)

    def _instead(self, step: int, proposed: Any, played: Any, by: str, reason: str) -> Any:
        self.interventions.append(Intervention(self._episode, step, proposed, played, by, reason))
        return played

    def _permitted(self, obs: Any, step: int, action: Any) -> tuple[Any, tuple[Any, str] | None]:
        """The action, or the best that is allowed; and what was not, and why."""
        allowed = self._by.allowed
        if allowed is None or allowed(obs, action):
            return action, None
        values = self._by.actions.values
        can = np.array([bool(allowed(obs, value)) for value in values])
        if not can.any():
            raise InputError(f"no action is allowed at the observation {obs!r}: allow one, at least")
        best = int(np.argmax(np.where(can, self.plans.q(obs, step), -np.inf)))
        return values[best], (action, "the action is forbidden here")

    # --- look ahead ---

    def _breach(self, obs: Any) -> str | None:
        """Whether an observation is outside already, in words."""
        if self._by.limits is None:
            return None
        return self._by.limits.breach(self._numbers(self._by.states.encode(obs))[0])

    def _objection(self, obs: Any, action: Any, step: int, fallback: Acts | None) -> str | None:
        """Why an action should not be taken; None if nothing speaks against it."""
        by, caution = self._by, self._by.caution
        if by.cost is not None and self.spent + self._largest > by.cost_budget:
            return f"another step may exceed the budget of {by.cost_budget:g}, of which {self.spent:g} is spent"
        forecast = self._refreshed()
        if forecast is None:
            return "nothing is known yet"
        if isinstance(forecast, Forecast):
            return self._objection_by_paths(forecast, obs, action, step, fallback)
        risk = self._finite_risk(forecast, obs, action, step, fallback)
        if risk <= caution.risk + by.lam:  # one visit leaves λ / (1 + λ) unknown
            return None
        return f"the limits may be left within {caution.steps} steps with probability {risk:.2g}"

    def _objection_by_paths(
        self, forecast: Forecast, obs: Any, action: Any, step: int, fallback: Acts | None
    ) -> str | None:
        by, caution = self._by, self._by.caution
        controllers = [copy.deepcopy(fallback) for _ in range(2 * caution.samples)]
        played: list[list[Any]] = [[action] * len(controllers)]

        def follow(rows: FloatArray, k: int) -> FloatArray:
            now = min(step + k, by.horizon - 1)
            if fallback is None:
                chosen = self.plans.greedy_rows(rows, now)
                played.append([by.actions.decode(row) for row in chosen])
                return by.features(chosen)
            seen = by.observations(rows)
            asked = (act(o, now) for act, o in zip(controllers, seen, strict=True))  # type: ignore[misc]
            played.append([fallback_action(action, by.actions) for action in asked])
            return by.features(by.rows(played[-1]))

        state = by.states.encode(obs)[0]
        first = by.features(by.actions.encode(action))[0]
        found = forecast.paths(state, first, follow, self._inside, caution, self._rng(self._episode))
        if float(found.left.mean()) > caution.risk:
            return f"the limits may be left within {caution.steps} steps"
        if float((found.lost | found.left).mean()) > caution.risk:
            return f"too little is known of what follows within {caution.steps} steps"
        if callable(by.cost):
            each = enumerate(found.states)
            most = max(self._path_cost(path, [row[i] for row in played]) for i, path in each)
            if self.spent + most > by.cost_budget:
                return f"the next {caution.steps} steps may cost {most:.3g}, and {self.spent:g} is spent already"
        return None

    def _inside(self, rows: FloatArray) -> NDArray[np.bool_]:
        limits = self._by.limits
        return np.ones(len(rows), dtype=bool) if limits is None else limits.inside(self._numbers(rows))

    def _path_cost(self, path: FloatArray, actions: list[Any]) -> float:
        assert callable(self._by.cost)
        seen = self._by.observations(path)
        return float(sum(self._by.cost(o, a, n) for o, a, n in zip(seen[:-1], actions, seen[1:], strict=True)))

    def _finite_risk(self, laws: FloatArray, obs: Any, action: Any, step: int, fallback: Acts | None) -> float:
        by, every = self._by, self._by.states.all_states
        assert every is not None
        if by.limits is None:
            return 0.0
        later = [min(step + k, by.horizon - 1) for k in range(1, by.caution.steps)]
        if fallback is None:
            rows = [by._indices(self.plans.greedy_rows(every, now)) for now in later]
        else:
            seen = by.states.decode(every)
            act = copy.deepcopy(fallback)
            asked = ([fallback_action(act(o, now), by.actions) for o in seen] for now in later)
            rows = [by._indices(by.rows(actions)) for actions in asked]
        outside = ~by.limits.inside(self._numbers(every))
        follow = np.array(rows, dtype=np.intp).reshape(len(later), len(every))
        state = int(by.states.encode(obs)[0, 0] - by.states.parts[0].low[0])
        return float(finite_risk(laws, outside, follow)[state, by._indices(by.actions.encode(action))[0]])

    def _refreshed(self) -> Forecast | FloatArray | None:
        """The forecast, recomputed where data have grown by a quarter."""
        Z, nexts = self._data()
        if len(Z) < (self._by.horizon if self._by.caution.first is None else self._by.caution.first):
            return None
        if len(Z) > 1.25 * self._made_from or self._made_from < 0:
            self._forecast, self._made_from = self._by.foresee(Z, nexts), len(Z)
        return self._forecast

    def _numbers(self, rows: FloatArray) -> FloatArray:
        """The numbers of observations (q, n) behind rows (q, d)."""
        return self._by.states.columns.invert(rows)


def _same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))
