"""Search an agent's options on some seeds, then compare the best with the default on others.

A directory holds everything: the study (SQLite), a run for every trial, and the final comparison. After a kill, the
same call continues with the same result: the next trial depends only on earlier trials and its number, and a trial
under way is resumed like any run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import CmerlError, InputError
from cmerl.experiments.files import read_json, write_json
from cmerl.experiments.results import Results
from cmerl.experiments.runner import resume, run
from cmerl.experiments.spec import Spec
from cmerl.experiments.statistics import Comparison, compare_all
from cmerl.experiments.store import RunDirectory
from cmerl.experiments.tuning.spec import Range, TuneSpec, load, tuning_seeds, with_options

DEFAULT, TUNED = "default", "tuned"
RESULT = "tuned.json"
Scores = dict[str, NDArray[np.float64]]
"""For each environment, a number for every seed; higher is better."""


@dataclass(frozen=True)
class Tuned:
    """The result of tuning.

    Attributes:
        options: of the agent, the best found; its own where nothing beat them.
        trial: number of the best trial, or None where nothing beat the default.
        trials: how many were told apart.
        failed: how many could not be run.
        objective: "regret" or "return".
        tuning_seeds: on which trials were compared.
        final_seeds: on which the best was compared with the default; none of them is a tuning seed.
        comparisons: tuned − default in each environment on the final seeds; empty where nothing beat the default.
        directory: of everything.
    """

    options: dict[str, Any]
    trial: int | None
    trials: int
    failed: int
    objective: str
    tuning_seeds: list[int]
    final_seeds: list[int]
    comparisons: tuple[Comparison, ...]
    directory: Path

    def verdicts(self) -> list[str]:
        """A sentence for each environment; an improvement is positive for every objective."""
        what = "mean return" if self.objective == "return" else "cumulative regret"
        return [f"{c.env}: {verdict(c, what, self._sign)}" for c in self.comparisons]

    @property
    def _sign(self) -> float:
        return 1.0 if self.objective == "return" else -1.0

    def as_dict(self, tried: list[dict[str, Any]]) -> dict[str, Any]:
        """The contents of tuned.json, for reports."""
        run = "default" if self.trial is None else _final(self.trial)
        names = ("options", "trial", "objective", "tuning_seeds", "final_seeds")
        about = {name: getattr(self, name) for name in names}
        return {**about, "run": run, "verdicts": self.verdicts(), "tried": tried}


def verdict(comparison: Comparison, what: str, sign: float) -> str:
    """What a comparison of tuned and default comes to; ``sign`` turns a difference into an improvement."""
    d, p = comparison.difference, comparison.adjusted_p
    better = sign * d.mean
    low, high = sorted((sign * d.low, sign * d.high))
    if p >= 0.05:
        words = "no better than the default" if better > 0 else "no different from the default"
    else:
        words = "better than the default" if better > 0 else "worse than the default"
    few = "; an interval needs 6 seeds: raise seeds in the spec" if d.seeds < 6 else ""
    return f"{words}, p = {p:.2g} ({what} improved by {better:.4g}, 95 % interval {low:.4g} to {high:.4g}{few})"


def _final(trial: int) -> str:
    return f"final-{trial:04d}"


def tune(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    out: str | os.PathLike[str],
    say: Callable[[str], None] = lambda text: None,
    jobs: int | None = None,
    **settings: Any,
) -> Tuned:
    """Search, then compare the best with the default on seeds that the search has not seen.

    Args:
        source: a spec with a table ``[tune]``: a TOML or JSON file, or a dictionary.
        out: a directory; if it holds the same search already, that goes on.
        say: told of every trial in a line.
        jobs: runs at a time, if not as the spec says; it changes nothing in what is found.
        settings: keys of the table, which go before it, such as ``trials``.
    """
    try:
        import optuna
    except ImportError:
        raise InputError("tuning needs the extra: pip install 'cmerl[tuning]'") from None
    spec, table = load(source, **settings)
    spec = spec if jobs is None else spec.model_copy(update={"jobs": jobs})
    directory = Path(out)
    directory.mkdir(parents=True, exist_ok=True)
    with RunDirectory(directory).lock(), _quiet(optuna), _study(optuna, directory) as study:
        _recognise(directory, spec, table)
        search = _Search(spec, table, directory, say)
        search.go(optuna, study)
        found = search.compare(study)
        write_json(directory / RESULT, found.as_dict(search.tried(study)))
        return found


def _recognise(directory: Path, spec: Spec, table: TuneSpec) -> None:
    """Refuse a directory of another search; more trials are the same search going on."""
    wanted = {
        "spec": spec.model_dump(mode="json", exclude={"jobs", "engine", "address", "journals"}),
        "tune": table.model_dump(mode="json", exclude={"trials"}),
    }
    file = directory / "tune.json"
    if not file.exists():
        write_json(file, wanted)
    elif read_json(file) != wanted:
        raise InputError(f"{str(directory)!r} holds a search with other settings: choose another directory")


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


@contextmanager
def _study(optuna: Any, directory: Path) -> Iterator[Any]:
    storage = optuna.storages.RDBStorage(f"sqlite:///{directory / 'study.db'}")
    try:
        yield optuna.create_study(storage=storage, study_name="tune", load_if_exists=True, direction="minimize")
    finally:
        storage.remove_session()
        storage.engine.dispose()


class _Search:
    """One search: its runs, and what they are worth."""

    def __init__(self, spec: Spec, table: TuneSpec, directory: Path, say: Callable[[str], None]) -> None:
        self.spec, self.table, self.directory, self.say = spec, table, directory, say
        self.agent = spec.agents[0]
        self.seeds = tuning_seeds(spec, table)
        self.default = self._run("default", {DEFAULT: self.agent.options}, self.seeds)
        if self.default.failures:
            raise InputError(f"the agent fails with its default options: {self.default.failures[0]['message']}")
        self.objective = objective_of(self.default, table.objective)
        self.baseline = scores(self.default, self.objective)[DEFAULT]

    def go(self, optuna: Any, study: Any) -> None:
        """Finish what was under way, then try new settings until there are enough."""
        states = optuna.trial.TrialState
        for trial in study.get_trials(states=(states.RUNNING,)):
            self._try(optuna, study, trial.number, _decoded(self.table, trial.params))
        while (number := len(study.trials)) < self.table.trials:
            found = self._propose(optuna, study, number)
            self._try(optuna, study, number, found)

    def _propose(self, optuna: Any, study: Any, number: int) -> dict[str, Any]:
        """The next setting, a function of earlier trials and its number, stored atomically."""
        seed = np.random.SeedSequence(self.table.sampler_seed, spawn_key=(number,)).generate_state(1)[0]
        sampler = optuna.samplers.TPESampler(seed=int(seed))
        draft = optuna.create_study(sampler=sampler, direction="minimize")
        draft.add_trials(study.trials)
        distributions = {name: _distribution(optuna, space) for name, space in self.table.options.items()}
        params = draft.ask(distributions).params
        running = optuna.trial.TrialState.RUNNING
        study.add_trial(optuna.trial.create_trial(state=running, params=params, distributions=distributions))
        return _decoded(self.table, params)

    def _try(self, optuna: Any, study: Any, number: int, found: dict[str, Any]) -> None:
        shown = ", ".join(f"{name} = {_short(value)}" for name, value in found.items())
        head = f"trial {number + 1} of {self.table.trials}: {shown}"
        try:
            results = self._run(f"trials/{number:04d}", {TUNED: with_options(self.agent.options, found)}, self.seeds)
            if results.failures:
                raise InputError(results.failures[0]["message"])
        except CmerlError as error:
            study.tell(number, state=optuna.trial.TrialState.FAIL)
            self.say(f"{head}: failed: {error}")
            return
        loss = relative_loss(scores(results, self.objective)[TUNED], self.baseline)
        study.tell(number, loss)
        self.say(f"{head}: {-loss:+.1%} against the default (best so far {-study.best_value:+.1%})")

    def tried(self, study: Any) -> list[dict[str, Any]]:
        """Every trial with its options and its improvement as a share of the default's score; None if it failed."""
        return [
            {
                "trial": trial.number,
                "options": _decoded(self.table, trial.params),
                "improvement": -trial.value if trial.state.name == "COMPLETE" else None,
            }
            for trial in study.trials
        ]

    def compare(self, study: Any) -> Tuned:
        """The best trial against the default, on seeds that neither was chosen on."""
        complete = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
        if not complete:
            raise InputError(f"none of the {len(study.trials)} trials could be run; the last lines say why")
        best = study.best_trial if study.best_value < 0 else None
        options = dict(self.agent.options)
        comparisons: tuple[Comparison, ...] = ()
        if best is not None:
            options = with_options(options, _decoded(self.table, best.params))
            both = {DEFAULT: self.agent.options, TUNED: options}
            results = self._run(_final(best.number), both, self.spec.seed_list)
            found = scores(results, self.objective)
            sign = 1.0 if self.objective == "return" else -1.0
            natural = {agent: {env: sign * v for env, v in by_env.items()} for agent, by_env in found.items()}
            comparisons = compare_all({TUNED: natural[TUNED], DEFAULT: natural[DEFAULT]}, seed=0, baseline=DEFAULT)
        return Tuned(
            options=options,
            trial=None if best is None else best.number,
            trials=len(complete),
            failed=len(study.trials) - len(complete),
            objective=self.objective,
            tuning_seeds=self.seeds,
            final_seeds=self.spec.seed_list,
            comparisons=comparisons,
            directory=self.directory,
        )

    def _run(self, name: str, options: Mapping[str, dict[str, Any]], seeds: list[int]) -> Results:
        """A run of the agent with each of some options, gone on with if it is there already."""
        directory = self.directory / name
        if (directory / "manifest.json").exists():
            return resume(directory, jobs=self.spec.jobs)
        players = [{"name": self.agent.name, "label": label, "options": values} for label, values in options.items()]
        return run(self.spec, out=directory, agents=players, seeds=seeds)


