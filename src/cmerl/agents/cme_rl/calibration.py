"""Calibration: how well the model predicted next states and returns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cmerl.agents.cme_rl.transition_store import TransitionStore
from cmerl.embedding import DisplacementEmbedding, Model
from cmerl.transitions import Transitions

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def motion_error(
    embedding: Model, data: Transitions, category: BoolArray, *, most: int = 32, still: float = 1e-12
) -> float | None:
    """The part of a motion that the embedding did not predict: 0 is perfect, 1 as bad as expecting the mean.

    The prediction is the embedding's mean of next states; what its weights leave to one stays where it is. Columns
    of numbers count in units of their own motion, categories by whether they are equal. None where nothing moves.

    Args:
        embedding: before it has learned ``data``.
        data: of an episode; ends are left out.
        category: which columns of a state are categories (d,).
        most: transitions that are asked for: enough for a figure, and a small part of an episode's time.
        still: variance of a motion, in units of the state's own scale, below which there is none.
    """
    alive = np.flatnonzero(~data.terminated)
    if len(alive) < 2 or not len(embedding.support):  # nothing yet has gone on
        return None
    rows = alive[np.linspace(0, len(alive) - 1, min(len(alive), most)).astype(np.intp)]
    Z, after = np.asarray(data.Z)[rows], np.asarray(data.next_states)[rows]
    before = Z[:, : after.shape[1]]
    values = [np.unique(np.concatenate([before[:, c], after[:, c]])) for c in np.flatnonzero(category)]
    now, then, support = (_features(x, category, values) for x in (before, after, np.asarray(embedding.support)))
    W = embedding.weights(Z)
    predicted = W @ support + (1.0 - W.sum(axis=1, keepdims=True)) * now
    variance = (then - now).var(axis=0)
    moves = variance > still
    unit = np.where(np.arange(len(variance)) < np.count_nonzero(~category), variance, 1.0)[moves]
    if not moves.any():
        return None
    missed = np.square(then - predicted).mean(axis=0)[moves]
    return float((missed / unit).sum() / (variance[moves] / unit).sum())


def prediction_error(displacement: DisplacementEmbedding, data: Transitions) -> float:
    """The share of an episode's motion that was not predicted: 0 is perfect, 1 as bad as expecting the mean.

    The unit is all motion seen before, or that of the episode where it is larger: a few steps may hardly move, and a
    column may move for the first time.
    """
    errors = np.square(displacement.residuals(data)).mean(axis=0)
    moved = np.asarray(data.next_states) - np.asarray(data.Z)[:, : len(errors)]
    unit = np.maximum(displacement.motion_variance, np.square(moved).mean(axis=0))
    return float(np.mean(errors / np.maximum(unit, 1e-24)))


def model_error(store: TransitionStore, data: Transitions, category: BoolArray) -> float | None:
    """The part of an episode's motion that the model of the moment did not predict; None where it is not known."""
    if store.displacement is not None:
        return prediction_error(store.displacement, data)
    return motion_error(store.embeddings[0], data, category) if len(store.embeddings) == 1 else None


def _features(states: FloatArray, category: BoolArray, values: Sequence[FloatArray]) -> FloatArray:
    """Numbers as they are, then a column for each of the values that a category takes."""
    equal = [states[:, [c]] == known for c, known in zip(np.flatnonzero(category), values, strict=True)]
    return np.hstack([states[:, ~category], *equal])


def about_next_states(errors: Sequence[float], recent: int = 10) -> str:
    """The recent prediction errors of next states, in words."""
    if not errors:
        return "not known yet"
    latest = errors[-recent:]
    usual, worst = _share(float(np.median(latest))), _share(max(latest))
    return (
        f"{usual} (median) of the motion in the last {len(latest)} episodes was not predicted before learning it; "
        f"at worst {worst}"
    )


def _share(error: float) -> str:
    """In words; by how much a prediction is worse than none says nothing."""
    return f"{error:.1%}" if error <= 1.0 else "more than 100%"


def about_values(greedy: float, optimistic: float, returns: Sequence[float], recent: int = 10) -> str:
    """In words: what plans expect of an episode, and whether the latest ones have returned it.

    Args:
        greedy: the mean V₁ of the latest first states without exploration: the unknown is worth the mean.
        optimistic: the same with exploration: without data the value is the ceiling.
        returns: of all episodes.
        recent: number of latest episodes.
    """
    latest = np.array(returns[-recent:])
    mean, error = float(latest.mean()), float(latest.std() / np.sqrt(len(latest)))
    verdict = "which agrees"
    if mean + 2 * error < min(greedy, optimistic):
        verdict = "less than both"
    elif mean - 2 * error > max(greedy, optimistic):
        verdict = "more than both"
    return (
        f"plans expect a return of {greedy:.4g} without exploration and {optimistic:.4g} with it; "
        f"the last {len(latest)} returned {mean:.4g} ± {error:.2g}, {verdict}"
    )
