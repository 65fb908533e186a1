"""The verdict of a report: which agent is ahead, by how much, and how certain that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from cmerl.experiments.statistics import Comparison, compare_all, holm
from cmerl.report import tables
from cmerl.report.curves import BOOTSTRAP_SEED
from cmerl.report.rundir import RunDirectory, Runs
from cmerl.report.style import interval, number

FloatArray = NDArray[np.float64]

ALPHA = 0.05  # what counts as sure, after correction
POWER = 0.8  # with which so many more seeds would tell
MOST_SEEDS = 1000  # more than these nobody runs


@dataclass(frozen=True)
class Pair:
    """Two agents in one environment, as text.

    Attributes:
        env: the environment.
        better: the agent that is ahead.
        other: the one behind.
        by: the difference of their means, positive.
        interval: of the difference, at 95 %.
        p: corrected for the number of comparisons.
        sure: whether p is below 5 %.
        seeds: that both played.
        needed: seeds needed, if the present ones do not suffice.
    """

    env: str
    better: str
    other: str
    by: str
    interval: str
    p: str
    sure: bool
    seeds: int
    needed: int | None


@dataclass(frozen=True)
class Verdict:
    """Sentences, one for each environment, and all pairwise tests."""

    sentences: list[str]
    pairs: list[Pair]
    measure: str


def verdict(run: RunDirectory) -> Verdict:
    """The verdict of a run."""
    by_regret = bool(run.runs) and all(_regret(runs) is not None for runs in run.runs)
    measure = "cumulative regret" if by_regret else "return at the end"
    losses = {env: {runs.agent: _loss(runs, by_regret) for runs in run.of(env)} for env in run.envs}
    spread = {env: _compare(env, found) for env, found in losses.items()}
    corrected = _corrected(spread)
    sentences = [_sentence(_place(env, run), run.of(env), losses[env], corrected[env], by_regret) for env in run.envs]
    return Verdict(sentences, [pair for env in run.envs for pair in corrected[env]], measure)


def seeds_needed(differences: FloatArray, comparisons: int = 1) -> int | None:
    """Number of seeds needed to detect such a difference; None if impractically many.

    By the normal approximation, n = ((z_{1−α/2m} + z_{power})·sd/mean)²; the exact test needs 2^{1−n} ≤ α/m too.
    """
    mean, sd = float(np.mean(differences)), float(np.std(differences, ddof=1)) if len(differences) > 1 else math.nan
    if mean == 0.0 or math.isnan(sd):
        return None
    level = ALPHA / max(comparisons, 1)
    wanted = (norm.ppf(1 - level / 2) + norm.ppf(POWER)) * sd / abs(mean)
    least = math.ceil(1 - math.log2(level))
    count = max(math.ceil(wanted**2), least, len(differences) + 1)
    return count if count <= MOST_SEEDS else None


def _regret(runs: Runs) -> FloatArray | None:
    found = runs.get("regret")
    return None if found is None or np.isnan(found).any() else found


def _loss(runs: Runs, by_regret: bool) -> dict[int, float]:
    """The loss of each seed; lower is better."""
    rows, _ = runs.even
    regret = _regret(runs)
    values = regret.sum(axis=1) if by_regret and regret is not None else -tables.late_returns(runs)
    return dict(zip(runs.seeds[rows].tolist(), values.tolist(), strict=True))


def _compare(env: str, losses: dict[str, dict[int, float]]) -> list[tuple[Comparison, FloatArray]]:
    """Every pair of agents on the seeds that both have, uncorrected."""
    found = []
    names = list(losses)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            shared = sorted(losses[a].keys() & losses[b].keys())
            if len(shared) > 1:
                x, y = (np.array([losses[agent][seed] for seed in shared]) for agent in (a, b))
                found += [(c, x - y) for c in compare_all({a: {env: x}, b: {env: y}}, seed=BOOTSTRAP_SEED)]
    return found


def _corrected(spread: dict[str, list[tuple[Comparison, FloatArray]]]) -> dict[str, list[Pair]]:
    """The pairs of all environments, with Holm's correction over all of them."""
    flat = [(env, comparison, gap) for env, found in spread.items() for comparison, gap in found]
    adjusted = holm([c.difference.p_value for _, c, _ in flat]) if flat else np.empty(0)
    pairs: dict[str, list[Pair]] = {env: [] for env in spread}
    for (env, comparison, gap), p in zip(flat, adjusted, strict=True):
        d = comparison.difference
        ahead = d.mean <= 0  # of losses: the first agent lost less
        low, high = (-d.high, -d.low) if ahead else (d.low, d.high)
        better, other = (comparison.a, comparison.b) if ahead else (comparison.b, comparison.a)
        sure = bool(p < ALPHA)
        needed = None if sure else seeds_needed(gap, len(flat))
        shown = interval(low, high) if math.isfinite(low) else "–"
        pairs[env].append(Pair(env, better, other, number(abs(d.mean)), shown, f"{p:.2g}", sure, d.seeds, needed))
    return pairs


def _place(env: str, run: RunDirectory) -> str:
    """The environment, and how much of the run there is if that is not all."""
    planned, played = run.planned_episodes, min((runs.even[1] for runs in run.of(env)), default=0)
    return env if planned is None or played >= planned else f"{env}, after {played} of {planned} episodes"


def _sentence(
    place: str, all_runs: Sequence[Runs], losses: dict[str, dict[int, float]], pairs: list[Pair], by_regret: bool
) -> str:
    means = {agent: float(np.mean(list(values.values()))) for agent, values in losses.items()}
    best = min(means, key=means.__getitem__)
    what = f"regret {number(means[best])}" if by_regret else f"return {number(-means[best])} at the end"
    if len(means) == 1:
        to = tables.scale(all_runs)
        row = tables.row(all_runs[0], to)
        goal = "" if to.optimum is None else f"; V* is {number(to.optimum)}"
        reached = "" if row.reached in ("–", "not yet") else f"; learned in about {row.reached} episodes"
        return f"{place}: {best} has {what}{goal}{reached}."
    mine = [pair for pair in pairs if pair.better == best]
    parts = [f"{place}: {best} is ahead with {what}."]
    if won := [pair for pair in mine if pair.sure]:
        parts.append(f"It beats {_listed([f'{p.other} (by {p.by}, p = {p.p})' for p in won])} significantly.")
    for pair in mine:
        if not pair.sure:
            more = "no practical number of seeds would" if pair.needed is None else f"about {pair.needed} would"
            gap = f"its lead of {pair.by} over {pair.other} is not significant (p = {pair.p})"
            parts.append(f"With {pair.seeds} seeds {gap}; {more} settle it.")
    if len(mine) < len(means) - 1:
        parts.append("Agents with fewer than two seeds in common are not compared.")
    return " ".join(parts)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
