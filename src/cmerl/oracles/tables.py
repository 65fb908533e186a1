"""The exact optimum of a large deterministic MDP, from a table of successors."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.objects import freeze, key
from cmerl.oracles.bellman import Floats, Integers, action_probabilities, backward
from cmerl.oracles.finite import Evaluation, Solution
from cmerl.oracles.wrapping import is_transformed
from cmerl.validation.episodes import check_horizon


@dataclass(frozen=True, eq=False)
class TableModel:
    """A deterministic finite MDP.

    Attributes:
        successors: (S, A) the next state of every state and action.
        R: (S, A) rewards.
        start: the first state.
        observations: (S,) what is observed in each state, objects of any kind.
    """

    successors: Integers
    R: Floats
    start: int
    observations: NDArray[Any]

    def __post_init__(self) -> None:
        states = len(self.observations)
        if self.successors.shape != self.R.shape or len(self.R) != states:
            raise InputError("a table model needs successors and R of one shape (S, A), and S observations.")
        if ((self.successors < 0) | (self.successors >= states)).any():
            raise InputError(f"successors must be states from 0 to {states - 1}.")

    def index(self, obs: Any) -> int:
        """Return the state in which ``obs`` is observed."""
        try:
            return self._states[key(freeze(obs))]
        except KeyError:
            raise InputError(f"{reprlib.repr(obs)} is not an observation of this model.") from None

    @cached_property
    def _states(self) -> dict[Any, int]:
        return {key(freeze(obs)): s for s, obs in enumerate(self.observations)}


def table_model(env: Any) -> TableModel | None:
    """Return the model that ``env.unwrapped`` exposes as ``model``; None where a wrapper changes the environment."""
    if is_transformed(env):
        return None
    model = getattr(getattr(env, "unwrapped", env), "model", None)
    return model if isinstance(model, TableModel) else None


def solve_table(model: TableModel, horizon: int) -> Solution:
    """Solve a deterministic environment exactly over ``horizon`` steps."""
    V, Q = backward(model.R, lambda v: v[model.successors], check_horizon(horizon), lambda h, Qh: Qh.max(axis=1))
    return Solution(V=V, Q=Q)


def evaluate_table(model: TableModel, policy: Any, horizon: int) -> Evaluation:
    """Evaluate a policy exactly, for every state and step."""
    horizon = check_horizon(horizon)
    chances = action_probabilities(policy, model.observations, model.R.shape[1], horizon)
    V, _ = backward(model.R, lambda v: v[model.successors], horizon, lambda h, Qh: (chances[h] * Qh).sum(axis=1))
    return Evaluation(V=V)
