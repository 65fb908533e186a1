from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import cmerl
import cmerl.cli
from cmerl import experiments
from cmerl.experiments.engines.base import EpisodeFinished
from cmerl.experiments.tensorboard import TensorBoard


def curves(directory: Path) -> dict[str, list[tuple[int, float]]]:
    """Every curve in a folder, as TensorBoard reads it."""
    found = EventAccumulator(str(directory)).Reload()
    return {tag: [(event.step, event.value) for event in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


def assert_curve(curve: list[tuple[int, float]], values: list[float]) -> None:
    assert [step for step, _ in curve] == list(range(len(values)))
    np.testing.assert_allclose([value for _, value in curve], values, rtol=1e-6)


def test_an_agents_episodes_are_read_back(tmp_path) -> None:
    with TensorBoard(tmp_path) as board:
        agent = cmerl.CMERL(gymnasium.make("cmerl/Chain-v0"), seed=3).learn(5, callback=board.episode)
        agent.learn(2, callback=board.episode)
    found = curves(tmp_path / "cme-rl" / "seed-3")
    history = agent.history
    assert_curve(found["return"], [record.ret for record in history])
    assert_curve(found["length"], [record.length for record in history])
    assert_curve(found["regret"], [record.regret for record in history])
    assert_curve(found["cumulative_regret"], list(np.cumsum([record.regret for record in history])))
    assert_curve(found["metrics/value"], [record.metrics["value"] for record in history])


def test_what_is_not_a_number_has_no_curve(tmp_path) -> None:
    record = cmerl.agents.EpisodeRecord(
        0, 1.0, 5, None, None, 0.1, {"text": "x", "nothing": None, "nan": float("nan"), "yes": True}
    )
    agent = cmerl.agents.make("random", gymnasium.make("cmerl/Chain-v0"))
    with TensorBoard(tmp_path) as board:
        board.episode(agent, record)
    found = curves(tmp_path / "random" / "seed-0")
    assert found == {
        "return": [(0, 1.0)],
        "length": [(0, 5.0)],
        "seconds": [(0, pytest.approx(0.1))],
        "metrics/yes": [(0, 1.0)],
    }


def stop_after(number: int) -> Any:
    seen: list[Any] = []

    def callback(event: Any, ledger: Any) -> None:
        if isinstance(event, EpisodeFinished):
            seen.append(event)
        if len(seen) == number:
            raise KeyboardInterrupt

    return callback


def test_a_run_interrupted_and_resumed_has_whole_curves(tmp_path) -> None:
    out, logs = tmp_path / "run", tmp_path / "logs"
    with TensorBoard(logs) as board, pytest.raises(KeyboardInterrupt):
        # The seventh episode is in the journal, but the board never hears of it.
        experiments.run(
            "cmerl/Chain-v0", agents=["random"], episodes=40, jobs=1, out=out, callbacks=[stop_after(7), board.event]
        )
    with TensorBoard(logs) as board:
        results = experiments.resume(out, callbacks=[board.event])
        board.complete(results)
    found = curves(logs / "cmerl-Chain-v0" / "random" / "seed-0")
    assert_curve(found["return"], [line["return"] for line in results.episodes])
    assert_curve(found["cumulative_regret"], list(np.cumsum([line["regret"] for line in results.episodes])))


def test_a_finished_run_can_be_looked_at_afterwards(tmp_path) -> None:
    results = experiments.run("cmerl/Chain-v0", agents=["random"], episodes=3, seeds=2, jobs=1, out=tmp_path / "run")
    for _ in range(2):  # a second time changes nothing
        with TensorBoard(tmp_path / "logs") as board:
            board.complete(results)
    for seed in (0, 1):
        found = curves(tmp_path / "logs" / "cmerl-Chain-v0" / "random" / f"seed-{seed}")
        assert_curve(found["return"], [line["return"] for line in results.episodes if line["seed"] == seed])


def test_the_command_line_writes_curves_beside_the_results(tmp_path) -> None:
    out = tmp_path / "run"
    words = ["run", "cmerl/Chain-v0", "--agent", "random", "--episodes", "3", "--jobs", "1", "--out", str(out)]
    with pytest.raises(SystemExit) as end:
        cmerl.cli.main([*words, "--tensorboard"])
    assert end.value.code == 0
    found = curves(out / "tensorboard" / "cmerl-Chain-v0" / "random" / "seed-0")
    assert_curve(found["return"], [line["return"] for line in experiments.load(out).episodes])
