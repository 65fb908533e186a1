"""Agents compared over environments, by the statistics on scores."""

from __future__ import annotations

import numpy as np
from pages import data_of

from cmerl.experiments import statistics


def test_comparison_is_that_of_the_statistics(run, page) -> None:
    figures = data_of(page)["figures"]
    late = {}
    for env in run.envs:
        ends = {runs.agent: runs.values["return"][:, -6:].mean(axis=1) for runs in run.of(env)}
        worst, best = min(map(np.min, ends.values())), max(3.4, *map(np.max, ends.values()))
        for agent, values in ends.items():
            late.setdefault(agent, {})[env] = (values - worst) / (best - worst)
    for row, (agent, scores) in zip(figures["compare-iqm"]["rows"], late.items(), strict=True):
        assert row["label"] == agent
        np.testing.assert_allclose(row["value"], statistics.interquartile_mean(scores, seed=0).value, atol=1e-4)
    better = figures["compare-improvement"]["rows"]
    assert [row["label"] for row in better] == ["cme-rl over greedy", "cme-rl over random", "greedy over random"]
    expected = statistics.probability_of_improvement(late["cme-rl"], late["greedy"], seed=0).value
    np.testing.assert_allclose(better[0]["value"], expected, atol=1e-4)
