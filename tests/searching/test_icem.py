"""The cross-entropy search: against exact optima, its noise, its budget and its deadline."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace

import numpy as np
import pytest

from cmerl.searching.icem import Channels, Memory, Search, coloured_noise, noise_bank, search

SETTINGS = Search()


def bank(length: int, width: int, seed: int = 0) -> np.ndarray:
    return noise_bank(np.random.default_rng(seed), SETTINGS, 2048, length, width)


def lq_score(x0: np.ndarray):
    """x' = Ax + Ba, reward −x'Qx' − a'Ra, for actions well inside of their bounds."""
    A, B = np.array([[1.0, 0.2], [0.0, 1.0]]), np.array([[0.0], [0.3]])

    def score(U):
        b, n, h, _ = U.shape
        x, total = np.broadcast_to(x0, (b, n, 2)).astype(np.float64), np.zeros((b, n))
        for t in range(h):
            x = x @ A.T + U[:, :, t].astype(np.float64) @ B.T
            total -= np.square(x).sum(axis=2) + 0.5 * np.square(U[:, :, t].astype(np.float64)).sum(axis=2)
        return total, None

    def best(h: int) -> float:
        """The value of the Riccati recursion."""
        P, Q, R = np.zeros((2, 2)), np.eye(2), np.array([[0.5]])
        for _ in range(h):
            M = Q + P
            K = np.linalg.solve(R + B.T @ M @ B, B.T @ M @ A)
            P = A.T @ M @ A - A.T @ M @ B @ K
        return -float(x0 @ P @ x0)

    return score, best


def test_in_a_linear_quadratic_world_it_comes_close_to_riccati() -> None:
    x0 = np.array([0.4, -0.2])
    score, best = lq_score(x0)
    found, memory = None, None
    for i in range(6):  # decisions at one state, each from the memory of the one before
        rng = np.random.default_rng(i)
        found = search(score, Channels(continuous=1), bank(10, 1), rng, SETTINGS, before=memory)
        memory = found.memory
    assert found is not None
    idle = float(score(np.zeros((1, 1, 10, 1), dtype=np.float32))[0][0, 0])
    assert best(10) >= found.promise[0] - 1e-9
    assert found.promise[0] - best(10) > 0.03 * (idle - best(10))
    assert float(score(found.best[:, None])[0][0, 0]) == pytest.approx(found.promise[0])


def table_score(table: np.ndarray):
    """Rewards of a tree: those of every pair of actions in a row."""

    def score(F):
        which = F.argmax(axis=-1)
        return table[which[:, :, :-1], which[:, :, 1:]].sum(axis=2), None

    return score


def test_with_few_actions_it_finds_the_best_of_all_sequences() -> None:
    choices, thorough = (
        Channels(choices=(np.eye(3, dtype=np.float32),)),
        Search(first_rounds=12, samples=128, spread=1.5, elites=24),
    )
    hits = 0
    for seed in range(10):
        table = np.random.default_rng(seed).random((3, 3))
        white = coloured_noise(np.random.default_rng(seed), 2048, 6, 3, 0.0)  # any sequence may be the best
        most = max(sum(table[a, b] for a, b in itertools.pairwise(w)) for w in itertools.product(range(3), repeat=6))
        found = search(table_score(table), choices, white, np.random.default_rng(seed), thorough)
        assert found.promise[0] <= most + 1e-9
        hits += found.promise[0] > most - 1e-9
    assert hits >= 9


def test_mixed_actions_are_decoded_and_searched_together() -> None:
    choice = np.array([[0.0, 1.0], [1.0, 0.0]], dtype=np.float32)
    channels = Channels(continuous=1, choices=(choice,))
    U = np.array([[2.0, 0.1, 0.7], [-0.5, 3.0, -1.0]], dtype=np.float32)
    np.testing.assert_array_equal(channels.decode(U), np.float32([[1.0, 1.0, 0.0], [-0.5, 0.0, 1.0]]))
    np.testing.assert_array_equal(channels.decode(channels.latent_of(channels.decode(U))), channels.decode(U))

    def score(F):  # best: the quantity at 0.3, and the second choice
        return -np.square(F[..., 0] - 0.3).sum(axis=2) + F[..., 1].sum(axis=2), None

    found = search(score, channels, bank(4, 3), np.random.default_rng(0), SETTINGS)
    played = channels.decode(found.best[0])
    assert played[:, 1] == pytest.approx(1.0)
    assert found.promise[0] > 4.0 - 0.1


def test_noise_has_unit_variance_and_the_colour_that_is_asked_for() -> None:
    rng = np.random.default_rng(0)
    for colour in (0.0, 1.0, 2.0):
        x = coloured_noise(rng, 4000, 32, 2, colour)
        assert x.var() == pytest.approx(1.0, rel=0.05)
        power = np.square(np.abs(np.fft.rfft(x, axis=1)))[:, 1:16].mean(axis=(0, 2))
        slope = np.polyfit(np.log(np.arange(1, 16)), np.log(power), 1)[0]
        assert slope == pytest.approx(-colour, abs=0.1)


def test_what_is_played_is_the_best_hope_that_can_be_paid() -> None:
    channels = Channels(choices=(np.eye(3, dtype=np.float32),))
    worth, hope = np.array([1.0, 0.8, 0.0]), np.array([0.0, 1.0, 2.0])

    def score(F):
        first = F[:, :, 0].argmax(axis=-1)
        return worth[first], hope[first]

    for balance, number in ((0.0, 0), (0.1, 0), (0.3, 1), (2.0, 2)):
        rng = np.random.default_rng(0)
        found = search(score, channels, bank(8, 3), rng, SETTINGS, balance=balance)
        assert int(channels.decode(found.best[:, 0]).argmax()) == number
        assert found.promise[0] == pytest.approx(1.0)
        assert found.charge[0] == pytest.approx(1.0 - worth[number])
        assert found.charge[0] <= balance + 1e-9


def test_several_states_are_searched_as_each_alone_would_be() -> None:
    goals = np.float32([0.5, -0.8])

    def score_of(targets):
        return lambda F: (-np.square(F[..., 0] - targets[:, None, None]).sum(axis=2), None)

    together = search(
        score_of(goals), Channels(continuous=1), bank(5, 1), np.random.default_rng(0), SETTINGS, states=2
    )
    for i, goal in enumerate(goals):
        assert np.abs(together.best[i, :, 0] - goal).mean() < 0.2


def test_a_passed_deadline_leaves_what_is_known() -> None:
    calls = []

    def score(F):
        calls.append(F.shape)
        return -np.square(F).sum(axis=(2, 3)), None

    kept = np.full((1, 4, 5, 1), 0.25, dtype=np.float32)
    memory = Memory(np.full((1, 5, 1), 0.25, dtype=np.float32), kept)
    past = time.perf_counter() - 1.0
    rng = np.random.default_rng(0)
    found = search(score, Channels(continuous=1), bank(5, 1), rng, SETTINGS, before=memory, deadline=past)
    assert not calls
    np.testing.assert_array_equal(found.best, kept[:, 0])
    search(score, Channels(continuous=1), bank(5, 1), np.random.default_rng(0), SETTINGS, deadline=past)
    assert len(calls) == 1  # with nothing known, one round is made


@pytest.mark.parametrize(("budget", "rounds"), [(1.0, 4), (0.020, 3), (0.017, 2), (0.001, 1)])
def test_no_round_begins_that_would_pass_the_deadline(
    monkeypatch: pytest.MonkeyPatch, budget: float, rounds: int
) -> None:
    """By a clock that only rounds advance, 6 ms each: four rounds, or as many as fit, and never less than one."""
    now = [0.0]
    monkeypatch.setattr("cmerl.searching.icem.time", SimpleNamespace(perf_counter=lambda: now[0]))

    def score(F):
        now[0] += 0.006
        return -np.square(F).sum(axis=(2, 3)), None

    search(score, Channels(continuous=1), bank(5, 1), np.random.default_rng(0), SETTINGS, deadline=budget)
    assert now[0] == pytest.approx(0.006 * rounds)


def test_a_memory_is_shifted_by_the_steps_that_were_played() -> None:
    kept = np.arange(12, dtype=np.float32).reshape(1, 2, 6, 1)
    memory = Memory(kept[:, 0], kept).shifted(2)
    np.testing.assert_array_equal(memory.mean[0, :, 0], [2, 3, 4, 5, 0, 0])
    np.testing.assert_array_equal(memory.kept[0, 0, :, 0], [2, 3, 4, 5, 5, 5])


def test_a_small_model_is_searched_with_more_sequences_for_the_same_cost() -> None:
    settings, channels = Search(samples=8, kernels=60_000, most=100), Channels(continuous=2)
    least = 8 * 3
    for depth, centres in [(10, 400), (10, 100), (5, 130), (3, 2), (20, 900)]:
        count = settings.sequences(channels, depth, centres)
        assert least <= count <= 100
        assert count == least or count * depth * centres <= 60_000
        assert count == 100 or (count + 1) * depth * centres > 60_000


def test_a_round_scores_the_sequences_that_are_asked_for() -> None:
    asked = []

    def score(F):
        asked.append(F.shape[1])
        return F.sum(axis=(2, 3)), None

    channels = Channels(continuous=1)
    search(score, channels, bank(5, 1), np.random.default_rng(0), SETTINGS, sequences=77)
    extra = 1 + len(channels.constants())  # the mean, and actions that are held, in the first round
    assert asked[0] == 77 + extra
    search(score, channels, bank(5, 1), np.random.default_rng(0), SETTINGS)
    assert asked[-1] < 77 + extra
