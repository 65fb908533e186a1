"""Which model the data ask for, and what an agent with a displacement does."""

from __future__ import annotations

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from cmerl.agents.model_selection import (
    choose_planning,
    direct_loss,
    displacement_is_better,
    displacement_loss,
    prediction_error,
    repeats_near,
    simulate,
)
from cmerl.agents.rewards import RewardRange

from cmerl import CMERL
from cmerl.agents import model_selection as modelling
from cmerl.agents.cme_rl import FIRST_SHARE, REPLAN_SHARE
from cmerl.agents.update_buffer import REPLAN_SURPRISE
from cmerl.confidence import FailureBudget, Greedy, Practical, Problem
from cmerl.embedding import DisplacementEmbedding, ExactEmbedding
from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, Matern, StateAction
from cmerl.planning import Hope, Task, make_plan
from cmerl.transitions import Transitions

ACTIONS = np.arange(2.0)[:, None]


def walk(noise: float, n: int = 150, seed: int = 0) -> Transitions:
    rng = np.random.default_rng(seed)
    states, actions = rng.random((n, 2)), rng.integers(2, size=(n, 1))
    push = np.hstack([0.1 * actions - 0.05, 0.1 * states[:, :1] - 0.05])
    nexts = states + push + noise * rng.normal(size=(n, 2))
    return Transitions.of(np.hstack([states, actions]), nexts, -np.ones(n))


def learned(data: Transitions) -> DisplacementEmbedding:
    embedding = DisplacementEmbedding(ACTIONS, categorical=True)
    embedding.update(data)
    return embedding


@pytest.mark.parametrize(("noise", "expected"), [(0.0, True), (0.002, True), (0.1, False)])
def test_smooth_motion_is_modelled_by_displacements_and_noise_is_not(noise: float, expected: bool) -> None:
    data = walk(noise)
    assert displacement_is_better(learned(data), RBF(0.1), Matern(1.5, 0.1), 0.1) is expected


def test_models_are_compared_by_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = learned(walk(0.0))
    wrong = np.full((150, 2), 0.1)
    monkeypatch.setattr(DisplacementEmbedding, "left_out_residuals", property(lambda self: wrong))
    assert np.abs(embedding.residuals(embedding.data)).max() < 0.01
    assert not displacement_is_better(embedding, RBF(0.1), Matern(1.5, 0.1), 0.1)


def test_the_direct_loss_leaves_each_transition_out() -> None:
    rng = np.random.default_rng(0)
    Z, Y, lam, value_kernel = rng.random((8, 2)), rng.random((8, 2)), 0.2, Matern(1.5, 0.5)
    k, losses = RBF(0.4), []
    for i in range(8):
        rest = np.delete(np.arange(8), i)
        alpha = np.linalg.solve(k(Z[rest], Z[rest]) + lam * np.eye(7), k(Z[rest], Z[[i]]))[:, 0]
        V, c = value_kernel(Y[rest], Y[rest]), value_kernel(Y[rest], Y[[i]])[:, 0]
        losses.append(1.0 - 2 * alpha @ c + alpha @ V @ alpha)
    assert direct_loss(k(Z, Z), Y, value_kernel, lam) == pytest.approx(np.mean(losses))


def test_perfect_displacements_have_no_loss() -> None:
    Y = np.random.default_rng(1).random((10, 2))
    assert displacement_loss(Y, np.zeros((10, 2)), Matern(1.5, 0.1)) == pytest.approx(0.0, abs=1e-12)
    assert displacement_loss(Y, np.full((10, 2), 9.0) * np.eye(2)[np.arange(10) % 2], Matern(1.5, 0.1)) > 0.4


def test_simulating_plans_together_gives_what_each_gives_alone() -> None:
    data = walk(0.0, n=600)
    places = np.asarray(data.next_states)[:, 0]
    rewards, ended = np.sin(5 * places), places > 0.8
    embedding = learned(Transitions.of(data.Z, data.next_states, rewards, ended))
    problem = Problem(9, 2.0, RBF(0.1), Matern(1.5, 0.1), None, FailureBudget(0.5, learned_reward=True))
    task, order = Task(problem, Greedy(), -1.0), np.arange(2)
    plans = {k: make_plan([embedding.with_repeat(k)], task, episode=1, order=order) for k in (1, 3)}
    starts = np.array([[0.3, 0.4], [0.9, 0.5], [0.7, 0.5], [0.75, 0.1]])  # from the second one every step ends
    together = simulate(embedding, plans, starts, 9)
    for i, plan in enumerate(plans.values()):
        for j, start in enumerate(starts):
            state, alone = start[None], 0.0
            for step in range(9):
                state, reward, over = embedding.step(state, plan.act(state, step))
                alone += reward[0]
                if over[0]:
                    break
            assert together[i, j] == pytest.approx(alone)


