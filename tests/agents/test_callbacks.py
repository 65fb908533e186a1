"""Callbacks: what is called when, what ends learning, and what is refused before an episode is played."""

from __future__ import annotations

import csv
import sys
import types
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import cmerl
from cmerl.agents import EpisodeRecord, callbacks
from cmerl.agents.callbacks import Callback, Checkpoint, CSVLog, Evaluate, StepRecord, StopOnThreshold, Track
from cmerl.errors import InputError


def agent() -> cmerl.CMERL:
    return cmerl.CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0)


class Diary(Callback):
    def __init__(self) -> None:
        self.entries: list[Any] = []

    def on_start(self, agent: Any) -> None:
        self.entries.append("start")

    def on_step(self, agent: Any, step: StepRecord) -> None:
        self.entries.append((step.episode, step.step))

    def on_episode(self, agent: Any, record: EpisodeRecord) -> None:
        self.entries.append(f"episode {record.episode}")

    def on_end(self, agent: Any) -> None:
        self.entries.append("end")


def test_hooks_are_called_in_order_and_change_nothing() -> None:
    diary, seen = Diary(), []
    watched = agent().learn(2, callback=[diary, lambda a, record: seen.append(record.ret)])
    steps = [[(e, t) for t in range(20)] for e in (0, 1)]
    assert diary.entries == ["start", *steps[0], "episode 0", *steps[1], "episode 1", "end"]
    assert seen == [r.ret for r in watched.history] == [r.ret for r in agent().learn(2).history]


def test_step_records_are_the_transitions() -> None:
    class Keep(Callback):
        def __init__(self) -> None:
            self.steps: list[StepRecord] = []

        def on_step(self, agent: Any, step: StepRecord) -> None:
            self.steps.append(step)

    keep, player = Keep(), agent()
    player.learn(1, callback=keep)
    lesson = player.lesson()
    assert [s.observation for s in keep.steps] == lesson["observations"][:-1]
    assert [s.next_observation for s in keep.steps] == lesson["observations"][1:]
    assert [s.action for s in keep.steps] == lesson["actions"]
    assert [s.reward for s in keep.steps] == lesson["rewards"]


def test_false_ends_learning_after_the_episode() -> None:
    class Early(Callback):
        def on_step(self, agent: Any, step: StepRecord) -> bool:
            return (step.episode, step.step) != (1, 3)

    assert len(agent().learn(5, callback=Early()).history) == 2
    assert len(agent().learn(5, callback=lambda a, r: r.episode < 2).history) == 3


@pytest.mark.parametrize(
    ("callback", "sentence"),
    [
        (3, "callback must be a function, a Callback or a list of them, not 3"),
        ([None], r"callback 0 must be a function \(agent, record\) or a Callback, not None"),
        ([lambda a, r: None, lambda record: None], r"callback 1, <lambda>, must take \(agent, record\)"),
        (Diary, "is the class Diary: pass an object"),
    ],
)
def test_a_bad_callback_is_found_before_an_episode_is_played(callback: Any, sentence: str) -> None:
    player = agent()
    with pytest.raises(InputError, match=sentence):
        player.learn(2, callback=callback)
    assert player.history == []


def test_what_is_missing_is_found_before_an_episode_is_played(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no directory"):
        Checkpoint(tmp_path / "nowhere" / "agent.cmerl")
    with pytest.raises(InputError, match="threshold must be a finite number"):
        StopOnThreshold("high")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 1, not 0"):
        Checkpoint(tmp_path / "agent.cmerl", every=0)
    player = agent()
    diary = Diary()
    with pytest.raises(InputError, match="Evaluate needs an environment of its own"):
        player.learn(1, callback=[diary, Evaluate(player.env)])
    assert (player.history, diary.entries) == ([], ["start", "end"])


def test_checkpoints_can_be_loaded(tmp_path: Path) -> None:
    player = agent().learn(5, callback=Checkpoint(tmp_path / "after-{episode}.cmerl", every=2))
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"after-{n}.cmerl" for n in (2, 4, 5)]
    again = cmerl.CMERL.load(tmp_path / "after-2.cmerl", env=gymnasium.make("cmerl/RiverSwim-v0")).learn(3)
    assert [r.ret for r in again.history] == [r.ret for r in player.history]


def test_evaluations_play_the_greedy_policy_from_the_same_states() -> None:
    check = Evaluate(gymnasium.make("cmerl/RiverSwim-v0"), every=2, episodes=3)
    player = agent().learn(4, callback=check)
    assert [n for n, _, _ in check.results] == [2, 4]
    assert all(mean == pytest.approx(sum(returns) / 3) for _, mean, returns in check.results)
    other = Evaluate(gymnasium.make("cmerl/RiverSwim-v0"), every=1, episodes=3)
    other.on_episode(player, player.history[-1])
    assert other.results[0][1:] == check.results[-1][1:]


def test_learning_stops_on_a_threshold() -> None:
    player = agent()
    player.learn(200, callback=StopOnThreshold(2.0, episodes=5))
    latest = [r.ret for r in player.history[-5:]]
    assert len(player.history) < 200
    assert sum(latest) / 5 >= 2.0
    earlier = [r.ret for r in player.history[-6:-1]]
    assert sum(earlier) / 5 < 2.0


def test_a_csv_file_goes_on(tmp_path: Path) -> None:
    player = agent().learn(2, callback=CSVLog(tmp_path / "log.csv"))
    player.learn(1, callback=CSVLog(tmp_path / "log.csv"))
    rows = list(csv.DictReader((tmp_path / "log.csv").read_text().splitlines()))
    assert [float(row["return"]) for row in rows] == [r.ret for r in player.history]
    assert [row["episode"] for row in rows] == ["0", "1", "2"]


def test_trackers_get_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[dict[str, float], int]] = []
    fake = types.ModuleType("mlflow")
    fake.log_metrics = lambda metrics, step: sent.append((metrics, step))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    player = agent().learn(2, callback=callbacks.mlflow_callback())
    assert [step for _, step in sent] == [0, 1]
    assert sent[1][0]["return"] == player.history[1].ret
    assert all(type(value) is float for metrics, _ in sent for value in metrics.values())
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(InputError, match=r"pip install 'cmerl\[tracking\]'"):
        callbacks.wandb_callback()
    assert isinstance(Track(print), Callback)


def test_an_error_still_ends_what_was_begun() -> None:
    diary = Diary()

    def fail(a: Any, record: EpisodeRecord) -> None:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        agent().learn(3, callback=[fail, diary])
    assert diary.entries[-1] == "end"
