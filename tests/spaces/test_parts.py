"""Observations taken apart and put together again."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from cmerl.errors import InputError
from cmerl.spaces.parts import Part, put_together, take_apart

NESTED = spaces.Dict(
    pose=spaces.Dict(place=spaces.Box(-1.0, 1.0, (2,), np.float64), gear=spaces.Discrete(3, start=1)),
    doors=spaces.Tuple([spaces.MultiBinary(2), spaces.MultiDiscrete([2, 4])]),
    camera=spaces.Box(0, 7, (2, 2), np.uint8),
    name=spaces.Text(5),
)


def parts() -> dict[str, Part]:
    return {part.name: part for part in take_apart(NESTED)}


def test_every_part_is_found_with_its_kind_and_its_declared_ends() -> None:
    found = parts()
    kinds = {name: part.kind for name, part in found.items()}
    assert kinds == {
        "pose.place": "numbers",
        "pose.gear": "categories",
        "doors.0": "categories",
        "doors.1": "categories",
        "camera": "categories",  # whole numbers in two dimensions are codes
        "name": "objects",
    }
    assert (found["pose.gear"].low.tolist(), found["pose.gear"].high.tolist()) == ([1.0], [3.0])
    assert found["doors.1"].high.tolist() == [1.0, 3.0]
    assert found["camera"].image is not None
    assert found["pose.place"].image is None


def test_an_observation_is_put_together_as_it_was() -> None:
    NESTED.seed(0)
    held = list(take_apart(NESTED))
    for _ in range(5):
        obs = NESTED.sample()
        again = put_together([(part.path, part.restore(part.find(obs))) for part in held])
        assert again["name"] == obs["name"]
        assert again["pose"]["gear"] == obs["pose"]["gear"]
        for ours, theirs in ((again["pose"]["place"], obs["pose"]["place"]), (again["camera"], obs["camera"])):
            np.testing.assert_array_equal(ours, theirs)
        for ours, theirs in zip(again["doors"], obs["doors"], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_what_is_found_is_a_copy() -> None:
    place = np.array([0.5, 0.25])
    row = parts()["pose.place"].find({"pose": {"place": place}})
    place[:] = 9.0
    np.testing.assert_array_equal(row, [0.5, 0.25])


@pytest.mark.parametrize(
    ("obs", "message"),
    [
        ({}, "the observation's part 'pose.place' is missing"),
        ({"pose": {"place": [1.0]}}, r"has shape \(1,\), but the space has \(2,\)"),
        ({"pose": {"place": ["a", "b"]}}, "is not numeric"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(obs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parts()["pose.place"].find(obs)


def test_parts_go_through_json() -> None:
    for part in take_apart(NESTED):
        again = Part.from_spec(part.spec())
        assert (again.path, again.kind, again.shape, again.dtype) == (part.path, part.kind, part.shape, part.dtype)
        np.testing.assert_array_equal(again.high, part.high)
    endless = next(take_apart(spaces.Box(-np.inf, np.inf, (1,))))
    assert endless.spec()["low"] == [None]
    assert Part.from_spec(endless.spec()).low.tolist() == [-np.inf]


def test_a_space_of_an_unknown_kind_is_refused() -> None:
    class Odd(spaces.Space[Any]):
        """No space of Gymnasium's own."""

    with pytest.raises(InputError, match="the observation's part 'inner' is a Odd, which is not supported"):
        list(take_apart(spaces.Dict(inner=Odd())))
