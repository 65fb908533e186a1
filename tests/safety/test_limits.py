"""Limits on the numbers of an observation."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from cmerl.errors import InputError
from cmerl.safety.limits import Limits
from cmerl.spaces import StateSpace

ARM = StateSpace.of(spaces.Dict(joint=spaces.Box(-1.0, 1.0, (2,)), load=spaces.Box(0.0, 9.0, (1,))))


@pytest.mark.parametrize(
    ("key", "names", "column"),
    [(2, (), 2), ("2", (), 2), ("joint.1", (), 1), ("load", (), 2), ("weight", ("a", "b", "weight"), 2)],
)
def test_a_number_is_called_by_its_column_its_place_or_its_name(
    key: Any, names: tuple[str, ...], column: int
) -> None:
    assert Limits.of({key: (0.0, 1.0)}, ARM, names).columns.tolist() == [column]


def test_inside_is_within_all_limits_ends_included_and_a_breach_says_which() -> None:
    limits = Limits.of({"joint.0": (-0.5, None), "load": (None, 4.0)}, ARM)
    numbers = np.array([[-0.5, 7.0, 4.0], [-0.6, 0.0, 0.0], [0.9, 0.0, 4.5], [0.9, -9.0, -9.0]])
    assert limits.inside(numbers).tolist() == [True, False, False, True]
    assert [limits.breach(row) for row in numbers] == [
        None,
        "joint.0 is -0.6, below -0.5",
        "load is 4.5, above 4",
        None,
    ]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "limits must map columns or names"),
        ([(0, 1)], "limits must map columns or names"),
        ({"elbow": (0, 1)}, "limits has 'elbow', but the observation has 0, 1, 2, joint.0, joint.1, load"),
        ({True: (0, 1)}, "limits has True"),
        ({3: (0, 1)}, "limits has 3"),
        ({0: (1, 0)}, "the limits of 0 must be"),
        ({0: (0, float("nan"))}, "the limits of 0 must be"),
        ({0: 5}, "the limits of 0 must be"),
        ({0: ("low", 1)}, "the limits of 0 must be"),
    ],
)
def test_what_is_no_limit_is_refused(limits: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Limits.of(limits, ARM)
