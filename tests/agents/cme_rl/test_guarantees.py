"""Proofs as methods: bounds on V* around the truth, and a typed refusal where nothing is proven."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.errors import InputError
from cmerl.oracles import solve


def test_bounds_hold_and_close_with_data() -> None:
    env = gymnasium.make("cmerl/RiverSwim-v0", horizon=6)
    agent = CMERL(env, seed=0, bonus="kl", reward_range=(0, 1))
    optimum = solve(env, agent.horizon)
    widths = []
    for episodes in (1, 200):
        agent.learn(episodes)
        for state in range(3):
            lower, upper = agent.value_bounds(state, 0)
            assert lower - 1e-9 <= optimum.value(state) <= upper + 1e-9
        widths.append(upper - lower)
    assert widths[1] <= widths[0]


def test_the_confidence_set_holds_the_true_law() -> None:
    env = gymnasium.make("cmerl/RiverSwim-v0")
    agent = CMERL(env, seed=0, bonus="tight", reward_range=(0, 1)).learn(5)
    P = np.asarray(env.unwrapped.P)
    assert agent.confidence_set().contains(P)


def test_a_mode_that_proves_nothing_says_so() -> None:
    agent = CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0).learn(1)
    for ask in (lambda: agent.value_bounds(0, 0), agent.confidence_set):
        with pytest.raises(InputError, match="'practical'"):
            ask()
    drawn = agent.pac_policy(0.5)
    assert not drawn.certified
    assert "nothing is proven" in drawn.statement
