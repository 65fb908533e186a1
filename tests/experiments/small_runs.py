"""Specs of small runs and searches, and an engine that plays them in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cmerl.experiments.engines.base import EpisodeFinished, UnitFailed, UnitFinished
from cmerl.experiments.failures import sentence
from cmerl.experiments.journal import FileJournal, Tail
from cmerl.experiments.packing import unpack
from cmerl.experiments.units import play

RUN: dict[str, Any] = {
    "environments": ["cmerl/RiverSwim-v0", {"id": "cmerl/Chain-v0", "label": "chain", "options": {"states": 4}}],
    "agents": ["random", {"name": "cme-rl", "label": "split", "options": {"bonus": "split"}}],
    "episodes": 6,
    "seeds": [0, 5],
}
SEARCH: dict[str, Any] = {
    "environments": [{"id": "cmerl/Chain-v0", "label": "chain", "options": {"states": 4}}],
    "agents": [{"name": "cme-rl", "options": {"lam": 50.0}}],  # which most other settings beat
    "episodes": 3,
    "horizon": 8,
    "seeds": 6,
    "tune": {"trials": 3, "seeds": 2, "options": {"lam": {"low": 0.01, "high": 10.0, "log": True}}},
}


def changed(**tune: Any) -> dict[str, Any]:
    """The search with other settings."""
    return {**SEARCH, "tune": {**SEARCH["tune"], **tune}}


def timeless(path: Path) -> list[dict[str, Any]]:
    """Lines of episodes.jsonl, but for what the clock says."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


class InThisProcess:
    """An engine without workers."""

    def run(self, tasks):
        for task in tasks:
            try:
                with FileJournal(task.journal) as journal:
                    report = play(task.unit, journal)
            except Exception as error:
                yield UnitFailed(task.unit, sentence(error))
                continue
            records = [unpack(record) for record in Tail(task.journal, task.offset)()]
            yield from (EpisodeFinished(task.unit, record["line"]) for record in records if "line" in record)
            yield UnitFinished(task.unit, report)
