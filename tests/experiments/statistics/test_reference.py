"""Our statistics against rliable and confseq, which were asked by tools/reference_statistics.py."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cmerl.experiments.statistics import confidence_sequence, interquartile_mean, probability_of_improvement
from cmerl.experiments.statistics.anytime import FRACTIONS, log_wealth

SAID = json.loads((Path(__file__).parents[2] / "fixtures" / "statistics.json").read_text())
A, B = (np.array(SAID[name]).T for name in "ab")  # environments × runs
X, BOUNDS = np.array(SAID["differences"]), tuple(SAID["bounds"])


def close(ours: tuple[float, float], theirs: list[float]) -> bool:
    """Two percentile intervals of as many resamples each: their ends differ by the luck of the draw."""
    return bool(np.allclose(ours, theirs, rtol=0, atol=0.05 * (theirs[1] - theirs[0])))


def test_the_interquartile_mean_and_its_interval_are_rliables() -> None:
    found = interquartile_mean(list(A), seed=0, resamples=SAID["resamples"])
    assert found.value == pytest.approx(SAID["iqm"]["value"], rel=1e-12)
    assert close(found[1:], SAID["iqm"]["interval"])
    assert not close(interquartile_mean(list(A), seed=0, level=0.9)[1:], SAID["iqm"]["interval"])  # it could be seen


def test_the_probability_of_improvement_and_its_interval_are_rliables() -> None:
    found = probability_of_improvement(list(A), list(B), seed=0, resamples=SAID["resamples"])
    assert found.value == pytest.approx(SAID["improvement"]["value"], rel=1e-12)
    assert close(found[1:], SAID["improvement"]["interval"])


def test_the_money_of_the_bounded_game_is_confseqs() -> None:
    np.testing.assert_allclose(FRACTIONS, SAID["fractions"])  # the same bets
    for mean, money in zip(SAID["means"], SAID["money"], strict=True):
        np.testing.assert_allclose(log_wealth(X, mean, BOUNDS), np.log(money), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seeds", [5, 12, 30, 60])
def test_the_confidence_sequence_is_confseqs_within_its_grid(seeds: int) -> None:
    step = (BOUNDS[1] - BOUNDS[0]) / SAID["breaks"]
    low, high = confidence_sequence(X[:seeds], bounds=BOUNDS)
    # confseq takes the last mean of its grid that is not ruled out, and goes one step further
    assert low == pytest.approx(SAID["low"][seeds - 1], abs=1.01 * step)
    assert high == pytest.approx(SAID["high"][seeds - 1], abs=1.01 * step)
