"""Modes by name, and written down as plain values."""

import pytest

from cmerl.confidence import (
    MODES,
    Balanced,
    BalancedProvable,
    Candidate,
    Practical,
    Tight,
    as_mode,
    mode_from_spec,
    mode_spec,
)
from cmerl.errors import InputError


def test_modes_by_name():
    for name, cls in MODES.items():
        assert as_mode(name) == cls()
        assert cls.name == name
    mine = Practical(sigma_scale=0.2)
    assert as_mode(mine) is mine
    with pytest.raises(InputError, match="tihgt"):
        as_mode("tihgt")


def test_which_modes_prove_something():
    proven = {"paper", "tight", "split", "nonnegative", "kl", "guarded"}
    assert {name for name, cls in MODES.items() if cls.provable} == proven


def test_modes_that_balance_can_be_written_down():
    for mode in (
        Balanced(),
        BalancedProvable(candidates=(Candidate(label="x", mode=Tight(zeta=0.3), B_V=2.0),), floor=3.0),
    ):
        assert mode_from_spec(mode_spec(mode)) == mode
