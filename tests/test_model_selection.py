"""Which model and which actor the data ask for, and what an agent with a displacement does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from scipy import stats

from cmerl import CMERL
from cmerl.acting import MPC
from cmerl.acting import Greedy as ActGreedily
from cmerl.agents.cme_rl.calibration import prediction_error
from cmerl.agents.cme_rl.settings import Updates
from cmerl.confidence import FailureBudget, Greedy, Problem
from cmerl.embedding import DisplacementEmbedding
from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, Matern, StateAction
from cmerl.model_selection import Choice, Selection, actors, choose_actor, displacement_is_better, returns_within
from cmerl.model_selection.models import direct_losses, displacement_losses
from cmerl.model_selection.rule import exceeds
from cmerl.model_selection.simulation import Noise, simulate, simulate_search
from cmerl.planning import Task, make_plan
from cmerl.transitions import Transitions

ACTIONS = np.arange(2.0)[:, None]
NATS, SHARE = Updates().replan_nats, Updates().replan_share


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


@pytest.mark.parametrize(("noise", "expected"), [(0.0, True), (0.002, True), (0.02, True), (0.1, False)])
def test_motion_is_modelled_by_displacements_unless_noise_blurs_values(noise: float, expected: bool) -> None:
    data = walk(noise)  # 0.02 is four tenths of a step, and a fifth of the width of values
    assert displacement_is_better(learned(data), RBF(0.1), Matern(1.5, 0.1), 0.1, Selection()) is expected


def slippery_cells(n: int, seed: int = 0) -> Transitions:
    """A row of five cells, where a move fails half of the time, and always at the walls: noise differs by place."""
    rng = np.random.default_rng(seed)
    cells, actions = rng.integers(5, size=n), rng.integers(2, size=n)
    moved = np.clip(cells + (2 * actions - 1) * (rng.random(n) < 0.5), 0, 4)
    states, nexts = (np.column_stack([x / 4.0, np.zeros(n)]) for x in (cells, moved))
    return Transitions.of(np.column_stack([states, actions]), nexts, -np.ones(n))


def test_a_law_that_a_mean_and_its_residuals_do_not_describe_is_embedded_directly() -> None:
    kernel = StateAction(RBF(0.1), Delta())
    assert not displacement_is_better(learned(slippery_cells(600)), kernel, Matern(1.5, 0.1), 0.1, Selection())


def test_models_are_compared_by_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = learned(walk(0.0, n=140))
    wrong = np.random.default_rng(0).normal(0.0, 0.5, (140, 2))
    monkeypatch.setattr(DisplacementEmbedding, "left_out_residuals", property(lambda self: wrong))
    assert np.abs(embedding.residuals(embedding.data)).max() < 0.01
    assert not displacement_is_better(embedding, RBF(0.1), Matern(1.5, 0.1), 0.1, Selection())


def test_the_direct_loss_leaves_each_transition_out() -> None:
    rng = np.random.default_rng(0)
    Z, Y, lam, value_kernel = rng.random((8, 2)), rng.random((8, 2)), 0.2, Matern(1.5, 0.5)
    k, losses = RBF(0.4), []
    for i in range(8):
        rest = np.delete(np.arange(8), i)
        alpha = np.linalg.solve(k(Z[rest], Z[rest]) + lam * np.eye(7), k(Z[rest], Z[[i]]))[:, 0]
        V, c = value_kernel(Y[rest], Y[rest]), value_kernel(Y[rest], Y[[i]])[:, 0]
        losses.append(1.0 - 2 * alpha @ c + alpha @ V @ alpha)
    np.testing.assert_allclose(direct_losses(k(Z, Z), Y, value_kernel, lam), losses)


def test_the_loss_of_a_displacement_is_the_distance_to_the_embedding_of_its_noise() -> None:
    residuals, k = 0.2 * np.random.default_rng(1).normal(size=(9, 2)), Matern(1.5, 0.5)
    noise = residuals[[0, 2, 5, 8]]  # four of nine, evenly spread
    expected = [
        k(r[None], r[None])[0, 0] - 2.0 * np.mean([k(r[None], e[None]) for e in noise]) + k(noise, noise).mean()
        for r in residuals
    ]
    np.testing.assert_allclose(displacement_losses(residuals, k, 4), expected)
    np.testing.assert_allclose(displacement_losses(np.zeros((10, 2)), k, 16), 0.0, atol=1e-12)


@pytest.mark.parametrize("t", [-1.02, 0.5, 0.98, 1.02, 3.0])
@pytest.mark.parametrize("n", [2, 5, 40])
def test_a_challenger_must_gain_more_than_the_standard_error_of_the_pairs(t: float, n: int) -> None:
    rng = np.random.default_rng(n)
    incumbent, noise = rng.normal(0.0, 5.0, n), rng.normal(size=n)
    challenger = incumbent + noise - noise.mean() + t * stats.sem(noise)
    assert stats.ttest_rel(challenger, incumbent).statistic == pytest.approx(t)
    assert exceeds(challenger, incumbent) is (t > 1.0)
    gain = float((challenger - incumbent).mean())
    assert not exceeds(challenger, incumbent, least=gain + 1e-9)
    assert exceeds(challenger, incumbent, least=gain - 1e-9) is (t > 1.0)
    assert exceeds(incumbent, challenger) is (t < -1.0)


def test_of_one_case_there_is_no_standard_error() -> None:
    assert exceeds(np.array([1.0]), np.array([0.9]))
    assert not exceeds(np.array([1.0]), np.array([0.9]), least=0.2)
    assert not exceeds(np.array([1.0]), np.array([1.0]))


def test_simulating_plans_together_gives_what_each_gives_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Noise, "at", lambda self, step, x, starts: np.zeros(x.shape))
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


def chosen(
    model: DisplacementEmbedding,
    starts: int = 1,
    now: Choice | None = None,
    played: np.ndarray | None = None,
    **settings: Any,
) -> Choice:
    places, selection = np.full((starts, 2), 0.5), Selection(**settings)
    return choose_actor(model, 10, places, Matern(1.5, 0.1), selection, now, played)


def repeat_of(choice: Choice) -> int:
    assert choice.displacement is not None
    return choice.displacement.repeat


def test_where_nothing_differs_actions_are_held_longest() -> None:
    found = chosen(learned(walk(0.0)))
    assert (repeat_of(found), found.actor) == (5, ActGreedily())


def varied(n: int = 150) -> DisplacementEmbedding:
    """A walk whose steps cost 2 on one side."""
    data = walk(0.0, n)
    place = np.asarray(data.Z)[:, 0]
    return learned(replace(data, rewards=np.where(place > np.median(place), -2.0, 0.0)))


NOISE = np.array([-2.0, 2.0, -1.0, 1.0])  # differs from start to start and sums to 0


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ((-5.0, -4.0, -4.5, -6.0), 2),  # the best, however little certain that is
        ((-4.0, -4.5, -4.5, -4.0), 5),  # the longer of two that are as good
        ((-3.9, -4.0, -4.5, -5.0), 1),
    ],
)
def test_the_first_repeat_is_what_does_best(
    means: tuple[float, ...], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    returns = np.array(means)[:, None] + NOISE * np.arange(4)[:, None]
    monkeypatch.setattr(actors, "simulate", lambda *_: returns)
    assert repeat_of(chosen(varied(), 4)) == expected


@pytest.mark.parametrize(("gain", "expected"), [(0.7, 2), (1.0, 3)])  # the standard error is √(10/3)/2 = 0.91
def test_a_repeat_that_was_chosen_is_left_for_a_gain_beyond_its_standard_error(
    gain: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = Choice(varied().with_repeat(2), ActGreedily(), {})
    monkeypatch.setattr(actors, "simulate", lambda *_: np.stack([NOISE - 9.0, 0.0 * NOISE, NOISE + gain]))
    assert repeat_of(chosen(now.displacement, 4, now)) == expected


def test_a_repeat_that_was_chosen_is_compared_with_its_neighbours_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def simulated(embedding: Any, plans: dict[int, Any], starts: Any, horizon: int) -> np.ndarray:
        asked.append(tuple(plans))
        best = len(plans) - 1 if len(asked) == 1 else 0
        return np.where(np.arange(len(plans)) == best, 1.0, 0.0)[:, None] + np.zeros(len(starts))

    monkeypatch.setattr(actors, "simulate", simulated)
    now = chosen(varied(), 4)
    repeats = [repeat_of(now)]
    for _ in range(4):
        now = chosen(now.displacement, 4, now)
        repeats.append(repeat_of(now))
    assert asked == [(1, 2, 3, 5), (3, 5), (2, 3, 5), (1, 2, 3), (1, 2)]
    assert repeats == [5, 3, 2, 1, 1]


def test_a_repeat_that_is_no_candidate_is_compared_with_nothing_and_all_candidates_are_tried() -> None:
    model = varied().with_repeat(4)
    found = chosen(model, 2, Choice(model, ActGreedily(), {}))
    afresh = chosen(model, 2)
    assert repeat_of(found) == repeat_of(afresh) in Selection().repeats
    assert found.reasons == afresh.reasons


def test_repeats_are_compared_with_nothing_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def simulated(embedding: Any, plans: dict[int, Any], starts: Any, horizon: int) -> np.ndarray:
        asked.update({0: embedding.view, **{k: plan.views[0] for k, plan in plans.items()}})
        return np.zeros((len(plans), len(starts)))

    monkeypatch.setattr(actors, "simulate", simulated)
    embedding = learned(walk(0.0))
    chosen(embedding)
    assert all(view.sure for view in asked.values())
    assert [view.repeat for k, view in asked.items() if k] == [k for k in asked if k] == list(Selection().repeats)
    assert not embedding.view.sure


FITTED, PLANNED = MPC(value="fitted"), MPC(value="plan")


@pytest.mark.parametrize(
    ("now", "gains", "expected"),
    [
        (None, {}, FITTED),  # as good as any: the search with a value of its own
        (None, {PLANNED: 1.0}, PLANNED),
        (None, {FITTED: -1.0}, ActGreedily()),  # the simplest of those that are as good
        (None, {FITTED: -1.0, PLANNED: -0.5}, ActGreedily()),
        (PLANNED, {}, PLANNED),  # no gain, no change
        (PLANNED, {FITTED: 0.5}, FITTED),
        (ActGreedily(), {FITTED: 0.5, PLANNED: 0.7}, PLANNED),
    ],
)
def test_an_actor_is_left_for_one_that_does_better_in_simulation(
    now: Any, gains: dict[Any, float], expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, base = varied().with_repeat(5), np.array([-5.0, -9.0, -7.0])
    monkeypatch.setattr(actors, "simulate", lambda model, plans, *_: np.tile(base, (len(plans), 1)))
    monkeypatch.setattr(actors, "simulate_search", lambda mpc, *_: base + gains.get(mpc, 0.0))
    before = None if now is None else Choice(model, now, {}, compared=True)
    found = chosen(model, 3, before)
    assert (repeat_of(found), found.actor, found.compared, found.saturated) == (5, expected, True, False)
    assert found.promised == pytest.approx(-7.0 + gains.get(expected, 0.0))
    assert "plan alone -7" in found.reasons["simulated returns"]


def test_a_gain_within_its_standard_error_or_from_one_start_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = varied().with_repeat(5)
    for starts, gains in ((3, np.array([-2.0, 1.0, 2.0])), (1, np.array([5.0]))):
        zeros = np.zeros(starts)
        monkeypatch.setattr(actors, "simulate", lambda model, plans, *_, z=zeros: np.tile(z, (len(plans), 1)))
        monkeypatch.setattr(actors, "simulate_search", lambda mpc, *_, g=gains: g if mpc == PLANNED else 0.0 * g)
        assert chosen(model, starts).actor == FITTED


@pytest.mark.parametrize(
    ("played", "expected"),
    [
        ([-5.1, -9.1, -7.1], FITTED),  # simulations are right to 0.1
        ([-7.1], FITTED),  # that of the last start was
        ([-6.0, -10.0, -8.0], PLANNED),  # they promise 1 too much
        ([-4.0, -8.0, -6.0], PLANNED),
        ([-8.0], PLANNED),
        ([99.0, -5.1, -9.1, -7.1], FITTED),  # the first start is not simulated any more
        ([], FITTED),
    ],
)
def test_a_gain_must_exceed_what_simulations_are_wrong_by(
    played: list[float], expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, base = varied().with_repeat(5), np.array([-5.0, -9.0, -7.0])
    monkeypatch.setattr(actors, "simulate", lambda model, plans, *_: np.tile(base - 9, (len(plans), 1)))
    monkeypatch.setattr(actors, "simulate_search", lambda mpc, *_: base + 0.5 * (mpc == FITTED))
    before = Choice(model, PLANNED, {}, compared=True)
    assert chosen(model, 3, before, np.array(played)).actor == expected


def test_what_was_played_is_summed_within_the_steps_that_are_simulated() -> None:
    steps = np.array([4, 5, 0, 1, 2, 3, 0, 1])  # an episode that had begun before, and two more
    rewards = np.array([9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    np.testing.assert_array_equal(returns_within(steps, rewards, 3), [6.0, 11.0])
    assert len(returns_within(steps[:2], rewards[:2], 3)) == 0


def test_where_all_rewards_are_alike_nothing_is_searched_for_and_exploring_is_free() -> None:
    found = chosen(learned(walk(0.0)))
    assert (found.actor, found.compared, found.saturated) == (ActGreedily(), False, True)
    assert found.promised == pytest.approx(-10.0)


def test_the_noise_of_a_simulation_is_drawn_from_residuals_nearby_and_the_same_for_all() -> None:
    rng = np.random.default_rng(0)
    states, residuals = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    one, other = (Noise(states, residuals, 5, 3, near=4) for _ in range(2))
    asked, drawn = rng.normal(size=(3, 2)), []
    for step in range(5):
        found = one.at(step, asked, np.arange(3))
        np.testing.assert_array_equal(found, other.at(step, asked, np.arange(3)))
        for at, row in zip(asked, found, strict=True):
            nearest = np.argsort(np.square(states - at).sum(axis=1))[:4]
            drawn.append(int(np.flatnonzero((residuals[nearest] == row).all(axis=1))[0]))
    assert len(set(drawn)) > 1  # not always the nearest


def test_noise_follows_the_start_that_a_state_came_from() -> None:
    states, residuals = np.zeros((30, 1)), np.arange(30.0)[:, None]
    noise = Noise(states, residuals, 1, 8, near=30)
    together = noise.at(0, np.zeros((8, 1)), np.arange(8))
    np.testing.assert_array_equal(noise.at(0, np.zeros((2, 1)), np.array([5, 2])), together[[5, 2]])


def test_simulating_a_search_adds_up_what_is_earned_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    data = walk(0.0, n=600)
    places = np.asarray(data.next_states)[:, 1]
    embedding = learned(Transitions.of(data.Z, data.next_states, np.sin(5 * places) - 1.5, places > 0.9))
    monkeypatch.setattr(Noise, "at", lambda self, step, x, starts: np.zeros(x.shape))
    monkeypatch.setattr(MPC, "begin_episode", lambda self, *_: Alternating())
    problem = Problem(12, 2.5, RBF(0.1), Matern(1.5, 0.1), None, FailureBudget(0.5, learned_reward=True))
    plan = make_plan([embedding], Task(problem, Greedy(), -2.5), episode=1, order=np.arange(2))
    starts, expected, lengths = np.array([[0.2, 0.3], [0.9, 0.8]]), [], []
    for start in starts:
        state, total = start[None], 0.0
        for step in range(12):
            state, reward, over = embedding.step(state, np.array([step % 2]))
            total += reward[0]
            if over[0]:
                break
        lengths.append(step)
        expected.append(total)
    np.testing.assert_allclose(simulate_search(MPC(), plan, starts, 12), expected, atol=1e-3)
    assert lengths[1] < lengths[0] == 11


class Alternating:
    """Stands for a search: one action after the other."""

    def features(self, x: np.ndarray, step: int) -> np.ndarray:
        return np.repeat(np.eye(2)[[step % 2]], len(x), axis=0)


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
    agent = CMERL(gymnasium.make("MountainCar-v0"), seed=0).learn(5)
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
    agent = Watched(env, seed=0, model="displacement", actor=ActGreedily()).learn(3)  # a search keeps its plan
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
