"""Modes that count: what they need is asked for."""

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.confidence import Guarded
from cmerl.envs import FiniteMDP, RiverSwim
from cmerl.errors import InputError, MissingConstantError
from cmerl.kernels import RBF, StateAction


def test_what_they_need_is_asked_for():
    silent = FiniteMDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2)), horizon=3)
    with pytest.raises(MissingConstantError, match="reward_range"):
        CMERL(silent, bonus="kl")
    with pytest.raises(MissingConstantError, match="delta kernels"):
        CMERL(gymnasium.make("CartPole-v1"), bonus="guarded", reward_range=(0, 1))
    with pytest.raises(MissingConstantError, match="delta kernels"):
        CMERL(RiverSwim(4, 6), bonus="kl", kernel=StateAction(RBF(1.0), RBF(1.0), 1))
    with pytest.raises(InputError, match="kappa"):
        Guarded(kappa=0.5)
    with pytest.raises(InputError, match="never replans"):
        CMERL(RiverSwim(4, 6), bonus="kl", replan=True)
    with pytest.raises(InputError, match="drop actions"):
        CMERL(RiverSwim(4, 6), bonus="kl", actions=[1])
