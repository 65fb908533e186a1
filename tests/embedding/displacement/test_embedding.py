"""The displacement embedding: its operator, its shrinkage away from data, ends, and agreement of its two forms."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import DisplacementEmbedding
from cmerl.errors import InputError
from cmerl.transitions import Transitions

ACTIONS = np.arange(2.0)[:, None]


def slide(n: int = 250, seed: int = 0) -> Transitions:
    """A point on [0, 1]² that an action pushes to the left or to the right, and rewards its second coordinate."""
    rng = np.random.default_rng(seed)
    states, actions = rng.random((n, 2)), rng.integers(2, size=(n, 1))
    push = np.hstack([0.05 * (2.0 * actions - 1.0), 0.02 * np.sin(3 * states[:, :1])])
    nexts = states + push
    return Transitions.of(np.hstack([states, actions]), nexts, states[:, 1], nexts[:, 0] > 1.0)


def expected_at(embedding: DisplacementEmbedding, coef: object, z: list[float]) -> float:
    """The mean of a target at one state-action."""
    return float(embedding.grid(np.array([z[:-1]])).expectation(coef)[0, int(z[-1])])


@pytest.fixture(scope="module")
def embedding() -> DisplacementEmbedding:
    found = DisplacementEmbedding(ACTIONS, categorical=True)
    found.update(slide())
    return found


def test_expectations_are_values_where_the_state_goes(embedding: DisplacementEmbedding) -> None:
    value = lambda s: np.sin(4 * s[:, 0]) + s[:, 1]  # noqa: E731
    coef = embedding.backup(value(embedding.support), reward=0.0)
    states = np.random.default_rng(1).uniform(0.2, 0.8, size=(20, 2))
    found = embedding.grid(states).expectation(coef)
    for a in (0, 1):
        after = states + np.hstack([np.full((20, 1), 0.05 * (2 * a - 1)), 0.02 * np.sin(3 * states[:, :1])])
        np.testing.assert_allclose(found[:, a], value(after), atol=0.05)


def test_the_grid_at_landmarks_and_the_grid_anywhere_agree(embedding: DisplacementEmbedding) -> None:
    v = np.random.default_rng(2).random(len(embedding.support))
    coef = embedding.backup(v, reward=0.5, terminal=2.0)
    anywhere = embedding.grid(embedding.support).expectation(coef)
    np.testing.assert_allclose(embedding.grid().expectation(coef), anywhere, atol=1e-6)


def test_weights_give_the_expectation(embedding: DisplacementEmbedding) -> None:
    v = np.random.default_rng(3).random(len(embedding.support))
    states = np.random.default_rng(4).random((10, 2))
    Z = np.hstack([states, np.zeros((10, 1))])
    expected = embedding.grid(states).expectation(embedding.backup(v, reward=0.0))[:, 0]
    np.testing.assert_allclose(embedding.weights(Z) @ v, expected, atol=1e-4)  # V at random, nowhere smooth
    smooth = np.sin(2.0 * embedding.support).sum(axis=1)
    expected = embedding.grid(states).expectation(embedding.backup(smooth, reward=0.0))[:, 0]
    np.testing.assert_allclose(embedding.weights(Z) @ smooth, expected, atol=1e-5)


def test_weights_are_those_of_the_interpolant_in_double_precision(embedding: DisplacementEmbedding) -> None:
    view, states = embedding.view, np.random.default_rng(5).uniform(0.3, 0.6, size=(4, 2))
    grid = view.grid(states)
    y = view.dynamics.hold(view.scaled(states), 1)[0][0]  # where the first action leads
    K = view.kernel(view.landmarks, view.landmarks) + 1e-6 * np.eye(len(view.landmarks))
    T = np.linalg.solve(K, view.kernel(view.landmarks, y)).T
    expected = T + (1.0 - T.sum(axis=1, keepdims=True)) / T.shape[1]
    known = 1.0 - grid.std()[:, :1] ** 2
    np.testing.assert_allclose(grid.weights()[::2], known * expected, atol=1e-8)


def test_away_from_data_all_is_unknown_and_nothing_is_expected(embedding: DisplacementEmbedding) -> None:
    far = np.array([[-9.0, -7.0, 1.0]])
    coef = embedding.backup(np.full(len(embedding.support), 6.0))
    assert embedding.std(far)[0] == pytest.approx(1.0, abs=0.01)
    assert expected_at(embedding, coef, [-9.0, -7.0, 1.0]) == pytest.approx(0.0, abs=0.05)
    assert embedding.std(np.array([[0.5, 0.5, 1.0]]))[0] < 0.3


def test_an_end_is_worth_what_it_is_said_to_be(embedding: DisplacementEmbedding) -> None:
    coef = embedding.backup(np.zeros(len(embedding.support)), reward=0.0, terminal=7.0)
    assert expected_at(embedding, coef, [0.99, 0.5, 1.0]) == pytest.approx(7.0)
    assert expected_at(embedding, coef, [0.5, 0.5, 1.0]) == pytest.approx(0.0, abs=1e-9)


def test_a_held_action_sums_rewards_and_moves_on(embedding: DisplacementEmbedding) -> None:
    held = embedding.with_repeat(3)
    states, which, total = np.array([[0.3, 0.4]]), np.array([1]), 0.0
    for _ in range(3):
        states, reward, _ = embedding.step(states, which)
        total += float(reward[0])
    v = held.support[:, 0]
    z = np.array([[0.3, 0.4, 1.0]])
    found = expected_at(held, held.backup(v), [0.3, 0.4, 1.0])
    kept = 1.0 - float(held.std(z)[0]) ** 2
    assert found == pytest.approx(kept * (total + states[0, 0]), abs=0.01)


def test_it_knows_nothing_before_data() -> None:
    with pytest.raises(InputError, match="before its first"):
        _ = DisplacementEmbedding(ACTIONS, categorical=True).view


def test_a_place_is_as_new_in_one_step_as_in_many(embedding: DisplacementEmbedding) -> None:
    dynamics = embedding.view.dynamics
    x, far = np.full((1, 2), -4.0), np.tile([-4.0, -5.0], (2, 1, 1))  # one place for each action
    going = np.zeros((2, 1), dtype=bool)
    whole = dynamics.unknown(x, far, going)
    np.testing.assert_allclose(whole, 1.0, atol=1e-3)
    np.testing.assert_allclose(dynamics.unknown(x, x + 0.2 * (far - x), going), 0.2 * whole, rtol=1e-2)
    assert not dynamics.unknown(x, x + np.zeros((2, 1, 2)), going).any()
    assert not dynamics.unknown(x, far, ~going).any()  # an end is no news


def test_held_actions_stop_where_the_episode_ends(embedding: DisplacementEmbedding) -> None:
    dynamics, actions = embedding.view.dynamics, embedding.view.actions
    x = embedding.view.landmarks[:30]
    steps = np.arange(30) % 4 + 1
    y, total, ended = dynamics.hold(x, steps)
    assert ended.any()
    for a in range(2):
        for i in range(30):
            at, sum_of_rewards = x[i : i + 1], 0.0
            for _ in range(steps[i]):
                at, reward, over = dynamics.step(at, actions[[a]])
                sum_of_rewards += reward[0]
                if over[0]:
                    break
            np.testing.assert_allclose(y[a, i], at[0], atol=1e-4)  # single precision
            assert (total[a, i], ended[a, i]) == (pytest.approx(sum_of_rewards, abs=1e-3), over[0])


def test_what_is_new_counts_as_known_if_the_model_is_sure(embedding: DisplacementEmbedding) -> None:
    far = np.array([[-2.0, -2.0]])
    coef = embedding.backup(np.full(len(embedding.support), 3.0), reward=0.0)
    sure = embedding.with_repeat(1, sure=True)
    assert embedding.grid(far).std().min() > 0.1
    np.testing.assert_array_equal(sure.grid(far).std(), 0.0)
    np.testing.assert_allclose(sure.grid(far).expectation(coef), 3.0)


def test_far_from_all_landmarks_v_is_the_least_if_the_model_is_sure_and_else_the_mean(
    embedding: DisplacementEmbedding,
) -> None:
    v, far = np.random.default_rng(3).random(len(embedding.support)), np.full((1, 2), 1e4)
    for model, expected in ((embedding, v.mean()), (embedding.with_repeat(1, sure=True), v.min())):
        assert model.view.value(model.backup(v), far)[0] == pytest.approx(expected, rel=1e-6)
        np.testing.assert_allclose(model.view.value(model.backup(v), model.view.landmarks), v, atol=1e-3)


def test_the_grid_of_the_last_states_is_kept_and_no_other(embedding: DisplacementEmbedding) -> None:
    view = embedding.view
    here, there = np.array([[0.3, 0.4]]), np.array([[0.6, 0.4]])
    grid = view.grid(here)
    assert view.grid(here.copy()) is grid
    longer = embedding.with_repeat(3)
    assert not np.array_equal(longer.view.grid(here).std(), grid.std())
    assert view.grid(there) is not grid
    assert view.grid(here) is not grid
    np.testing.assert_array_equal(view.grid(here).std(), grid.std())


@pytest.mark.parametrize(("d", "width"), [(1, 1.0), (2, 1.0), (8, 2.0)])
def test_novelty_is_one_standard_deviation_wide_for_two_columns_and_wider_for_more(d: int, width: float) -> None:
    rng = np.random.default_rng(0)
    x = 1e-3 * rng.normal(size=(80, d))
    x[40:] += 40.0  # two heaps, one standard deviation from their middle
    found = DisplacementEmbedding(ACTIONS, categorical=True)
    found.update(Transitions.of(np.hstack([x, rng.integers(2, size=(80, 1))]), x + 1e-3 * rng.normal(size=(80, d))))
    heap, way, going = found.view.scaled(x[:1]), -width * np.eye(d)[:1], np.zeros((2, 1), dtype=bool)
    unknown = found.view.dynamics.unknown
    far = heap + 4.0 * way
    beside = unknown(far, np.tile(heap + way, (2, 1, 1)), going)
    np.testing.assert_allclose(beside, 1.0 - np.exp(-1.0), atol=0.02)  # k = e^(−½) with a place that is known
    np.testing.assert_allclose(unknown(far, np.tile(far + 0.1 * way, (2, 1, 1)), going), 0.1, atol=1e-3)


def test_the_spread_at_state_actions_is_that_of_the_grid(embedding: DisplacementEmbedding) -> None:
    states = np.random.default_rng(5).uniform(-1, 2, (6, 2))
    for a in (0, 1):
        Z = np.hstack([states, np.full((6, 1), embedding.actions[a, 0])])
        np.testing.assert_allclose(embedding.std(Z), embedding.grid(states).std()[:, a], atol=1e-12)


def test_the_mass_is_what_is_known_also_where_an_episode_ends(embedding: DisplacementEmbedding) -> None:
    states = np.vstack([np.random.default_rng(6).uniform(-1.0, 2.0, (30, 2)), [[0.99, 0.5]]])
    for repeat in (1, 3):
        grid = embedding.with_repeat(repeat).grid(states)
        mass, unknown = grid.expectation(embedding.ones()), grid.std() ** 2
        np.testing.assert_allclose(mass, 1.0 - unknown, atol=1e-6)
        assert unknown.max() > 0.1
        assert mass[-1, 1] == pytest.approx(1.0)  # an end is no news
    ones = embedding.backup(np.ones(len(embedding.support)), reward=0.0, terminal=1.0)
    np.testing.assert_allclose(grid.expectation(ones), mass, atol=1e-6)


@pytest.mark.parametrize("lam", [0.05, 0.5, 2.0])
def test_after_many_visits_of_one_place_lam_says_what_is_left_unknown(lam: float) -> None:
    """Two places, visited N and M times, two standard deviations apart: G = ½ log det(I + K/λ) by its 2 × 2 form."""
    N, M = 20, 5
    x = np.repeat([[0.0], [1000.0]], [N, M], axis=0)
    found = DisplacementEmbedding(np.zeros((1, 1)), categorical=True, lam=lam)
    found.update(Transitions.of(np.hstack([x, np.zeros((N + M, 1))]), 1000.0 - x))
    k = np.exp(-2.0)  # as many at one place as at the other, next states counted
    expected = 0.5 * np.log((1.0 + N / lam) * (1.0 + M / lam) - N * M * k**2 / lam**2)
    assert found.information_gain == pytest.approx(expected, rel=1e-6)


def test_information_is_that_of_a_gaussian_regression(embedding: DisplacementEmbedding) -> None:
    Z = np.array([[-2.0, -2.0, 0.0], [0.5, 0.5, 1.0]])
    expected = 0.5 * np.log(1.0 + embedding.std(Z) ** 2 / embedding.lam)
    np.testing.assert_allclose(embedding.information(Z), expected)
    assert expected[0] > 10 * expected[1] > 0.0


def test_a_single_state_action_is_as_new_as_it_is_among_all(embedding: DisplacementEmbedding) -> None:
    held = embedding.with_repeat(3)
    z = np.array([[-0.3, -0.2, 0.0]])
    alone = held.std(z)
    held.view.grid(z[:, :2])
    np.testing.assert_allclose(alone, held.std(z), rtol=1e-5)
    assert alone[0] > 0.01


def test_what_is_saved_is_restored_also_from_files_of_earlier_versions(embedding: DisplacementEmbedding) -> None:
    saved = embedding.with_repeat(3).arrays()
    assert saved["counts"][3] == 3
    states, which = np.random.default_rng(2).random((9, 2)), np.zeros(9, dtype=np.intp)
    for counts in (saved["counts"], saved["counts"][:4]):  # earlier ones do not say whether places pay
        again = DisplacementEmbedding(ACTIONS, categorical=True)
        again.restore({**saved, "counts": counts})
        assert (again.repeat, again.n, again.fits, again.places_pay) == (3, embedding.n, embedding.fits, True)
        for ours, theirs in zip(again.step(states, which), embedding.step(states, which), strict=True):
            np.testing.assert_array_equal(ours, theirs)
