"""Oracles: dynamic programming against enumeration, simulation and the identities that values obey."""

from itertools import product
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.envs import Chain, FiniteMDP, GridWorld, RiverSwim, random_mdp
from cmerl.errors import InputError
from cmerl.oracles import FiniteModel, evaluate, finite_model, gap_regret, policy_regret, solve

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


# --- V* and Q* ---------------------------------------------------------------------------------------------


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


def test_a_model_a_wrapped_env_and_an_env_give_one_answer():
    env = RiverSwim(coordinates=True)
    wrapped = gymnasium.wrappers.OrderEnforcing(env)
    np.testing.assert_array_equal(solve(wrapped, 20).V, solve(env, 20).V)
    np.testing.assert_array_equal(solve(finite_model(env), 20).V, solve(env, 20).V)


# --- V^π ---------------------------------------------------------------------------------------------------


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


class Tabulated:
    """A policy that answers both ways, and counts how often it was called one by one."""

    def __init__(self, table, model):
        self.actions, self.model, self.calls = table, model, 0

    def __call__(self, obs, step):
        self.calls += 1
        return self.actions[step, self.model.index(obs)]

    def table(self, observations):
        return self.actions[:, [self.model.index(obs) for obs in observations]]


@pytest.mark.parametrize("coordinates", [False, True])
def test_every_form_of_a_policy_has_the_same_value(coordinates):
    env, horizon = Chain(coordinates=coordinates), 6
    model = finite_model(env)
    actions = np.random.default_rng(0).integers(2, size=(horizon, 5))
    policy = Tabulated(actions, model)
    forms = [
        actions.tolist(),
        np.eye(2)[actions],
        policy,
        lambda obs, step: actions[step, model.index(obs)],
        lambda obs, step: np.asarray(actions[step, model.index(obs)]),
        lambda obs, step: int(actions[step, model.index(obs)]),
    ]
    expected = evaluate(env, actions, horizon).V
    for form in forms:
        np.testing.assert_array_equal(evaluate(env, form, horizon).V, expected)
    assert policy.calls == 0  # table() is preferred
    assert not np.array_equal(evaluate(env, 1 - actions, horizon).V, expected)


def test_a_callable_sees_what_the_environment_shows():
    seen = []
    evaluate(RiverSwim(), lambda obs, step: seen.append(obs) or 0, 1)
    assert [type(obs) for obs in seen] == [int] * 6
    assert seen == list(range(6))


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_optimal_policy_attains_the_optimal_value(seed):
    env = random_mdp(5, 3, seed=seed)
    solution = solve(env, 6)
    np.testing.assert_array_equal(evaluate(env, solution.policy, 6).V, solution.V)


# --- regret ------------------------------------------------------------------------------------------------


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


# --- models ------------------------------------------------------------------------------------------------


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


def test_any_environment_with_tables_has_a_model():
    env = RiverSwim()
    bare = SimpleNamespace(unwrapped=SimpleNamespace(P=env.P, R=env.R))
    model = finite_model(bare)
    np.testing.assert_array_equal(model.start, [1, 0, 0, 0, 0, 0])
    assert model.index(3) == 3
    np.testing.assert_array_equal(solve(bare, 5).V, solve(env, 5).V)


def test_other_environments_have_none():
    cart_pole = gymnasium.make("CartPole-v1")
    assert finite_model(cart_pole) is None
    assert finite_model(SimpleNamespace(P=np.zeros((2, 1, 3)), R=np.zeros((2, 1)))) is None
    with pytest.raises(InputError, match=r"P \(S, A, S\) and R \(S, A\)"):
        solve(cart_pole, 5)
    with pytest.raises(InputError, match=r"P \(S, A, S\) and R \(S, A\)"):
        evaluate(cart_pole, lambda obs, step: 0, 5)


# --- errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("horizon", [0, -3, 2.0, None])
def test_horizons_are_checked(horizon):
    with pytest.raises(InputError, match="horizon must be an integer of at least 1"):
        solve(RiverSwim(), horizon)
    with pytest.raises(InputError, match="horizon must be an integer of at least 1"):
        evaluate(RiverSwim(), lambda obs, step: 0, horizon)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (np.zeros((3, 6)), "actions must be integer"),
        (np.full((3, 6), 2), "from 0 to 1"),
        (np.full((3, 6), -1), "from 0 to 1"),
        (np.zeros((2, 6), dtype=int), r"of shape \(2, 6\)"),
        (np.full((3, 6, 2), 0.6), "state 0 at step 0"),
        (np.tile([1.5, -0.5], (3, 6, 1)), "state 0 at step 0"),
        (np.full((3, 6, 2), np.nan), "state 0 at step 0"),
        (lambda obs, step: 2 if (obs, step) == (4, 1) else 0, "state 4 at step 1"),
        (lambda obs, step: 0.5, "must be an integer from 0 to 1"),
        (lambda obs, step: None, "must be an integer from 0 to 1"),
        (lambda obs, step: np.array([1]), "must be an integer from 0 to 1"),
        (SimpleNamespace(table=lambda obs: np.zeros((3, 5), dtype=int)), r"of shape \(3, 5\)"),
        (None, "a policy is a callable"),
    ],
)
def test_policies_are_checked(policy, message):
    with pytest.raises(InputError, match=message):
        evaluate(RiverSwim(), policy, 3)


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


def test_regrets_refuse_what_does_not_match():
    solution = solve(RiverSwim(), 3)
    with pytest.raises(InputError, match="one shape"):
        policy_regret(solution, solve(RiverSwim(), 4), 0)
    with pytest.raises(InputError, match="n ≤ 3"):
        gap_regret(solution, [0, 0, 0, 0], [0, 0, 0, 0])
    with pytest.raises(InputError, match="one shape"):
        gap_regret(solution, [0, 0], [0])


def test_models_must_fit_together():
    env = FiniteMDP(np.ones((1, 1, 1)), np.ones((1, 1)))
    with pytest.raises(InputError, match="P of shape"):
        FiniteModel(P=env.P, R=env.R[0], start=env.start, observations=env.observations)
    with pytest.raises(InputError, match="each of the 1 states"):
        FiniteModel(P=env.P, R=env.R, start=env.start, observations=np.arange(2))
