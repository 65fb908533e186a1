"""Plain functions and algorithms of other libraries as agents: they play, learn and are refused like all others."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl import agents
from cmerl.agents import StableBaselines, from_function
from cmerl.errors import InputError

RIVER = "cmerl/RiverSwim-v0"


class Integrator:
    """A controller with a memory: 1 at every second step of an episode."""

    def __init__(self) -> None:
        self.steps = 99

    def reset(self) -> None:
        self.steps = 0

    def __call__(self, obs: Any) -> int:
        self.steps += 1
        return self.steps % 2


def test_a_function_plays_what_it_says() -> None:
    env = gymnasium.make(RIVER)
    agent = agents.FunctionAgent(env, function=lambda obs, step: step % 2).learn(2)
    assert agent.lesson()["actions"] == [0, 1] * 10
    best = cmerl.oracles.solve(env, 20)
    table = np.tile([[0], [1]], (10, 6))
    expected = best.value(0) - cmerl.oracles.evaluate(env, table, 20).V[0, 0]
    assert agent.history[0].regret == pytest.approx(expected)
    assert agent.history[0].regret_kind == "policy"


def test_a_controller_with_a_memory_begins_anew_in_every_episode() -> None:
    controller = Integrator()
    agent = agents.make(from_function(controller, "pid"), gymnasium.make(RIVER)).learn(3)
    assert agent.lesson()["actions"] == [1, 0] * 10
    assert controller.steps == 99
    assert agent.history[-1].regret_kind == "gaps"
    with pytest.raises(InputError, match=r"must take \(obs\) or \(obs, step\)"):
        from_function(lambda: 1)
    with pytest.raises(InputError, match="cannot be saved"):
        agent.save("nowhere")


class Algorithm:
    """What the adapter needs of Stable-Baselines3: learns the better of two actions by trying both in turn."""

    def __init__(self, policy: str, env: Any, seed: int, fail_at: int = -1) -> None:
        self.policy, self.env, self.seed, self.fail_at = policy, env, seed, fail_at
        self.totals, self.steps, self.learned = np.zeros(2), 0, []  # type: ignore[var-annotated]

    def learn(self, total_timesteps: int, reset_num_timesteps: bool = True) -> Algorithm:
        self.learned.append((total_timesteps, reset_num_timesteps))
        self.env.reset()
        for _ in range(total_timesteps):
            if self.steps == self.fail_at:
                raise RuntimeError("diverged")
            action = (self.steps + self.seed) % 2
            _, reward, terminated, truncated, _ = self.env.step(np.int64(action))
            self.totals[action] += reward
            self.steps += 1
            if terminated or truncated:
                self.env.reset()
        return self

    def predict(self, obs: Any, deterministic: bool = False) -> tuple[Any, None]:
        return np.asarray(np.argmax(self.totals)), None


def adapted(**options: Any) -> StableBaselines:
    return StableBaselines(gymnasium.make(RIVER), algorithm=Algorithm, **options)


def test_an_algorithm_learns_in_the_loop_of_all_agents() -> None:
    agent = adapted(seed=3).learn(4)
    assert agent.lesson()["actions"] == [1, 0] * 10
    assert [r.length for r in agent.history] == [20] * 4
    assert agent.history[0].regret_kind == "gaps"
    assert agent.model.learned == [(80, True)]
    assert agent.model.totals.sum() == pytest.approx(
        sum(r.ret for r in agent.history) - agent.lesson()["rewards"][-1], abs=1.1
    )
    assert agent.predict(0) == agent.predict(0, explore=False) == int(np.argmax(agent.model.totals))


def test_learning_in_parts_and_again_from_lessons() -> None:
    whole = adapted(total_timesteps=100).learn(5)
    parts = adapted(total_timesteps=100).learn(2).learn(3)
    assert [r.ret for r in parts.history] == [r.ret for r in whole.history]
    again, source = adapted(total_timesteps=100), adapted(total_timesteps=100)
    for _ in range(2):
        source.learn(1)
        again.relearn(source.history[-1], source.lesson())
    assert [r.ret for r in again.learn(3).history] == [r.ret for r in whole.history]


def test_what_an_algorithm_cannot_do() -> None:
    with pytest.raises(InputError, match="episode 0, step 7: Algorithm failed: RuntimeError: diverged"):
        adapted(settings={"fail_at": 7}).learn(1)
    with pytest.raises(InputError, match="cannot be made for this environment"):
        adapted(settings={"rate": 1})
    with pytest.raises(InputError, match="learns from what it plays"):
        adapted().fit([{"observations": [0, 0], "actions": [0], "rewards": [0.0]}])
    with pytest.raises(InputError, match=r"agent.model.save\(path\)"):
        adapted().learn(1).save("nowhere")


def test_the_real_one_or_a_sentence() -> None:
    """With the extra installed DQN learns a few episodes; without, one sentence says what to install."""
    try:
        import stable_baselines3  # noqa: F401
    except ImportError:
        with pytest.raises(InputError, match=r"pip install 'cmerl\[baselines\]'"):
            StableBaselines(gymnasium.make(RIVER), algorithm="DQN")
        return
    settings = {"learning_starts": 10, "policy_kwargs": {"net_arch": [4]}}
    agent = StableBaselines(gymnasium.make(RIVER), algorithm="DQN", settings=settings, horizon=5).learn(3)
    assert [r.length for r in agent.history] == [5, 5, 5]
    assert agent.predict(0, explore=False) in (0, 1)
    with pytest.raises(InputError, match="has no algorithm 'ppo'"):
        StableBaselines(gymnasium.make(RIVER), algorithm="ppo")
