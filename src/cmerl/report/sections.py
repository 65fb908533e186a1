"""The section of one environment: figures as data for plotly.js, and table rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.experiments.statistics import thin
from cmerl.report import curves, tables
from cmerl.report.account import ExplorationAccount
from cmerl.report.curves import Curve
from cmerl.report.rundir import RunDirectory, Runs

FloatArray = NDArray[np.float64]
Figure = dict[str, Any]

MOST_SEEDS, SEED_POINTS = 16, 80  # of an agent's single curves


@dataclass(frozen=True)
class Section:
    """An environment as the template shows it.

    Attributes:
        name: of the environment.
        id: for links.
        about: facts in words.
        rows: of the table.
        figures: ids of its figures, in order.
        has_regret: whether regret is known.
        proven: for each agent with a certificate, what it says and what was measured.
        explored: for each agent with an exploration account, what it says.
    """

    name: str
    id: str
    about: str
    rows: list[tables.Row]
    figures: list[tuple[str, Figure]] = field(default_factory=list)
    has_regret: bool = False
    proven: list[str] = field(default_factory=list)
    explored: list[str] = field(default_factory=list)


def section(run: RunDirectory, env: str, index: int, most: int) -> Section:
    """Everything about one environment; ``most`` points a curve."""
    all_runs = run.of(env)
    to = tables.scale(all_runs)
    has_regret = any(runs.get("regret") is not None for runs in all_runs)
    agents = run.agents
    build = Builder(all_runs, agents, most)
    figures = [
        build.regret(),
        build.returns(to.optimum),
        build.bound(),
        build.certified(),
        build.curve("optimism", "realised optimism", "V₁ of the plan − V*₁", _optimism, zero=True),
        build.curve("gain", "information gain", "gain γ", lambda r: _sampled(r, "metrics.information_gain", most)),
        build.curve(
            "dictionary", "size of the dictionary", "points", lambda r: _sampled(r, "metrics.dictionary", most)
        ),
        build.curve("cost", "cost", "ms an episode", _milliseconds, log=True),
        build.certificates(),
        build.account(),
        *build.balancing(),
    ]
    return Section(
        name=env,
        id=f"env-{index}",
        about=tables.about(all_runs, to, run.planned_episodes),
        rows=[tables.row(runs, to, run.failed(env, runs.agent)) for runs in all_runs],
        figures=[(f"env-{index}-{figure['key']}", figure) for figure in figures if figure is not None],
        has_regret=has_regret,
        proven=[words for runs in all_runs if (words := proven(runs)) is not None],
        explored=[
            account.words(runs.agent) for runs in all_runs if (account := ExplorationAccount.of(runs)) is not None
        ],
    )


def proven(runs: Runs) -> str | None:
    """Certified and measured regret of an agent, as means over seeds."""
    bound, most = runs.get("metrics.certified_regret"), runs.get("metrics.certified_most")
    lost = runs.get("regret")
    if bound is None or most is None or np.isnan(bound[:, -1]).any():
        return None
    words = f"{runs.agent}: regret proven to be at most {_count(bound[:, -1])} of {_count(most[:, -1])}"
    return words if lost is None else f"{words}; measured: {_count(lost.sum(axis=1))}"


def _count(values: FloatArray) -> str:
    """A mean with as many digits as can be believed, thousands apart."""
    mean = float(values.mean())
    return f"{mean:,.0f}".replace(",", " ") if mean >= 100 else f"{mean:.3g}"


def line(agent: int, curve: Curve, **extra: Any) -> dict[str, Any]:
    """A curve as data; ``agent`` is its number, which decides colour and dash."""
    return {
        "agent": agent,
        "x": curve.episodes.tolist(),
        "mean": digits(curve.mean),
        "low": None if curve.low is None else digits(curve.low),
        "high": None if curve.high is None else digits(curve.high),
        **extra,
    }


def digits(values: FloatArray, significant: int = 5) -> list[float | None]:
    """Rounded to what can be seen, so that pages stay small; NaN as null."""
    return [None if v != v else float(f"{v:.{significant}g}") for v in values.tolist()]


class Builder:
    """Makes the figures of one environment."""

    def __init__(self, all_runs: Sequence[Runs], agents: list[str], most: int) -> None:
        self._all, self._most = all_runs, most
        self._number = {name: i for i, name in enumerate(agents)}

    def curve(
        self,
        key: str,
        title: str,
        y: str,
        make: Callable[[Runs], Curve | None],
        seeds: Callable[[Runs], dict[str, Any]] | None = None,
        **options: Any,
    ) -> Figure | None:
        """A figure with one line an agent, and one a seed where ``seeds`` gives them; None if no agent has any."""
        lines = [
            line(self._number[runs.agent], curve, **({} if seeds is None else {"seeds": seeds(runs)}))
            for runs in self._all
            if (curve := make(runs)) is not None and len(curve.episodes)
        ]
        return {"key": key, "kind": "curves", "title": title, "y": y, "lines": lines, **options} if lines else None

    def regret(self) -> Figure | None:
        """Cumulative regret; its axes are the reader's choice."""
        return self.curve(
            "regret",
            "cumulative regret",
            "cumulative regret",
            lambda runs: _regret(runs, self._most),
            lambda runs: _each(np.cumsum(runs.values["regret"][runs.even[0], : runs.even[1]], axis=1), runs),
            toggle=True,
        )

    def returns(self, best: float | None) -> Figure | None:
        """Returns, with V* where it is known."""
        rules = [] if best is None else [{"y": float(f"{best:.6g}"), "text": "V*"}]
        return self.curve(
            "return",
            "return of an episode",
            "return",
            lambda runs: curves.smoothed(runs.values["return"][runs.even[0], : runs.even[1]], self._most),
            lambda runs: _each(curves.running_mean(runs.values["return"][runs.even[0], : runs.even[1]]), runs),
            rules=rules,
        )

    def bound(self) -> Figure | None:
        """The theorem's bound and the measured regret."""
        figure = self.curve(
            "bound",
            "regret: bound and measured",
            "cumulative regret",
            lambda runs: _sampled(runs, "metrics.regret_bound", self._most),
            log=True,
            note="thick: the theorem's bound; thin: measured",
        )
        return None if figure is None else self._beside_measured(figure, ", bound")

    def _beside_measured(self, figure: Figure, suffix: str) -> Figure:
        """The figure's lines thick, and the measured regret of the same agents thin."""
        bounded = {entry["agent"] for entry in figure["lines"]}
        figure["lines"] = [{**entry, "width": 4, "suffix": suffix} for entry in figure["lines"]]
        for runs in self._all:
            if self._number[runs.agent] in bounded and (curve := _regret(runs, self._most)) is not None:
                figure["lines"].append(line(self._number[runs.agent], curve, width=1.5, suffix=", measured"))
        return figure

    def certified(self) -> Figure | None:
        """Certified and measured regret of agents."""
        figure = self.curve(
            "certified",
            "regret: proven and measured",
            "cumulative regret",
            lambda runs: _sampled(runs, "metrics.certified_regret", self._most),
            log=True,
            note="thick: what the run proves it lost at most; thin: measured",
        )
        return None if figure is None else self._beside_measured(figure, ", proven")

    def certificates(self) -> Figure | None:
        """Share of seeds whose guarantees held in every episode so far."""
        figure: Figure | None = None
        promises = {
            "metrics.in_set": ", truth in the confidence set",
            "metrics.optimistic": ", values optimistic everywhere",
        }
        for dash, (name, suffix) in zip((None, "dot"), promises.items(), strict=True):
            part = self.curve(
                "certificates",
                "certificates that held",
                "share of seeds",
                lambda runs, name=name: _kept(runs, name, self._most),  # type: ignore[misc]
                unit=True,
                note="seeds whose promise held in every episode so far",
            )
            if part is None:
                continue
            lines = [{**entry, "suffix": suffix, "dash": dash, "low": None, "high": None} for entry in part["lines"]]
            figure = part if figure is None else figure
            figure["lines"] = lines if figure is part else figure["lines"] + lines
        return figure

    def account(self) -> Figure | None:
        """The cost and the gain of exploration."""
        figure: Figure | None = None
        curve = ExplorationAccount.curve
        for side, suffix, width in (("cost", ", cost", 4), ("bought", ", gain", 1.5)):
            part = self.curve(
                "account",
                "cost and gain of exploration",
                "sum of returns",
                lambda runs, side=side: curve(runs, side, self._most),  # type: ignore[misc]
                note="thick: cost by the agent's own account; thin: returns above that of the first episode",
            )
            if part is None:
                return None
            lines = [{**entry, "suffix": suffix, "width": width} for entry in part["lines"]]
            figure = {**part, "lines": lines if figure is None else figure["lines"] + lines}
        return figure

    def balancing(self) -> list[Figure]:
        """For agents that balance learners: how often each one was played."""
        found = []
        for runs in self._all:
            active = runs.get("metrics.active")
            if active is None:
                continue
            names = runs.texts.get("metrics.active")
            played = np.unique(active[~np.isnan(active)]).astype(int)
            lines = [
                {
                    **line(i, curves.smoothed((active == which).astype(float), self._most)),
                    "name": escape(names[which] if names else f"learner {which}", quote=False),
                    "low": None,
                    "high": None,
                    "own": True,
                }
                for i, which in enumerate(played)
            ]
            found.append(
                {
                    "key": f"balancing-{self._number[runs.agent]}",
                    "kind": "curves",
                    "title": f"{runs.agent}: who was played",
                    "y": "share of episodes",
                    "unit": True,
                    "lines": lines,
                }
            )
        return found


