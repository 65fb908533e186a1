"""Diagnostics: in words for users, and in numbers for the records of episodes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cmerl.agents.base import EpisodeRecord
from cmerl.agents.cme_rl.calibration import about_next_states, about_values, model_error
from cmerl.agents.cme_rl.planner import Planner
from cmerl.agents.cme_rl.update_buffer import UpdateBuffer
from cmerl.agents.policies import PlanPolicy
from cmerl.errors import InputError
from cmerl.files import saying_why
from cmerl.planning import make_plan
from cmerl.validation import check_step

if TYPE_CHECKING:
    from cmerl.agents.cme_rl.proving import Proving
    from cmerl.agents.explanation import Explanation
    from cmerl.agents.from_logs import LogRecord


def report(
    planner: Planner, history: Sequence[EpisodeRecord], ingested: Sequence[LogRecord], proving: Proving | None
) -> dict[str, Any]:
    """The agent's choices, what it has learned, and numerical health."""
    model, options = planner.model, planner.options
    errors = [r.metrics["model_error"] for r in history if "model_error" in r.metrics]
    foretold = len(model.starts) > 0 and len(history) > 0
    return {
        "mode": options.label,
        "proof": "none" if proving is None else proving.statement(),
        **({"kernel": repr(model.kernel)} if model.displacement is None else {}),
        "lam": options.lam,
        "reward range": planner.rewards.bounds,
        "episodes": len(history),
        **({"learned from logs": list(ingested)} if ingested else {}),
        **({} if planner.balancing is None else {"learners": planner.balancing.now().report()}),
        **({"prediction of next states": about_next_states(errors)} if history else {}),
        **({"prediction of values": foretold_values(planner, history)} if foretold else {}),
        **model.diagnostics(),
    }


def explain(planner: Planner, obs: Any, step: int, *, explore: bool, evidence: int) -> Explanation:
    """Why a plan prefers an action, with so many pieces of evidence an action."""
    from cmerl.agents.cme_rl import decomposition

    check_step(step, planner.horizon)
    kind = "plan of the next episode" if explore else "plan without optimism"
    plan, spaces = planner.plan(explore=explore), (planner.states, planner.actions)
    return decomposition.explain(plan, planner.model, spaces, obs, step, kind, evidence)


def foretold_values(planner: Planner, history: Sequence[EpisodeRecord]) -> str:
    """A comparison of the returns that plans expect with the latest returns."""
    model, order, starts = planner.model, np.arange(len(planner.actions)), planner.model.starts
    explores = (False, planner.counting is None)
    tasks = [planner.task(explore=explore) for explore in explores]
    plans = [make_plan(model.embeddings, task, episode=len(history), order=order) for task in tasks]
    greedy, optimistic = (float(plan.value(starts, 0).mean()) for plan in plans)
    return about_values(greedy, optimistic, [record.ret for record in history])


def evidence(planner: Planner, pending: UpdateBuffer, proving: Proving | None) -> dict[str, Any]:
    """Evidence about plan and model from an episode that was played but not yet learned."""
    if not pending:
        return {}
    found = {} if proving is None or not planner.planned else proving.evidence(pending)
    error = model_error(planner.model, pending.split()[1].batch()[1], planner.states.categories)
    return found if error is None else {**found, "model_error": error}


def metrics(planner: Planner, policy: PlanPolicy, start: Any) -> dict[str, Any]:
    """Metrics of an episode that began at ``start`` with a policy, after learning it."""
    plan, state, model = policy.plan, policy.states.encode(start), planner.model.embeddings[0]
    return {
        "value": float(plan.value(state, 0)[0]),
        "information_gain": float(model.information_gain),
        "dictionary": len(model.support),
        "uncertainty": float(plan.views[0].grid(state).std()[0, plan.act(state, 0)[0]]),
        "begun": plan.episode,
        "transitions": plan.transitions,
        **({} if planner.counting is None else {"regret_bound": planner.counting.ledger.bound}),
    }


def plot(agent: Any, columns: Any, *, at: Any, step: int, explore: bool, names: list[str] | None, path: Any) -> Any:
    """Maps of what an agent believes, also as a file if a path is given."""
    from cmerl.agents import slices  # few programs draw

    found = slices.slice_of(agent, columns, at, step, explore)
    declared = getattr(getattr(agent.env, "unwrapped", None), "columns", ())
    if names is None and len(declared) == len(found.at):
        names = list(declared)
    figure = slices.draw(found, names)
    if path is not None:
        with saying_why(path):
            try:
                figure.savefig(path, dpi=150)
            except ValueError as error:  # a format that matplotlib does not know
                raise InputError(f"{os.fspath(path)!r} cannot be drawn: {error}") from None
    return figure
