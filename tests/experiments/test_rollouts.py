from __future__ import annotations

from typing import Any

import gymnasium
import pytest

from cmerl.experiments.journal import Journal
from cmerl.experiments.packing import unpack
from cmerl.experiments.spec import parse
from cmerl.experiments.units import play, units_of


class Counting(gymnasium.Env[int, int]):
    """Pays its action, less the parity of the seed's draw; nobody knows its model."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.luck = float(self.np_random.integers(2))
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return 0, float(action) - self.luck, False, False, {}


gymnasium.register(id="cmerl-test/Counting-v0", entry_point=Counting)


class Memory:
    """A journal that is not on disk."""

    def __init__(self) -> None:
        self.payloads: list[bytes] = []

    def records(self) -> list[bytes]:
        return list(self.payloads)

    def append(self, payload: bytes) -> None:
        self.payloads.append(payload)


def lines(rollouts: int, seed: int = 0) -> list[dict[str, Any]]:
    spec = parse(
        {
            "environment": {"id": "cmerl-test/Counting-v0", "optimum": 3.0},
            "agent": "cme-rl",
            "horizon": 6,
            "episodes": 8,
            "seeds": [seed],
            "rollouts": rollouts,
            "allow_env_modules": [__name__],
        }
    )
    journal: Journal = (memory := Memory())
    (unit,) = units_of(spec)
    play(unit, journal)
    return [record["line"] for record in map(unpack, memory.payloads) if "line" in record]


def test_regret_is_estimated_from_so_many_episodes_of_the_same_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, estimated = lines(0), lines(40)
    assert [line["return"] for line in plain] == [line["return"] for line in estimated]  # the agent does not notice
    assert all(line["regret"] is None for line in plain)
    for line in estimated:
        assert line["regret_kind"] == "monte-carlo"
        low, high = line["metrics"]["regret_interval"]
        assert low <= line["regret"] <= high
    # The best plan earns 6 · 1 − 6 · 1/2 = 3 on average, with a standard deviation of 3.
    last = estimated[-1]
    assert abs(last["regret"]) < 4 * 3 / 40**0.5
    assert last["metrics"]["regret_interval"][0] < 0 < last["metrics"]["regret_interval"][1]


def test_estimates_are_the_same_every_time() -> None:
    assert [line["regret"] for line in lines(3, seed=1)] == [line["regret"] for line in lines(3, seed=1)]
