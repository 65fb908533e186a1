"""Oracles: dynamic programming against enumeration, simulation and the identities that values obey."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.envs import FiniteMDP, GridWorld, RiverSwim, random_mdp
from cmerl.errors import InputError
from cmerl.oracles import FiniteModel, evaluate, finite_model, gap_regret, solve

SEEDS = st.integers(0, 10_000)


def return_by_paths(env, pi, s, step=0):
    """V^π(s) of action probabilities π (H, S, A), by summing over every path: no dynamic programming."""
    horizon, states, actions = pi.shape
    total = 0.0
    for path in product(product(range(actions), range(states)), repeat=horizon - step):
        probability, reward, here = 1.0, 0.0, s
        for h, (a, there) in enumerate(path, start=step):
            probability *= pi[h, here, a] * env.P[here, a, there]
            reward += env.R[here, a]
            here = there
        total += probability * reward
    return total


def all_policies(horizon, states, actions):
    for choice in product(range(actions), repeat=horizon * states):
        yield np.array(choice).reshape(horizon, states)


def random_policy(env, horizon, seed):
    states, actions = env.R.shape
    return np.random.default_rng(seed).dirichlet(np.ones(actions), size=(horizon, states))


@pytest.mark.parametrize(("states", "actions", "horizon"), [(2, 2, 3), (3, 2, 2), (2, 3, 2)])
def test_the_solution_is_the_best_of_all_policies(states, actions, horizon):
    env = random_mdp(states, actions, seed=11)
    solution = solve(env, horizon)
    policies = list(all_policies(horizon, states, actions))
    for s in range(states):
        best = max(return_by_paths(env, np.eye(actions)[table], s) for table in policies)
        assert solution.value(s) == pytest.approx(best, abs=1e-12)


def test_last_step_values_are_the_rewards():
    env = random_mdp(4, 3, seed=2)
    solution = solve(env, 5)
    assert solution.V.shape == (6, 4)
    assert solution.Q.shape == (5, 4, 3)
    np.testing.assert_array_equal(solution.V[5], 0.0)
    np.testing.assert_array_equal(solution.Q[4], env.R)
    np.testing.assert_array_equal(solution.V[:5], solution.Q.max(axis=2))


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_a_shorter_problem_is_the_tail_of_a_longer_one(seed):
    env = random_mdp(4, 2, seed=seed)
    np.testing.assert_array_equal(solve(env, 7).V[3:], solve(env, 4).V)


def test_known_values():
    assert solve(RiverSwim(), 20).value(0) == pytest.approx(3.3973, abs=5e-5)
    assert solve(GridWorld(), 20).value(0) == pytest.approx(10.855, abs=5e-4)


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_evaluation_is_the_mean_over_all_paths(seed):
    env = random_mdp(3, 2, seed=seed)
    pi = random_policy(env, 3, seed)
    evaluation = evaluate(env, pi, 3)
    for s, step in product(range(3), range(4)):
        assert evaluation.value(s, step) == pytest.approx(return_by_paths(env, pi, s, step), abs=1e-12)


def test_evaluation_agrees_with_simulation():
    env, horizon, episodes = RiverSwim(), 20, 3000
    table = np.random.default_rng(1).choice(2, size=(horizon, 6), p=[0.2, 0.8])
    returns = np.zeros(episodes)
    env.reset(seed=0)
    for i in range(episodes):
        s, _ = env.reset(options={"state": 3})
        for h in range(horizon):
            s, reward, *_ = env.step(table[h, s])
            returns[i] += reward
    error = returns.mean() - evaluate(env, table, horizon).value(3)
    assert abs(error) < 4 * returns.std(ddof=1) / np.sqrt(episodes)
    # The interval is narrow enough to tell this policy from the optimal one.
    assert returns.mean() + 4 * returns.std() / np.sqrt(episodes) < solve(env, horizon).value(3)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_optimal_policy_attains_the_optimal_value(seed):
    env = random_mdp(5, 3, seed=seed)
    solution = solve(env, 6)
    np.testing.assert_array_equal(evaluate(env, solution.policy, 6).V, solution.V)


@pytest.mark.parametrize("env", [GridWorld(), GridWorld(coordinates=True)])
def test_index_inverts_the_observations(env):
    model = finite_model(env)
    for s in range(len(env.cells)):
        obs, _ = env.reset(options={"state": s})
        assert model.index(obs) == s
    np.testing.assert_array_equal(model.start, env.start)


def test_index_takes_equal_observations_for_one():
    model = finite_model(GridWorld(coordinates=True))
    assert model.index([-0.0, 0.25]) == 1
    integers = finite_model(RiverSwim())
    assert integers.index(np.array(4)) == integers.index(np.int32(4)) == integers.index(4) == 4


@pytest.mark.parametrize("obs", [6, -1, 2.5, [3], None, "left"])
def test_index_refuses_what_is_never_observed(obs):
    with pytest.raises(InputError, match="not an observation"):
        finite_model(RiverSwim()).index(obs)


def test_lookups_do_not_wrap_around():
    solution = solve(RiverSwim(), 3)
    assert solution.value(0, step=3) == 0.0
    for call in (
        lambda: solution.value(-1),
        lambda: solution.value(6),
        lambda: solution.value(0, step=4),
        lambda: solution.value(0, step=-1),
        lambda: solution.gap(0, 2),
        lambda: solution.gap(0, 0, step=3),
        lambda: gap_regret(solution, [0, 6], [0, 0]),
        lambda: gap_regret(solution, [0, 1], [0, -1]),
    ):
        with pytest.raises(InputError, match="from 0 to"):
            call()


def test_models_must_fit_together():
    env = FiniteMDP(np.ones((1, 1, 1)), np.ones((1, 1)))
    with pytest.raises(InputError, match="P of shape"):
        FiniteModel(P=env.P, R=env.R[0], start=env.start, observations=env.observations)
    with pytest.raises(InputError, match="each of the 1 states"):
        FiniteModel(P=env.P, R=env.R, start=env.start, observations=np.arange(2))
