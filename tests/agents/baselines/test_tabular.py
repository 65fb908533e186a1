"""PSRL and UCBVI: their models against closed forms, their regret against known figures."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl import agents, oracles
from cmerl.agents.baselines.tabular import TabularAgent
from cmerl.errors import InputError, RewardRangeError

COUNTING = ["psrl", "ucbvi"]


def make(name: str, env: str = "cmerl/RiverSwim-v0", **options: Any) -> TabularAgent:
    agent = agents.make(name, gymnasium.make(env), **options)
    assert isinstance(agent, TabularAgent)
    return agent


def know(agent: TabularAgent, visits: float) -> oracles.FiniteModel:
    """Let an agent have seen the truth, so often that nothing is left to doubt."""
    model = oracles.finite_model(agent.env)
    assert model is not None
    agent.counts[:] = visits * model.P
    agent.reward_sums[:] = visits * model.R
    return model


@pytest.mark.parametrize("name", COUNTING)
@pytest.mark.parametrize("explore", [True, False])
def test_who_has_seen_everything_plays_optimally(name: str, explore: bool) -> None:
    agent = make(name)
    model = know(agent, 1e12)
    value = oracles.evaluate(model, agent.policy(explore), agent.horizon).V[0]
    np.testing.assert_allclose(value, oracles.solve(model, agent.horizon).V[0], rtol=1e-4)


def test_psrl_draws_from_the_posterior(monkeypatch) -> None:
    agent = make("psrl", prior_weight=3.0).learn(30)
    drawn: list[tuple[np.ndarray, np.ndarray]] = []
    monkeypatch.setattr(agent, "_plan", lambda P, R, bonus=None: drawn.append((P, R)))
    record = agent.history[0]
    for _ in range(1500):
        agent.policy()
        agent.history.append(record)  # the next episode
    P, R = (np.array(part) for part in zip(*drawn, strict=True))
    weight = agent.counts + 3.0 / 6
    total = weight.sum(axis=2, keepdims=True)
    mean = weight / total
    np.testing.assert_allclose(P.mean(axis=0), mean, atol=0.05)
    np.testing.assert_allclose(P.var(axis=0), mean * (1 - mean) / (total + 1), atol=0.02)
    n, s = agent.visits + 2, agent.reward_sums + 1
    np.testing.assert_allclose(R.mean(axis=0), s / n, atol=0.05)
    np.testing.assert_allclose(R.var(axis=0), s * (n - s) / (n**2 * (n + 1)), atol=0.02)


def test_ucbvi_by_hand() -> None:
    # One state, three steps; action 0 pays 0.5 and was seen 100 times, action 1 pays nothing and was seen 4 times.
    env = cmerl.envs.FiniteMDP(np.ones((1, 2, 1)), np.array([[0.5, 0.0]]))
    plans = {}
    for scale in (0.1, 0.6):
        agent = agents.UCBVI(env, horizon=3, bonus_scale=scale)
        agent.counts[0, :, 0] = [100, 4]
        agent.reward_sums[0] = [50, 0]
        plans[scale] = agent.policy().actions[:, 0].tolist()
    # Bonuses of scale 1, with 3, 2 and 1 steps left: 0.13, 0.12, 0.11 and 1.25, 1.0, 0.75. At scale 0.6 action 1 is
    # the better one by 0.75 − 0.578 and 0.6 − 0.572, and by 0.45 − 0.566 it is not.
    assert plans == {0.1: [0, 0, 0], 0.6: [1, 1, 0]}


def test_ucbvi_believes_the_best_of_what_it_has_not_seen() -> None:
    agent = make("ucbvi", bonus_scale=0.0)
    agent.counts[0, 0, 0], agent.reward_sums[0, 0] = 5, 2  # left at the start pays something; right was never tried
    assert agent.predict(0) == 1
    assert agent.predict(0, explore=False) == 0


@pytest.mark.parametrize(
    ("name", "options", "least", "most"), [("psrl", {}, 30, 95), ("ucbvi", {"bonus_scale": 0.1}, 12, 60)]
)
def test_regret_on_riverswim_is_about_as_known(name: str, options: dict[str, Any], least: float, most: float) -> None:
    # 1000 episodes; PSRL elsewhere: 59.
    regrets = [
        sum(record.regret for record in make(name, seed=seed, **options).learn(1000).history) for seed in (0, 1)
    ]
    assert least < np.mean(regrets) < most


@pytest.mark.parametrize("name", COUNTING)
def test_learning_in_parts_from_lessons_and_from_a_file_is_the_same(name: str, tmp_path) -> None:
    whole = make(name, seed=4).learn(12)
    parts, pupil = make(name, seed=4), make(name, seed=4)

    def teach(agent: agents.Agent, record: agents.EpisodeRecord) -> None:
        pupil.relearn(record, agent.lesson())

    parts.learn(7, callback=teach)
    parts.save(tmp_path / "agent")
    loaded = type(parts).load(tmp_path / "agent", gymnasium.make("cmerl/RiverSwim-v0"))
    for agent in (parts, pupil, loaded):
        agent.learn(5)
        assert [record.ret for record in agent.history] == [record.ret for record in whole.history]
        assert (agent.counts == whole.counts).all()
        assert (agent.reward_sums == whole.reward_sums).all()


@pytest.mark.parametrize("name", COUNTING)
def test_ends_of_episodes_are_counted_as_such(name: str) -> None:
    agent = make(name, "FrozenLake-v1").learn(20)
    ended = sum(record.length < agent.horizon for record in agent.history)
    assert agent.counts.shape == (16, 4, 17)
    assert agent.counts[..., -1].sum() >= ended > 0
    assert agent.visits.sum() == sum(record.length for record in agent.history)


@pytest.mark.parametrize("name", COUNTING)
def test_what_cannot_be_counted_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"agent '{name}' counts: it needs Discrete spaces"):
        make(name, "CartPole-v1")
    with pytest.raises(RewardRangeError, match=r"episode 0, step 0: reward 0.* lies outside reward_range"):
        make(name, reward_range=(2.0, 3.0)).learn(1)
    with pytest.raises(InputError, match="lo < hi"):
        make(name, reward_range=(1.0, 1.0))


def test_options_without_sense_are_refused() -> None:
    with pytest.raises(InputError, match="prior_weight must be a number above 0"):
        make("psrl", prior_weight=0.0)
    with pytest.raises(InputError, match="bonus_scale must be a number from 0 on"):
        make("ucbvi", bonus_scale=-1.0)
