"""A policy that searches, from a file: the model, the value that ends searches, and the sizes of a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.exported.container import Arrays
from cmerl.exported.spaces import Actions, Observations, check_step
from cmerl.searching.episode import Searches, Value, scorer
from cmerl.searching.icem import Channels, Search
from cmerl.searching.last_asked import LastAsked
from cmerl.searching.proposals import Policy
from cmerl.searching.rbf_features import RBFFeatures
from cmerl.searching.simulator import AdditiveRegression, Ends, Regression, Simulator
from cmerl.searching.values import PlannedValue, QueryNovelty, TerminalValue

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]

REGRESSION = ("W", "coef", "origin", "mean")
ADDITIVE = ("W", "coef", "origin")  # of states, where rewards are a sum; the regression of rewards is of actions then
FAR = 1e300  # stands for a side on which a limit has no end


@dataclass(frozen=True, eq=False)
class SearchPolicy:
    """Searches at every few steps for the best sequence of actions, as the agent does that it was made from.

    Attributes:
        horizon: H.
        about: what was exported.
        observations: how they become rows.
        actions: the candidates.
        centre: what becomes 0 in the units of the model (d,).
        unit: what becomes 1 (d,).
        features: of the candidates (A, e) where they are names, else None.
        step: the model.
        value: what ends a search, at states and a step.
        discount: of a step.
        search: sizes of a search.
        every: steps that are played of each.
        depth: steps that each looks ahead.
        seed: of what is drawn.
        policy: that proposes sequences; None in files of earlier versions.
    """

    horizon: int
    about: dict[str, Any]
    observations: Observations
    actions: Actions
    centre: FloatArray
    unit: FloatArray
    features: SingleArray | None
    step: Simulator
    value: Callable[[SingleArray, int], SingleArray]
    discount: float
    search: Search
    every: int
    depth: int
    seed: tuple[int, ...]
    policy: Policy | None = None
    _asked: LastAsked = field(init=False, repr=False, default_factory=LastAsked)

    def __call__(self, obs: Any, step: int) -> Any:
        """The action at this observation and ``step``."""
        check_step(step, self.horizon)
        return self._asked.answer(obs, self.observations.encode(obs)[None], step, self.begin_episode)

    def begin_episode(self) -> SearchEpisode:
        """The policy for one episode; its search continues from the step before."""
        return SearchEpisode(self)


class SearchEpisode:
    """The policy on its way through one episode."""

    def __init__(self, policy: SearchPolicy) -> None:
        self._policy = policy
        channels = (
            Channels(continuous=policy.actions.values.shape[1])
            if policy.features is None
            else Channels(choices=(policy.features,))
        )
        about = policy.search, policy.every, policy.depth, policy.step, policy.seed, policy.policy
        self._searches = Searches(channels, *about)

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step``, asked for step after step."""
        return self.within(obs, step, None)

    def within(self, obs: Any, step: int, deadline: float | None) -> Any:
        """The same by a deadline of ``time.perf_counter``: the best action found so far, after one round at least."""
        policy, searches = self._policy, self._searches
        check_step(step, policy.horizon)
        x = self._scaled(policy.observations.encode(obs)[None])
        if searches.due(1, step):
            single = x.astype(np.float32)
            searches.search(self._score(single, step), single, step, 0.0, deadline)
        features = searches.features(step)
        searches.played(x, features, step)
        if policy.features is None:
            return policy.actions.decode(features[0])
        return policy.actions.value(int(np.square(policy.features - features[0]).sum(axis=1).argmin()))

    def expects(self, state: FloatArray, step: int) -> bool:
        """Whether the search has led to an encoded state (1, d) at this step."""
        return self._searches.led_to(self._scaled(state), step)

    def _scaled(self, state: FloatArray) -> FloatArray:
        return (state - self._policy.centre) / self._policy.unit

    def _score(self, x: SingleArray, step: int) -> Any:
        policy = self._policy
        steps = min(policy.depth, policy.horizon - step)
        until = step + steps
        value: Value | None = None if until == policy.horizon else lambda y: policy.value(y, until)
        return scorer(policy.step, x, steps, policy.discount, value)


def search_policy(meta: dict[str, Any], arrays: Arrays, observations: Observations, actions: Actions) -> SearchPolicy:
    """From what a sound file holds."""
    about = meta["search"]
    sizes = {**about["sizes"], "amplitudes": tuple(about["sizes"]["amplitudes"])}
    return SearchPolicy(
        meta["horizon"],
        meta["about"],
        observations,
        actions,
        arrays["centre"],
        arrays["unit"],
        arrays["features"].astype(np.float32) if about["categorical"] else None,
        simulator(arrays, about["reward_at_next"]),
        planned_value(arrays, about) if about["value"] == "plan" else fitted_value(arrays, about),
        about["discount"],
        Search(**sizes),
        about["every"],
        about["depth"],
        tuple(about["seed"]),
        regression(arrays, "policy") if "policy.W" in arrays else None,
    )


def regression(arrays: Arrays, name: str) -> Regression:
    """The regression of that name."""
    return Regression(*(arrays[f"{name}.{part}"].astype(np.float32) for part in REGRESSION))


def simulator(arrays: Arrays, reward_at_next: bool) -> Simulator:
    """The model."""
    move, reward = regression(arrays, "move"), regression(arrays, "reward")
    paid: Regression | AdditiveRegression = reward
    if "reward.state.W" in arrays:
        state = {part: arrays[f"reward.state.{part}"].astype(np.float32) for part in ADDITIVE}
        paid = AdditiveRegression(**state, action=reward)
    spread, bounds, pays = (arrays[name].astype(np.float32) for name in ("spread", "bounds", "pays"))
    return Simulator(move, paid, reward_at_next, spread, bounds, (pays[0], pays[1]), ends_of(arrays))


def ends_of(arrays: Arrays) -> Ends | None:
    """Where episodes end; None where none ever has."""
    if "ended" not in arrays:
        return None
    limits = [(low, high) for low, high in arrays["limits"]] if "limits" in arrays else None
    return Ends(arrays["ended"], arrays["end_rewards"], arrays["alive"], limits, arrays.get("end_coef"))


def fitted_value(arrays: Arrays, about: dict[str, Any]) -> Callable[[SingleArray, int], SingleArray]:
    """A value made for searches, the same at every step."""
    landmarks, scales, coef = (arrays[f"value.{part}"].astype(np.float32) for part in ("landmarks", "scales", "coef"))
    novelty = QueryNovelty(RBFFeatures(arrays["value.seen"]), arrays["value.known"], about["width"])
    bounds, least = (about["bounds"][0], about["bounds"][1]), np.array([about["least"]])
    found = TerminalValue(landmarks, scales, coef, about["mean"], bounds, least, about["pessimism"], novelty)
    return lambda y, step: found(y)


def planned_value(arrays: Arrays, about: dict[str, Any]) -> PlannedValue:
    """The value of a plan."""
    coef, mean, cap, shift = (arrays[f"value.{part}"] for part in ("coef", "mean", "cap", "shift"))
    landmarks, single = arrays["value.landmarks"], coef.astype(np.float32)
    return PlannedValue(landmarks, about["lengthscale"], single, mean, cap, shift)
