"""StringEdit: one place a step."""

import pytest

from cmerl.envs import StringEdit
from cmerl.oracles import solve


def test_stringedit_puts_one_place_right_a_step():
    world = StringEdit("CABD", "ABCD", horizon=6)
    wrong = sum(a != b for a, b in zip("AAAA", "CABD", strict=True))
    expected = sum(min(4 - wrong + step, 4) / 4 for step in range(1, 7))
    assert solve(world, 6).value(0) == pytest.approx(expected)
    obs, _ = world.reset(seed=0, options={"state": "CABA"})
    assert obs == "CABA"
    assert world.step(3 * 4 + 3)[:2] == ("CABD", 1.0)
