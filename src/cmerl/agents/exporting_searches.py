"""From a policy that searches to what a file holds of it: the model, the value that ends searches, sizes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from cmerl.acting import MPC
from cmerl.acting.followed_policy import followed_policy
from cmerl.acting.terminal_value import terminal_value
from cmerl.embedding.displacement.given_reward import GivenRewardDynamics
from cmerl.embedding.displacement.grid import DisplacementView
from cmerl.exported.container import Arrays
from cmerl.exported.search import ADDITIVE, FAR, REGRESSION
from cmerl.planning import Plan
from cmerl.searching.simulator import AdditiveRegression, Ends, Regression


def can_search(view: DisplacementView, continuous: bool) -> bool:
    """Whether a file can hold the model: a reward function cannot be in it, and quantities need bounds."""
    return not isinstance(view.dynamics, GivenRewardDynamics) and view.categorical != continuous


def search_contents(
    actor: MPC, plan: Plan, view: DisplacementView, seed: tuple[int, ...]
) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a search."""
    horizon = plan.task.problem.horizon
    about: dict[str, Any] = {
        "categorical": view.categorical,
        "reward_at_next": view.dynamics.simulator.at_next,
        "discount": actor.terminal.discount(horizon),
        "sizes": {**asdict(actor.search), "amplitudes": list(actor.search.amplitudes)},
        "every": actor.every,
        "depth": min(actor.depth, horizon),
        "seed": [int(number) for number in seed],
        "value": actor.value,
    }
    arrays = {"centre": view.centre, "unit": view.scale, "features": view.actions, **_model(view)}
    if actor.search.proposals:
        arrays |= _regression("policy", followed_policy(view.dynamics, actor.channels(view), actor.policy))
    said, numbers = _fitted(actor, view, horizon) if actor.value == "fitted" else _planned(plan, view)
    return {**about, **said}, {**arrays, **numbers}


def _model(view: DisplacementView) -> Arrays:
    model = view.dynamics.simulator
    arrays: Arrays = {"spread": model.spread, "bounds": model.bounds, "pays": np.array(model.pays)}
    reward = model.reward
    if isinstance(reward, AdditiveRegression):
        arrays |= {f"reward.state.{part}": getattr(reward, part) for part in ADDITIVE}
        reward = reward.action
    arrays |= {**_regression("move", model.move), **_regression("reward", reward)}
    return arrays if model.ends is None else arrays | ends_arrays(model.ends)


def _regression(name: str, regression: Regression) -> Arrays:
    return {f"{name}.{part}": getattr(regression, part) for part in REGRESSION}


def ends_arrays(ends: Ends) -> Arrays:
    """Where episodes end."""
    arrays: Arrays = {"ended": ends.ended, "end_rewards": ends.rewards, "alive": ends.alive}
    if ends.coef is not None:
        arrays["end_coef"] = ends.coef
    if ends.limits is not None:
        sides = [(np.nan_to_num(low, nan=FAR), np.nan_to_num(high, nan=-FAR)) for low, high in ends.limits]
        arrays["limits"] = np.array(sides)
    return arrays


def _fitted(actor: MPC, view: DisplacementView, horizon: int) -> tuple[dict[str, Any], Arrays]:
    sizes = actor.terminal, actor.search, actor.policy
    found = terminal_value(view.dynamics, actor.channels(view), horizon, *sizes)
    novelty = found.novelty
    about = {
        "mean": float(found.mean),
        "bounds": [float(bound) for bound in found.bounds],
        "least": float(found.values.min()),
        "pessimism": float(found.pessimism),
        "width": float(novelty.width),
    }
    arrays: Arrays = {
        "landmarks": found.landmarks,
        "scales": found.lengthscales,
        "coef": found.coef,
        "seen": novelty.kernel.centres,
        "known": novelty.known,
    }
    return about, {f"value.{name}": array for name, array in arrays.items()}


def _planned(plan: Plan, view: DisplacementView) -> tuple[dict[str, Any], Arrays]:
    """V at about every step, as `cmerl.acting.mpc` reads it."""
    horizon, task = plan.task.problem.horizon, plan.task
    stages = [plan.stages[max(step - plan.repeat, 0)] for step in range(horizon)]
    coef, mean = zip(*(view.weights_at_landmarks(stage.coef) for stage in stages), strict=True)
    about = {"lengthscale": float(np.asarray(view.kernel.lengthscale))}
    arrays = {
        "landmarks": view.landmarks,
        "coef": np.stack(coef),
        "mean": np.array(mean),
        "cap": np.array([task.cap(stage.until) for stage in stages]),
        "shift": np.array([plan.shift(stage.until) for stage in stages]),
    }
    return about, {f"value.{name}": array for name, array in arrays.items()}
