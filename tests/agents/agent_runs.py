"""Agents of every kind, and runs in provable modes, that several tests share."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl import CMERL
from cmerl.agents import GreedyAgent, RandomAgent
from cmerl.envs import FiniteMDP
from cmerl.kernels import RBF, Delta, StateAction

AGENTS = {
    "practical": lambda env, seed=0: CMERL(env, seed=seed),
    "practical, no replanning": lambda env, seed=0: CMERL(env, seed=seed, replan=False),
    "practical, a law for each step": lambda env, seed=0: CMERL(env, seed=seed, time_homogeneous=False),
    "nonnegative": lambda env, seed=0: CMERL(env, seed=seed, bonus="nonnegative"),
    "split": lambda env, seed=0: CMERL(env, seed=seed, bonus="split"),
    "tight": lambda env, seed=0: CMERL(env, seed=seed, bonus="tight"),
    "paper": lambda env, seed=0: CMERL(env, seed=seed, bonus="paper"),
    "greedy": lambda env, seed=0: GreedyAgent(env, seed=seed),
    "random": lambda env, seed=0: RandomAgent(env, seed=seed),
}


every_agent = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)


def outcomes(agent):
    """Everything in the history that does not depend on the clock."""
    return [(r.episode, r.ret, r.length, r.regret, r.regret_kind) for r in agent.history]


def q_table(agent):
    env = agent.env.unwrapped
    return np.array([[agent.q_values(obs, h) for obs in env.observations] for h in range(agent.horizon)])


def assert_same(one, other):
    """Equal bit for bit."""
    assert outcomes(one) == outcomes(other)
    if isinstance(one, CMERL):
        np.testing.assert_array_equal(q_table(one), q_table(other))


def known(env, **options):
    """CME-RL on a finite world whose reward it is given."""
    return CMERL(env, reward=lambda s, a: env.R[s, a], reward_range=(0, 1), **options)


def smooth(seed=0, *, finite=False, **options):
    """A finite world with coordinates, RBF kernels, and constants of the user's choice."""
    rng = np.random.default_rng(seed)
    env = FiniteMDP(
        rng.dirichlet(np.full(4, 0.3), (4, 2)), rng.random((4, 2)), horizon=4, coordinates=rng.random((4, 1)) * 3
    )
    kernel = StateAction(RBF(0.5), Delta())
    options = {
        "bonus": "tight",
        "kernel": kernel,
        "value_kernel": RBF(0.5),
        "reward_range": (0, 1),
        "B_R": 5.0,
    } | options
    return env, CMERL(env, seed=seed, states=env.observations if finite else None, **options)
