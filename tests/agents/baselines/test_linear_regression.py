"""Ridge regression from sums: equal to the regression on all targets; one-hot features divide by counts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cmerl.agents.baselines.linear_regression import DenseRegression, OneHotRegression


def transitions(n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """State-actions, next states (−1 ends the episode) and rewards."""
    rng = np.random.default_rng(0)
    return rng.integers(6, size=n), rng.integers(-1, 4, size=n), rng.normal(size=n)


@pytest.mark.parametrize("parts", [1, 5])
def test_it_is_ridge_regression_on_all_targets(parts: int) -> None:
    rows, nexts, rewards = transitions()
    table = np.random.default_rng(1).normal(size=(6, 3))
    v, terminal = np.array([0.5, -1.0, 2.0, 0.25]), -0.7
    regression = DenseRegression(3, 0.8)
    for part in np.array_split(np.arange(40), parts):
        regression.add(table[rows[part]], nexts[part], rewards[part])
    targets = rewards + np.where(nexts < 0, terminal, v[nexts])
    other = Ridge(alpha=0.8, fit_intercept=False).fit(table[rows], targets)
    w = regression.solve(v, terminal)
    np.testing.assert_allclose(w, other.coef_, atol=1e-10)
    np.testing.assert_allclose(regression.mean(w, table), other.predict(table), atol=1e-10)
    inverse = np.linalg.inv(0.8 * np.eye(3) + table[rows].T @ table[rows])
    np.testing.assert_allclose(regression.width(table) ** 2, np.diagonal(table @ inverse @ table.T), atol=1e-10)


def test_one_hot_features_divide_sums_by_counts() -> None:
    rows, nexts, rewards = transitions()
    rows = rows % 5  # state-action 5 is never seen
    v, terminal = np.array([0.5, -1.0, 2.0, 0.25]), -0.7
    regression = OneHotRegression(6, 0.8)
    regression.add(rows, nexts, rewards)
    w = regression.solve(v, terminal)
    for i in range(6):
        targets = [r + (terminal if j < 0 else v[j]) for k, j, r in zip(rows, nexts, rewards, strict=True) if k == i]
        assert w[i] == pytest.approx(sum(targets) / (len(targets) + 0.8))
        assert regression.width(np.array([i]))[0] == pytest.approx((len(targets) + 0.8) ** -0.5)
    assert w[5] == 0.0


@pytest.mark.parametrize("kind", [DenseRegression, OneHotRegression])
def test_a_frozen_regression_does_not_follow_later_data(kind: type) -> None:
    rows, nexts, rewards = transitions()
    regression = kind(6, 1.0)
    phi = rows if kind is OneHotRegression else np.eye(6)[rows]
    regression.add(phi[:20], nexts[:20], rewards[:20])
    frozen, before = regression.freeze(), regression.width(phi)
    regression.add(phi[20:], nexts[20:], rewards[20:])
    np.testing.assert_array_equal(frozen.width(phi), before)
    assert (regression.width(phi) < before).all()
