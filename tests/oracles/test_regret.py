"""Regret: of a policy, and along a trajectory."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.envs import RiverSwim, random_mdp
from cmerl.errors import InputError
from cmerl.oracles import evaluate, gap_regret, policy_regret, solve

SEEDS = st.integers(0, 10_000)


def random_policy(env, horizon, seed):
    states, actions = env.R.shape
    return np.random.default_rng(seed).dirichlet(np.ones(actions), size=(horizon, states))


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_policy_regret_is_the_expected_sum_of_gaps(seed):
    env, horizon = random_mdp(5, 3, seed=seed), 8
    pi = random_policy(env, horizon, seed)
    solution, evaluation = solve(env, horizon), evaluate(env, pi, horizon)
    for s in range(5):
        visits, expected = np.eye(5)[s], 0.0
        for h in range(horizon):
            for t, a in product(range(5), range(3)):
                expected += visits[t] * pi[h, t, a] * solution.gap(t, a, h)
            visits = np.einsum("s,sa,sat->t", visits, pi[h], env.P)
        assert policy_regret(solution, evaluation, s) == pytest.approx(expected, abs=1e-12)
        assert expected > 0


def test_gap_regret_sums_the_gaps_along_a_trajectory():
    solution = solve(RiverSwim(), 3)
    # By hand: with one step left only the banks pay; at the right bank, going left forgoes the last reward.
    assert solution.gap(5, 0, step=2) == 1.0
    assert solution.gap(5, 1, step=2) == 0.0
    states, actions = [0, 0, 1], [1, 0, 0]
    by_hand = sum(solution.V[h, states[h]] - solution.Q[h, states[h], actions[h]] for h in range(3))
    assert gap_regret(solution, states, actions) == pytest.approx(by_hand)
    assert gap_regret(solution, [], []) == 0.0


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_gaps_are_never_negative_and_zero_for_the_best_action(seed):
    solution = solve(random_mdp(4, 3, seed=seed), 5)
    gaps = solution.V[:5, :, None] - solution.Q
    assert (gaps >= 0).all()
    assert gap_regret(solution, [0, 1, 2, 3, 0], solution.policy[range(5), [0, 1, 2, 3, 0]]) == 0.0


def test_regrets_refuse_what_does_not_match():
    solution = solve(RiverSwim(), 3)
    with pytest.raises(InputError, match="one shape"):
        policy_regret(solution, solve(RiverSwim(), 4), 0)
    with pytest.raises(InputError, match="n ≤ 3"):
        gap_regret(solution, [0, 0, 0, 0], [0, 0, 0, 0])
    with pytest.raises(InputError, match="one shape"):
        gap_regret(solution, [0, 0], [0])
