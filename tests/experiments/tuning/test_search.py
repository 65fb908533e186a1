"""Searches in a small world, played in this process so that they are quick."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from small_runs import SEARCH, InThisProcess, changed

from cmerl import experiments
from cmerl.errors import InputError
from cmerl.experiments import engines, tuning
from cmerl.experiments.statistics import Comparison, paired_difference
from cmerl.experiments.tuning import search


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "make", lambda *args, **options: InThisProcess())


def trials_of(directory: Path) -> list[tuple[dict[str, Any], float | None]]:
    storage = optuna.storages.RDBStorage(f"sqlite:///{directory / 'study.db'}")
    study = optuna.load_study(storage=storage, study_name="tune")
    found = [(trial.params, trial.value) for trial in study.trials]
    storage.remove_session()
    storage.engine.dispose()
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuning.Tuned:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "make", lambda *args, **options: InThisProcess())
        return tuning.tune(SEARCH, out=tmp_path_factory.mktemp("tune") / "out")


def regrets(directory: Path, agent: str) -> np.ndarray:
    results = experiments.load(directory)
    return np.array(
        [
            sum(line["regret"] for line in results.episodes if (line["agent"], line["seed"]) == (agent, seed))
            for seed in results.spec.seed_list
        ]
    )


def test_a_trial_is_worth_its_regret_against_that_of_the_default_on_the_tuning_seeds(undisturbed) -> None:
    directory = undisturbed.directory
    default = regrets(directory / "default", "default").mean()
    for number, (params, value) in enumerate(trials_of(directory)):
        run = directory / "trials" / f"{number:04d}"
        assert experiments.load(run).spec.agents[0].options == params
        assert value == pytest.approx((regrets(run, "tuned").mean() - default) / default)


def test_the_best_trial_meets_the_default_on_seeds_that_were_not_tuned_on(undisturbed) -> None:
    assert undisturbed.tuning_seeds == [6, 7]
    assert undisturbed.final_seeds == [0, 1, 2, 3, 4, 5]
    values = [value for _, value in trials_of(undisturbed.directory)]
    assert min(values) < 0
    assert undisturbed.trial == int(np.argmin(values))
    for path in undisturbed.directory.rglob("manifest.json"):
        seeds = json.loads(path.read_text())["seeds"]
        assert seeds == (undisturbed.final_seeds if "final" in str(path) else undisturbed.tuning_seeds)
    final = undisturbed.directory / f"final-{undisturbed.trial:04d}"
    (comparison,) = undisturbed.comparisons
    assert (comparison.a, comparison.b, comparison.env) == ("tuned", "default", "chain")
    own = paired_difference(regrets(final, "tuned"), regrets(final, "default"), seed=0)
    # From Python 3.12 on sum() carries what it rounds off, so a sum of one's own may differ in the last digit.
    assert tuple(comparison.difference) == pytest.approx(tuple(own), rel=1e-12)


def test_a_search_stopped_between_and_inside_trials_comes_out_the_same(undisturbed, tmp_path, monkeypatch) -> None:
    def stop(text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tuning.tune(SEARCH, out=tmp_path / "out", say=stop)
    assert len(trials_of(tmp_path / "out")) == 1

    def play_some(*args: Any, **settings: Any) -> Any:
        seen: list[Any] = []

        def interrupt(event: Any, ledger: Any) -> None:
            seen.append(event)
            if len(seen) == 3:
                raise KeyboardInterrupt

        return experiments.run(*args, **settings, callbacks=[interrupt])

    with monkeypatch.context() as patch:
        patch.setattr(search, "run", play_some)
        with pytest.raises(KeyboardInterrupt):
            tuning.tune(SEARCH, out=tmp_path / "out")
    assert trials_of(tmp_path / "out")[1][1] is None  # under way

    found = tuning.tune(SEARCH, out=tmp_path / "out")
    assert trials_of(tmp_path / "out") == trials_of(undisturbed.directory)
    assert found.options == undisturbed.options
    assert found.comparisons == undisturbed.comparisons


def test_more_trials_go_on_with_the_search_and_other_settings_do_not(undisturbed, tmp_path) -> None:
    first = tuning.tune(SEARCH, out=tmp_path / "out", trials=2)
    assert first.trials == 2
    assert tuning.tune(SEARCH, out=tmp_path / "out").trials == 3
    assert trials_of(tmp_path / "out") == trials_of(undisturbed.directory)
    with pytest.raises(InputError, match="holds a search with other settings"):
        tuning.tune({**SEARCH, "episodes": 7}, out=tmp_path / "out")


def test_settings_that_cannot_be_run_fail_alone(tmp_path) -> None:
    lines: list[str] = []
    spec = changed(options={"lam": [-1.0, 0.5]}, trials=5)
    found = tuning.tune(spec, out=tmp_path / "out", say=lines.append)
    assert found.failed == sum("failed: " in line and "lam" in line for line in lines) > 0
    assert found.trials == 5 - found.failed > 0
    with pytest.raises(InputError, match="none of the 2 trials could be run"):
        tuning.tune(changed(options={"lam": [-1.0, -2.0]}, trials=2), out=tmp_path / "worse")


def test_what_changes_nothing_does_not_beat_the_default(tmp_path) -> None:
    found = tuning.tune(changed(options={"delta": [0.1, 0.2]}, trials=2), out=tmp_path / "out")
    assert found.trial is None
    assert found.options == {"lam": 50.0}
    assert found.comparisons == ()


def test_returns_are_compared_where_asked_for(tmp_path) -> None:
    found = tuning.tune(changed(objective="return", trials=2), out=tmp_path / "out")
    assert found.objective == "return"
    default = np.mean([line["return"] for line in experiments.load(tmp_path / "out" / "default").episodes])
    tuned = np.mean([line["return"] for line in experiments.load(tmp_path / "out" / "trials" / "0001").episodes])
    assert trials_of(tmp_path / "out")[1][1] == pytest.approx((default - tuned) / default)


def test_losses_are_shares_of_the_default_averaged_over_environments() -> None:
    baseline = {"a": np.array([-10.0, -30.0]), "b": np.array([4.0])}
    found = {"a": np.array([-10.0, -10.0]), "b": np.array([3.0])}
    assert search.relative_loss(found, baseline) == pytest.approx((-10 / 20 + 1 / 4) / 2)
    assert search.relative_loss(baseline, baseline) == 0.0


def test_regret_is_refused_where_nobody_knows_it(tmp_path) -> None:
    spec = {**changed(objective="regret", trials=1), "environments": ["CartPole-v1"], "episodes": 1, "horizon": 5}
    with pytest.raises(InputError, match="regret is not known in every environment"):
        tuning.tune(spec, out=tmp_path / "out")


@pytest.mark.parametrize(
    ("tuned", "p", "objective", "wanted"),
    [
        ([3.0] * 8, 0.01, "regret", "better than the default, p = 0.01 (cumulative regret improved by 2,"),
        ([7.0] * 8, 0.01, "regret", "worse than the default, p = 0.01 (cumulative regret improved by -2,"),
        ([7.0] * 8, 0.01, "return", "better than the default, p = 0.01 (mean return improved by 2,"),
        ([4.9] * 8, 0.12, "regret", "no better than the default, p = 0.12 (cumulative regret improved by 0.1,"),
    ],
)
def test_an_improvement_is_positive_and_a_verdict_is_in_words(tuned, p, objective, wanted, tmp_path) -> None:
    difference = paired_difference(tuned, [5.0] * 8, seed=0)
    comparison = Comparison("chain", "tuned", "default", difference, p)
    found = tuning.Tuned({}, 0, 1, 0, objective, [8], list(range(8)), (comparison,), tmp_path)
    assert found.verdicts()[0].startswith(f"chain: {wanted}")