def objective_of(results: Results, wanted: str) -> str:
    """The objective; regret needs a regret for every episode."""
    known = all(line["regret"] is not None for line in results.episodes)
    if wanted == "regret" and not known:
        raise InputError(
            "regret is not known in every environment: tune with objective = 'return', or ask for rollouts"
        )
    if wanted == "auto":
        return "regret" if known else "return"
    return wanted


def scores(results: Results, objective: str) -> dict[str, Scores]:
    """For each agent and environment, the score (seeds,): mean return, or cumulative regret with its sign turned."""
    found: dict[str, dict[str, dict[int, list[float]]]] = {}
    for line in results.episodes:
        seeds = found.setdefault(line["agent"], {}).setdefault(line["env"], {})
        value = line["return"] if objective == "return" else -line["regret"]
        seeds.setdefault(line["seed"], []).append(value)
    total = np.mean if objective == "return" else np.sum
    return {
        agent: {
            env: np.array([total(seeds[seed]) for seed in results.spec.seed_list], dtype=np.float64)
            for env, seeds in envs.items()
        }
        for agent, envs in found.items()
    }


def relative_loss(found: Scores, baseline: Scores) -> float:
    """How much worse than the default, as a share of its score, on average over environments; negative is better."""
    shares = []
    for env, default in baseline.items():
        scale = abs(float(default.mean())) or 1.0
        shares.append((float(default.mean()) - float(found[env].mean())) / scale)
    return float(np.mean(shares))


def _distribution(optuna: Any, space: Range | list[Any]) -> Any:
    if isinstance(space, list):
        return optuna.distributions.CategoricalDistribution([json.dumps(value) for value in space])  # tables too
    if isinstance(space.low, int) and isinstance(space.high, int):
        return optuna.distributions.IntDistribution(space.low, space.high, log=space.log)
    return optuna.distributions.FloatDistribution(space.low, space.high, log=space.log)


def _decoded(table: TuneSpec, params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: json.loads(params[name]) if isinstance(space, list) else params[name]
        for name, space in table.options.items()
    }


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else json.dumps(value)
