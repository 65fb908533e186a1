"""Planning from counts: the KL-optimistic plan, and the guard of the practical plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.agents.base import EpisodeRecord
from cmerl.certificates import Ledger
from cmerl.confidence import KL, Guarded, Practical
from cmerl.embedding import Model
from cmerl.finite import Balls, TablePlan
from cmerl.oracles import FiniteModel, Solution
from cmerl.planning import Plan, Task
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class CountingPlanner:
    """Makes the plans of the modes that count.

    Everything is a function of the ledger, of the records of episodes and of the practical plan that is proposed, so
    that nothing needs saving.

    Args:
        mode: ``KL`` or ``Guarded``.
        ledger: counts and bounds.
        states: every state (S, 1), encoded.
        history: the records of the episodes so far, which grow.

    Attributes:
        gaps: what the plan chosen last loses at most from each state (S,); None where that was not computed.
        widths: of the bounds on its value from each state (S,); likewise.
        guarded_by: "practical" or "kl": whose plan was chosen last.
    """

    def __init__(self, mode: KL, ledger: Ledger, states: Points, history: Sequence[EpisodeRecord] = ()) -> None:
        self.mode, self.ledger, self._states = mode, ledger, np.asarray(states)
        self._history = history
        self._summed = 0, 0.0  # so many records, and what they have left in the account
        self.gaps: FloatArray | None = None
        self.widths: FloatArray | None = None
        self.guarded_by = "kl"
        self._evaluated: tuple[Balls, dict[bytes, tuple[FloatArray, FloatArray]]] = (ledger.balls, {})

    @property
    def practical(self) -> Practical | None:
        """The mode of the plan that is proposed; None where there is none."""
        return self.mode.practical if isinstance(self.mode, Guarded) else None

    def plan(
        self,
        models: Sequence[Model],
        task: Task,
        order: IntArray,
        episode: int,
        sign: float,
        backward: Callable[..., Plan],
    ) -> TablePlan:
        """The plan of the next episode: the table, or what is proposed in its place while that can be defended."""
        table = self.table(models, task, order, episode, sign)
        if self.practical is None or sign < 0:
            return table
        proposed = backward(models, replace(task, mode=self.practical), episode=episode, order=order)
        return self.choose(self.tabulate(proposed), table)

    def table(self, models: Sequence[Model], task: Task, order: IntArray, episode: int, sign: float) -> TablePlan:
        """The plan within the balls: optimistic, or pessimistic for a bound from below."""
        views, transitions = [model.freeze() for model in models], sum(model.n for model in models)
        balls = self.ledger.balls
        if sign > 0:
            Q, V = self.ledger.optimistic()
        else:
            Q, V = balls.evaluate(None, -1)
        first = float(self._states[0, 0])
        return TablePlan(balls, Q, V, first, task, views, order, episode=episode, transitions=transitions, sign=sign)

    def tabulate(self, plan: Plan) -> TablePlan:
        """A plan as tables, which are faster to act on and to bound."""
        world = self.ledger.world
        shift = world.r_min * np.arange(world.horizon, -1, -1)
        V = np.zeros((world.horizon + 1, world.states))
        own = np.array([plan.shift(step) for step in range(world.horizon)])
        V[:-1] = plan.value_table(self._states) + (own - shift[:-1])[:, None]
        Q = plan.q_table(self._states) - shift[:-1, None, None]
        first, order = float(self._states[0, 0]), np.asarray(plan.order)
        views = list(plan.views)
        return TablePlan(self.ledger.balls, Q, V, first, plan.task, views, order, plan.episode, plan.transitions)

    def choose(self, proposed: TablePlan | None, optimistic: TablePlan) -> TablePlan:
        """The proposed plan if the account covers it from every first state seen so far, else the optimistic one."""
        self.gaps, self.widths, self.guarded_by = None, None, "kl"
        if proposed is None or not isinstance(self.mode, Guarded):
            return optimistic
        upper, begun = self.ledger.upper[0], self.ledger.starts > 0
        low, high = self._ends(proposed.table(self._states))
        gaps, widths = upper - low, high - low
        if (gaps - self.mode.kappa * widths <= self.account)[begun].all():
            self.gaps, self.widths, self.guarded_by = gaps, widths, "practical"
            return proposed
        low, high = self._ends(optimistic.table(self._states))
        self.gaps, self.widths = upper - low, high - low
        return optimistic

    @property
    def account(self) -> float:
        """κ·ΣW − Σ(U − L) over the episodes so far: what they may have lost less than κ times their widths."""
        if not isinstance(self.mode, Guarded):
            return 0.0
        seen, total = self._summed
        for record in self._history[seen:]:
            total += self.mode.kappa * record.metrics.get("width", 0.0) - record.metrics.get("loss_bound", 0.0)
        self._summed = len(self._history), total
        return total

    def evidence(self, state: FloatArray) -> dict[str, Any]:
        """For the record of an episode that began in an encoded state (1,): whose plan played, and its bounds."""
        said: dict[str, Any] = {"played": self.guarded_by}
        if self.gaps is not None and self.widths is not None:
            first = int(state[0] - self._states[0, 0])
            said |= {"loss_bound": float(self.gaps[first]), "width": float(self.widths[first])}
        return said

    def gap(self, start: int) -> float | None:
        """A bound on the loss of the last plan from one state; None if it was not computed."""
        return None if self.gaps is None else float(self.gaps[start])

    def _ends(self, table: IntArray) -> tuple[FloatArray, FloatArray]:
        """Bounds below and above the value of a policy (H, S) from every first state; each is computed once."""
        balls = self.ledger.balls
        if self._evaluated[0] is not balls:
            self._evaluated = (balls, {})
        known, key = self._evaluated[1], table.tobytes()
        if key not in known:
            low, high = balls.interval(table)
            known[key] = low[0], high[0]
        return known[key]

    def check(self, model: FiniteModel, solution: Solution, *, rounding: float = 1e-9) -> dict[str, bool]:
        """Whether the true laws lie in their balls ("in_set") and the bounds on V* hold ("optimistic").

        Args:
            model: the environment.
            solution: V* and Q*.
            rounding: relative to the largest value: less than this is no failure of optimism.
        """
        world, ledger = self.ledger.world, self.ledger
        rows = (np.asarray(model.observations) - self._states[0, 0]).astype(np.intp)
        left = np.arange(world.horizon, -1, -1)[:, None]
        V = solution.V - world.r_min * left
        optimistic = ledger.upper[:, rows] >= V - rounding * world.cap(0)
        P = np.zeros((world.states, world.actions, world.outcomes))
        P[np.ix_(rows, np.arange(world.actions), rows)] = model.P
        if world.ends:
            P[rows, :, -1] = np.maximum(1.0 - model.P.sum(axis=2), 0.0)
        return {"optimistic": bool(optimistic.all()), "in_set": ledger.balls.contain(P)}