def _each(values: FloatArray, runs: Runs) -> dict[str, Any]:
    """The curve of every seed, thinned further than means are; of the first seeds where there are many."""
    at = thin(values.shape[1], SEED_POINTS)
    names = runs.seeds[runs.even[0]][:MOST_SEEDS].tolist()
    return {"x": (at + 1).tolist(), "y": [digits(row[at], 4) for row in values[:MOST_SEEDS]], "names": names}


def _sampled(runs: Runs, name: str, most: int) -> Curve | None:
    values = runs.get(name)
    return None if values is None else curves.sampled(values, most)


def _regret(runs: Runs, most: int) -> Curve | None:
    regrets = runs.get("regret")
    return None if regrets is None else curves.sampled(np.cumsum(regrets, axis=1), most)


def _optimism(runs: Runs) -> Curve | None:
    value, best = runs.get("metrics.value"), runs.get("metrics.optimum")
    return None if value is None or best is None else curves.sampled(value - best)


def _milliseconds(runs: Runs) -> Curve | None:
    seconds = runs.get("seconds")
    return None if seconds is None else curves.smoothed(1000 * seconds)


def _kept(runs: Runs, name: str, most: int) -> Curve | None:
    values = runs.get(name)
    return None if values is None else curves.sampled(np.minimum.accumulate(np.nan_to_num(values, nan=1.0), 1), most)
