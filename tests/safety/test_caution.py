"""The record of an intervention is ready for JSON."""

from __future__ import annotations

import json

import numpy as np

from cmerl.safety.caution import Intervention


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
