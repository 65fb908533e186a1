"""Landmarks that stand for a policy: what they regress, where they are played, and what comes out of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.acting import MPC, Greedy
from cmerl.agents.distillation import Distillation, Landmarks, SearchTeacher, distil, fitted, simulate
from cmerl.agents.evaluation.values import play
from cmerl.errors import InputError
from cmerl.exported import container
from cmerl.exported.schema import check
from cmerl.searching.icem import Search

BALL = "cmerl/PBall2D-v0"
QUICK = MPC(search=Search(samples=8, rounds=1, first_rounds=2))


@pytest.fixture(scope="module")
def agent() -> cmerl.CMERL:
    """It has seen every action all over the place, in episodes of one step."""
    env, log = gymnasium.make(BALL), []
    env.observation_space.seed(0)
    env.action_space.seed(0)
    for state in (env.observation_space.sample() for _ in range(400)):
        if np.linalg.norm(state) < 1.0:
            env.reset(seed=0, options={"state": state})
            action = env.action_space.sample()
            after, reward, *_ = env.step(action)
            log.append({"observations": [state, after], "actions": [action], "rewards": [reward]})
    return cmerl.CMERL(env, seed=0, model="displacement", actor=Greedy()).fit(log)


@pytest.fixture(scope="module")
def exported(agent: cmerl.CMERL, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ball") / "a.policy"
    agent.policy(explore=False).export(path)
    return path


def test_landmarks_prefer_what_the_teacher_prefers_whatever_is_at_stake() -> None:
    """Row by row the preferences are centred and of about unit size, and a small ridge interpolates them."""
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(30, 2)) * 3.0, rng.normal(size=(4, 30, 3)) * rng.uniform(0.5, 20.0, (1, 30, 1))
    found = fitted(X, P, Distillation(ridge=1e-9))
    for t in range(4):
        scores = found.scores(X, t)
        np.testing.assert_array_equal(scores.argmax(axis=1), P[t].argmax(axis=1))
        np.testing.assert_allclose(scores.mean(axis=1), 0.0, atol=1e-6)
        assert np.ptp(scores, axis=1).max() <= 1.0 + 1e-6


def test_a_simulated_return_counts_what_is_earned_until_the_end() -> None:
    """x moves by the action and pays its new value; beyond 2.5 the episode ends: 1 + 2 + 3 = 6 from 0, by +1."""

    def step(x: Any, a: Any) -> Any:
        y = x + a
        return y, y[:, 0], y[:, 0] > 2.5

    right = Landmarks(np.zeros((1, 1)), 10.0, np.array([[[0.0, 1.0]]]))
    total, met = simulate(SimpleNamespace(step=step), right, np.array([[-1.0], [1.0]]), np.zeros((2, 1)), 8)  # type: ignore[arg-type]
    assert total == 6.0
    assert met[:, 0].tolist() == [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
    left = right._replace(weights=-right.weights)
    starts = np.zeros((2, 1))
    assert simulate(SimpleNamespace(step=step), left, np.array([[-1.0], [1.0]]), starts, 3)[0] == -6.0  # type: ignore[arg-type]


def test_an_exported_displacement_keeps_its_return(agent: cmerl.CMERL, exported: Path) -> None:
    policy = agent.policy(explore=False)
    loaded = cmerl.load_policy(exported)
    mine, theirs = (play(agent.env, p, agent.horizon, 40, seed=3).mean for p in (policy, loaded))
    assert theirs > 0.8 * mine
    assert loaded.about["simulated"] > 0.0


def test_the_file_says_what_the_landmarks_say(agent: cmerl.CMERL, exported: Path) -> None:
    policy = agent.policy(explore=False)
    view = policy.plan.views[0]
    found = distil(policy.plan, policy.actor, policy.actions.rows, policy.seed)
    loaded = cmerl.load_policy(exported)
    agent.env.observation_space.seed(1)
    for step in (0, 7, 29):
        obs = agent.env.observation_space.sample()
        expected = found.scores(view.scaled(agent.states.encode(obs)), step * len(found.weights) // 30)[0]
        np.testing.assert_allclose(loaded.preferences(obs, step), expected, atol=1e-9)
        assert loaded(obs, step) == policy.actions.values[int(expected.argmax())]


def test_a_search_is_known_by_its_worth(agent: cmerl.CMERL) -> None:
    """The value regressed from searches, and so what held actions are worth, agree with the searches themselves."""
    policy = agent.policy(explore=False)
    view = policy.plan.views[0]
    X = view.dynamics.data.x[::2]
    teacher = SearchTeacher(QUICK, policy.plan, policy.actions.rows, (0,), Distillation(), np.random.default_rng(0))
    preferences = next(teacher.learn(X))(X)
    episode = QUICK.begin_episode(policy.plan, policy.actions.rows, (0,))
    episode.features(X, 0)
    assert np.corrcoef(preferences[0].max(axis=1), episode.promise)[0, 1] > 0.8
    sizes = Distillation(rounds=1, states=60, starts=4)
    found, alone = (distil(policy.plan, actor, policy.actions.rows, (0,), sizes) for actor in (QUICK, Greedy()))
    assert found.weights.shape[1:] == (60, 4)
    assert found.simulated >= alone.simulated  # the better of what the search teaches and what the plan does


def test_a_policy_that_explores_is_refused(agent: cmerl.CMERL, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"explores, and a file cannot: export agent.policy\(explore=False\)"):
        agent.policy().export(tmp_path / "a.policy")


def test_damaged_landmarks_are_refused(exported: Path) -> None:
    meta, arrays = container.from_bytes(exported.read_bytes(), "a.policy")
    check(meta, arrays)
    for changed in (
        {"weights": arrays["weights"][:, :-1]},
        {"weights": np.repeat(arrays["weights"], 2, axis=0)},
        {"weights": arrays["weights"][:0]},
        {"lengthscales": 0.0 * arrays["lengthscales"]},
        {"states": arrays["states"][:, :-1]},
    ):
        with pytest.raises(InputError):
            check(meta, {**arrays, **changed})