def test_where_nothing_differs_actions_are_held_longest() -> None:
    assert choose_planning(learned(walk(0.0)), 10, np.full((1, 2), 0.5), Matern(1.5, 0.1)) == (5, False)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ((-5.0, -4.0, -4.5, -6.0), 2),  # the best, however little certain that is
        ((-5.0, -4.0, -4.015, -4.025), 3),  # or a longer one within a thousandth of ten steps that cost up to 2
        ((-4.0, -4.5, -4.5, -4.0), 5),
        ((-3.9, -4.0, -4.5, -5.0), 1),
    ],
)
def test_the_repeat_is_what_does_best_or_longer_if_that_is_as_good(
    means: tuple[float, ...], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = np.array([-2.0, 2.0, -1.0, 1.0])  # differs from start to start and sums to 0
    returns = np.array(means)[:, None] + noise * np.arange(4)[:, None]
    monkeypatch.setattr(modelling, "simulate", lambda *_: returns)
    data = walk(0.0)
    embedding = learned(replace(data, rewards=np.where(np.arange(len(data)) % 2, -2.0, 0.0)))
    assert choose_planning(embedding, 10, np.full((4, 2), 0.5), Matern(1.5, 0.1))[0] == expected


def test_repeats_are_compared_with_nothing_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def simulated(embedding, plans, starts, horizon):
        asked.update({0: embedding.model, **{k: plan.views[0] for k, plan in plans.items()}})
        return np.zeros((len(plans), len(starts)))

    monkeypatch.setattr(modelling, "simulate", simulated)
    embedding = learned(walk(0.0))
    choose_planning(embedding, 10, np.full((1, 2), 0.5), Matern(1.5, 0.1))
    assert all(view.sure for view in asked.values())
    assert [view.repeat for k, view in asked.items() if k] == [k for k in asked if k] == list(modelling.REPEATS)
    assert not embedding.model.sure


def test_a_repeat_that_was_chosen_moves_to_a_neighbour_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [repeats_near(k) for k in (1, 2, 3, 5)] == [(1, 2), (1, 2, 3), (2, 3, 5), (3, 5)]
    asked = []

    def chosen(model, horizon, starts, value_kernel, repeats):
        asked.append((model.repeat, tuple(repeats)))
        return (repeats[-1] if len(asked) == 1 else repeats[0]), False

    monkeypatch.setattr("cmerl.agents.transition_store.choose_planning", chosen)
    env = gymnasium.make("Pendulum-v1", max_episode_steps=30)
    agent = CMERL(env, seed=0, model="displacement").learn(4)
    assert asked == [(1, (1, 2, 3, 5)), (5, (3, 5)), (3, (2, 3, 5))]
    assert agent.embedding.diagnostics()["action repeat"] == 2


@pytest.mark.parametrize("repeat", [1, 2, 3])
@pytest.mark.parametrize("reward", [-0.7, 0.0])
def test_values_of_plans_are_discounted_and_an_end_is_worth_a_reward_of_0_a_step(repeat: int, reward: float) -> None:
    data = walk(0.0, n=600)
    ended = np.asarray(data.next_states)[:, 0] > 0.8 if reward == 0.0 else np.zeros(len(data), dtype=bool)
    embedding = learned(Transitions.of(data.Z, data.next_states, np.full(len(data), reward), ended))
    problem = Problem(7, 1.0, RBF(0.1), Matern(1.5, 0.1), None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, Greedy(), -1.0, discount=0.9)
    plan = make_plan([embedding.with_repeat(repeat)], task, episode=1, order=np.arange(2))
    states = np.random.default_rng(1).uniform(0.2, 0.7, (5, 2))
    expected = reward * sum(0.9**i for i in range(7))
    assert plan.value(states, 0) == pytest.approx(
        np.full(5, expected), abs=0.1
    )  # what is not known counts as the least


def test_hope_is_for_an_end_after_a_wait() -> None:
    problem = Problem(10, 2.0, RBF(0.1), Matern(1.5, 0.1), None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, Greedy(), -1.0, hope=Hope(0.0, 0.0, 0.5, wait=4, meanwhile=-0.5))
    for step, left in ((0, 10), (8, 2)):
        waiting = min(left, 4)
        assert task.hoped(step) - left == pytest.approx(-0.5 * waiting + 0.5)  # shifted by 1 a step
        assert task.cap(step) - left == pytest.approx(0.5)  # an end may be near where one knows the way
    assert task.hoped(10) == task.cap(10) == 0.0
    soon = replace(task, discount=0.9)
    rewards = np.array([0.5] * 4 + [1.0] * 6)
    assert soon.hoped(0) == pytest.approx(rewards @ 0.9 ** np.arange(10) + 0.5)


def test_no_hope_exceeds_the_range_of_rewards_and_what_is_only_hoped_for_is_not_discounted() -> None:
    problem = Problem(10, 2.0, RBF(0.1), Matern(1.5, 0.1), None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, Greedy(), -1.0, hope=Hope(5.0))
    assert [task.cap(step) for step in (0, 7, 10)] == [20.0, 6.0, 0.0]
    soon = Task(problem, Greedy(), -1.0, hope=Hope(0.0, 0.5, 0.25), discount=0.9)
    assert soon.cap(0) == pytest.approx(sum(0.9**i for i in range(10)) + 10 * 0.5 + 0.25)  # shifted by 1 a step


def test_a_maximal_return_that_cannot_be_leaves_nothing_rather_than_less() -> None:
    problem = Problem(10, 2.0, RBF(0.1), Matern(1.5, 0.1), None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, Greedy(), -1.0, max_return=-12.0)  # ten steps cost 10 at the most
    assert [task.cap(step) for step in (0, 5, 10)] == [0.0, 0.0, 0.0]
    little = replace(task, max_return=-9.5, hope=Hope(0.0, wait=4, meanwhile=-0.5))
    assert little.cap(0) == pytest.approx(0.5)
    assert little.hoped(0) == 0.0  # four steps of waiting cost more than that


def test_where_nothing_is_known_q_is_what_is_hoped_for_and_not_the_most_there_can_be() -> None:
    problem = Problem(10, 2.0, RBF(0.1), Matern(1.5, 0.1), None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, Practical(), -1.0, hope=Hope(0.0, 0.0, 0.5, wait=4, meanwhile=-0.5))
    embedding = ExactEmbedding(StateAction(RBF(0.1), Delta()), 0.1, ACTIONS)
    plan = make_plan([embedding], task, episode=1, order=np.arange(2))
    for step, wait in ((0, 4), (5, 4), (8, 2)):
        np.testing.assert_allclose(plan.q(np.full((1, 2), 0.5), step), -0.5 * wait + 0.5)


def test_hope_raises_what_is_expected_and_never_lowers_it() -> None:
    data = walk(0.0, n=600)
    embedding = learned(Transitions.of(data.Z, data.next_states, np.asarray(data.Z)[:, 0], data.terminated))
    problem = Problem(1, 2.0, RBF(0.1), Matern(1.5, 0.1), None, FailureBudget(0.5, learned_reward=True))
    hope = Hope(0.5)  # rewards go from 0 to 1
    task = Task(problem, Practical(), 0.0, hope=hope, hope_only_raises=True)
    states = np.random.default_rng(2).uniform(-0.3, 1.3, (50, 2))
    order = np.arange(2)
    found = make_plan([embedding], task, episode=1, order=order).q(states, 0)
    u = embedding.grid(states).std() ** 2
    expected = embedding.grid(states).expectation(embedding.backup(np.zeros(len(embedding.support)))) / (1.0 - u)
    assert u.max() > 0.01
    np.testing.assert_allclose(found, np.where(expected > 0.5, expected, (1.0 - u) * expected + u * 0.5), atol=1e-9)


@pytest.mark.parametrize(
    ("seen", "episodes", "expected"),
    [
        ([(-1.0, None)], 1, Hope(-1.0, 1.0)),  # all alike: one more is hoped for
        ([(-1.0, None), (-1.0, 7), (-1.0, 5)], 3, Hope(0.0, 0.0, 0.0, 3, -1.0)),  # ending early earns 0 a step
        ([(-0.1, None), (0.0, None)], 1, Hope(0.0, 2.0)),  # one step may pay for a whole episode
        ([(-0.1, None), (0.0, None)], 2, Hope(0.0, 0.05)),
        ([(-0.1, None), (0.0, None), (100.0, 7)], 2, Hope(0.0, 0.05, 99.95, 3, 0.0)),  # a prize is won once
        ([(1.0, None), (1.0, 7)], 2, Hope(1.0, 0.0, 0.0, 3, 1.0)),
        ([(-1.0, None), (-1.0, 5), (-1.0, 7)], 3, Hope(0.0, 0.0, 0.0, 3, -1.0)),  # the soonest end, not the last
        ([(-1.0, None), (-1.0, 6)], 1, Hope(0.0, 0.0, 0.0, 0, -1.0)),  # after one episode it may be at once
        ([(-1.0, None), (-0.5, None), (-1.0, 4)], 2, Hope(0.0, 0.0, 0.0, 2, -0.5)),  # −½ + ¼ is no better than 0
        ([(-1.0, None), (-0.1, None), (-1.0, 4)], 2, Hope(0.0, 0.35, 0.0, 2, -0.1)),
        ([(0.0, None), (0.0, None), (5.0, 4), (3.0, 4)], 2, Hope(0.0, 0.0, 5.0, 2, 0.0)),  # the best end
    ],
)
def test_what_is_worth_hoping_for(seen: list, episodes: int, expected: tuple[float, float, float]) -> None:
    rewards = RewardRange("auto", may_end=False)
    for reward, ended_at in seen:
        rewards.see(reward, ended_at)
    assert rewards.hope(episodes, 20) == pytest.approx(expected)
    again = RewardRange.from_spec(rewards.spec())
    assert again.hope(episodes, 20) == pytest.approx(expected)
    assert RewardRange((-1.0, 1.0), may_end=False).hope(episodes, 20) is None


def test_before_any_step_has_gone_on_nothing_in_particular_is_hoped_for() -> None:
    rewards = RewardRange("auto", may_end=False)
    assert rewards.hope(0, 20) is None
    rewards.see(1.0, 1)
    assert rewards.hope(1, 20) is None


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


def test_mountain_car_is_solved_in_a_few_episodes() -> None:
    agent = CMERL(gymnasium.make("MountainCar-v0"), seed=0).learn(5)
    assert min(r.length for r in agent.history) < 150


def test_where_waiting_costs_nothing_the_goal_is_not_put_off_until_it_is_missed() -> None:
    agent = CMERL(gymnasium.make("MountainCarContinuous-v0", max_episode_steps=200), seed=100).learn(4)
    assert min(r.ret for r in agent.history[1:]) > 80  # without the goal it would be below 0


def test_with_a_direct_model_plans_are_made_anew_after_a_nat_but_more_in_the_first_episode() -> None:
    agent = Watched(gymnasium.make("cmerl/PBall2D-v0"), seed=0).learn(4)
    for episode, surprise, gain, replanned in agent.asked:
        assert replanned == (surprise > max(REPLAN_SURPRISE, 0.0 if episode else FIRST_SHARE * gain))
    assert any(replanned and surprise < FIRST_SHARE * gain for _, surprise, gain, replanned in agent.asked)


class Watched(CMERL):
    """Takes down what was new whenever it is asked whether to plan anew."""

    def _after_step(self, step, obs, action, reward, next_obs, done) -> None:
        before = self._pending.surprise
        super()._after_step(step, obs, action, reward, next_obs, done)
        z = np.hstack([self.states.encode(obs), self.actions.encode(action)])
        sigma = float(self._memory.embeddings[0].std(z)[0])
        assert self._pending.surprise - before == pytest.approx(0.5 * np.log1p(sigma**2 / self.lam))

    def _replanned(self, step):
        surprise, gain = self._pending.surprise, self._memory.embeddings[0].information_gain
        found = super()._replanned(step)
        self.asked = [*getattr(self, "asked", []), (len(self.history), surprise, gain, found is not None)]
        assert self._pending.surprise == (0.0 if found else surprise)
        return found


def test_with_a_displacement_plans_are_made_anew_once_enough_of_all_that_is_known_was_new() -> None:
    agent = Watched(gymnasium.make("MountainCar-v0"), seed=0, model="displacement").learn(3)
    asked = [rest for episode, *rest in agent.asked if episode > 0]
    assert len(asked) == sum(r.length - 1 for r in agent.history[1:])
    for surprise, gain, replanned in asked:
        assert replanned == (surprise > max(REPLAN_SURPRISE, REPLAN_SHARE * gain))
    assert any(replanned for *_, replanned in asked)
    assert any(surprise > REPLAN_SURPRISE and not replanned for surprise, _, replanned in asked)
    first = [rest for episode, *rest in agent.asked if episode == 0]
    for surprise, gain, replanned in first:
        assert replanned == (surprise > max(REPLAN_SURPRISE, FIRST_SHARE * gain))
    assert any(
        surprise > max(REPLAN_SURPRISE, REPLAN_SHARE * gain) and not replanned for surprise, gain, replanned in first
    )


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
