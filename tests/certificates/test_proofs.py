"""Proofs of a run: what ends them, what they assume, and what they bound."""

import logging

import numpy as np
import pytest
from agent_runs import known, smooth
from small_worlds import jackpot

from cmerl import CMERL
from cmerl.confidence import Paper, Tight
from cmerl.envs import RiverSwim
from cmerl.errors import InputError


def test_constants_that_data_contradict_are_reported_once_and_end_the_proof(caplog):
    _, agent = smooth(B_P=0.05, B_V=1e-3)
    with caplog.at_level(logging.WARNING, "cmerl"):
        agent.learn(70)
    text = [record.getMessage() for record in caplog.records if "contradicted" in record.getMessage()]
    assert len(text) == 2
    assert {line.split()[0] for line in text} == {"B_P", "B_V"}
    assert agent.diagnostics()["proof"].startswith("void: the data contradict")


def test_constants_that_are_large_enough_are_not(caplog):
    _, agent = smooth(B_P=50.0, B_V=500.0)
    with caplog.at_level(logging.WARNING, "cmerl"):
        agent.learn(20)
    assert not [r for r in caplog.records if "contradicted" in r.getMessage()]
    assert agent.diagnostics()["proof"].startswith("holds")


@pytest.mark.parametrize("mode", [Paper(), Tight()])
def test_delta_kernels_need_no_constants_and_are_never_contradicted(mode):
    agent = known(RiverSwim(4, 6), bonus=mode).learn(4)
    found = agent.estimate_constants()
    assert found["B_P"].upper <= np.sqrt(8) + 1e-9
    assert found["B_P"].lower <= np.sqrt((agent.env.unwrapped.P**2).sum()) <= found["B_P"].upper


def test_a_broken_assumption_on_rewards_ends_all_claims():
    agent = CMERL(jackpot(start=1), seed=0, bonus="nonnegative").learn(2)
    assert agent.diagnostics()["proof"].startswith("void: a reward outside the assumed")
    assert "regret_bound" not in agent.history[-1].metrics
    with pytest.raises(InputError, match="void: a reward outside the assumed"):
        agent.value_bounds(0)
    assert agent.pac_policy(1.0, 0.5).epsilon is None


def test_a_void_proof_bounds_no_values():
    agent = known(RiverSwim(4, 6), seed=0, bonus="tight", B_P=0.01, B_V=0.01).learn(64)
    assert agent.diagnostics()["proof"].startswith("void")
    with pytest.raises(InputError, match="void: the data contradict"):
        agent.value_bounds(0)


def test_a_return_above_the_maximal_one_ends_the_proof(caplog):
    env = RiverSwim(4, 6)
    agent = known(env, seed=0, bonus="split", max_return=0.01)
    with caplog.at_level(logging.WARNING, "cmerl"):
        agent.learn(6)
    assert agent.diagnostics()["proof"].startswith("void: the data contradict max_return")
    assert sum("max_return" in record.getMessage() for record in caplog.records) == 1
