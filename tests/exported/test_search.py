"""Exported searches: they play what the agent plays, step by step."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exports import VALUES, policy_of, searcher

import cmerl
from cmerl.agents.distillation import Landmarks
from cmerl.errors import InputError


def episode(env: Any, policy: Any, horizon: int, seed: int = 7) -> list[Any]:
    obs, _ = env.reset(seed=seed)
    played = []
    for step in range(horizon):
        played.append(policy(obs, step))
        obs, _, terminated, *_ = env.step(played[-1])
        if terminated:
            break
    return played


@pytest.mark.parametrize("value", VALUES)
def test_it_plays_what_the_agent_plays(agent: cmerl.CMERL, value: str, tmp_path: Path) -> None:
    policy = policy_of(agent, value)
    policy.export(tmp_path / "a.policy")
    loaded: Any = cmerl.load_policy(tmp_path / "a.policy")
    assert loaded.about["exported"] == "the search itself"
    for seed in (7, 8):
        mine = episode(agent.env, policy.begin_episode(), agent.horizon, seed)
        for theirs in (loaded.begin_episode(), loaded):
            found = episode(agent.env, theirs, agent.horizon, seed)
            np.testing.assert_allclose(np.array(found, dtype=float), np.array(mine, dtype=float), atol=1e-6)
            assert np.asarray(found[0]).dtype == np.asarray(mine[0]).dtype
            assert np.shape(found[0]) == np.shape(mine[0])


def test_what_was_asked_before_does_not_matter(agent: cmerl.CMERL, tmp_path: Path) -> None:
    policy_of(agent, "fitted").export(tmp_path / "a.policy")
    loaded: Any = cmerl.load_policy(tmp_path / "a.policy")
    agent.env.observation_space.seed(0)
    asked = [(agent.env.reset(seed=i)[0], step) for i, step in enumerate((0, 3, 1, 7, 0))]
    fresh = [loaded.begin_episode()(obs, step) for obs, step in asked]
    np.testing.assert_array_equal([loaded(obs, step) for obs, step in asked], fresh)
    np.testing.assert_array_equal([loaded(obs, step) for obs, step in reversed(asked)], fresh[::-1])
    for obs, step, sentence in [
        (asked[0][0], agent.horizon, "step must be a whole number"),
        (asked[0][0][:-1], 0, "has shape"),
    ]:
        with pytest.raises(InputError, match=sentence):
            loaded(obs, step)


def test_a_deadline_cuts_a_search_short(agent: cmerl.CMERL, tmp_path: Path) -> None:
    """After a deadline that has passed there is one round, and then what the last search has found."""
    policy_of(agent, "fitted").export(tmp_path / "a.policy")
    begun: Any = cmerl.load_policy(tmp_path / "a.policy").begin_episode()  # type: ignore[attr-defined]
    obs, _ = agent.env.reset(seed=0)
    for step in range(6):
        action = begun.within(obs, step, time.perf_counter() - 1.0)
        assert agent.env.action_space.contains(action)


def test_nothing_but_numpy_is_imported(agent: cmerl.CMERL, tmp_path: Path) -> None:
    policy_of(agent, "plan").export(tmp_path / "a.policy")
    obs = agent.env.reset(seed=0)[0].tolist()
    code = (
        "import sys, cmerl\n"
        f"cmerl.load_policy({str(tmp_path / 'a.policy')!r})({obs!r}, 0)\n"
        "theirs = {name.partition('.')[0] for name in sys.modules}\n"
        "needs = ('gymnasium', 'joblib', 'pydantic', 'rich', 'safetensors', 'scipy', 'threadpoolctl', 'typer')\n"
        "print(sorted(set(needs) & theirs))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.fixture
def quickly_distilled(monkeypatch: pytest.MonkeyPatch) -> None:
    def distil(plan: Any, actor: Any, rows: Any, seed: Any) -> Landmarks:
        return Landmarks(np.zeros((1, plan.views[0].dynamics.data.x.shape[1])), 1.0, np.zeros((1, 1, len(rows))), 0.0)

    monkeypatch.setattr("cmerl.agents.exporting.distil", distil)  # which searches from hundreds of states


@pytest.mark.usefixtures("quickly_distilled")
def test_distilled_where_that_is_asked_for(agent: cmerl.CMERL, tmp_path: Path) -> None:
    policy_of(agent, "fitted").export(tmp_path / "a.policy", search=False)
    assert cmerl.load_policy(tmp_path / "a.policy").about["exported"].startswith("preferences at landmarks")


@pytest.mark.usefixtures("quickly_distilled")
def test_distilled_where_rewards_are_a_function(tmp_path: Path) -> None:
    told = searcher("Pendulum-v1", 9, reward=lambda s, a: s[..., 0])
    policy_of(told, "fitted").export(tmp_path / "a.policy")
    assert cmerl.load_policy(tmp_path / "a.policy").about["exported"].startswith("preferences at landmarks")
