"""Builds an agent from the user's options or from a file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.agents.base import EpisodeRecord, declared_range
from cmerl.agents.cme_rl.options import Given, Options
from cmerl.agents.cme_rl.parts import Parts
from cmerl.agents.cme_rl.planner import Moment, Planner
from cmerl.agents.cme_rl.transition_store import TransitionStore
from cmerl.confidence import Balanced
from cmerl.errors import InputError
from cmerl.rewards import KnownReward, RewardRange
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")


class Host(NamedTuple):
    """The agent as seen by its parts.

    Attributes:
        env: its environment; a loaded agent may have none.
        horizon: H.
        seed: root of all randomness.
        rng: a generator for a purpose.
        history: its episodes.
        learned: how many episodes it has learned from, logged ones too.
        broken_off: how many it has begun and not finished.
        may_end: whether an episode may end early, as far as is known beforehand.
    """

    env: gymnasium.Env[Any, Any] | None
    horizon: int
    seed: int
    rng: Callable[..., np.random.Generator]
    history: Sequence[EpisodeRecord]
    learned: Callable[[], int]
    broken_off: Callable[[], int]
    may_end: bool


def build(host: Host, given: Given) -> Planner:
    """A planner with all that it plans with, for a new agent."""
    assert host.env is not None
    states = StateSpace.of(host.env.observation_space, given.angles)
    actions = ActionSet.of(host.env.action_space, given.actions, host.rng(3))
    all_states = states.all_states if given.states is None else encode_all(states, given.states)
    options = Options.of(given, states, actions)
    declared = given.reward_range
    if options.mode.from_counts and isinstance(declared, str):
        declared = declared_range(host.env) or declared
    # A proof must allow for early ends from the start; otherwise they count once one was seen.
    provable = options.mode.provable
    rewards = RewardRange(declared, may_end=provable and host.may_end, robust=not provable)
    parts = Parts(given.optimism, given.planner, given.actor)
    return assemble(host, options, states, actions, rewards, all_states, parts)


def assemble(
    host: Host,
    options: Options,
    states: StateSpace,
    actions: ActionSet,
    rewards: RewardRange,
    all_states: FloatArray | None,
    parts: Parts,
) -> Planner:
    """Assemble a planner, for new and for loaded agents."""
    reward = known_reward(options, states, actions, rewards, all_states)
    recipe = options.recipe(states, actions, host.horizon, host.seed)
    most = host.horizon * rewards.bounds[1] if rewards.declared else None
    most = options.max_return if options.max_return is not None else most
    recipe = replace(recipe, reward=None if reward is None else reward.of, most=most)
    model = TransitionStore(recipe, 1 if options.time_homogeneous else host.horizon)

    def now() -> Moment:
        learned = host.learned()
        return Moment(len(host.history), learned, learned + host.broken_off() + 1)

    def latest(count: int) -> list[float]:
        return [record.ret for record in host.history[-count:]]

    planner = Planner(
        options, states, actions, host.horizon, model, rewards, reward, all_states, host.rng, now, latest, parts
    )
    if isinstance(options.mode, Balanced):
        from cmerl.agents.cme_rl.proving import Balancing

        planner.balancing = Balancing(planner, host.history)
    check_provable(planner)
    return planner


def known_reward(
    options: Options, states: StateSpace, actions: ActionSet, rewards: RewardRange, all_states: FloatArray | None
) -> KnownReward | None:
    """The reward function that a user knows; where it can be asked at all states, it tells the range of rewards."""
    if options.reward == "learned":
        return None
    proven = rewards.bounds if rewards.declared and options.mode.provable else None
    known = KnownReward(options.reward, states, actions, proven)
    if known.of_next:
        if options.mode.provable:
            raise InputError(
                f"bonus {options.mode.name!r} proves nothing of a reward that depends on the next observation: "
                "give its mean as a function of (observation, action), or reward='learned'"
            )
        return known
    if all_states is not None and (proven or not rewards.declared):
        values = known(all_states)  # outside a declared range this is an error
        if not rewards.declared:
            rewards.include(float(values.min()), float(values.max()))
    return known


def check_provable(planner: Planner) -> None:
    """Refuse now what a mode cannot prove, rather than in the first plan."""
    mode = planner.options.mode
    if mode.provable:
        mode.check(planner.problem())
    if mode.needs_norms and planner.all_states is None:
        log.warning(
            "bonus %r: the state space is not finite, so norms of V are taken on the data alone; "
            "they are lower bounds and the mode is heuristic here",
            mode.name,
        )


def encode_all(space: StateSpace, states: ArrayLike) -> FloatArray:
    """All states that a user has listed, as rows."""
    if space.shape is None:
        return space.encode_many(list(states))  # type: ignore[arg-type]
    array = np.asarray(states)
    if array.ndim == 0 or array.shape[1:] != space.shape:
        raise InputError(f"states must have shape (S, *{space.shape}), but has {array.shape}")
    return space.encode_many(array)
