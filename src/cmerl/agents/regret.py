"""The regret of an episode, if the dynamics are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cmerl import oracles
from cmerl.agents.records import Policy, Trajectory


def optimum(model: Any, solution: oracles.AnySolution, start: Any) -> float:
    """V*₁ at the first observation."""
    if isinstance(model, oracles.FiniteModel | oracles.TableModel):
        start = model.index(start)
    return float(solution.value(start))


def episode_regret(
    model: Any, solution: oracles.AnySolution, policies: Sequence[Policy], seen: Trajectory, horizon: int
) -> tuple[float | None, str | None]:
    """The regret of an episode and its kind; None of both where too little of it was seen.

    Args:
        model: the known world.
        solution: its optimum.
        policies: those that were followed, one after another.
        seen: what happened.
        horizon: H.
    """
    if not seen.complete:
        return None, None
    if isinstance(model, oracles.TableModel):  # deterministic: what the gaps sum to is the policy's regret
        numbers = [model.index(obs) for obs in seen.observations]
        return oracles.gap_regret(solution, numbers, [int(a) for a in seen.actions]), "gaps"
    if not isinstance(model, oracles.FiniteModel):
        # The expectation of the gaps' sum is V* − V^π. That itself would need the policy on the whole grid
        # after every episode, which costs far more than the agent does.
        return oracles.gap_regret(solution, seen.observations, seen.actions), "gaps"
    # A policy that changed on the way, or that looks ahead from the states it meets, has no table to evaluate.
    if len(policies) > 1 or getattr(policies[0], "searches", False):
        states = [model.index(obs) for obs in seen.observations]
        return oracles.gap_regret(solution, states, [int(a) for a in seen.actions]), "gaps"
    assert isinstance(solution, oracles.Solution)
    played: Any = policies[0]
    if hasattr(played, "probabilities"):  # a random policy is evaluated as such, not as what it drew
        played = played.probabilities(model.observations)
    value = oracles.evaluate(model, played, horizon)
    return oracles.policy_regret(solution, value, model.index(seen.observations[0])), "policy"
