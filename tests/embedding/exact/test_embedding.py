"""What the planner sees of an exact embedding: backups, grids over states × actions, and frozen views."""

import itertools

import numpy as np
import pytest

from cmerl import ConditionalMeanEmbedding
from cmerl.embedding import ExactEmbedding
from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, Hamming, Kernel, Linear, StateAction
from cmerl.transitions import Transitions

LAM = 0.3
ACTIONS = np.array([[0.0], [1.0], [2.0]])
ELSEWHERE = np.array([[0.1], [0.5], [1.4], [-3.0]])  # states that are not in the data


def rbf(X: np.ndarray, Y: np.ndarray, lengthscale: float) -> np.ndarray:
    return np.exp(-0.5 * ((X[:, None] - Y[None]) ** 2).sum(axis=2) / lengthscale**2)


def equal(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.all(X[:, None] == Y[None], axis=2).astype(float)


# Each way to lay out a kernel over actions, next to the same function written out.
LAYOUTS = {
    "indicator": (
        StateAction(2.0 * RBF(0.4), Delta()),
        lambda Z, W: 2.0 * rbf(Z[:, :1], W[:, :1], 0.4) * equal(Z[:, 1:], W[:, 1:]),
    ),
    "product": (
        StateAction(RBF(0.4), 0.5 + 0.5 * Delta()),
        lambda Z, W: rbf(Z[:, :1], W[:, :1], 0.4) * (0.5 + 0.5 * equal(Z[:, 1:], W[:, 1:])),
    ),
    "general": (RBF(0.8), lambda Z, W: rbf(Z, W, 0.8)),
}


@pytest.fixture(params=LAYOUTS.values(), ids=LAYOUTS)
def layout(request: pytest.FixtureRequest):
    return request.param


def draw(n: int, *, seed: int = 0, repeated: float = 0.5, terminated: float = 0.15) -> Transitions:
    """Transitions of which a share lies on a grid of states."""
    rng = np.random.default_rng(seed)
    states, nexts = (
        np.where(rng.uniform(size=n) < repeated, rng.integers(0, 6, n) / 5, rng.uniform(size=n)) for _ in range(2)
    )
    Z = np.column_stack([states, rng.integers(0, 3, n)])
    return Transitions.of(Z, nexts[:, None], rng.normal(size=n), rng.uniform(size=n) < terminated)


class Dense:
    """The formulas of the paper on the n×n matrix of all transitions."""

    def __init__(self, k, batch: Transitions) -> None:
        self.k, self.batch = k, batch
        self.A = k(batch.Z, batch.Z) + LAM * np.eye(len(batch))
        alive = [tuple(s) for s, done in zip(batch.next_states, batch.terminated, strict=True) if not done]
        self.support = list(dict.fromkeys(alive))  # distinct, in the order of first arrival

    def weights(self, Zq: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self.A, self.k(self.batch.Z, Zq)).T

    def std(self, Zq: np.ndarray) -> np.ndarray:
        explained = np.einsum("qn,qn->q", self.weights(Zq), self.k(Zq, self.batch.Z))
        return np.sqrt(np.maximum(np.diag(self.k(Zq, Zq)) - explained, 0.0))

    def targets(self, v: np.ndarray, reward: float, terminal: float) -> np.ndarray:
        value = dict(zip(self.support, v, strict=True))
        return np.array(
            [
                reward * r + (terminal if done else value[tuple(s)])
                for s, r, done in zip(self.batch.next_states, self.batch.rewards, self.batch.terminated, strict=True)
            ]
        )


def state_actions(states: np.ndarray) -> np.ndarray:
    return np.array([[*s, *a] for s in states for a in ACTIONS])


def assert_grid(grid, states: np.ndarray, dense: Dense, coef, y: np.ndarray, tolerance: float = 1e-9) -> None:
    """A grid has the dense answers at every state and action, for the targets y that coef was made from."""
    Zq, shape = state_actions(states), (len(states), len(ACTIONS))
    alpha = dense.weights(Zq)
    np.testing.assert_allclose(grid.expectation(coef), (alpha @ y).reshape(shape), atol=tolerance)
    np.testing.assert_allclose(grid.std(), dense.std(Zq).reshape(shape), atol=tolerance)
    np.testing.assert_allclose(grid.weight_norm1(), np.abs(alpha).sum(axis=1).reshape(shape), atol=tolerance)
    squared = dense.std(Zq) ** 2 - LAM * (alpha**2).sum(axis=1)
    np.testing.assert_allclose(grid.shrinkage() ** 2, squared.reshape(shape), atol=tolerance)


# Ends of the batches: single rows, rows over the blocks of the factor, and (with repeats) several merges.
STOPS = [0, 1, 2, 40, 41, 90, 300, 301, 400, 450]


@pytest.mark.parametrize("repeated", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("track_std", [True, False], ids=["σ kept", "σ on demand"])
def test_grids_stay_equal_to_the_dense_matrix_as_data_grow(layout, repeated: float, track_std: bool) -> None:
    kernel, k = layout
    data = draw(STOPS[-1], repeated=repeated)
    embedding = ExactEmbedding(kernel, LAM, ACTIONS, track_std=track_std)
    for start, stop in itertools.pairwise(STOPS):
        embedding.update(data[start:stop])
        dense = Dense(k, data[:stop])
        v = np.cos(7.0 * np.arange(len(dense.support)))
        assert [tuple(s) for s in embedding.support] == dense.support
        coef, y = embedding.backup(v, terminal=0.2), dense.targets(v, 1.0, 0.2)
        if dense.support:
            assert_grid(embedding.grid(), np.array(dense.support), dense, coef, y)
        assert_grid(embedding.grid(ELSEWHERE), ELSEWHERE, dense, coef, y)


def test_the_own_grid_of_many_updates_is_that_of_one() -> None:
    data = draw(500, repeated=0.9)
    for kernel, _ in LAYOUTS.values():
        parts, whole = (ExactEmbedding(kernel, LAM, ACTIONS) for _ in range(2))
        for start in range(0, 500, 25):
            parts.update(data[start : start + 25])
        whole.update(data)
        v = np.cos(np.arange(len(whole.support)))
        for look in (lambda e: e.grid().std(), lambda e, v=v: e.grid().expectation(e.backup(v))):
            np.testing.assert_allclose(look(parts), look(whole), atol=1e-9)


@pytest.mark.parametrize(("reward", "terminal"), [(1.0, 0.0), (0.0, 1.5), (2.5, -7.0)])
def test_backup_regresses_reward_and_value_and_ones_the_constant(layout, reward: float, terminal: float) -> None:
    kernel, k = layout
    data = draw(200, terminated=0.3)
    embedding = ExactEmbedding(kernel, LAM, ACTIONS)
    embedding.update(data[:150])
    embedding.update(data[150:])
    dense = Dense(k, data)
    v = np.random.default_rng(1).normal(size=len(dense.support))
    coef = embedding.backup(v, reward=reward, terminal=terminal)
    y = dense.targets(v, reward, terminal)
    Zq = np.vstack([state_actions(ELSEWHERE), data.Z[::-7]])
    np.testing.assert_allclose(embedding.expectation(coef, Zq), dense.weights(Zq) @ y, atol=1e-9)
    mass = dense.weights(Zq).sum(axis=1)  # ends count as well
    np.testing.assert_allclose(embedding.expectation(embedding.ones(), Zq), mass, atol=1e-9)
    by_state = dense.weights(state_actions(ELSEWHERE)).sum(axis=1).reshape(len(ELSEWHERE), -1)
    np.testing.assert_allclose(embedding.grid(ELSEWHERE).expectation(embedding.ones()), by_state, atol=1e-9)


def test_weights_on_the_support_leave_terminated_transitions_out(layout) -> None:
    kernel, k = layout
    data = draw(300, repeated=1.0, terminated=0.3)
    embedding = ExactEmbedding(kernel, LAM, ACTIONS)
    embedding.update(data)
    dense, Zq = Dense(k, data), state_actions(ELSEWHERE)
    indicator = np.array(
        [
            [(tuple(s) == t) and not done for t in dense.support]
            for s, done in zip(data.next_states, data.terminated, strict=True)
        ],
        dtype=float,
    )
    weights = embedding.weights(Zq)
    np.testing.assert_allclose(weights, dense.weights(Zq) @ indicator, atol=1e-9)
    v = np.random.default_rng(2).normal(size=len(dense.support))
    through_coef = embedding.expectation(embedding.backup(v, reward=0.0), Zq)
    np.testing.assert_allclose(weights @ v, through_coef, atol=1e-9)


def test_point_queries_agree_with_the_dense_matrix_and_count_terminated_visits(layout) -> None:
    kernel, k = layout
    data = draw(300, repeated=0.8, terminated=0.3)
    embedding = ExactEmbedding(kernel, LAM, ACTIONS)
    embedding.update(data)
    dense, Zq = Dense(k, data), np.vstack([state_actions(ELSEWHERE), data.Z[:40]])
    alpha = dense.weights(Zq)
    np.testing.assert_allclose(embedding.transition_weights(Zq), alpha, atol=1e-9)
    np.testing.assert_allclose(embedding.weight_norm1(Zq), np.abs(alpha).sum(axis=1), atol=1e-9)
    squared = dense.std(Zq) ** 2 - LAM * (alpha**2).sum(axis=1)
    np.testing.assert_allclose(embedding.shrinkage(Zq) ** 2, squared, atol=1e-9)
    np.testing.assert_allclose(embedding.std(Zq), dense.std(Zq), atol=1e-9)
    np.testing.assert_array_equal(embedding.visit_counts(Zq), equal(Zq, data.Z).sum(axis=1))
    assert embedding.n == 300


def test_without_data_a_grid_is_the_prior(layout) -> None:
    kernel, k = layout
    embedding = ExactEmbedding(kernel, LAM, ACTIONS)
    grid, coef = embedding.grid(ELSEWHERE), embedding.backup(np.empty(0))
    Zq = state_actions(ELSEWHERE)
    np.testing.assert_array_equal(grid.expectation(coef), np.zeros((4, 3)))
    np.testing.assert_allclose(grid.std(), np.sqrt(np.diag(k(Zq, Zq))).reshape(4, 3), rtol=1e-12)
    np.testing.assert_array_equal(grid.weight_norm1(), np.zeros((4, 3)))
    np.testing.assert_array_equal(embedding.expectation(coef, Zq), np.zeros(12))
    assert embedding.weights(Zq).shape == (12, 0)


def test_an_action_never_tried_keeps_its_prior_under_an_indicator_kernel() -> None:
    kernel, _ = LAYOUTS["indicator"]
    data = draw(60, terminated=0.0)
    data.Z[:, 1] = 1.0
    embedding = ExactEmbedding(kernel, LAM, ACTIONS)
    embedding.update(data)
    for grid in (embedding.grid(), embedding.grid(ELSEWHERE)):
        np.testing.assert_allclose(grid.std()[:, [0, 2]], np.sqrt(2.0), rtol=1e-12)
        np.testing.assert_array_equal(grid.expectation(embedding.backup(np.ones(len(embedding.support))))[:, 0], 0)


def test_a_grid_over_an_empty_support_is_empty(layout) -> None:
    embedding = ExactEmbedding(layout[0], LAM, ACTIONS)
    grid = embedding.grid()
    assert grid.expectation(embedding.backup(np.empty(0))).shape == (0, 3)
    assert grid.weight_norm1().shape == grid.std().shape == (0, 3)


def test_a_grid_after_terminated_transitions_only_is_empty(layout) -> None:
    embedding = ExactEmbedding(layout[0], LAM, ACTIONS)
    embedding.update(draw(10, terminated=1.0))
    assert embedding.grid().expectation(embedding.backup(np.empty(0), terminal=1.0)).shape == (0, 3)


def test_the_first_next_state_may_follow_many_terminated_transitions(layout) -> None:
    kernel, k = layout
    ended, going = draw(40, terminated=1.0), draw(40, seed=1, terminated=0.0)
    embedding = ExactEmbedding(kernel, LAM, ACTIONS)
    embedding.update(ended)
    embedding.update(going)
    both = Transitions.of(
        np.vstack([ended.Z, going.Z]),
        np.vstack([ended.next_states, going.next_states]),
        np.append(ended.rewards, going.rewards),
        np.append(ended.terminated, going.terminated),
    )
    dense = Dense(k, both)
    v = np.cos(np.arange(len(dense.support)))
    coef, y = embedding.backup(v, terminal=2.0), dense.targets(v, 1.0, 2.0)
    assert_grid(embedding.grid(), np.array(dense.support), dense, coef, y)


def test_a_grid_over_the_support_needs_actions() -> None:
    embedding = ExactEmbedding(RBF(), LAM)
    with pytest.raises(InputError, match="made without actions"):
        embedding.grid()


@pytest.mark.parametrize("repeated", [0.0, 1.0])
def test_a_frozen_view_keeps_its_answers(layout, repeated: float) -> None:
    kernel, k = layout
    data = draw(600, repeated=repeated)
    embedding = ExactEmbedding(kernel, LAM, ACTIONS)
    kept = []
    for start, stop in itertools.pairwise([0, 1, 30, 31, 250, 290, 600]):
        dense = Dense(k, data[:start])
        v = np.sin(np.arange(len(dense.support)))
        view, coef = embedding.freeze(), embedding.backup(v, terminal=0.5)
        kept.append((view, view.grid(ELSEWHERE), coef, dense, dense.targets(v, 1.0, 0.5)))
        embedding.update(data[start:stop])
        embedding.grid().weight_norm1()
    for view, early_grid, coef, dense, y in kept:
        assert_grid(view.grid(ELSEWHERE), ELSEWHERE, dense, coef, y)
        assert_grid(early_grid, ELSEWHERE, dense, coef, y)


# --- lists of objects ------------------------------------------------------------------------------------

MOVES = ["l", "r"]


def match(a: str, b: str) -> float:
    return float(np.mean([x == y for x, y in zip(a, b, strict=True)]))


OBJECTS = {
    "indicator": (StateAction(Hamming(), Delta()), lambda s, a, t, b: match(s, t) * (a == b)),
    "product": (
        StateAction(Hamming(), 0.5 + 0.5 * Delta()),
        lambda s, a, t, b: match(s, t) * (0.5 + 0.5 * (a == b)),
    ),
    "general": (Delta(), lambda s, a, t, b: float((s, a) == (t, b))),
}


@pytest.mark.parametrize(("kernel", "k"), OBJECTS.values(), ids=OBJECTS)
def test_grids_and_views_of_words_equal_the_dense_matrix(kernel: Kernel, k) -> None:
    rng = np.random.default_rng(4)
    states = ["".join(w) for w in rng.choice(list("ab"), size=(120, 3))]
    moves = rng.choice(MOVES, size=120).tolist()
    pairs = list(zip(states[:-1], moves[:-1], strict=True))
    embedding = ExactEmbedding(kernel, LAM, MOVES)
    view = coef = None
    for start in range(0, 119, 17):
        stop = min(start + 17, 119)
        embedding.update(Transitions.of(pairs[start:stop], states[start + 1 : stop + 1]))
        embedding.grid().std()
        if start == 17:
            view, coef = embedding.freeze(), embedding.backup(np.arange(float(len(embedding.support))))
            support_then = list(embedding.support)

    def expected(n: int, support: list[str], queries: list[str]) -> tuple[np.ndarray, np.ndarray]:
        zs = [(s, a) for s in queries for a in MOVES]
        A = np.array([[k(*z, *w) for w in pairs[:n]] for z in pairs[:n]]) + LAM * np.eye(n)
        Kqz = np.array([[k(*z, *w) for w in pairs[:n]] for z in zs])
        alpha = np.linalg.solve(A, Kqz.T).T
        y = np.array([float(support.index(s)) for s in states[1 : n + 1]])
        var = np.array([k(*z, *z) for z in zs]) - np.einsum("qn,qn->q", alpha, Kqz)
        return (alpha @ y).reshape(-1, 2), np.sqrt(np.maximum(var, 0.0)).reshape(-1, 2)

    support = list(dict.fromkeys(states[1:]))
    assert embedding.support == support
    grid = embedding.grid()
    mean, std = expected(119, support, support)
    np.testing.assert_allclose(grid.expectation(embedding.backup(np.arange(float(len(support))))), mean, atol=1e-9)
    np.testing.assert_allclose(grid.std(), std, atol=1e-9)
    mean, std = expected(34, support_then, ["aab", "zzz"])
    old = view.grid(["aab", "zzz"])
    np.testing.assert_allclose(old.expectation(coef), mean, atol=1e-9)
    np.testing.assert_allclose(old.std(), std, atol=1e-9)


def test_a_frozen_view_of_words_can_be_asked_before_and_after_an_update() -> None:
    embedding = ExactEmbedding(StateAction(Hamming(), Delta()), LAM, MOVES)
    embedding.update(Transitions.of([("aa", "l"), ("ab", "r")], ["ab", "bb"]))
    view, coef = embedding.freeze(), embedding.backup(np.array([1.0, 2.0]))
    before = view.grid(["aa"]).expectation(coef)
    np.testing.assert_allclose(before, [[1.0 / (1.0 + LAM), 0.5 * 2.0 / (1.0 + LAM)]])
    embedding.update(Transitions.of([("bb", "l"), ("ba", "r")], ["aa", "bb"]))
    np.testing.assert_array_equal(view.grid(["aa"]).expectation(coef), before)


# --- what an agent's own embedding shows --------------------------------------------------------------------


@pytest.mark.parametrize("terminated", [0.4, 1.0])
def test_a_wrapped_embedding_lists_the_next_states_of_terminated_transitions_too(terminated: float) -> None:
    data = draw(30, terminated=terminated)
    embedding = ExactEmbedding(RBF(0.8), LAM, ACTIONS)
    embedding.update(data)
    np.testing.assert_array_equal(ConditionalMeanEmbedding.wrap(embedding, None).support, data.next_states)


def test_what_a_state_action_would_bring_is_told_anew_after_every_update() -> None:
    embedding, z = ExactEmbedding(StateAction(Delta(), Delta()), 0.5, np.arange(2.0)[:, None]), np.array([[1.0, 0.0]])
    for visits in range(4):
        expected = 0.5 * np.log1p(1.0 / (visits + 0.5))  # σ² = λ/(N + λ)
        assert [embedding.information(z)[0] for _ in range(2)] == pytest.approx([expected] * 2)
        embedding.update(Transitions.of(z, np.zeros((1, 1))))


def test_the_two_zeros_are_one_action() -> None:
    data = draw(30, terminated=0.0)
    expected = ExactEmbedding(LAYOUTS["indicator"][0], LAM, ACTIONS)
    embedding = ExactEmbedding(LAYOUTS["indicator"][0], LAM, np.array([[-0.0], [1.0], [2.0]]))
    for e in (expected, embedding):
        e.update(data)
    np.testing.assert_allclose(embedding.grid().std(), expected.grid().std(), rtol=1e-12)


@pytest.mark.parametrize("kernel", [StateAction(RBF(0.3), Delta()), RBF((0.3, 0.3, 1.0))], ids=["split", "general"])
def test_rows_that_wait_to_be_solved_change_nothing(kernel):
    """Without σ to track, new rows are solved dozens at a time; expectations are exact at every update."""
    rng = np.random.default_rng(0)
    actions = np.arange(2.0)[:, None]
    lazy = ExactEmbedding(kernel, 0.1, actions, track_std=False)
    eager = ExactEmbedding(kernel, 0.1, actions, track_std=True)
    for _ in range(30):
        states = rng.random((9, 2))
        batch = Transitions.of(np.hstack([states, rng.integers(2, size=(9, 1))]), rng.random((9, 2)), rng.random(9))
        lazy.update(batch)
        eager.update(batch)
        v = np.sin(lazy.support[:, 0])
        values = [E.grid().expectation(E.backup(v)) for E in (lazy, eager)]
        np.testing.assert_allclose(values[0], values[1], atol=1e-10)
    queries = lazy.layout.state_actions(lazy.support)
    np.testing.assert_allclose(values[0].ravel(), lazy.expectation(lazy.backup(v), queries), atol=1e-10)
    np.testing.assert_allclose(lazy.grid().std(), eager.grid().std(), atol=1e-7)


def test_what_the_ridge_takes_is_computed_in_feature_space() -> None:
    """λ‖M⁻¹φ(z)‖ with M = Σφφᵀ + λI itself: a linear kernel has its features at hand."""
    rng = np.random.default_rng(4)
    Z = np.repeat(rng.normal(size=(12, 3)), 4, axis=0)
    embedding = ExactEmbedding(Linear(), LAM)
    embedding.update(Transitions.of(Z, Z))
    Zq = np.vstack([rng.normal(size=(5, 3)), Z[:3]])
    expected = LAM * np.linalg.norm(np.linalg.solve(Z.T @ Z + LAM * np.eye(3), Zq.T), axis=0)
    np.testing.assert_allclose(embedding.shrinkage(Zq), expected, rtol=1e-5)
    assert np.all(embedding.shrinkage(Zq) <= embedding.std(Zq) + 1e-12)
