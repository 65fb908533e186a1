"""Results of a run, read from its directory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cmerl import agents, notebooks
from cmerl.errors import InputError
from cmerl.experiments.files import read_json
from cmerl.experiments.records import check_summary
from cmerl.experiments.spec import Spec
from cmerl.experiments.store import RunDirectory
from cmerl.experiments.units import Unit, rebuild, units_of
from cmerl.logs import Log, LoggedEpisode


class Results:
    """The results of a run, finished or not.

    Attributes:
        directory: the run directory.
    """

    def __init__(self, directory: str | os.PathLike[str], *, allow_env_modules: Sequence[str] = ()) -> None:
        self.directory = Path(directory)
        self._trusted = tuple(allow_env_modules)  # modules that ``agent`` may import
        self._run = RunDirectory(self.directory)
        self.manifest: dict[str, Any] = self._run.manifest()

    @cached_property
    def spec(self) -> Spec:
        """The spec of the run."""
        return self._run.spec()

    @cached_property
    def episodes(self) -> list[dict[str, Any]]:
        """One dictionary per finished episode: the lines of episodes.jsonl."""
        return self._run.episodes()

    def summary(self) -> dict[str, Any]:
        """Per environment and agent: means and 95 % intervals over seeds, as in summary.json."""
        found = read_json(self._run.summary_file)
        check_summary(found, str(self._run.summary_file))
        return found

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Failed units, each with the reason."""
        return list(self.summary()["failures"])

    @property
    def finished(self) -> bool:
        """True if every unit has played all its episodes."""
        return bool(self.summary()["finished"])

    def frame(self) -> Any:
        """The episodes, with metrics as columns, as a pandas data frame (or Polars, if only that is installed)."""
        rows = [{**{k: v for k, v in line.items() if k != "metrics"}, **line["metrics"]} for line in self.episodes]
        if find_spec("pandas") is not None:
            import pandas

            return pandas.DataFrame(rows)
        if find_spec("polars") is not None:
            import polars

            return polars.DataFrame(rows, infer_schema_length=None)
        raise InputError("a data frame needs pandas or polars: pip install pandas; without them use results.episodes")

    def agent(self, env: str, agent: str, seed: int, episodes: int | None = None) -> agents.Agent:
        """An agent after its first ``episodes``, or its last; rebuilt from its journal bit for bit."""
        for unit in units_of(self.spec):
            if unit.key == (env, agent, seed):
                if wanted := [module for module in unit.allow_env_modules if module not in self._trusted]:
                    raise InputError(
                        f"the run wants code of module {wanted[0]!r} to run: if you trust it, load the results with "
                        f"allow_env_modules=[{wanted[0]!r}]"
                    )
                return rebuild(unit, self._run.lessons(unit), episodes)
        raise InputError(f"the run has no unit of {env!r}, {agent!r} and seed {seed}: see results.units")

    def logged(self, env: str | None = None, agent: str | None = None, seed: int | None = None) -> Log:
        """The episodes as a log for ``agent.fit``; of one environment, agent or seed if given.

        Nothing is imported or rebuilt: they are read from the journals.
        """
        wanted = [
            u for u in self.units if all(w in (None, k) for w, k in zip((env, agent, seed), u.key, strict=True))
        ]
        worlds = {unit.env.label for unit in wanted}
        if len(worlds) != 1:
            among = f"it has {', '.join(sorted({u.env.label for u in self.units}))}"
            raise InputError(
                f"{self.directory}: name the environment whose episodes are meant, logged(env=…): {among}"
            )
        found = []
        for unit in wanted:
            for record in self._run.lessons(unit):
                if "line" in record:
                    where = f"{unit.title}, episode {record['line']['episode']}"
                    found.append(LoggedEpisode.of(_transitions(record["lesson"], where), where))
        if not found:
            raise InputError(f"{self.directory}: no episode is finished yet")
        return Log(tuple(found), f"run {self.directory.name}")

    @property
    def units(self) -> list[Unit]:
        """The units of the run."""
        return units_of(self.spec)

    def plot(self) -> Any:
        """Figures of the run, as in the report."""
        from importlib import import_module

        try:
            draw = import_module("cmerl.report").plot
        except (ImportError, AttributeError):
            raise InputError("plots need the report extra: pip install 'cmerl[report]'") from None
        return draw(self)

    def _repr_html_(self) -> str:
        """For notebooks: the summary."""
        head = ("environment", "agent", "seeds", "episodes", "mean return", "cumulative regret", "seconds an episode")
        rows = [
            (
                *(row[key] for key in ("env", "agent", "seeds", "episodes")),
                _estimate(row["return"]),
                _estimate(row["cumulative_regret"]),
                row["seconds_per_episode"],
            )
            for row in self.summary()["results"]
        ]
        return notebooks.grid(f"{self.directory}, {self._state}", head, rows)

    def __repr__(self) -> str:
        counts = f"{len(self.units)} units, {len(self.episodes)} episodes"
        return f"Results({str(self.directory)!r}, {counts}, {self._state})"

    @property
    def _state(self) -> str:
        failed = len(self.failures)
        return "finished" if self.finished else f"unfinished, {failed} failed" if failed else "unfinished"


def load(directory: str | os.PathLike[str], *, allow_env_modules: Sequence[str] = ()) -> Results:
    """The results in a run directory, finished or not.

    Args:
        directory: of the run.
        allow_env_modules: modules that you trust; only ``agent`` imports them.
    """
    return Results(directory, allow_env_modules=allow_env_modules)


def _transitions(lesson: dict[str, Any], where: str) -> dict[str, Any]:
    if not lesson.get("observations"):
        raise InputError(f"{where} was recorded without its transitions, because its agent does not learn from them")
    return lesson


def _estimate(estimate: dict[str, Any] | None) -> str:
    if estimate is None:
        return "–"
    interval = "" if estimate["low"] is None else f" ({estimate['low']:.4g} – {estimate['high']:.4g})"
    return f"{estimate['mean']:.4g}{interval}"
