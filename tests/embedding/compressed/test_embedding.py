"""Embeddings in coordinates agree with the exact one, exactly or within their bonuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.confidence import FailureBudget, Practical, Problem, Tight
from cmerl.embedding import ConditionalMeanEmbedding, ExactEmbedding, compressed, fourier, nystrom
from cmerl.embedding.compressed.dictionary import Dictionary
from cmerl.errors import InputError, KernelError
from cmerl.kernels import RBF, Constant, Delta, Kernel, Linear, Matern, StateAction
from cmerl.planning import Task, make_plan
from cmerl.transitions import Transitions

A = 3
ACTIONS = np.arange(A, dtype=float)[:, None]
LAM = 0.1
KERNELS = {
    "split": StateAction(RBF(0.3), Delta()),
    "product": StateAction(RBF(0.3), Constant(0.5) + 0.5 * Delta()),
    "general": RBF((0.3, 0.3, 1.0)),
}


def world(n: int, seed: int, terminate: float = 0.1) -> Transitions:
    rng = np.random.default_rng(seed)
    states = rng.random((n, 2))
    Z = np.hstack([states, rng.integers(A, size=(n, 1))])
    nexts = np.clip(states + 0.1 * rng.standard_normal((n, 2)), 0.0, 1.0)
    return Transitions.of(Z, nexts, rng.random(n), rng.random(n) < terminate)


def feed(embedding, data: Transitions, size: int = 7):
    for start in range(0, len(data), size):
        embedding.update(data[start : start + size])
    return embedding


def queries(seed: int = 9, q: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.hstack([rng.random((q, 2)), rng.integers(A, size=(q, 1))])


def value(s: np.ndarray) -> np.ndarray:
    return np.sin(3 * s[:, 0]) + s[:, 1] ** 2


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("size", [1, 7, 200])
def test_tolerance_zero_is_the_exact_embedding(kernel: Kernel, size: int) -> None:
    data, Zq = world(90, 1), queries()
    exact = feed(ExactEmbedding(kernel, LAM, ACTIONS), data)
    sketch = feed(compressed(kernel, RBF(0.3), LAM, ACTIONS, tolerance=0.0, value_tolerance=0.0), data, size)
    a = exact.expectation(exact.backup(value(exact.support), terminal=0.3), Zq)
    b = sketch.expectation(sketch.backup(value(sketch.support), terminal=0.3), Zq)
    np.testing.assert_allclose(b, a, atol=1e-8)
    mass = exact.expectation(exact.ones(), Zq)
    np.testing.assert_allclose(sketch.expectation(sketch.ones(), Zq), mass, atol=1e-8)
    np.testing.assert_allclose(sketch.std(Zq), exact.std(Zq), atol=1e-8)
    assert sketch.information_gain == pytest.approx(exact.information_gain, abs=1e-8)
    assert sketch.sum_r == pytest.approx(exact.sum_r, abs=1e-8)
    assert sketch.projection_loss[0] == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("centre", [True, False], ids=["around the mean", "under proof"])
def test_the_mass_is_the_sum_of_the_weights_of_all_transitions(kernel: Kernel, centre: bool) -> None:
    """α(z) = Φ̃M̃⁻¹φ̃(z), and Φ̃ᵀΦ̃ and φ̃ follow from what the coordinates represent: the constant is not interpolated."""
    data, Zq = world(120, 1, terminate=0.3), queries()
    sketch = compressed(kernel, RBF(0.3), LAM, ACTIONS, tolerance=0.05, value_tolerance=0.2, centre=centre)
    sketch.update(data)
    sizes = sketch.diagnostics()
    assert sizes["landmarks"] < np.count_nonzero(~data.terminated)  # V is interpolated, the constant is not
    mass = sketch.expectation(sketch.ones(), Zq)
    # with rewards of 1 and V = 0 the same regression gives Σα, by a way that knows nothing of ones()
    again = compressed(kernel, RBF(0.3), LAM, ACTIONS, tolerance=0.05, value_tolerance=0.2, centre=centre)
    again.update(Transitions.of(data.Z, data.next_states, np.ones(len(data)), data.terminated))
    summed = again.expectation(again.backup(np.zeros(len(again.support))), Zq)
    np.testing.assert_allclose(mass, summed, atol=1e-12)
    exact = feed(ExactEmbedding(kernel, LAM, ACTIONS), data)
    np.testing.assert_allclose(mass, exact.transition_weights(Zq).sum(axis=1), atol=0.05)
    states = Zq[:, :2]
    on_grid = sketch.grid(states).expectation(sketch.ones())[np.arange(len(Zq)), Zq[:, 2].astype(int)]
    np.testing.assert_allclose(on_grid, mass, atol=1e-6)


@pytest.mark.parametrize(("dims", "lengthscale"), [(1, 0.1), (2, 0.3)])
@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("size", [3, 20, 400])
def test_tolerance_zero_is_exact_where_hundreds_of_points_crowd_a_lengthscale(
    dims: int, lengthscale: float, split: bool, size: int
) -> None:
    rng = np.random.default_rng(0)
    kernel = StateAction(RBF(lengthscale), Delta()) if split else RBF((*[lengthscale] * dims, 1.0))
    states = rng.random((400, dims))
    nexts = np.clip(states + 0.05 * rng.standard_normal((400, dims)), 0.0, 1.0)
    data = Transitions.of(np.hstack([states, rng.integers(A, size=(400, 1))]), nexts, rng.random(400))
    Zq = np.hstack([rng.random((50, dims)), rng.integers(A, size=(50, 1))])
    exact = feed(ExactEmbedding(kernel, LAM, ACTIONS), data, 400)
    sketch = feed(compressed(kernel, RBF(0.3), LAM, ACTIONS, tolerance=0.0, value_tolerance=0.0), data, size)
    means = [E.expectation(E.backup(np.sin(3.0 * E.support[:, 0])), Zq) for E in (exact, sketch)]
    np.testing.assert_allclose(means[1], means[0], atol=1e-8)
    np.testing.assert_allclose(sketch.std(Zq), exact.std(Zq), atol=1e-8)
    np.testing.assert_allclose(sketch.grid().std(), sketch.freeze().grid(sketch.support).std(), atol=1e-8)
    assert sketch.information_gain == pytest.approx(exact.information_gain, abs=1e-8)
    assert sketch.sum_r == pytest.approx(exact.sum_r, abs=1e-8)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_plans_on_tolerance_zero_are_exact_plans(kernel: Kernel) -> None:
    data = world(80, 2)
    task = practical_task(kernel)
    plans = [
        make_plan([feed(embedding, data)], task, episode=1, order=np.arange(A))
        for embedding in (
            ExactEmbedding(kernel, LAM, ACTIONS),
            compressed(kernel, RBF(0.3), LAM, ACTIONS, tolerance=0.0, value_tolerance=0.0),
        )
    ]
    S = np.random.default_rng(3).random((30, 2))
    for step in (0, 3, 5):
        np.testing.assert_allclose(plans[1].q(S, step), plans[0].q(S, step), atol=1e-8)


def practical_task(kernel: Kernel) -> Task:
    problem = Problem(6, 1.0, kernel, RBF(0.3), None, FailureBudget(0.1, learned_reward=True))
    return Task(problem, Practical(), r_min=0.0)


@pytest.mark.parametrize("rebuild", [False, True])
def test_errors_lie_within_the_two_bonuses(rebuild: bool) -> None:
    """For V of norm ≤ B and P of norm ≤ B_P, both means lie within their bonus of the truth, so within the sum."""
    kernel, value_kernel = KERNELS["product"], RBF(0.3)
    problem = Problem(2, 1.0, kernel, value_kernel, None, FailureBudget(0.5, learned_reward=False), B_P=2.0, B_V=1.0)
    Zq, violations, worst = queries(q=100), 0, 0.0
    for seed in range(25):
        data, rng = world(120, seed, terminate=0.0), np.random.default_rng(seed)
        centres = rng.random((4, 2))
        weights = rng.standard_normal(4)
        weights /= np.sqrt(weights @ value_kernel(centres) @ weights)  # ‖V‖ = 1
        exact = feed(ExactEmbedding(kernel, LAM, ACTIONS), data)
        sketch = feed(
            compressed(kernel, value_kernel, LAM, ACTIONS, tolerance=0.03, value_tolerance=0.03, rebuild=rebuild),
            data,
        )
        means, bonuses = [], []
        for E in (exact, sketch):
            v = value_kernel(E.support, centres) @ weights
            means.append(E.expectation(E.backup(v, reward=0.0), Zq))
            terms = Tight().bonus(problem, E, episode=1, step=0, norms=None)
            bonuses.append(terms.at(E.std(Zq)))
        gap = np.abs(means[0] - means[1])
        violations += int(np.sum(gap > bonuses[0] + bonuses[1]))
        worst = max(worst, float(np.max(gap)))
    assert violations == 0
    assert worst > 1e-3  # the sketch does differ, so the test can fail


@given(st.integers(0, 10_000), st.sampled_from([1e-3, 1e-2, 1e-1]))
@settings(max_examples=25, deadline=None)
def test_dictionaries_leave_no_more_than_their_tolerance(seed: int, tolerance: float) -> None:
    X = np.random.default_rng(seed).random((60, 2))
    kernel = RBF(0.3)
    for fill in ("absorb", "choose"):
        dictionary = Dictionary(kernel, tolerance, 1000)
        C, residual = getattr(dictionary, fill)(X)
        assert residual.max() <= tolerance + 1e-12
        D = dictionary.points.points
        K = kernel(X) if fill == "choose" else None
        direct = 1.0 - np.einsum(
            "ij,ji->i", kernel(X, D), np.linalg.solve(kernel(D) + 1e-13 * np.eye(len(D)), kernel(D, X))
        )
        if fill == "choose":
            np.testing.assert_allclose(residual, np.maximum(direct, 0.0), atol=1e-6)
            np.testing.assert_allclose(np.diagonal(C.T @ C) + residual, np.diagonal(K), atol=1e-9)
        else:  # earlier points keep the residual of their own turn, which later points can only lower
            assert np.all(residual >= np.maximum(direct, 0.0) - 1e-6)


def test_greedy_choice_needs_fewer_points_than_arrival() -> None:
    X = np.random.default_rng(0).random((400, 2))
    sizes = {}
    for fill in ("absorb", "choose"):
        dictionary = Dictionary(RBF(0.2), 0.01, 1000)
        getattr(dictionary, fill)(X)
        sizes[fill] = len(dictionary)
    assert sizes["choose"] < sizes["absorb"]


def test_absorbing_in_any_batches_is_the_same() -> None:
    X = np.random.default_rng(5).random((50, 2))
    whole, single = Dictionary(RBF(0.3), 0.01, 1000), Dictionary(RBF(0.3), 0.01, 1000)
    C, residual = whole.absorb(X)
    parts = [single.absorb(x[None]) for x in X]
    np.testing.assert_allclose(np.concatenate([r for _, r in parts]), residual, atol=1e-10)
    for i, (c, _) in enumerate(parts):
        np.testing.assert_allclose(np.pad(c[:, 0], (0, len(C) - len(c))), C[:, i], atol=1e-8)


def test_uncertainty_does_not_collapse_away_from_a_full_dictionary() -> None:
    data = world(200, 3)
    sketch = feed(compressed(KERNELS["split"], RBF(0.3), LAM, ACTIONS, cap=5), data)
    assert sketch.diagnostics()["full"]
    assert len(sketch.support) == 5
    far = np.array([[5.0, 5.0, 0.0]])
    np.testing.assert_allclose(sketch.std(far), 1.0, atol=1e-9)
    exact = feed(ExactEmbedding(KERNELS["split"], LAM, ACTIONS), data)
    Zq = queries()
    assert np.all(sketch.std(Zq) >= exact.std(Zq) - 1e-9)  # a projection never knows more


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_grid_and_a_frozen_view_agree_with_queries(kernel: Kernel) -> None:
    data = world(150, 4)
    sketch = compressed(kernel, Matern(1.5, 0.3), LAM, ACTIONS)
    feed(sketch, data[:100])
    coef = sketch.backup(value(sketch.support))
    Z = sketch.layout.state_actions(sketch.support)
    grid = sketch.grid()
    means = sketch.expectation(coef, Z)
    single = 2.0**-24 * max(float(np.abs(c).sum()) for c in coef)  # coordinates are below 1
    np.testing.assert_allclose(grid.expectation(coef).ravel(), means, atol=2 * single)
    double = replace(grid, single=False).expectation(coef)
    np.testing.assert_allclose(double.ravel(), means, atol=1e-9)
    assert double.dtype == grid.expectation(coef).dtype == np.float64
    np.testing.assert_allclose(grid.std().ravel(), sketch.std(Z), atol=1e-7)
    states = np.random.default_rng(0).random((12, 2))
    view, before = sketch.freeze(), sketch.grid(states).expectation(coef)
    std = view.grid(states).std()
    feed(sketch, data[100:])
    np.testing.assert_array_equal(view.grid(states).expectation(coef), before)
    np.testing.assert_array_equal(view.grid(states).std(), std)


def test_weights_on_landmarks_give_expectations() -> None:
    data, Zq = world(150, 6), queries()
    for sketch in (
        compressed(KERNELS["product"], Matern(1.5, 0.3), LAM),
        nystrom(KERNELS["split"], LAM),
        fourier(KERNELS["split"], LAM),
    ):
        feed(sketch, data)
        v = value(sketch.support)
        # the constant part of V is not interpolated, so compare with the mean taken out
        v -= v.mean()
        expected = sketch.expectation(sketch.backup(v, reward=0.0), Zq)
        np.testing.assert_allclose(sketch.weights(Zq) @ v, expected, atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_one_norm_of_weights_is_what_an_error_of_values_is_magnified_by(kernel: Kernel) -> None:
    """The largest change of a mean over all signs of the values at landmarks and at the end, found sign by sign."""
    data = world(120, 3, terminate=0.3)
    sketch = feed(compressed(kernel, RBF(0.3), LAM, ACTIONS, centre=False), data[:80])
    states = np.random.default_rng(1).random((6, 2))
    Zq = sketch.layout.state_actions(states)
    end = sketch.expectation(sketch.backup(np.zeros(len(sketch.support)), reward=0.0, terminal=1.0), Zq)
    largest = np.abs(end)
    for one in np.eye(len(sketch.support)):
        largest += np.abs(sketch.expectation(sketch.backup(one, reward=0.0), Zq))
    np.testing.assert_allclose(sketch.weight_norm1(Zq), largest, rtol=1e-9)
    view = sketch.freeze()
    np.testing.assert_allclose(view.grid(states).weight_norm1().ravel(), largest, rtol=1e-9)
    own = sketch.weight_norm1(sketch.layout.state_actions(sketch.support))
    np.testing.assert_allclose(sketch.grid().weight_norm1().ravel(), own, rtol=1e-6)
    feed(sketch, data[80:])
    np.testing.assert_allclose(view.grid(states).weight_norm1().ravel(), largest, rtol=1e-9)
    with pytest.raises(InputError, match="centre=False"):
        feed(compressed(kernel, RBF(0.3), LAM, ACTIONS), data).grid().weight_norm1()


def test_interpolation_between_landmarks_magnifies_what_values_err_by() -> None:
    """n = 19 600, ζ = ½: all visits lead to where interpolation weights are largest, and signs are the worst."""
    axis, zeta = np.linspace(0.0, 1.0, 20), 0.5
    cells = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    sketch = compressed(StateAction(RBF(0.3), Delta()), RBF(0.3), 1.0, ACTIONS[:2], centre=False)
    none = np.zeros(400)
    sketch.update(Transitions.of(np.hstack([cells, np.ones((400, 1))]), cells, none, none > 0))
    at = np.tile([[7 / 19, 2 / 19]], (400, 1))
    for _ in range(48):
        sketch.update(Transitions.of(np.zeros((400, 3)), at, none, none > 0))
    z = np.zeros((1, 3))
    assert sketch.n == 19_600
    # An error that is ζ at the landmarks, with the worst signs, and −ζ where the visits led to.
    error = zeta * np.sign(sketch.weights(z)[0])
    mean = float(sketch.expectation(sketch.backup(error, reward=0.0), z)[0])
    assert mean + zeta > 3.4
    problem = Problem(
        2, 1.0, sketch.kernel, RBF(0.3), None, FailureBudget(0.1, learned_reward=False), B_P=1.0, B_V=1.0
    )
    terms = Tight(zeta=zeta).bonus(problem, sketch, episode=1, step=0, norms=None)
    price = float(terms.at(np.zeros(1), sketch.weight_norm1(z))[0])
    assert price == pytest.approx(mean + zeta)


def test_plans_of_a_proof_read_means_in_double_precision() -> None:
    sketch = feed(compressed(KERNELS["split"], RBF(0.3), LAM, ACTIONS, centre=False, single=False), world(100, 2))
    coef = sketch.backup(value(sketch.support))
    means = sketch.expectation(coef, sketch.layout.state_actions(sketch.support))
    np.testing.assert_allclose(sketch.grid().expectation(coef).ravel(), means, rtol=1e-10, atol=1e-11)


def test_rebuilding_equals_learning_everything_at_once() -> None:
    """After the last choice the memory is that of the same data chosen in one go."""
    data, Zq = world(128, 7), queries()
    steps = feed(compressed(KERNELS["split"], RBF(0.3), LAM, ACTIONS, keep=128), data, 1)
    once = feed(compressed(KERNELS["split"], RBF(0.3), LAM, ACTIONS, keep=128), data, 128)
    assert steps.choices > 4
    assert once.choices == 1
    a = steps.expectation(steps.backup(value(steps.support)), Zq)
    b = once.expectation(once.backup(value(once.support)), Zq)
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_points_are_chosen_anew_only_after_the_data_doubled_and_they_grew_by_a_quarter() -> None:
    """Counted by hand: with these kernels every distinct state is a landmark and every state-action a coordinate."""
    sketch = compressed(Delta(), Delta(), LAM, ACTIONS)
    for states, chosen, choices in (
        (range(20), 20, 1),
        (range(20), 20, 1),  # doubled, but nothing came
        (range(20, 25), 20, 1),  # a quarter, not more
        (range(25, 26), 26, 2),
        (range(26, 71), 26, 2),  # not doubled since
        (range(1), 71, 3),
    ):
        cells = np.array(states, dtype=float)[:, None]
        none = np.zeros(len(cells))
        sketch.update(Transitions.of(np.hstack([cells, 0.0 * cells]), cells, none, none > 0))
        assert (sketch.chosen[0], sketch.choices) == (chosen, choices)


def test_dictionaries_at_their_cap_are_chosen_anew_at_every_doubling() -> None:
    sketch = feed(compressed(KERNELS["split"], RBF(0.3), LAM, ACTIONS, cap=5), world(160, 7), 10)
    assert sketch.choices == 5  # at 10, 20, 40, 80 and 160


def test_raw_data_are_dropped_at_keep_and_the_last_choice_made_there() -> None:
    data = world(300, 8)
    sketch = compressed(KERNELS["split"], RBF(0.3), LAM, ACTIONS, keep=200)
    feed(sketch, data[:190], 10)
    assert sketch.diagnostics()["raw transitions kept"] == 190
    feed(sketch, data[190:], 10)
    assert sketch.diagnostics()["raw transitions kept"] == 0
    assert sketch.n == 300
    rebuilds = sketch.choices
    feed(sketch, world(300, 9), 10)
    assert sketch.choices == rebuilds


def test_bounds_after_a_rebuild_do_not_use_the_order_of_arrival() -> None:
    data = world(100, 10)
    sketch = feed(compressed(KERNELS["product"], RBF(0.3), LAM, ACTIONS, tolerance=0.05), data, 100)
    exact = feed(ExactEmbedding(KERNELS["product"], LAM, ACTIONS), data)
    assert sketch.choices == 1
    assert sketch.sum_r >= 2 * exact.information_gain - 1e-9  # log det(M̃/λ) + R_φ/λ ≥ log det(I + K/λ) ≥ Σ r_i
    assert sketch.information_gain >= exact.information_gain - 1e-9


def test_nystrom_with_all_points_is_exact_and_keeps_its_residual() -> None:
    data, Zq = world(80, 11), queries()
    kernel = KERNELS["product"]
    exact = feed(ExactEmbedding(kernel, LAM, ACTIONS), data)
    v = value(exact.support)
    full = feed(nystrom(kernel, LAM, ACTIONS, tolerance=0.0, rebuild=True), data)
    order = [int(np.flatnonzero((exact.support == s).all(axis=1))[0]) for s in full.support]
    expected = exact.expectation(exact.backup(v), Zq)
    np.testing.assert_allclose(full.expectation(full.backup(v[order]), Zq), expected, atol=1e-6)
    few = feed(nystrom(kernel, LAM, ACTIONS, count=10), data)
    assert len(few.grid(np.array([[0.5, 0.5]])).coordinates[0]) == 10
    np.testing.assert_allclose(few.std(np.array([[9.0, 9.0, 0.0]])), 1.0, atol=1e-9)


@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("kernel", [RBF(0.5), RBF((0.3, 0.6)), Matern(1.5, 0.5), Matern(0.5, 0.8)])
def test_fourier_features_approach_the_kernel(kernel: Kernel, orthogonal: bool) -> None:
    X = np.random.default_rng(0).random((15, 2))
    from cmerl.embedding.compressed.features import FourierFeatures

    C, residual = FourierFeatures(kernel, 40_000, np.random.default_rng(1), orthogonal=orthogonal).coordinates(X)
    np.testing.assert_allclose(C.T @ C, kernel(X), atol=0.03)
    assert np.all(residual == 0.0)


def test_fourier_variance_starves_where_the_kernel_does_not() -> None:
    """Why these features are heuristic: far from all data the exact σ is 1, theirs is not."""
    data = world(400, 12)
    far = np.array([[3.0, 3.0, 0.0]])
    exact = feed(ExactEmbedding(KERNELS["split"], LAM, ACTIONS), data, 400)
    sketch = feed(fourier(KERNELS["split"], LAM, ACTIONS, count=40), data, 400)
    assert exact.std(far)[0] > 0.999
    assert sketch.std(far)[0] < 0.9


def test_bad_options_are_refused() -> None:
    kernel = KERNELS["split"]
    with pytest.raises(InputError, match="tolerance"):
        compressed(kernel, RBF(), LAM, tolerance=-0.1)
    with pytest.raises(InputError, match="cap"):
        compressed(kernel, RBF(), LAM, cap=0)
    with pytest.raises(KernelError, match="Fourier"):
        feed(fourier(StateAction(Linear(), Delta()), LAM, ACTIONS), world(5, 0))
    with pytest.raises(InputError, match="value_kernel"):
        ConditionalMeanEmbedding(RBF(), backend="compressed")
    with pytest.raises(InputError, match="backend"):
        ConditionalMeanEmbedding(RBF(), backend="magic")
    with pytest.raises(InputError, match="counts"):
        ConditionalMeanEmbedding(RBF(), backend="fourier").visit_counts(queries())


@pytest.mark.parametrize("backend", ["compressed", "nystrom", "fourier"])
def test_the_public_embedding_speaks_to_every_backend(backend: str) -> None:
    x = np.linspace(0.0, 1.0, 80)[:, None]
    cme = ConditionalMeanEmbedding(RBF(0.2), lam=0.01, backend=backend, value_kernel=RBF(0.2))
    cme.update(x, x**2)
    expected = np.array([0.04, 0.25, 0.64])
    np.testing.assert_allclose(cme.expectation(lambda y: y[:, 0], [[0.2], [0.5], [0.8]]), expected, atol=0.02)
    assert cme.n == 80
    assert cme.weights([[0.5]]).shape == (1, len(cme.support))
    assert cme.diagnostics()["backend"] == backend


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_what_projected_values_lose_is_bounded_by_their_residuals(scale: float) -> None:
    """Same coordinates, landmarks or all next states: means differ by at most ‖V‖√R_ψ·‖φ̃(z)‖ in M̃⁻¹.

    This is the √R_ψ term of the bonus on its own, with no other bonus to hide behind. V is shifted by ``scale`` away
    from mean 0, where interpolating around the mean would not be covered.
    """
    kernel, value_kernel, Zq = KERNELS["product"], RBF(0.3), queries(q=100)
    closest = 0.0
    for seed in range(15):
        data, rng = world(120, seed, terminate=0.0), np.random.default_rng(seed)
        centres, weights = rng.random((4, 2)), rng.random(4) * scale
        norm = np.sqrt(weights @ value_kernel(centres) @ weights)
        means = []
        for tolerance in (0.0, 0.1):
            sketch = compressed(
                kernel,
                value_kernel,
                LAM,
                tolerance=0.01,
                value_tolerance=tolerance,
                rebuild=False,
                centre=False,
            )
            feed(sketch, data)
            v = value_kernel(sketch.support, centres) @ weights
            means.append(sketch.expectation(sketch.backup(v, reward=0.0), Zq))
        _, residual = sketch.moments[0].features.coordinates(Zq)
        leverage = np.sqrt((sketch.std(Zq) ** 2 - residual) / LAM)
        bound = norm * np.sqrt(sketch.projection_loss[1]) * leverage
        gap = np.abs(means[0] - means[1])
        assert np.all(gap <= bound + 1e-9)
        closest = max(closest, float(np.max(gap / bound)))
    assert closest > 0.02  # not vacuous: the loss is a visible part of its bound


def test_the_bonus_on_a_sketch_is_the_formula_of_its_derivation() -> None:
    data = feed(
        compressed(KERNELS["product"], RBF(0.3), LAM, tolerance=0.05, value_tolerance=0.05), world(100, 1), 100
    )
    B_P, B_V, D2 = 2.0, 3.0, 2.0
    problem = Problem(
        4, 1.0, KERNELS["product"], RBF(0.3), None, FailureBudget(0.1, learned_reward=False), B_P=B_P, B_V=B_V
    )
    R_phi, R_psi = data.projection_loss
    assert min(R_phi, R_psi) > 0.01
    delta, k = 0.05, data.choices
    M = data.moments[0].factor.L @ data.moments[0].factor.L.T
    log_det = np.linalg.slogdet(M / LAM)[1]
    slack = 0.5 * np.log(2 / delta) + 0.5 * np.log(2 * k * (k + 1) / delta)
    noise = np.sqrt(D2 * (log_det + R_phi / LAM + slack))
    radius = np.sqrt(LAM) * B_P + noise + B_P * np.sqrt(R_phi) + np.sqrt(R_psi)
    expected = B_V * np.hypot(radius / np.sqrt(LAM), B_P)
    found = Tight().bonus(problem, data, episode=1, step=0, norms=None)
    assert found.linear == pytest.approx(expected, rel=1e-9)
    assert found.quadratic == 0.0


def test_residual_sums_are_those_of_dense_projections() -> None:
    data, kernel, value_kernel = world(100, 2, terminate=0.0), KERNELS["general"], RBF(0.3)
    sketch = feed(compressed(kernel, value_kernel, LAM, tolerance=0.05, value_tolerance=0.05), data, 100)

    def left_over(k: Kernel, D: np.ndarray, X: np.ndarray) -> float:
        return float(np.sum(1.0 - np.einsum("ij,ji->i", k(X, D), np.linalg.solve(k(D), k(D, X)))))

    D = sketch.moments[0].features.points.points
    assert sketch.projection_loss[0] == pytest.approx(left_over(kernel, D, data.Z), rel=1e-6)
    assert sketch.projection_loss[1] == pytest.approx(
        left_over(value_kernel, sketch.support, data.next_states), rel=1e-6
    )


@pytest.mark.parametrize("kind", ["compressed", "complete", "nystrom", "fourier"])
@pytest.mark.parametrize("keep", [60, 1000])
def test_a_saved_embedding_goes_on_bit_for_bit(kind: str, keep: int) -> None:
    def make():
        kernel = KERNELS["split"]
        if kind == "nystrom":
            return nystrom(kernel, LAM, ACTIONS, count=30, keep=keep)
        if kind == "fourier":
            return fourier(kernel, LAM, ACTIONS, count=30)
        tolerance = 0.0 if kind == "complete" else 0.01
        return compressed(kernel, RBF(0.3), LAM, ACTIONS, tolerance=tolerance, value_tolerance=tolerance, keep=keep)

    data, Zq = world(200, 11), queries()
    whole, loaded = feed(make(), data[:98]), make()
    loaded.restore({name: np.ascontiguousarray(array) for name, array in whole.arrays().items()})
    for embedding in (whole, loaded):
        feed(embedding, data[98:])
    for E in (whole, loaded):
        assert E.diagnostics() == whole.diagnostics()
        np.testing.assert_array_equal(E.support, whole.support)
        np.testing.assert_array_equal(E.std(Zq), whole.std(Zq))
        np.testing.assert_array_equal(E.grid().std(), whole.grid().std())
        means = [e.expectation(e.backup(value(e.support)), Zq) for e in (E, whole)]
        np.testing.assert_array_equal(*means)
    with pytest.raises(InputError, match="without data"):
        loaded.restore(whole.arrays())


def test_embeddings_of_objects_cannot_be_saved() -> None:
    embedding = compressed(Delta(), Delta(), LAM)
    embedding.update(Transitions.of(["a", "b"], ["b", "c"]))
    with pytest.raises(InputError, match="objects cannot be saved"):
        embedding.arrays()


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_error_on_a_sample_of_everything_is_the_difference_from_exact(kernel: Kernel) -> None:
    """Up to twice the sample size all transitions are in it, so the two embeddings themselves can be compared."""
    n, bump = 200, RBF(0.3)
    data = world(n, 12, terminate=0.0)
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    data = Transitions.of(data.Z, data.next_states, signs)
    exact, sketch = (
        feed(E, data, n)
        for E in (
            ExactEmbedding(kernel, LAM, ACTIONS),
            compressed(kernel, bump, LAM, ACTIONS, tolerance=0.01, value_tolerance=0.02, centre=False),
        )
    )
    centres = data.next_states[np.linspace(0, n - 1, 8).astype(int)]
    gaps = [
        np.abs(np.subtract(*(E.expectation(E.backup(np.zeros(len(E.support))), data.Z) for E in (exact, sketch))))
    ]
    for c in centres:
        pair = [E.expectation(E.backup(bump(E.support, c[None])[:, 0], reward=0.0), data.Z) for E in (exact, sketch)]
        gaps.append(np.abs(pair[0] - pair[1]))
    reported = sketch.diagnostics()
    assert reported["error of means on a sample"] == pytest.approx(np.max(gaps), rel=1e-6)
    assert reported["error of means on a sample"] > 1e-3
    sigma = np.abs(exact.std(data.Z) - sketch.std(data.Z)).max()
    assert reported["error of sigma on a sample"] == pytest.approx(sigma, rel=1e-6)


def test_the_error_on_a_sample_vanishes_without_tolerance_and_survives_the_raw_data() -> None:
    data = world(1500, 13)
    complete = feed(
        compressed(KERNELS["split"], RBF(0.3), LAM, ACTIONS, tolerance=0.0, value_tolerance=0.0), data, 100
    )
    assert complete.sample_error().mean < 1e-8
    assert complete.sample_error().std < 1e-8
    sketch = feed(compressed(KERNELS["split"], RBF(0.3), LAM, ACTIONS, keep=300), data, 100)
    assert sketch.diagnostics()["raw transitions kept"] == 0
    assert 1e-6 < sketch.sample_error().mean < 0.2
    assert 256 <= len(sketch.sample.kept) <= 512
    np.testing.assert_array_equal(sketch.sample.kept.Z, data.Z[:: sketch.sample.stride])


def test_a_cap_that_is_hit_leaves_no_region_out() -> None:
    """Without a coarser tolerance what comes first takes all the room."""
    X = np.random.default_rng(15).random((1500, 2))
    X = X[np.argsort(X[:, 0])]
    kernel = RBF(0.1)
    worst = {}
    for widen in (True, False):
        dictionary = Dictionary(kernel, 1e-6, 120, candidates=50, widen=widen)
        _, residual = dictionary.choose(X)
        np.testing.assert_allclose(residual, dictionary.coordinates(X)[1], atol=1e-9)
        assert len(dictionary) <= 120
        worst[widen] = residual.max()
    assert worst[False] > 0.9
    assert worst[True] < 0.5


def test_the_learned_reward_of_a_plan_pays_for_the_choices_of_coordinates() -> None:
    sketch = feed(compressed(KERNELS["split"], RBF(0.3), LAM, ACTIONS, centre=False), world(120, 5), 10)
    assert sketch.choices > 1
    budget = FailureBudget(0.3, learned_reward=True)
    problem = Problem(3, 1.0, sketch.kernel, RBF(0.3), None, budget, B_P=1.0, B_V=1.0, B_R=2.0)
    plan = make_plan([sketch], Task(problem, Tight(), 0.0), episode=1, order=np.arange(A))
    k, share = sketch.choices, 0.1
    logs = sketch.information_gain + np.log(2 / share) + np.log(2 * k * (k + 1) / share)
    beta = np.sqrt(LAM) * 2.0 + 0.5 * np.sqrt(2 * logs)
    R_phi = sketch.projection_loss[0]
    expected = np.hypot((beta + 2.0 * np.sqrt(R_phi)) / np.sqrt(LAM), 2.0)
    assert plan.reward_estimate(0).linear == pytest.approx(expected)
