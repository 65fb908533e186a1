"""Tables of the theorems: constants of finite worlds, gains in closed form, and rows of the library's own numbers."""

from __future__ import annotations

import math

import pytest

from cmerl.errors import InputError
from cmerl.theory.tables import (
    finite_setting,
    forms,
    gain_rows,
    linear_setting,
    pac_rows,
    radius_rows,
    regret_rows,
)


def test_constants_of_a_finite_world_always_hold() -> None:
    # ‖V‖ ≤ H√S with values in [0, H], ‖Θ‖² ≤ Σ over S·A rows of ‖p‖² ≤ S·A, and 1 has the norm √S.
    setting = finite_setting(6, 2, 20, lam=0.5, delta=0.2)
    assert (setting.B_V, setting.B_P, setting.one_norm) == pytest.approx((20 * 6**0.5, 12**0.5, 6**0.5))
    # γ of delta kernels spreads N visits evenly over 12 state-actions.
    assert setting.gamma(24).upper == pytest.approx(0.5 * 12 * math.log(1 + 2 / 0.5))
    with pytest.raises(InputError, match="states"):
        finite_setting(0, 2, 20)


def test_gains_that_have_a_closed_form() -> None:
    (row,) = gain_rows("delta", [30], lam=2.0, points=10, dimension=1, lengthscale=1.0)
    exact = 0.5 * 10 * math.log(1 + 3 / 2)
    assert (row["N"], row["at least"], row["at most"]) == (30, pytest.approx(exact), pytest.approx(exact))
    (row,) = gain_rows("linear", [30], lam=2.0, points=10, dimension=3, lengthscale=1.0)
    assert row["at most"] == pytest.approx(0.5 * 3 * math.log(1 + 30 / (3 * 2.0)))  # features of norm at most 1
    # Points far apart in a lengthscale are independent, those close together are one.
    for lengthscale, apart in ((1e-4, 16), (1e4, 1)):
        (row,) = gain_rows("rbf", [32], lam=1.0, points=16, dimension=2, lengthscale=lengthscale)
        assert row["at least"] == pytest.approx(0.5 * apart * math.log(1 + 32 / apart), rel=1e-3)
    with pytest.raises(InputError, match="kernel must be one of delta, linear, rbf, matern"):
        gain_rows("cosine", [3], lam=1.0, points=4, dimension=1, lengthscale=1.0)


def test_rows_hold_every_form_that_the_setting_has() -> None:
    setting = finite_setting(3, 2, 4)
    *rows, last = regret_rows(setting, [10, 1000])
    assert [row["trivial"] for row in rows] == [40.0, 4000.0]
    assert set(rows[0]) == {"episodes", "paper", "tight", "trivial"}
    for form in ("paper", "tight"):
        first = last[form]  # the bound is above the trivial one before, and below it from then on
        (setting_of,) = (s for s in forms(setting) if s.form == form)
        assert setting_of.regret_bound(first) < 4 * first
        assert setting_of.regret_bound(first - 1) >= 4 * (first - 1)
    assert [row["episode"] for row in radius_rows(setting, [5, 50])] == [5, 50]


def test_the_papers_form_needs_the_norm_of_the_constant_where_values_lie_outside_the_space() -> None:
    exact, outside = (linear_setting(3, 4, B_V=9.0, B_P=2.0, zeta=zeta) for zeta in (0.0, 0.01))
    assert [s.form for s in forms(exact)] == ["paper", "tight"]
    assert [s.form for s in forms(outside)] == ["tight"]
    assert [s.form for s in forms(finite_setting(3, 2, 4, zeta=0.01))] == ["paper", "tight"]


def test_below_the_least_epsilon_no_number_of_episodes_suffices() -> None:
    setting = finite_setting(3, 2, 4, zeta=0.001)
    least = pac_rows(setting, [1.0], 0.5)[0]["least epsilon"]
    assert least == pytest.approx(4 * 0.001 * 4 / 0.5, rel=1e-3)  # 4ζH/failure, what is left of Thm 3 as T grows
    below, above = pac_rows(setting, [0.99 * least, 1.01 * least], 0.5)
    assert min(below["paper"], below["tight"]) == math.inf
    assert min(above["paper"], above["tight"]) < math.inf
