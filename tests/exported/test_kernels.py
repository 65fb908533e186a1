"""Exported kernels: the factors of scikit-learn's, sums of products, and slopes as limits of differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sklearn

from cmerl.exported.kernels import Factor, terms_of

SCALE = np.array([0.7, 1.9])
RNG = np.random.default_rng(0)
POINTS, ROWS = RNG.normal(size=(6, 2)), RNG.normal(size=(4, 3))
COLUMNS = [2, 0]  # the factor's own, in this order
SMOOTH = {
    "rbf": (0.0, sklearn.RBF(SCALE)),
    "matern 1/2": (0.5, sklearn.Matern(SCALE, nu=0.5)),
    "matern 3/2": (1.5, sklearn.Matern(SCALE, nu=1.5)),
    "matern 5/2": (2.5, sklearn.Matern(SCALE, nu=2.5)),
}


def factor(name: str, nu: float = 0.0) -> Factor:
    return Factor(name.split()[0], POINTS, COLUMNS, SCALE, nu)


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_factors_are_those_of_scikit_learn(name: str) -> None:
    nu, other = SMOOTH[name]
    np.testing.assert_allclose(factor(name, nu).at(ROWS), other(ROWS[:, COLUMNS], POINTS), rtol=1e-10)


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_are_limits_of_differences(name: str) -> None:
    mine, row, eps = factor(name, SMOOTH[name][0]), ROWS[0], 1e-6
    for k, column in enumerate(COLUMNS):
        there, back = (row + sign * eps * np.eye(3)[column] for sign in (1.0, -1.0))
        difference = (mine.at(there[None])[0] - mine.at(back[None])[0]) / (2 * eps)
        np.testing.assert_allclose(mine.slope(row)[:, k], difference, atol=1e-8)


def test_discrete_factors_count_what_is_equal() -> None:
    points, rows = np.array([[1.0, 2.0], [1.0, 3.0]]), np.array([[2.0, 9.0, 1.0]])
    delta, hamming = (Factor(kind, points, COLUMNS, np.ones(2), 0.0) for kind in ("delta", "hamming"))
    assert delta.at(rows).tolist() == [[1.0, 0.0]]
    assert hamming.at(rows).tolist() == [[1.0, 0.5]]
    assert not hamming.slope(rows[0]).any()


def test_terms_are_scaled_products_of_factors_and_slopes_follow_the_product_rule() -> None:
    def entry(kind: str, columns: list[int], lengthscale: list[float], nu: float = 0.0) -> dict[str, Any]:
        return {"kind": kind, "columns": columns, "lengthscale": lengthscale, "nu": nu}

    states, actions = RNG.normal(size=(5, 2)), RNG.normal(size=(5, 2))
    spec = [
        {
            "scale": 0.3,
            "state": [entry("rbf", [0], [0.5]), entry("matern", [1], [2.0], 1.5)],
            "action": [entry("rbf", [0, 1], [1.0, 2.0]), entry("matern", [1], [0.8], 2.5)],
        },
        {"scale": 2.0, "state": [], "action": []},
    ]
    product, constant = terms_of(spec, states, actions)
    s, a = RNG.normal(size=2), RNG.normal(size=2)
    by_state = (
        0.3 * sklearn.RBF(0.5)(s[None, :1], states[:, :1]) * sklearn.Matern(2.0, nu=1.5)(s[None, 1:], states[:, 1:])
    )
    np.testing.assert_allclose(product.of_state(s), by_state[0], rtol=1e-10)

    def by_action(rows: np.ndarray) -> np.ndarray:
        smooth = sklearn.RBF([1.0, 2.0])(rows, actions)
        return smooth * sklearn.Matern(0.8, nu=2.5)(rows[:, 1:], actions[:, 1:])

    np.testing.assert_allclose(product.of_actions(a[None], 5), by_action(a[None]), rtol=1e-10)
    for k in range(2):
        step = 1e-6 * np.eye(2)[k]
        difference = (by_action((a + step)[None]) - by_action((a - step)[None]))[0] / 2e-6
        np.testing.assert_allclose(product.action_slope(a, 5)[:, k], difference, atol=1e-8)
    assert constant.of_state(s) == 2.0
    assert constant.of_actions(a[None], 5).tolist() == [[1.0] * 5]
    assert not constant.action_slope(a, 5).any()
