"""Decomposition of Q: expected reward, expected value, optimism, and the transitions behind them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cmerl.agents.cme_rl.planner import AnyPlan
from cmerl.agents.cme_rl.transition_store import TransitionStore
from cmerl.agents.explanation import ActionExplanation, Evidence, Explanation, heaviest
from cmerl.embedding import CompressedEmbedding, DisplacementEmbedding, Model
from cmerl.finite import TablePlan
from cmerl.planning import Plan
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.transitions import Transitions, concatenate

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@runtime_checkable
class Weighing(Protocol):
    """A model that knows what each of its transitions counts for."""

    def transition_weights(self, Zq: Any) -> FloatArray:
        """Weights (q, n) on all transitions in the order given."""
        ...


class Parts(NamedTuple):
    """Q of all actions at one state, taken apart (A,)."""

    reward: FloatArray
    value: FloatArray
    q: FloatArray
    sigma: FloatArray


def explain(
    plan: AnyPlan,
    store: TransitionStore,
    spaces: tuple[StateSpace, ActionSet],
    obs: Any,
    step: int,
    kind: str,
    most: int,
) -> Explanation:
    """Why a plan that was made from these data prefers an action.

    Args:
        plan: the plan.
        store: what it was made from.
        spaces: how observations and actions are encoded.
        obs: an observation.
        step: of the episode.
        kind: of plan, in words.
        most: pieces of evidence an action.
    """
    states, actions = spaces
    row = states.encode(obs)
    parts = (
        table_parts(plan, row, step) if isinstance(plan, TablePlan) else plan_parts(plan, store.at(step), row, step)
    )
    Zq = np.hstack([np.repeat(row, len(actions), axis=0), actions.rows])
    evidence = _evidence(plan, store, spaces, Zq, step, most)
    paths = _trajectories(plan, store.at(step), spaces, row, step)
    explained = tuple(
        ActionExplanation(
            action=value,
            expected_reward=float(parts.reward[a]),
            expected_value=float(parts.value[a]),
            optimism=float(parts.q[a] - parts.reward[a] - parts.value[a]),
            uncertainty=float(parts.sigma[a]),
            trajectory=paths[a],
            evidence=evidence[a],
        )
        for a, value in enumerate(actions.values)
    )
    return Explanation(obs, step, explained, int(plan.act(row, step)[0]), kind)


def plan_parts(plan: Plan, model: Model, row: FloatArray, step: int) -> Parts:
    """Q = Σα·r + Σα·V(s') + (1 − mass)·ceiling + bonus, in the environment's units."""
    task, stage, site = plan.task, plan.stages[step - plan.first_step], plan.site(row, step)
    estimate, one = plan.reward_estimate(step), site.mass[0]
    mean = site.grid.expectation(stage.coef)[0]
    if task.known_reward is not None:
        reward, value = task.known_reward(row)[0], mean + (plan.shift(step) - task.r_min) * one
    elif estimate is not None:
        reward = site.grid.expectation(estimate.coef)[0]
        value = mean + (plan.shift(step) - task.r_min) * one
    else:
        span = min(model.repeat, task.problem.horizon - (stage.until - model.repeat))
        alone = model.backup(np.zeros(len(model.support)), reward=span / model.repeat)
        reward = site.grid.expectation(alone)[0]
        value = mean - reward + (plan.shift(step) + stage.shift) * one
    return Parts(reward, value, plan.q(row, step)[0], site.sigma[0])


def table_parts(plan: TablePlan, row: FloatArray, step: int) -> Parts:
    """The same from counts; 0 without visits."""
    state, world = int(row[0, 0] - plan.first), plan.world
    rows = np.array([world.row(step, state, a) for a in range(world.actions)])
    seen = plan.balls.counts.visits[rows] > 0
    both = plan.balls.expected(plan.V)[step, state]
    alone = plan.balls.mean_rewards[rows]
    reward = np.where(seen, alone + world.r_min, 0.0)
    value = np.where(seen, both - alone + plan.shift(step + 1), 0.0)
    return Parts(reward, value, plan.q(row, step)[0], plan.views[0].grid(row).std()[0])


def _evidence(
    plan: AnyPlan, store: TransitionStore, spaces: tuple[StateSpace, ActionSet], Zq: FloatArray, step: int, most: int
) -> list[tuple[Evidence, ...]]:
    """For each state-action, the transitions that count most; none where the data themselves were dropped."""
    model, (numbers, data) = store.at(step), _kept(store, step)
    if data is None or not len(data):
        return [()] * len(Zq)
    if isinstance(plan, TablePlan):
        same = np.all(np.asarray(data.Z)[None] == Zq[:, None], axis=2)
        weights = same / np.maximum(same.sum(axis=1, keepdims=True), 1)
    elif isinstance(model, CompressedEmbedding):
        weights = model.weights_of(Zq, data.Z)
    elif isinstance(model, Weighing):
        weights = model.transition_weights(Zq)
    else:
        return [()] * len(Zq)
    return [_heaviest(w, numbers, data, spaces, most) for w in weights]


def _kept(store: TransitionStore, step: int) -> tuple[IntArray, Transitions | None]:
    """The transitions that the model of a step has learned, with their numbers."""
    if isinstance(store.displacement, DisplacementEmbedding):
        data = store.displacement.data
        return np.arange(len(data)), data
    if not store.batches:
        return np.empty(0, dtype=np.intp), None
    data = concatenate([batch for _, batch in store.batches])
    numbers = np.arange(len(data))
    if len(store.embeddings) > 1:
        numbers = np.flatnonzero(np.concatenate([steps for steps, _ in store.batches]) == step)
        Z, next_states = np.asarray(data.Z)[numbers], np.asarray(data.next_states)[numbers]
        data = Transitions(Z, next_states, data.rewards[numbers], data.terminated[numbers])
    return numbers, data


def _heaviest(
    weights: FloatArray, numbers: IntArray, data: Transitions, spaces: tuple[StateSpace, ActionSet], most: int
) -> tuple[Evidence, ...]:
    states, actions = spaces
    Z, next_states = np.asarray(data.Z), np.asarray(data.next_states)
    d = states.dims
    return tuple(
        Evidence(
            weight=float(weights[i]),
            observation=states.decode(Z[i : i + 1, :d])[0],
            action=actions.decode(Z[i, d:]),
            reward=float(data.rewards[i]),
            next_observation=states.decode(next_states[i : i + 1])[0],
            terminated=bool(data.terminated[i]),
            number=int(numbers[i]),
        )
        for i in heaviest(weights, most)
    )


def _trajectories(
    plan: AnyPlan,
    model: Model,
    spaces: tuple[StateSpace, ActionSet],
    row: FloatArray,
    step: int,
    *,
    steps: int = 10,
) -> list[tuple[Any, ...]]:
    """The expected states after each action, followed by the plan."""
    states, actions = spaces
    here, which = np.repeat(row, len(actions), axis=0), np.arange(len(actions))
    on = np.ones(len(actions), dtype=bool)
    paths: list[list[Any]] = [[] for _ in actions.values]
    last = min(step + steps, plan.task.problem.horizon)
    for now in range(step, last):
        here, known = _next(model, here, which, actions, states)
        on &= known
        if not on.any():
            break
        for a, obs in zip(np.flatnonzero(on), states.decode(here[on]), strict=True):
            paths[a].append(obs)
        if now + 1 < last:
            which = plan.act(here, now + 1)
    return [tuple(path) for path in paths]


def _next(
    model: Model, here: FloatArray, which: IntArray, actions: ActionSet, states: StateSpace, *, least: float = 0.5
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The expected next states of states (q, d): the mean, or the most likely category; and whether known.

    A prediction that rests on less mass than ``least`` leads nowhere.
    """
    if isinstance(model, DisplacementEmbedding):
        there, _, ended = model.step(here, which)
        return there, ~ended
    if not len(model.support):
        return here, np.zeros(len(here), dtype=bool)
    support = np.asarray(model.support)
    weights = model.weights(np.hstack([here, actions.rows[which]]))
    mass = weights.sum(axis=1)
    likeliest = support[np.argmax(weights, axis=1)]
    mean = weights @ support / np.where(mass > least, mass, 1.0)[:, None]
    return np.where(states.categories, likeliest, mean), mass > least
