"""Balanced modes: candidates that cannot be balanced are refused."""

import gymnasium
import pytest

from cmerl import CMERL
from cmerl.agents import make
from cmerl.confidence import (
    Balanced,
    Candidate,
    Tight,
)
from cmerl.envs import RiverSwim
from cmerl.errors import InputError, MissingConstantError


def test_mistakes_are_told_in_one_sentence():
    env = RiverSwim(4, 6)
    with pytest.raises(InputError, match="over must be"):
        make("balanced", env, over="lambda")
    with pytest.raises(InputError, match="needs values"):
        make("balanced", env, over="B_V")
    with pytest.raises(InputError, match="at least one candidate"):
        make("balanced", env, values=[])
    with pytest.raises(InputError, match="unproved modes only"):
        Balanced(candidates=(Candidate(label="tight", mode=Tight()),))
    with pytest.raises(InputError, match="never replans"):
        CMERL(env, bonus="auto", replan=True)
    with pytest.raises(MissingConstantError, match="B_P"):
        make("balanced", gymnasium.make("cmerl/PBall2D-v0"), over="zeta", values=[0.1])
    with pytest.raises(InputError, match="no option 'bonus'"):
        make("balanced", env, bonus="tight")
