"""A policy as a filter: a line of actions for every line of observations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exports import observations, policy_of

import cmerl
from cmerl.errors import InputError
from cmerl.exported.stream import act


def test_a_policy_as_a_filter(ball: tuple[cmerl.CMERL, Path]) -> None:
    agent, path = ball
    policy, loaded = agent.policy(False), cmerl.load_policy(path)
    seen = [obs.tolist() for obs in observations(agent, 3)]
    lines = [json.dumps(seen[0]), json.dumps(seen[1]), "", json.dumps(seen[2])]
    expected = [policy(seen[0], 0), policy(seen[1], 1), policy(seen[2], 0)]
    assert [json.loads(line) for line in act(loaded, lines)] == expected
    asked = json.dumps({"observation": seen[0], "step": 7})
    assert json.loads(next(iter(act(loaded, [asked])))) == policy(seen[0], 7)
    with pytest.raises(InputError, match="line 31: the episode is over after 30 steps"):
        list(act(loaded, [json.dumps(seen[0])] * 31))
    with pytest.raises(InputError, match="line 1 is not JSON"):
        list(act(loaded, ["east"]))
    with pytest.raises(InputError, match="line 1: the observation has shape"):
        list(act(loaded, ["[1]"]))


def test_lines_of_observations(agent: cmerl.CMERL, tmp_path: Path) -> None:
    policy_of(agent, "fitted").export(tmp_path / "a.policy")
    loaded: Any = cmerl.load_policy(tmp_path / "a.policy")
    obs = agent.env.reset(seed=0)[0].tolist()
    assert len(list(act(loaded, [str(obs), str(obs), "", str(obs)]))) == 3
