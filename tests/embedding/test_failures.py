"""An update that fails leaves the embedding as it was, and the next one works."""

import sys
from pathlib import Path

import numpy as np
import pytest

from cmerl import ConditionalMeanEmbedding
from cmerl.embedding import DisplacementEmbedding, ExactEmbedding, KernelEmbedding, compressed, nystrom
from cmerl.embedding.displacement import learner
from cmerl.errors import CmerlError, InputError, KernelError
from cmerl.kernels import RBF, CallableKernel, Constant, Delta, Linear, StateAction
from cmerl.transitions import Transitions

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))

from interrupts import interrupted_after

LAM = 0.3
ACTIONS = np.array([[0.0], [1.0]])
QUERIES = np.array([[s, a] for s in (0.0, 0.25, 0.7, 2.0) for a in (0.0, 1.0)])


def tame_below_100(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """An RBF on the first column that is no kernel at all among values above 100."""
    K = np.exp(-0.5 * ((X[:, None, 0] - Y[None, :, 0]) / 0.5) ** 2)
    wild = (X[:, None, 0] > 100) & (Y[None, :, 0] > 100) & (X[:, None, 0] != Y[None, :, 0])
    return np.where(wild, 3.0, K)


def nan_above_100(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    K = np.exp(-0.5 * ((X[:, None, 0] - Y[None, :, 0]) / 0.5) ** 2)
    return np.where((X[:, None, 0] > 100) | (Y[None, :, 0] > 100), np.nan, K)


WILD = CallableKernel(tame_below_100)
KERNELS = {
    "general": WILD,
    "indicator": StateAction(WILD, Delta()),
    "product": StateAction(WILD, 0.5 + 0.5 * Delta()),
}


@pytest.fixture(params=KERNELS.values(), ids=KERNELS)
def kernel(request: pytest.FixtureRequest):
    return request.param


def draw(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    states = np.where(rng.uniform(size=n) < 0.7, rng.integers(0, 5, n) / 4, rng.uniform(size=n))
    return np.column_stack([states, rng.integers(0, 2, n)]), rng.normal(size=(n, 1)).round(1)


def bad_batches() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Batches of which only the last rows are bad: what comes before them can be learned, and must not be."""
    X, Y = draw(400, seed=1)  # more than one chunk, with repeats enough to be merged on the way
    wild, not_a_number = X.copy(), X.copy()
    wild[-3:, 0] = [200.0, 300.0, 400.0]
    wild[-3:, 1] = 1.0
    not_a_number[-1, 0] = np.nan
    nan_next = Y.copy()
    nan_next[-1] = np.inf
    return {
        "not positive semi-definite": (wild, Y + 50.0),
        "NaN": (not_a_number, Y + 50.0),
        "infinite next state": (X, nan_next),
        "wrong dimension of Y": (X, np.hstack([Y, Y])),
        "one next state too few": (X, Y[:-1]),
        "objects for numbers": (X, ["word"] * len(X)),
    }


def facts(cme: ConditionalMeanEmbedding) -> list[np.ndarray]:
    return [
        np.array([cme.n, cme.information_gain, cme.sum_r, cme.jitter]),
        np.asarray(cme.support),
        cme.weights(QUERIES),
        cme.std(QUERIES),
        cme.weight_norm1(QUERIES),
        cme.visit_counts(QUERIES),
    ]


def assert_same(ours: list[np.ndarray], theirs: list[np.ndarray]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


BAD = bad_batches()


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("n", [1, 300])
def test_a_failed_update_changes_nothing_and_the_next_one_works(kernel, bad: str, n: int) -> None:
    X, Y = draw(500)
    cme = ConditionalMeanEmbedding(kernel, lam=LAM).update(X[:n], Y[:n])
    before = facts(cme)
    with pytest.raises(CmerlError):
        cme.update(*BAD[bad])
    assert_same(facts(cme), before)
    cme.update(X[n:], Y[n:])
    assert_same(facts(cme), facts(ConditionalMeanEmbedding(kernel, lam=LAM).update(X, Y)))


@pytest.mark.parametrize("bad", ["not positive semi-definite", "NaN", "one next state too few"])
def test_a_failed_first_update_leaves_the_prior(kernel, bad: str) -> None:
    cme = ConditionalMeanEmbedding(kernel, lam=LAM)
    with pytest.raises(CmerlError):
        cme.update(*BAD[bad])
    assert (cme.n, cme.information_gain, cme.sum_r, len(cme.support)) == (0, 0.0, 0.0, 0)
    np.testing.assert_allclose(cme.std(QUERIES), 1.0, rtol=1e-12)
    words = ["the", "kind", "is", "free"]
    assert cme.update(QUERIES[:4], words).support == words


def test_grids_and_views_survive_a_failed_update(kernel) -> None:
    X, Y = draw(500)
    X_bad, Y_bad = BAD["not positive semi-definite"]
    states = np.array([[0.1], [0.75]])
    embedding = ExactEmbedding(kernel, LAM, ACTIONS)
    embedding.update(Transitions.of(X[:300], Y[:300], rewards=X[:300, 0], terminated=X[:300, 0] == 0.5))
    v = np.cos(np.arange(len(embedding.support)))
    view, coef = embedding.freeze(), embedding.backup(v, terminal=0.3)

    def answers() -> list[np.ndarray]:
        own, other, old = embedding.grid(), embedding.grid(states), view.grid(states)
        c = embedding.backup(v, terminal=0.3)
        return [
            *(g.expectation(c) for g in (own, other)),
            *(g.std() for g in (own, other, old)),
            *(g.weight_norm1() for g in (own, other, old)),
            old.expectation(coef),
            embedding.weights(QUERIES),
            np.asarray(embedding.support),
        ]

    before = answers()
    with pytest.raises(KernelError, match="not positive"):
        embedding.update(Transitions.of(X_bad, Y_bad))
    assert_same(answers(), before)


def test_errors_say_what_is_wrong_with_the_next_states() -> None:
    cme = ConditionalMeanEmbedding(RBF(0.5), lam=LAM).update(*draw(5))
    with pytest.raises(InputError, match="next states has 2 columns, but the data so far has 1"):
        cme.update(*BAD["wrong dimension of Y"])
    with pytest.raises(InputError, match="next states mixes numeric rows with objects"):
        cme.update(*BAD["objects for numbers"])


def test_a_wrong_number_of_columns_in_x_is_refused() -> None:
    X, Y = draw(50)
    for kernel in (RBF(0.5), Delta(), Constant(2.0), StateAction(RBF(0.5), Delta())):
        cme = ConditionalMeanEmbedding(kernel, lam=LAM).update(X, Y)
        before = facts(cme)
        with pytest.raises(InputError, match="columns"):
            cme.update(np.hstack([X[:4], X[:4]]), Y[:4] + 50.0)
        assert_same(facts(cme), before)


def test_a_kernel_that_returns_nan_later_is_refused() -> None:
    X, Y = draw(50)
    cme = ConditionalMeanEmbedding(nan_above_100, lam=LAM).update(X, Y)
    before = facts(cme)
    with pytest.raises(KernelError, match="NaN or infinity"):
        cme.update([[0.1, 0.0], [500.0, 0.0]], [[50.0], [51.0]])
    assert_same(facts(cme), before)


@pytest.mark.parametrize("split", [False, True])
def test_next_states_that_the_kernel_refuses_change_nothing(split: bool) -> None:
    linear = Linear(radius=2.0)
    embedding = ExactEmbedding(StateAction(linear, Delta()) if split else linear, LAM, ACTIONS)
    Z, inside, outside = [[0.5, 0.0], [0.2, 1.0]], [[0.1], [0.2]], [[0.3], [9.0]]
    embedding.update(Transitions.of(Z, inside))
    before = embedding.std(QUERIES[:4])
    with pytest.raises(InputError, match="outside the declared radius"):
        embedding.update(Transitions.of(Z, outside))
    assert embedding.n == 2
    np.testing.assert_array_equal(embedding.support, inside)
    np.testing.assert_allclose(embedding.std(QUERIES[:4]), before, rtol=1e-12)
    embedding.update(Transitions.of(Z, inside))
    assert embedding.n == 4


@pytest.mark.parametrize("split", [False, True])
def test_an_error_inside_a_kernel_function_changes_nothing(split: bool) -> None:
    def fails_above_100(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        if np.any(X[:, 0] > 100):
            raise RuntimeError("a fault of the user's function")
        return tame_below_100(X, Y)

    wrapped = CallableKernel(fails_above_100)
    embedding = ExactEmbedding(StateAction(wrapped, Delta()) if split else wrapped, LAM, ACTIONS)
    X, Y = draw(50)
    embedding.update(Transitions.of(X, Y))
    before = embedding.std(QUERIES), len(embedding.support), embedding.n
    with pytest.raises(RuntimeError, match="a fault of the user's function"):
        embedding.update(Transitions.of([[0.1, 0.0], [500.0, 1.0]], [[50.0], [51.0]]))
    after = embedding.std(QUERIES), len(embedding.support), embedding.n
    assert before[1:] == after[1:]
    np.testing.assert_allclose(after[0], before[0], rtol=1e-12)


# --- every way to hold the data ---


class Fault(Exception):
    """What a user's kernel, Ctrl-C or a lack of memory does to an update."""


class Failing:
    """An RBF on the first column that raises at its k-th call from when it is armed, and at every later one."""

    def __init__(self) -> None:
        self.left: int | None = None
        self.error: type[BaseException] = Fault

    def arm(self, calls: int | None, error: type[BaseException] = Fault) -> None:
        self.left, self.error = calls, error

    def __call__(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise self.error("in the kernel")
        return np.exp(-0.5 * ((X[:, None, 0] - Y[None, :, 0]) / 0.3) ** 2)


def holders(function: Failing) -> dict[str, object]:
    kernel = CallableKernel(function, 1.0, True)
    split, shared = StateAction(kernel, Delta()), StateAction(kernel, 0.5 + 0.5 * Delta())
    return {
        "exact": ExactEmbedding(shared, LAM, ACTIONS),
        "exact, split": ExactEmbedding(split, LAM, ACTIONS),
        "exact, without sigma": ExactEmbedding(split, LAM, ACTIONS, track_std=False),
        "compressed": compressed(shared, kernel, LAM, ACTIONS),
        "compressed, split": compressed(split, kernel, LAM, ACTIONS),
        "compressed at tolerance 0": compressed(shared, kernel, LAM, ACTIONS, tolerance=0.0, rebuild=False),
        "compressed, data dropped": compressed(shared, kernel, LAM, ACTIONS, keep=50),
        "nystrom": nystrom(shared, LAM, ACTIONS, count=20),
    }


def all_answers(embedding: KernelEmbedding) -> list[np.ndarray]:
    v = np.cos(np.arange(len(embedding.support)))
    coef = embedding.backup(v, terminal=0.3)
    return [
        np.array([embedding.n, embedding.information_gain, embedding.sum_r]),
        np.asarray(embedding.support),
        embedding.grid().expectation(coef) if embedding.n else np.empty(0),
        embedding.expectation(coef, QUERIES),
        embedding.std(QUERIES),
        embedding.weights(QUERIES),
    ]


def batches() -> list[Transitions]:
    X, Y = draw(240, seed=5)
    parts = [slice(i, i + 40) for i in range(0, 240, 40)]
    return [Transitions.of(X[p], Y[p], rewards=X[p, 0], terminated=X[p, 0] == 0.5) for p in parts]


@pytest.mark.parametrize("error", [Fault, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("name", holders(Failing()))
def test_whatever_ends_an_update_it_is_as_before_bit_for_bit(name: str, error: type[BaseException]) -> None:
    function, calm = Failing(), Failing()
    embedding, undisturbed = holders(function)[name], holders(calm)[name]
    failed = 0
    for batch in batches():
        before = all_answers(embedding)
        for calls in range(12):
            function.arm(calls, error)
            try:
                embedding.update(batch)
            except error:
                failed += 1
                function.arm(None)
                for ours, theirs in zip(all_answers(embedding), before, strict=True):
                    np.testing.assert_array_equal(ours, theirs)
            else:
                break
        else:
            function.arm(None)
            embedding.update(batch)
        function.arm(None)
        undisturbed.update(batch)
        for ours, theirs in zip(all_answers(embedding), all_answers(undisturbed), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert failed > 10


def test_a_displacement_that_fails_to_learn_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    states = rng.uniform(size=(300, 2))
    Z = np.hstack([states, rng.integers(0, 2, (300, 1))])
    data = Transitions.of(Z, states + 0.05 * (2 * Z[:, 2:] - 1), rewards=states[:, 0])
    embedding = DisplacementEmbedding(ACTIONS, categorical=True)
    embedding.update(data[:100])
    before, view = embedding.arrays(), embedding.view
    for name in ("fit_shape", "concatenate", "depends_on_state"):
        with monkeypatch.context() as broken:
            broken.setattr(learner, name, lambda *_, **__: (_ for _ in ()).throw(MemoryError("no room")))
            with pytest.raises(MemoryError):
                embedding.update(data[100:])
        assert embedding.view is view
        assert embedding.dynamics is view.dynamics
        for key, array in embedding.arrays().items():
            np.testing.assert_array_equal(array, before[key])
    embedding.update(data[100:])
    assert embedding.n == 300


def test_a_displacement_that_fails_to_learn_the_first_rewards_of_a_place_is_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    states = np.vstack([rng.uniform(size=(200, 2)), 2.0 + rng.uniform(size=(60, 2))])
    Z = np.hstack([states, rng.integers(0, 2, (260, 1))])
    data = Transitions.of(Z, states + 0.05, (np.abs(states - 2.5).max(axis=1) < 0.3).astype(float))
    embedding = DisplacementEmbedding(ACTIONS, categorical=True)
    embedding.update(data[:200])
    embedding.update(data[200:])
    before, view = embedding.arrays(), embedding.view
    with monkeypatch.context() as broken:
        broken.setattr(learner, "fit_reward", lambda *_, **__: (_ for _ in ()).throw(MemoryError("no room")))
        with pytest.raises(MemoryError):
            embedding.end_episode()
    assert embedding.view is view
    for key, array in embedding.arrays().items():
        np.testing.assert_array_equal(array, before[key])
    embedding.end_episode()
    assert embedding.shape.reward.fit is not None


@pytest.mark.parametrize("name", holders(Failing()))
def test_no_interrupt_at_any_line_leaves_half_an_update(name: str) -> None:
    """Ctrl-C at random lines of the code itself, not only in the kernel."""
    calm = Failing()
    embedding, undisturbed = holders(Failing())[name], holders(calm)[name]
    rng = np.random.default_rng(1)
    hit = 0
    for batch in batches():
        for _ in range(6):
            n = embedding.n
            with interrupted_after(int(rng.integers(1, 900))) as outcome:
                embedding.update(batch)
            if outcome.interrupted and embedding.n == n:
                hit += 1
            else:
                break
        if embedding.n == n:
            embedding.update(batch)
        undisturbed.update(batch)
        for ours, theirs in zip(all_answers(embedding), all_answers(undisturbed), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert hit > 3
