"""The Riccati oracle against brute force, simulation and SciPy's fixed point."""

import numpy as np
import pytest
from scipy import linalg, optimize

from cmerl.envs import LinearQuadratic
from cmerl.errors import InputError
from cmerl.oracles import LinearQuadraticModel, evaluate, gap_regret, solve


def random_model(seed, d=3, m=2):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d))
    A, B = rng.standard_normal((d, d)) / 2, rng.standard_normal((d, m))
    return LinearQuadraticModel(A, B, Q=root @ root.T, R=np.diag([1.0, 0.5]), W=np.eye(d))


def test_over_a_long_horizon_the_value_is_the_fixed_point_of_scipy():
    model = random_model(0)
    np.testing.assert_allclose(
        solve(model, 300).P[0], linalg.solve_discrete_are(model.A, model.B, model.Q, model.R), rtol=1e-9
    )


def test_two_steps_are_what_a_numerical_optimiser_finds():
    model, s = random_model(1), np.array([1.0, -2.0, 0.5])
    solution = solve(model, 2)

    def expected_cost(a):
        first, second = a[:2], a[2:].reshape(2, 3)  # the second action answers the state linearly
        mean = model.A @ s + model.B @ first
        closed = model.Q + second.T @ model.R @ second
        return s @ model.Q @ s + first @ model.R @ first + mean @ closed @ mean + np.trace(closed @ model.W)

    best = optimize.minimize(expected_cost, np.zeros(8), tol=1e-12)
    assert solution.value(s) == pytest.approx(-best.fun, rel=1e-7)


def test_q_of_any_action_is_one_step_and_then_the_optimum():
    model, rng = random_model(2), np.random.default_rng(0)
    solution = solve(model, 5)
    s, a = rng.standard_normal(3), rng.standard_normal(2)
    mean = model.A @ s + model.B @ a
    later = -(mean @ solution.P[3] @ mean + np.trace(solution.P[3] @ model.W) + solution.c[3])
    assert solution.q(s, a, step=2) == pytest.approx(-(s @ model.Q @ s + a @ model.R @ a) + later, rel=1e-12)


def test_gaps_sum_to_what_a_linear_policy_loses_on_average():
    env = LinearQuadratic()
    solution, gains = solve(env, 20), np.full((20, 1, 2), 0.1)
    lost = solution.value(env.start) - evaluate(env, gains, 20).value(env.start)
    sums = []
    for seed in range(300):
        s, _ = env.reset(seed=seed)
        states, actions = [], []
        for step in range(20):
            states.append(s)
            actions.append(-gains[step] @ s)
            s, *_ = env.step(actions[-1])
        sums.append(gap_regret(solution, states, actions))
    assert abs(np.mean(sums) - lost) < 4 * np.std(sums) / np.sqrt(300)


def test_the_optimal_gains_have_the_optimal_value():
    model = random_model(3)
    solution = solve(model, 7)
    again = evaluate(model, solution.K, 7)
    np.testing.assert_allclose(again.P, solution.P)
    np.testing.assert_allclose(again.c, solution.c)


def test_a_policy_that_is_not_linear_has_no_known_value():
    with pytest.raises(InputError, match="pass gains of shape"):
        evaluate(LinearQuadratic(), lambda obs, step: np.zeros(1), 20)
