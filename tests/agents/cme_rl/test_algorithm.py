"""The agent with a displacement: what it models, learns, saves and replans."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from walks import learned, walk

from cmerl import CMERL
from cmerl.acting import Greedy as ActGreedily
from cmerl.agents.cme_rl.calibration import prediction_error
from cmerl.agents.cme_rl.settings import Updates
from cmerl.confidence import FailureBudget, Greedy, Problem
from cmerl.errors import InputError
from cmerl.kernels import RBF, Matern
from cmerl.planning import Task, make_plan
from cmerl.transitions import Transitions

NATS, SHARE = Updates().replan_nats, Updates().replan_share


@pytest.mark.parametrize("repeat", [1, 2, 3])
@pytest.mark.parametrize("reward", [-0.7, 0.0])
def test_values_of_plans_are_sums_of_rewards_and_an_end_is_worth_a_reward_of_0_a_step(
    repeat: int, reward: float
) -> None:
    data = walk(0.0, n=600)
    ended = np.asarray(data.next_states)[:, 0] > 0.8 if reward == 0.0 else np.zeros(len(data), dtype=bool)
    embedding = learned(Transitions.of(data.Z, data.next_states, np.full(len(data), reward), ended))
    problem = Problem(7, 1.0, RBF(0.1), Matern(1.5, 0.1), None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, Greedy(), -1.0)
    plan = make_plan([embedding.with_repeat(repeat)], task, episode=1, order=np.arange(2))
    states = np.random.default_rng(1).uniform(0.2, 0.7, (5, 2))
    # what is not known counts as the least
    assert plan.value(states, 0) == pytest.approx(np.full(5, 7 * reward), abs=0.15)


@pytest.mark.slow
def test_cart_pole_is_modelled_by_displacements_and_goes_on_bit_for_bit_after_loading(tmp_path) -> None:
    env = gymnasium.make("CartPole-v1", max_episode_steps=60)
    agent = CMERL(env, seed=3).learn(5)
    assert agent.diagnostics()["backend"] == "displacement"
    agent.save(tmp_path / "agent")
    again = CMERL.load(tmp_path / "agent", env=gymnasium.make("CartPole-v1", max_episode_steps=60))
    assert [r.ret for r in agent.learn(2).history] == [r.ret for r in again.learn(2).history]
    obs = np.array([0.01, 0.0, 0.02, 0.1], dtype=np.float32)
    np.testing.assert_array_equal(agent.q_values(obs), again.q_values(obs))
    errors = [record.metrics["model_error"] for record in agent.history[-3:]]
    assert np.median(errors) < 0.05  # a single fall may surprise
    assert 0.0 <= agent.history[-1].metrics["uncertainty"] <= 1.0


@pytest.mark.slow
def test_mountain_car_is_solved_in_a_few_episodes() -> None:
    agent = CMERL(gymnasium.make("MountainCar-v0"), seed=0)
    while len(agent.history) < 5 and min((r.length for r in agent.history), default=200) >= 150:
        agent.learn(1)
    assert min(r.length for r in agent.history) < 150


@pytest.mark.slow
def test_where_waiting_costs_nothing_the_goal_is_not_put_off_until_it_is_missed() -> None:
    agent = CMERL(gymnasium.make("MountainCarContinuous-v0", max_episode_steps=200), seed=100).learn(4)
    assert min(r.ret for r in agent.history[1:]) > 80  # without the goal it would be below 0


def test_with_a_direct_model_plans_are_made_anew_after_a_nat_but_more_in_the_first_episode() -> None:
    agent = Watched(gymnasium.make("cmerl/PBall2D-v0"), seed=0, model="direct").learn(4)
    for episode, surprise, gain, replanned in agent.asked:
        assert replanned == (surprise > max(NATS, 0.0 if episode else SHARE * gain))
    assert any(replanned and surprise < SHARE * gain for _, surprise, gain, replanned in agent.asked)


class Watched(CMERL):
    """Takes down what was new whenever it is asked whether to plan anew."""

    def _after_step(self, step, obs, action, reward, next_obs, done) -> None:
        before = self.learner.pending.surprise
        super()._after_step(step, obs, action, reward, next_obs, done)
        z = np.hstack([self.states.encode(obs), self.actions.encode(action)])
        sigma = float(self.model.embeddings[0].std(z)[0])
        assert self.learner.pending.surprise - before == pytest.approx(0.5 * np.log1p(sigma**2 / self.lam))

    def _replanned(self, step):
        surprise, gain = self.learner.pending.surprise, self.model.embeddings[0].information_gain
        found = super()._replanned(step)
        self.asked = [*getattr(self, "asked", []), (len(self.history), surprise, gain, found is not None)]
        assert self.learner.pending.surprise == (0.0 if found else surprise)
        return found


@pytest.mark.slow
def test_with_a_displacement_plans_are_made_anew_once_enough_of_all_that_is_known_was_new() -> None:
    env = gymnasium.make("MountainCar-v0")
    agent = Watched(env, seed=1, model="displacement", actor=ActGreedily()).learn(3)  # a search keeps its plan
    asked = [rest for _, *rest in agent.asked]
    assert len(asked) == sum(r.length - 1 for r in agent.history)
    for surprise, gain, replanned in asked:
        assert replanned == (surprise > max(NATS, SHARE * gain))
    assert any(replanned for *_, replanned in asked)
    assert any(surprise > NATS and not replanned for surprise, _, replanned in asked)


def test_provable_modes_refuse_displacements() -> None:
    with pytest.raises(InputError, match="displacement"):
        CMERL(gymnasium.make("MountainCar-v0"), bonus="tight", model="displacement")
    with pytest.raises(InputError, match="unknown"):
        CMERL(gymnasium.make("MountainCar-v0"), model="magic")


def test_a_few_slow_steps_are_judged_by_all_motion_seen() -> None:
    embedding = learned(walk(0.0))
    data = walk(0.0, n=40, seed=3)
    motion = np.asarray(data.next_states) - np.asarray(data.Z)[:, :2]
    rows = np.argsort(np.abs(motion - motion.mean(axis=0)).sum(axis=1))[:3]
    few = Transitions.of(data.Z[rows], np.asarray(data.next_states)[rows] + 0.01, data.rewards[rows])
    seen = np.asarray(walk(0.0).next_states) - np.asarray(walk(0.0).Z)[:, :2]
    assert prediction_error(embedding, few) == pytest.approx(np.mean(1e-4 / seen.var(axis=0)), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    "given", [{"value_kernel": Matern(1.5, 0.1)}, {"kernel": RBF(0.3)}, {"backend": "exact"}, {}], ids=str
)
def test_what_is_said_of_the_embedding_keeps_the_agent_from_choosing_a_displacement(given: dict[str, Any]) -> None:
    agent = CMERL(gymnasium.make("CartPole-v1", max_episode_steps=60), seed=3, **given).learn(4)
    assert (agent.diagnostics()["backend"] == "displacement") == (not given)
