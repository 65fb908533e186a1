"""Pessimistic plans: the best policy for the worst environment that the data allow, with a lower bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cmerl.acting import Greedy
from cmerl.agents.evaluation.practical import Transitions
from cmerl.agents.evaluation.values import Value, pessimistic_values, practical_value
from cmerl.agents.policies import PlanPolicy
from cmerl.errors import InputError
from cmerl.finite import TablePlan
from cmerl.optimism import Ceilings

if TYPE_CHECKING:
    from cmerl.agents.cme_rl.algorithm import Algorithm1


@dataclass(frozen=True)
class BoundedPolicy(PlanPolicy):
    """A pessimistic plan as a policy.

    Attributes:
        lower: what it earns in expectation from the first states, at least.
        delta: the failure probability of that.
        provable: whether that is proven; otherwise it was measured on small environments.
        statement: the same in words.
    """

    lower: float = field(kw_only=True)
    delta: float = field(kw_only=True)
    provable: bool = field(kw_only=True)
    statement: str = field(kw_only=True)


def pessimistic_policy(agent: Algorithm1, data: Transitions) -> BoundedPolicy:
    """The policy of a pessimistic plan from all data of an agent; refused where they support none.

    On finite MDPs with a declared range of rewards it is the best one at the lower end of KL balls, which proves its
    bound. Elsewhere what is unknown earns the smallest reward of all, and the bound is the lower end of a practical
    interval for the value of that plan's policy.
    """
    planner = agent.planner
    if not len(data.rewards):
        raise InputError("there are no data to be pessimistic about: agent.fit(logs) first")
    about: dict[str, Any] = {"states": agent.states, "actions": agent.actions, "actor": Greedy()}
    begun, order = planner.now().begun, planner.order()
    if agent.ledger is not None:
        found = pessimistic_values(agent, data.starts)
        views = [model.freeze() for model in agent.model.embeddings]
        assert agent.states.all_states is not None
        first = float(agent.states.all_states[0, 0])
        task = planner.task(explore=False, unseen="least")
        numbers: dict[str, Any] = {"episode": begun, "transitions": agent.model.n, "sign": -1.0}
        table = TablePlan(found.balls, found.Q, found.V, first, task, views, order, **numbers)
        return BoundedPolicy(
            table, **about, lower=found.lower, delta=found.delta, provable=True, statement=found.statement
        )
    task = planner.task(explore=False, unseen="least")
    floor = Ceilings(task.ceilings.cap, np.zeros_like(task.ceilings.prior))
    task = replace(task, optimistic=floor)
    plan = planner.parts.backward(agent.model.embeddings, task, episode=begun, order=order, sign=-1.0)
    policy = PlanPolicy(plan, **about)
    refined = agent.options.settings.refined
    if agent.actions.continuous and refined.suits(plan, agent.actions.rows):
        about["actor"] = refined
    value = _supported(practical_value(policy, data, agent.horizon, 2.0 * agent.options.delta), agent)
    words = (
        f"By {len(data.rewards)} transitions this policy earns {value.lower:.4g} an episode or more, with confidence "
        f"{1.0 - agent.options.delta:g}. This is not proven: it was measured on small worlds."
    )
    return BoundedPolicy(plan, **about, lower=value.lower, delta=agent.options.delta, provable=False, statement=words)


def _supported(value: Value, agent: Algorithm1, *, most: float = 0.5) -> Value:
    """Refuse a bound that says nothing, or that rests on less than half of what the policy does."""
    least = agent.rewards.bounds[0] * agent.horizon
    if value.unsupported > most:
        raise InputError(
            f"the data support no policy: they say nothing of {value.unsupported:.0%} of what the best one would do; "
            "log more episodes"
        )
    if value.lower <= least:
        raise InputError(
            f"the data support no policy: the best one may earn {value.lower:.4g}, no more than the least possible "
            f"return, {least:g}; log more episodes"
        )
    return value
