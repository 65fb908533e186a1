"""The linear-quadratic world, and the Riccati oracle against brute force, simulation and SciPy's fixed point."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy import linalg, optimize

import cmerl
from cmerl.envs import LinearQuadratic
from cmerl.errors import InputError
from cmerl.oracles import LinearQuadraticModel, evaluate, gap_regret, solve


def random_model(seed, d=3, m=2):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d))
    A, B = rng.standard_normal((d, d)) / 2, rng.standard_normal((d, m))
    return LinearQuadraticModel(A, B, Q=root @ root.T, R=np.diag([1.0, 0.5]), W=np.eye(d))


def test_gymnasiums_checker_has_no_complaint():
    check_env(gymnasium.make("cmerl/LinearQuadratic-v0").unwrapped, skip_render_check=True)


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


def test_no_play_leaves_the_box_and_the_optimum_stays_in_range():
    env = LinearQuadratic()
    env.reset(seed=0, options={"state": env.bound})
    for action in (1.0, 1.0, 1.0, -1.0) * 50:
        s, *_ = env.step([action])
        assert s in env.observation_space
    assert np.all(np.abs(solve(env, 20).K) @ env.bound <= env.max_action)


def test_the_box_holds_without_clipping_and_is_no_larger_than_needed():
    env, rng = LinearQuadratic(), np.random.default_rng(0)
    corners = env.bound * rng.choice([-1.0, 1.0], size=(500, 2))  # the extremes of a linear map are at corners
    pushes = rng.choice([-1.0, 1.0], size=(500, 3)) * [env.max_action, env.noise, env.noise]
    moved = corners @ env.dynamics.A.T + pushes[:, :1] @ env.dynamics.B.T + pushes[:, 1:]
    np.testing.assert_allclose(np.abs(moved).max(axis=0), env.bound, rtol=1e-12)


def test_agents_have_regret_there():
    env = gymnasium.make("cmerl/LinearQuadratic-v0")
    agent = cmerl.agents.make("random", env, seed=0).learn(3)
    assert all(record.regret > 0 and record.regret_kind == "gaps" for record in agent.history)
    assert agent.history[0].metrics["optimum"] == solve(env, 20).value(env.unwrapped.start)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"A": ((1.2, 0.0), (0.0, 0.5))}, "A must be stable"),
        ({"R": ((0.01,),)}, "beyond max_action = 1"),
        ({"R": ((-1.0,),)}, "R must be symmetric and positive definite"),
        ({"Q": ((1.0, 2.0), (0.0, 1.0))}, "Q must be symmetric"),
        ({"B": ((1.0,),)}, r"B must be a finite array of shape \(2, 1\)"),
        ({"A": "x"}, "A must be an array of numbers, but is 'x'"),
        ({"A": 0.5}, r"A must be a finite array of shape \(1, 1\), but has shape \(\)"),
        ({"start": (9.0, 9.0)}, "start must have shape"),
        ({"noise": np.nan}, "noise and max_action must be finite"),
    ],
)
def test_wrong_options_are_named(wrong, what):
    with pytest.raises(InputError, match=what):
        LinearQuadratic(**wrong)


def test_a_policy_that_is_not_linear_has_no_known_value():
    with pytest.raises(InputError, match="pass gains of shape"):
        evaluate(LinearQuadratic(), lambda obs, step: np.zeros(1), 20)


def test_an_action_out_of_range_is_refused():
    env = LinearQuadratic()
    env.reset(seed=0)
    for action in ([1.5], "left", None):
        with pytest.raises(InputError, match="the action must have shape"):
            env.step(action)
    with pytest.raises(InputError, match="state"):
        env.reset(options={"state": "full"})
