"""Observations and steps that an exported policy does not expect are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cmerl
from cmerl.errors import InputError


def test_observations_and_steps_are_checked(ball: tuple[cmerl.CMERL, Path]) -> None:
    loaded = cmerl.load_policy(ball[1])
    for obs, step, sentence in [
        ([0.1], 0, r"has shape \(1,\) where the policy expects \(2,\)"),
        ([0.1, "x"], 0, "is not numeric"),
        ([0.1, np.nan], 0, "NaN or infinite"),
        ([0.1, 0.2], 30, "step must be a whole number from 0 to 29"),
    ]:
        with pytest.raises(InputError, match=sentence):
            loaded(obs, step)
