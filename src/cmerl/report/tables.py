"""The table of one environment: returns, regret, learning speed and cost of each agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.experiments import statistics
from cmerl.report import curves
from cmerl.report.curves import BOOTSTRAP_SEED
from cmerl.report.rundir import Runs
from cmerl.report.style import interval, number

FloatArray = NDArray[np.float64]

GOAL_SHARE = 0.8  # of the way from the worst run to the best possible: the level that "learned it" stands for


@dataclass(frozen=True)
class Row:
    """One agent in the table of an environment, as text."""

    agent: str
    runs: str
    late_return: str
    regret: str
    regret_interval: str
    exponent: str
    stuck: str
    stuck_any: bool
    reached: str
    cost: str
    failed: str = ""


@dataclass(frozen=True)
class Scale:
    """Returns of an environment between its worst run (0) and the best possible or seen (1)."""

    worst: float
    best: float
    optimum: float | None

    @property
    def goal(self) -> float:
        """The return that counts as having learned."""
        return self.worst + GOAL_SHARE * (self.best - self.worst)

    def score(self, returns: FloatArray) -> FloatArray:
        """Returns on this scale."""
        width = self.best - self.worst
        return (returns - self.worst) / width if width > 0 else np.ones_like(returns)


def late_returns(runs: Runs) -> FloatArray:
    """Mean return (seeds,) over the last tenth of the episodes."""
    rows, episodes = runs.even
    return statistics.late_regret(runs.values["return"][rows, :episodes])  # the same mean, of returns


def optimum(all_runs: Sequence[Runs]) -> float | None:
    """V* of an environment, averaged over its first states, where it was recorded."""
    found = [values for runs in all_runs if (values := runs.get("metrics.optimum")) is not None]
    return float(np.nanmean([np.nanmean(values) for values in found])) if found else None


def scale(all_runs: Sequence[Runs]) -> Scale:
    """From what all agents did here."""
    late = np.concatenate([late_returns(runs) for runs in all_runs])
    best = optimum(all_runs)
    return Scale(float(late.min()), max(float(late.max()), best) if best is not None else float(late.max()), best)


def about(all_runs: Sequence[Runs], to: Scale, planned: int | None = None) -> str:
    """Facts about an environment in words; ``planned`` are the episodes that each run was to have."""
    episodes = sorted({runs.even[1] for runs in all_runs})
    seeds = sorted({len(runs.even[0]) for runs in all_runs})
    counted = _span(episodes) if planned is None or episodes == [planned] else f"{_span(episodes)} of {planned}"
    plural = "" if counted == "1" else "s"
    words = [f"{counted} episode{plural}, {_span(seeds)} seed{'' if seeds == [1] else 's'}."]
    if to.optimum is not None:
        words.append(f"The best possible return of an episode on average, V*, is {number(to.optimum)}.")
    return " ".join(words)


def _span(values: list[int]) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"


def row(runs: Runs, to: Scale, failed: int = 0) -> Row:
    """One agent's numbers; ``failed`` of its runs did not get to their end."""
    rows, episodes = runs.even
    returns = runs.values["return"][rows, :episodes]
    late = late_returns(runs)
    regrets, seconds = runs.get("regret"), runs.get("seconds")
    regret = regret_interval = exponent = stuck = "–"
    stuck_any = False
    if regrets is not None and not np.isnan(regrets).any():
        summary = statistics.summarise_regret(regrets, optimum=to.optimum or np.inf, seed=BOOTSTRAP_SEED)
        regret, regret_interval = number(summary.mean), interval(summary.low, summary.high)
        fit = statistics.regret_exponent(regrets, seed=BOOTSTRAP_SEED)
        exponent = number(fit.value) + ("" if np.isnan(fit.low) else f" ({interval(fit.low, fit.high)})")
        if to.optimum is not None and to.optimum > 0:
            stuck, stuck_any = f"{round(summary.stuck * len(rows))} of {len(rows)}", summary.stuck > 0
    window = min(curves.smoothing_window(episodes), 10)
    reached = statistics.episodes_to_threshold(returns, to.goal, seed=BOOTSTRAP_SEED, window=window)
    low, high = statistics.bootstrap_interval(late, seed=BOOTSTRAP_SEED)
    return Row(
        agent=runs.agent,
        runs=f"{len(rows)} × {episodes}",
        late_return=number(float(late.mean())) + ("" if np.isnan(low) else f" ({interval(low, high)})"),
        regret=regret,
        regret_interval=regret_interval,
        exponent=exponent,
        stuck=stuck,
        stuck_any=stuck_any,
        failed=f"{failed} failed" if failed else "",
        reached=_reached(reached.median, told=episodes > 1 and to.best > to.worst and failed < len(rows)),
        cost="–" if seconds is None else f"{number(1000 * float(np.nanmean(seconds)))} ms",
    )


def _reached(median: float, told: bool) -> str:
    """Episodes to learn; a run that failed or has one episode has shown nothing."""
    if not told:
        return "–"
    return "not yet" if np.isinf(median) else f"{median:.0f}"
