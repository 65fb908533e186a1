"""Aggregates over environments: interquartile mean and probability of improvement."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.experiments import statistics
from cmerl.report import tables
from cmerl.report.curves import BOOTSTRAP_SEED
from cmerl.report.rundir import RunDirectory

FloatArray = NDArray[np.float64]
MOST_PAIRS = 30  # more rows than this nobody reads


def scores(run: RunDirectory) -> dict[str, dict[str, FloatArray]]:
    """For each agent that played everywhere, its scores (seeds,) in each environment, on the scale of ``tables``."""
    found: dict[str, dict[str, FloatArray]] = {agent: {} for agent in run.agents}
    for env in run.envs:
        scale = tables.scale(run.of(env))
        for runs in run.of(env):
            found[runs.agent][env] = scale.score(tables.late_returns(runs))
    return {agent: by_env for agent, by_env in found.items() if len(by_env) == len(run.envs)}


def figures(run: RunDirectory) -> list[tuple[str, dict[str, Any]]]:
    """Interquartile means and probabilities of improvement, with intervals; none for a single agent."""
    found = scores(run)
    if len(found) < 2:
        return []
    number = {name: i for i, name in enumerate(run.agents)}
    means = [
        _entry(agent, number[agent], statistics.interquartile_mean(by_env, seed=BOOTSTRAP_SEED, resamples=1000))
        for agent, by_env in found.items()
    ]
    pairs = list(itertools.combinations(found, 2))[:MOST_PAIRS]
    better = [
        _entry(
            f"{a} over {b}",
            number[a],
            statistics.probability_of_improvement(found[a], found[b], seed=BOOTSTRAP_SEED, resamples=500),
        )
        for a, b in pairs
    ]
    return [
        ("compare-iqm", {"kind": "dots", "title": "interquartile mean", "x": "score", "rows": means}),
        (
            "compare-improvement",
            {
                "kind": "dots",
                "title": "probability of improvement",
                "x": "probability",
                "rows": better,
                "middle": 0.5,
            },
        ),
    ]


def _entry(label: str, agent: int, estimate: statistics.Estimate) -> dict[str, Any]:
    low, high = (None if v != v else round(v, 4) for v in (estimate.low, estimate.high))
    return {"label": label, "agent": agent, "value": round(estimate.value, 4), "low": low, "high": high}
