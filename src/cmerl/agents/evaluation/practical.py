"""Practical policy evaluation from any data: an interval with measured coverage, without a proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl import logs
from cmerl.agents.evaluation.fitted_q import Estimate, EvaluationSettings, Steps, evaluate_steps
from cmerl.errors import InputError, shown
from cmerl.validation.functions import count_arguments

FloatArray = NDArray[np.float64]
ActMany = Callable[[Sequence[Any], int], Sequence[Any]]
"""What a policy does at several observations, at a step."""


class Transitions(NamedTuple):
    """What was seen, in the environment's language."""

    observations: Sequence[Any]
    actions: Sequence[Any]
    rewards: FloatArray
    nexts: Sequence[Any]
    terminated: NDArray[np.bool_]
    starts: Sequence[Any]


def from_log(log: logs.Log) -> Transitions:
    """All transitions of logged episodes."""
    episodes = log.episodes
    ends = [np.append(np.zeros(len(e) - 1, dtype=bool), e.terminated) for e in episodes]
    return Transitions(
        [obs for e in episodes for obs in e.observations[:-1]],
        [action for e in episodes for action in e.actions],
        np.concatenate([e.rewards for e in episodes]),
        [obs for e in episodes for obs in e.observations[1:]],
        np.concatenate(ends),
        [e.observations[0] for e in episodes],
    )


def estimate(policy: Any, data: Transitions, horizon: int, settings: EvaluationSettings | None = None) -> Estimate:
    """The value of a policy over ``horizon`` steps, from the first states in the data."""
    settings = settings or EvaluationSettings()
    if len(data.rewards) < settings.least_rows:
        raise InputError(
            f"{len(data.rewards)} transitions say nothing of a policy: give {settings.least_rows} or more"
        )
    if np.ptp(data.rewards) == 0.0 and not data.terminated.any():
        raise InputError(
            f"every reward in the data is {data.rewards[0]:g}: they say nothing of what else a policy may earn"
        )
    states, actions = Numbers.of(data.observations, "observation"), Numbers.of(data.actions, "action")
    act, nexts, starts = act_many(policy), states(data.nexts), states(data.starts)

    @cache
    def after(step: int) -> FloatArray:
        return np.hstack([nexts, actions(act(data.nexts, step))])

    steps = Steps(
        np.hstack([states(data.observations), actions(data.actions)]),
        data.rewards,
        np.where(data.terminated, 0.0, 1.0),
        after,
        np.hstack([starts, actions(act(data.starts, 0))]),
    )
    return evaluate_steps(steps, horizon, settings)


class Numbers(NamedTuple):
    """Observations or actions as rows: numbers as they are, names as indicators.

    Attributes:
        names: of finitely many values that are whole numbers, or None.
        width: numbers of one value.
        what: they are, for messages.
    """

    names: tuple[int, ...] | None
    width: int
    what: str

    @classmethod
    def of(cls, values: Sequence[Any], what: str, most: int = 60) -> Numbers:
        """What is needed to encode values like these.

        Args:
            values: that were seen.
            what: they are.
            most: names that are told apart.
        """
        if all(isinstance(value, int | np.integer) or _is_whole(value) for value in values):
            names = tuple(sorted({int(value) for value in values}))
            if len(names) > most:
                raise InputError(
                    f"{len(names)} different numbers as {what}s are too many to tell apart without bounds: give "
                    "observations as coordinates, or an agent with reward_range=(lo, hi)"
                )
            return cls(names, len(names), what)
        return cls(None, int(np.size(values[0])), what)

    def __call__(self, values: Sequence[Any]) -> FloatArray:
        """Rows (q, width); a name that was never seen is none of the others."""
        if self.names is not None:
            whole = np.array([int(np.asarray(value).reshape(())) for value in values])
            return np.asarray(whole[:, None] == np.array(self.names), dtype=np.float64)
        try:
            rows = np.array([np.ravel(np.asarray(value, dtype=np.float64)) for value in values])
        except (TypeError, ValueError):
            raise InputError(f"the {self.what}s are not rows of numbers: {shown(values[0])}") from None
        if rows.shape[1:] != (self.width,) or not np.isfinite(rows).all():
            raise InputError(f"an {self.what} has not {self.width} finite numbers: {shown(values[0])}")
        return rows


def _is_whole(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu"


def act_many(policy: Any) -> ActMany:
    """Any kind of policy as a function of several observations and a step."""
    if getattr(policy, "searches", False):
        raise InputError(
            "this policy remembers its way or searches, so that its action is no function of the observation: play "
            "it with agent.evaluate(env), or evaluate the policy that it exports"
        )
    if callable(getattr(policy, "act_many", None)):
        return lambda observations, step: policy.act_many(observations, step)
    if callable(getattr(policy, "predict", None)):  # a model of Stable-Baselines3
        return lambda observations, step: list(policy.predict(np.stack(observations), deterministic=True)[0])
    if isinstance(policy, list | np.ndarray):
        table = np.asarray(policy)
        if table.ndim not in (1, 2) or table.dtype.kind not in "iu":
            raise InputError(f"a table of actions has shape (S,) or (H, S), not {table.shape} of {table.dtype}")
        each = table if table.ndim == 2 else table[None]
        return lambda observations, step: [int(each[min(step, len(each) - 1), int(obs)]) for obs in observations]
    if not callable(policy):
        raise InputError(f"a policy is a function of (obs, step), a table or a model with predict, not {policy!r}")
    if count_arguments(policy, "a policy", "(obs, step)", "(obs)") == 2:
        return lambda observations, step: [policy(obs, step) for obs in observations]
    return lambda observations, step: [policy(obs) for obs in observations]
