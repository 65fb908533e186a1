from __future__ import annotations

import pytest

from cmerl.report.style import COLOURS, duration, interval, number, styles


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0312, "0.031"), (9.554, "9.55"), (71.94, "71.9"), (974.4, "974"), (12345.6, "12346"), (0.0, "0.00"),
        (-0.0001, "−1.0e−4"), (-12.34, "−12.3"), (3e8, "3.0e8"), (99.97, "100"), (float("nan"), "–"),
        (float("inf"), "∞"), (-0.001, "−0.001"), (0.9951, "1.00"),
    ],
)  # fmt: skip
def test_numbers_have_about_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_intervals_are_read_apart_from_minus_signs() -> None:
    assert interval(1.0, 2.0) == "1.00 – 2.00"
    assert interval(-1.0, 2.0) == "−1.00 to 2.00"
    assert interval(float("nan"), 1.0) == "–"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0123, "12.3 ms"), (3.14159, "3.14 s"), (100, "2 min"), (7000, "1.9 h"), (400_000, "4.6 days")],
)
def test_durations_are_in_the_unit_that_people_use(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_agents_differ_in_colour_or_dash() -> None:
    assert len(set(styles([str(i) for i in range(35)]).values())) == 35
    assert len(set(COLOURS)) == len(COLOURS)
