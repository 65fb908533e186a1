"""The record of an intervention is ready for JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cmerl.errors import InputError
from cmerl.safety.caution import Caution, Intervention


def test_an_intervention_is_written_with_plain_numbers_and_without_its_episode() -> None:
    made = Intervention(3, 7, np.array([0.5, -1.0]), np.int64(2), "fallback", "nothing is known yet")
    entry = json.loads(json.dumps(made.entry()))
    assert entry == {
        "step": 7,
        "proposed": [0.5, -1.0],
        "played": 2,
        "by": "fallback",
        "reason": "nothing is known yet",
    }


@pytest.mark.parametrize(
    "options",
    [
        {"steps": 0},
        {"steps": "5"},
        {"samples": 0},
        {"rows": 2.5},
        {"fit_rows": 0},
        {"first": -1},
        {"risk": 2.0},
        {"unknown": -0.1},
        {"inflation": -1.0},
        {"tail": float("nan")},
        {"reach": 0.0},
        {"hidden": 0.0},
        {"untried": 0.0},
        {"shares": (0.5, 1.5)},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(options: dict[str, object]) -> None:
    (name,) = options
    with pytest.raises(InputError, match=name.removesuffix("s")):
        Caution(**options)
    assert Caution(first=0, unknown=1.0, tail=0.0, shares=()).steps == 15
