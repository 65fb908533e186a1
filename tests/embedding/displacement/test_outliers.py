"""Outliers: few rows that are missed by far, and neither noise nor many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cmerl.embedding.displacement.outliers import outliers, outliers_of_a_smooth_kernel
from cmerl.embedding.displacement.settings import OutlierSettings
from cmerl.kernels.fitting import squared_differences

SETTINGS = OutlierSettings()


def residuals(n: int = 1000) -> np.ndarray:
    """Normal ones of standard deviation 0.1."""
    return 0.1 * np.random.default_rng(0).normal(size=n)


@pytest.mark.parametrize(("size", "spread", "expected"), [(0.9, 0.1, True), (0.7, 0.1, False), (0.9, 0.4, False)])
def test_a_row_is_one_if_it_is_missed_by_8_deviations_and_by_3_of_the_output(
    size: float, spread: float, expected: bool
) -> None:
    left = np.append(residuals(), -size)
    found = outliers(left, np.ones(1001), spread, SETTINGS, most=0.05)
    assert found[-1] == expected
    assert not found[:-1].any()


def test_many_are_no_exception() -> None:
    left = np.append(residuals(), np.full(100, 5.0))  # a share of 1/11
    assert outliers(left, np.ones(1100), 0.1, SETTINGS, most=0.1).sum() == 100
    assert not outliers(left, np.ones(1100), 0.1, SETTINGS, most=0.09).any()


def test_a_row_that_draws_the_regression_to_itself_is_told_by_its_leverage() -> None:
    left, slack = np.append(residuals(), 0.3), np.append(np.ones(1000), 0.1)
    assert not outliers(left, np.ones(1001), 0.1, SETTINGS, most=0.05)[-1]
    assert outliers(left, slack, 0.1, SETTINGS, most=0.05)[-1]  # 0.3/√0.1 is 9.5 deviations


@pytest.mark.parametrize("off", [replace(SETTINGS, far=np.inf), replace(SETTINGS, fit_most=0.0)])
def test_a_jump_in_a_smooth_function_is_found_and_none_if_the_rule_is_off(off: OutlierSettings) -> None:
    x = np.linspace(-2.0, 2.0, 80)[:, None]
    y = 0.1 * np.sin(x[:, 0])
    y[[20, 50]] = 5.0, -5.0
    y = (y - y.mean()) / y.std()
    found = outliers_of_a_smooth_kernel(squared_differences(x), y, SETTINGS)
    assert {20, 50} == set(np.flatnonzero(found))
    assert not outliers_of_a_smooth_kernel(squared_differences(x), y, off).any()


def test_residuals_of_a_smooth_kernel_are_those_of_rows_left_out() -> None:
    """By brute force: a row is an outlier exactly if its residual without it is far by both measures."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-2.0, 2.0, (60, 1))
    y = np.sin(x[:, 0]) + 0.01 * rng.normal(size=60)
    y[7] += 6.0
    y = (y - y.mean()) / y.std()
    k = lambda a, b: np.exp(-0.5 * np.square(a - b.T) / SETTINGS.fit_width**2)  # noqa: E731
    gap, deviation = np.empty(60), np.empty(60)
    for i in range(60):
        rest = np.arange(60) != i
        G = np.linalg.inv(k(x[rest], x[rest]) + SETTINGS.fit_ridge * np.eye(59))
        mean, row = y[rest] @ G @ k(x[rest], x[[i]]), k(x[[i]], x[rest])
        gap[i] = y[i] - mean[0]
        deviation[i] = np.sqrt(1.0 + SETTINGS.fit_ridge - (row @ G @ row.T)[0, 0])
    size = np.abs(gap) / deviation
    expected = (size > SETTINGS.far * 1.4826 * np.median(size)) & (np.abs(gap) > SETTINGS.least)
    np.testing.assert_array_equal(outliers_of_a_smooth_kernel(squared_differences(x), y, SETTINGS), expected)
    assert expected[7]
