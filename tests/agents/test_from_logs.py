"""Learning from logs: what counts, what does not, and that nothing is learned half."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl import agents, experiments
from cmerl.agents.saving import container
from cmerl.errors import InputError, RewardRangeError

RIVER = "cmerl/RiverSwim-v0"


def river() -> gymnasium.Env[Any, Any]:
    return gymnasium.make(RIVER)


def played(episodes: int, env: gymnasium.Env[Any, Any], steps: int = 20, seed: int = 0) -> list[dict[str, Any]]:
    """Episodes of random actions."""
    rng, found = np.random.default_rng(seed), []
    for i in range(episodes):
        obs, _ = env.reset(seed=seed + i)
        log: dict[str, Any] = {"observations": [obs], "actions": [], "rewards": [], "terminated": False}
        for _ in range(steps):
            action = int(rng.integers(env.action_space.n))
            obs, reward, log["terminated"], *_ = env.step(action)
            log["observations"].append(obs)
            log["actions"].append(action)
            log["rewards"].append(reward)
            if log["terminated"]:
                break
        found.append(log)
    return found


@pytest.mark.parametrize("bonus", ["practical", "kl", "split"])
def test_logs_count_for_the_model_and_not_for_history(bonus: str) -> None:
    log = played(8, river())
    agent = cmerl.CMERL(river(), bonus=bonus).fit(log)
    assert agent.history == []
    assert agent.model.n == 160
    empty = cmerl.CMERL(river(), bonus=bonus)
    assert np.any(agent.q_values(0) != empty.q_values(0))
    counts = agent.ledger.counts.visits.sum()
    assert counts == 160  # the certificate's evidence
    agent.learn(3)
    certificate = agent.certificate()
    assert certificate.episodes == 3
    assert certificate.most == pytest.approx(60.0)


def test_a_warm_agent_knows_what_an_equal_embedding_of_the_log_knows() -> None:
    """The delta-kernel mean of the reward is Σr/(N + λ) over logged visits, an independent count."""
    log = played(10, river())
    agent = cmerl.CMERL(river()).fit(log)
    seen = [(o, a, r) for e in log for o, a, r in zip(e["observations"], e["actions"], e["rewards"], strict=False)]
    model = agent.model.embeddings[0]
    coef = model.backup(np.zeros(len(model.support)), reward=1.0)
    for s, a in [(0, 0), (0, 1), (1, 1)]:
        rewards = [r for o, b, r in seen if (o, b) == (s, a)]
        expected = sum(rewards) / (len(rewards) + agent.lam)
        assert model.expectation(coef, np.array([[s, a]], dtype=float))[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["ucbvi", "psrl", "q-learning", "kovi", "random"])
def test_baselines_learn_from_logs_too(name: str) -> None:
    known = [n for n in agents.names() if n.startswith(name)]
    agent = agents.make(known[0], river()).fit(played(4, river()))
    assert agent.history == []
    assert agent.ingested[0]["transitions"] == 80
    assert len(agent.learn(2).history) == 2


def test_learning_goes_on_the_same_after_saving(tmp_path: Path) -> None:
    log = played(5, river())
    whole = cmerl.CMERL(river(), seed=3).learn(2).fit(log).learn(4)
    half = cmerl.CMERL(river(), seed=3).learn(2).fit(log)
    half.save(tmp_path / "half.cmerl")
    again = cmerl.CMERL.load(tmp_path / "half.cmerl", env=river())
    assert again.ingested == half.ingested
    assert [r.ret for r in again.learn(4).history] == [r.ret for r in whole.history]
    assert np.array_equal(again.q_values(0), whole.q_values(0))


def test_what_was_learned_from_is_said() -> None:
    agent = cmerl.CMERL(river()).fit(played(5, river()))
    (record,) = agent.diagnostics()["learned from logs"]
    assert (record["source"], record["episodes"], record["transitions"]) == ("episodes", 5, 100)
    with pytest.raises(InputError, match="has learned from these episodes already"):
        agent.fit(played(5, river()))


@pytest.mark.parametrize("name", ["cme-rl", "ucbvi-ch", "ucbvi-bf", "psrl", "q-learning", "lsvi-ucb", "kovi"])
def test_nothing_is_learned_half(name: str, tmp_path: Path) -> None:
    log = played(3, river())
    wrong = [*log, {**log[0], "rewards": [0.0] * 19 + [7.0]}]
    agent = agents.make(name, river(), reward_range=(0.0, 1.0)).learn(2)
    again = agents.make(name, river(), reward_range=(0.0, 1.0)).learn(2)
    agent.save(tmp_path / "before")
    with pytest.raises(RewardRangeError, match="episode 3"):
        agent.fit(wrong)
    agent.save(tmp_path / "after")
    (before, about), (after, still) = (container.read(tmp_path / name) for name in ("before", "after"))
    assert about == still
    assert [key for key, array in before.items() if not np.array_equal(after[key], array)] == []
    assert agent.ingested == ()
    assert [r.ret for r in agent.fit(log).learn(2).history] == [r.ret for r in again.fit(log).learn(2).history]


def test_a_log_longer_than_the_horizon() -> None:
    """A law that is the same at every step is learned from any number of them; one for each step is not."""
    log = played(1, river(), steps=50)
    assert cmerl.CMERL(river()).fit(log).model.n == 50
    with pytest.raises(InputError, match="episode 0 has 50 steps, more than the horizon of 20"):
        cmerl.CMERL(river(), time_homogeneous=False).fit(log)


def test_many_transitions_hand_over_to_a_compressed_model() -> None:
    env = gymnasium.make("cmerl/PBall2D-v0")
    agent = cmerl.CMERL(env, model="direct").fit(played(40, env, steps=30))
    assert agent.model.n == 1200
    assert agent.diagnostics()["backend"] == "compressed"


def test_a_run_is_a_log(tmp_path: Path) -> None:
    results = experiments.run(RIVER, agents=["random"], episodes=3, seeds=2, out=tmp_path / "run", jobs=1)
    agent = cmerl.CMERL(river()).fit(results)
    (record,) = agent.ingested
    assert (record["source"], record["episodes"], record["transitions"]) == ("run run", 6, 120)
    one = cmerl.CMERL(river()).fit(results.logged(seed=1))
    assert one.ingested[0]["episodes"] == 3
    with pytest.raises(InputError, match=r"name the environment .* it has cmerl/RiverSwim-v0"):
        results.logged(env="other")


def test_logs_wait_for_the_end_of_an_episode() -> None:
    agent = cmerl.CMERL(river())
    episode = agent.episode()
    episode.act(0)
    episode.observe(0.0, 1)
    with pytest.raises(InputError, match="an episode is open"):
        agent.fit(played(1, river()))
    episode.close()
    assert agent.fit(played(1, river())).model.n == 21


def test_without_an_environment_there_is_nothing_to_check_with(tmp_path: Path) -> None:
    cmerl.CMERL(river()).save(tmp_path / "a.cmerl")
    with pytest.raises(InputError, match="no environment to check logs with"):
        cmerl.CMERL.load(tmp_path / "a.cmerl").fit(played(1, river()))
