"""An agent is what its episodes taught it: made again from their lessons it goes on as if nothing had happened."""

from __future__ import annotations

import dataclasses
from typing import Any

import gymnasium
import pytest

import cmerl
from cmerl.agents import Agent, EpisodeRecord, Settings
from cmerl.errors import InputError
from cmerl.experiments.packing import pack, unpack

EPISODES, AFTER = 12, 7
CONTROL = set(cmerl.agents.groups()["dynamical systems"])  # these need numbers

CASES = [
    *(("cmerl/RiverSwim-v0", name, None, {}) for name in cmerl.agents.names() if name not in CONTROL),
    *(("cmerl/LinearQuadratic-v0", name, 5, {}) for name in sorted(CONTROL)),
    ("cmerl/RiverSwim-v0", "cme-rl", None, {"bonus": "split"}),
    ("cmerl/RiverSwim-v0", "cme-rl", None, {"bonus": "paper"}),
    ("cmerl/RiverSwim-v0", "cme-rl", None, {"time_homogeneous": False}),
    ("cmerl/RiverSwim-v0", "cme-rl", None, {"reward_range": (0, 1), "replan": False}),
    ("CliffWalking-v1", "cme-rl", 12, {}),
    ("MountainCar-v0", "cme-rl", 15, {"backend": "exact"}),
    ("MountainCar-v0", "cme-rl", 15, {"backend": "compressed"}),
    ("MountainCar-v0", "greedy", 15, {"backend": "nystrom"}),
    ("CartPole-v1", "cme-rl", 30, {}),
]


def bits(history: list[EpisodeRecord]) -> list[EpisodeRecord]:
    return [dataclasses.replace(record, seconds=0.0) for record in history]


def make(id: str, name: str, horizon: int | None, options: dict[str, Any]) -> Agent:
    return cmerl.agents.make(name, gymnasium.make(id), horizon=horizon, seed=3, **options)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_agent_made_again_goes_on_bit_for_bit(case: tuple[str, str, int | None, dict[str, Any]]) -> None:
    lessons: list[bytes] = []
    agent = make(*case)
    agent.learn(EPISODES, callback=lambda agent, record: lessons.append(pack(agent.lesson())))

    again = make(*case)
    for record, lesson in zip(agent.history[:AFTER], lessons, strict=False):
        again.relearn(record, unpack(lesson))
    assert bits(again.history) == bits(agent.history[:AFTER])
    again.learn(EPISODES - AFTER)
    assert bits(again.history) == bits(agent.history)


def test_an_agent_that_has_dropped_its_raw_data_is_made_again_too() -> None:
    case = ("MountainCar-v0", "cme-rl", 15, {"backend": "compressed", "settings": Settings(keep=60)})
    lessons: list[dict[str, Any]] = []
    agent = make(*case).learn(EPISODES, callback=lambda agent, record: lessons.append(agent.lesson()))
    assert isinstance(agent, cmerl.CMERL)
    assert agent.model.batches is None

    again = make(*case)
    for record, lesson in zip(agent.history[:AFTER], lessons, strict=False):
        again.relearn(record, lesson)
    assert bits(again.learn(EPISODES - AFTER).history) == bits(agent.history)


def test_episodes_are_learned_again_in_their_order_only() -> None:
    agent = make("cmerl/RiverSwim-v0", "cme-rl", None, {}).learn(1)
    with pytest.raises(InputError, match="episode 0 cannot be learned after 1 others"):
        agent.relearn(agent.history[0], agent.lesson())
