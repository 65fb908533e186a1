"""Logged episodes: what is malformed or outside its space is named and located."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from logged import BOX, OBSERVATIONS, PLAYED, TWO

from cmerl import logs
from cmerl.errors import InputError


@pytest.mark.parametrize(
    ("played", "sentence"),
    [
        ({**PLAYED, "rewards": [1.0]}, "3 observations, 2 actions and 1 rewards"),
        ({"observations": OBSERVATIONS, "actions": [0, 1]}, "episode 0 has no rewards: it has observations, actions"),
        ({**PLAYED, "rewards": [1.0, np.nan]}, "episode 0, step 1: the reward is nan"),
        ({**PLAYED, "terminated": [True, False]}, "goes on after it terminated at step 0"),
        ({**PLAYED, "actions": [], "rewards": [], "observations": [[0, 0]]}, "episode 0 has no steps"),
    ],
)
def test_a_malformed_episode_is_named(played: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        logs.read([played])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"actions": [0, 2]}, "episode 0, step 1: the action is 2, outside of the whole numbers 0 to 1"),
        ({"actions": [0, 0.5]}, "step 1: the action is 0.5"),
        ({"observations": OBSERVATIONS * 3}, r"step 2: the observation has 1.2 in column 0, outside of \[-1, 1\]"),
        ({"observations": [[0, 0], [0, np.inf], [0, 0]]}, "step 1: the observation has a NaN or infinite entry"),
        ({"observations": [[0], [0], [0]]}, r"step 0: the observation is \[0\], not numbers of shape \(2,\)"),
    ],
)
def test_values_outside_the_spaces_are_located(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        logs.read([{**PLAYED, **changed}]).within(BOX, TWO)


def test_text_and_float32_may_round() -> None:
    found = logs.read([{**PLAYED, "observations": [[0, 0], [0, 0], [1.000001, 0]]}]).within(BOX, TWO)
    assert found.episodes[0].observations[-1][0] == 1.0
