"""A sample spread over all that was seen, and how far a sketch is from the exact embedding on it."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding.compressed.sample_error import StridedSample
from cmerl.embedding.compressed.sketches import compressed, fourier
from cmerl.kernels import RBF, Matern
from cmerl.transitions import Transitions


def numbered(start: int, n: int) -> Transitions:
    rows = np.arange(start, start + n, dtype=np.float64)[:, None]
    return Transitions.of(np.hstack([rows, 0.0 * rows]), rows, rows[:, 0])


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_a_sample_is_every_so_many_th_transition_however_they_come(batch: int) -> None:
    sample = StridedSample(size=8)
    for start in range(0, 700, batch):
        sample.add(numbered(start, batch))
        kept = sample.kept.rewards
        np.testing.assert_array_equal(kept, np.arange(0, start + batch, sample.stride))
        assert len(kept) <= 16
        assert sample.stride == 1 or len(kept) >= 8
    assert sample.stride in (64, 32)


def test_a_sample_goes_on_after_saving() -> None:
    one, other = StridedSample(4), StridedSample(4)
    one.add(numbered(0, 21))
    other.restore(one.arrays())
    for sample in (one, other):
        sample.add(numbered(21, 40))
    np.testing.assert_array_equal(one.kept.rewards, other.kept.rewards)
    empty, again = StridedSample(4), StridedSample(4)
    again.restore(empty.arrays())
    assert again.kept is None


def data(n: int = 120) -> Transitions:
    rng = np.random.default_rng(0)
    return Transitions.of(rng.random((n, 3)), rng.random((n, 2)), rng.normal(size=n))


ACTIONS = np.array([[0.0], [1.0]])


def error(tolerance: float) -> float:
    model = compressed(RBF(0.5), Matern(1.5, 0.5), 0.1, ACTIONS, tolerance=tolerance, value_tolerance=tolerance)
    model.update(data())
    return float(model.sample_error().mean)


def test_the_error_falls_with_the_tolerance_and_vanishes_without_one() -> None:
    coarse, fine, none = error(0.3), error(0.01), error(1e-12)
    assert coarse > fine > none
    assert none < 1e-3
    assert coarse < 2.0  # a mean of functions of height 1


def test_features_at_random_err_in_the_variance() -> None:
    model = fourier(RBF(0.5), 0.1, ACTIONS, count=20)
    model.update(data())
    rough = model.sample_error().std
    finer = fourier(RBF(0.5), 0.1, ACTIONS, count=600)
    finer.update(data())
    assert finer.sample_error().std < rough
