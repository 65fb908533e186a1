"""Simulated episodes: those of plans and searches, and their noise."""

from __future__ import annotations

import numpy as np
import pytest
from walks import learned, walk

from cmerl.acting import MPC
from cmerl.confidence import FailureBudget, Greedy, Problem
from cmerl.kernels import RBF, Matern
from cmerl.model_selection.simulation import Noise, simulate, simulate_search
from cmerl.planning import Task, make_plan
from cmerl.transitions import Transitions


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
    together = simulate(embedding, plans, starts, 9, 10)
    for i, plan in enumerate(plans.values()):
        for j, start in enumerate(starts):
            state, alone = start[None], 0.0
            for step in range(9):
                state, reward, over = embedding.step(state, plan.act(state, step))
                alone += reward[0]
                if over[0]:
                    break
            assert together[i, j] == pytest.approx(alone)


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
    np.testing.assert_allclose(simulate_search(MPC(), plan, starts, 12, 10), expected, rtol=1e-3)
    assert lengths[1] < lengths[0] == 11


class Alternating:
    """Stands for a search: one action after the other."""

    def features(self, x: np.ndarray, step: int) -> np.ndarray:
        return np.repeat(np.eye(2)[[step % 2]], len(x), axis=0)
