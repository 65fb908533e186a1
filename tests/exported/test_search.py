"""Exported searches: they play what the agent plays, step by step, and damaged ones are refused."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.acting import MPC
from cmerl.agents.distillation import Landmarks
from cmerl.agents.exporting_searches import ends_arrays
from cmerl.errors import InputError
from cmerl.exported import container
from cmerl.exported.schema import check
from cmerl.exported.search import ends_of
from cmerl.exported.stream import act
from cmerl.searching.icem import Search
from cmerl.searching.simulator import Ends

VALUES = ("fitted", "plan")
WORLDS = {"Pendulum-v1": 25, "CartPole-v1": 25}
QUICK = MPC(search=Search(samples=8, rounds=2, first_rounds=3))


def learned(world: str, horizon: int, **options: Any) -> cmerl.CMERL:
    """It has a model from a few random episodes."""
    env, log = gymnasium.make(world), []
    env.action_space.seed(0)
    for seed in range(4):
        obs, ended = [env.reset(seed=seed)[0]], False
        actions: list[Any] = []
        rewards: list[float] = []
        while not ended and len(actions) < horizon:
            actions.append(env.action_space.sample())
            after, reward, ended, *_ = env.step(actions[-1])
            obs.append(after)
            rewards.append(float(reward))
        log.append({"observations": obs, "actions": actions, "rewards": rewards, "terminated": ended})
    return cmerl.CMERL(env, horizon=horizon, seed=0, model="displacement", actor=QUICK, **options).fit(log)


@pytest.fixture(scope="module", params=WORLDS)
def agent(request: pytest.FixtureRequest) -> cmerl.CMERL:
    """Episodes end in one of the worlds, and actions are quantities in the other."""
    return learned(request.param, WORLDS[request.param])


def policy_of(agent: cmerl.CMERL, value: Any) -> Any:
    return replace(agent.policy(explore=False), actor=replace(QUICK, value=value))


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


@pytest.mark.parametrize("within", [0.5, np.inf])
@pytest.mark.parametrize("limited", [False, True])
def test_ends_are_where_they_were(within: float, limited: bool) -> None:
    rng = np.random.default_rng(0)
    limits = [(np.array([-1.0, np.nan]), np.array([np.nan, np.nan])), (np.full(2, np.nan), np.array([np.nan, 1.0]))]
    ended, alive = rng.uniform(-2.0, 2.0, (6, 2)), rng.uniform(-0.5, 0.5, (9, 2))
    ends = Ends(ended, rng.normal(size=6), alive, limits if limited else None, within)
    found = ends_of(ends_arrays(ends))
    assert found is not None
    y = rng.uniform(-3.0, 3.0, (500, 2)).astype(np.float32)
    for mine, theirs in zip(ends(y), found(y), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert 20 < ends(y)[0].sum() < 480
    for values in ends_arrays(ends).values():
        assert np.isfinite(values).all()


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


def test_lines_of_observations(agent: cmerl.CMERL, tmp_path: Path) -> None:
    policy_of(agent, "fitted").export(tmp_path / "a.policy")
    loaded: Any = cmerl.load_policy(tmp_path / "a.policy")
    obs = agent.env.reset(seed=0)[0].tolist()
    assert len(list(act(loaded, [str(obs), str(obs), "", str(obs)]))) == 3


def test_distilled_where_that_is_asked_for_or_rewards_are_a_function(
    agent: cmerl.CMERL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def distil(plan: Any, actor: Any, rows: Any, seed: Any) -> Landmarks:
        return Landmarks(np.zeros((1, plan.views[0].dynamics.data.x.shape[1])), 1.0, np.zeros((1, 1, len(rows))), 0.0)

    monkeypatch.setattr("cmerl.agents.exporting.distil", distil)  # which searches from hundreds of states
    policy_of(agent, "fitted").export(tmp_path / "a.policy", search=False)
    assert cmerl.load_policy(tmp_path / "a.policy").about["exported"].startswith("preferences at landmarks")
    told = learned("Pendulum-v1", 9, reward=lambda s, a: float(s[0]))
    policy_of(told, "fitted").export(tmp_path / "a.policy")
    assert cmerl.load_policy(tmp_path / "a.policy").about["exported"].startswith("preferences at landmarks")


@pytest.mark.parametrize("value", VALUES)
def test_damaged_files_are_refused(agent: cmerl.CMERL, value: str, tmp_path: Path) -> None:
    """Whoever can compute a checksum can write anything: each field is checked before anything is made from it."""
    policy_of(agent, value).export(tmp_path / "a.policy")
    meta, arrays = container.from_bytes((tmp_path / "a.policy").read_bytes(), "a.policy")
    check(meta, arrays)
    said = meta["search"]
    wrong: list[tuple[Any, Any]] = [
        ({"value": "other"}, {}),
        ({"more": 1}, {}),
        ({"every": 0}, {}),
        ({"depth": meta["horizon"] + 1}, {}),
        ({"discount": 2.0}, {}),
        ({"discount": "1"}, {}),
        ({"seed": [-1]}, {}),
        ({"seed": 3}, {}),
        ({"surprise": -1.0}, {}),
        ({"categorical": 1}, {}),
        ({"sizes": {**said["sizes"], "samples": 10**9}}, {}),
        ({"sizes": {**said["sizes"], "kept": said["sizes"]["elites"] + 1}}, {}),
        ({"sizes": {**said["sizes"], "amplitudes": []}}, {}),
        ({"sizes": None}, {}),
        ({}, {"unit": 0.0 * arrays["unit"]}),
        ({}, {"bounds": -arrays["bounds"]}),
        ({}, {"pays": arrays["pays"][::-1] + np.array([1.0, 0.0])}),
    ]
    wrong += [({name: "much"}, {}) for name in set(said) - {"seed", "categorical", "reward_at_next"}]
    optional = {"action_low", "action_high", "limits", "ended", "within"}
    wrong += [({}, {name: None}) for name in set(arrays) - optional]
    sides = {name for name in set(arrays) - optional if arrays[name].size}
    wrong += [({}, {name: arrays[name][..., :-1]}) for name in sides]
    for header, changed in wrong:
        kept = {name: array for name, array in {**arrays, **changed}.items() if array is not None}
        with pytest.raises(InputError):
            check({**meta, "search": {**said, **header}}, kept)
