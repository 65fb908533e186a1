"""The grid oracle: closed forms, symmetry, refinement and simulation on a smooth world."""

from dataclasses import dataclass
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

from cmerl.agents import make
from cmerl.envs import BallDynamics, PBall2D
from cmerl.errors import InputError
from cmerl.oracles import (
    Grid,
    GridEvaluation,
    GridSolution,
    evaluate,
    evaluate_smooth,
    finite_model,
    gap_regret,
    known_model,
    policy_regret,
    smooth_model,
    solve,
    solve_smooth,
)

H = 30
BALL = BallDynamics()


def simulate(model, act, episodes, seed, start=None):
    """States (H, n, 2), actions (H, n) and returns (n,) of ``act(states, step)`` from near the middle."""
    rng = np.random.default_rng(seed)
    s = 0.001 * rng.standard_normal((episodes, 2)) if start is None else np.tile(start, (episodes, 1))
    states, actions, returns = [], [], np.zeros(episodes)
    for h in range(H):
        a = act(s, h)
        states.append(s)
        actions.append(a)
        returns += model.rewards(s)
        mean = np.stack([model.mean_next(s, b) for b in range(model.actions)])[a, np.arange(episodes)]
        s = model.project(mean + model.noise * rng.standard_normal((episodes, 2)))
    return np.array(states), np.array(actions), returns


def four_sigma(sample):
    return 4 * sample.std(ddof=1) / np.sqrt(len(sample))


def towards(point):
    """A simple policy: along the coordinate in which ``point`` is farther away."""

    def act(states, step):
        away = np.asarray(point) - states
        along_y = abs(away[:, 1]) > abs(away[:, 0])
        return np.where(along_y, 2 + (away[:, 1] < 0), (away[:, 0] < 0).astype(int))

    return act


def gaps_by_episode(states, actions):
    solution, n = solve(PBall2D(), H), states.shape[1]
    gaps = solution.gaps(states.reshape(-1, 2), actions.ravel(), np.repeat(np.arange(H), n))
    assert gaps[: n * 2 : n].sum() == pytest.approx(gap_regret(solution, states[:2, 0], actions[:2, 0]))
    return gaps.reshape(H, n).sum(axis=0)


class Tabulated:
    """A policy of many states at once, in the form that plans have."""

    def __init__(self, act):
        self.act = act

    def table(self, observations):
        return np.stack([self.act(observations, h) for h in range(H)])


# --- the grid ----------------------------------------------------------------------------------------------


def test_interpolation_is_exact_for_bilinear_functions():
    grid = Grid((-1.0, 0.0), (1.0, 3.0), 7)

    def f(p):
        return 1 + 2 * p[..., 0] - 3 * p[..., 1] + 4 * p[..., 0] * p[..., 1]

    points = np.random.default_rng(0).uniform([-1, 0], [1, 3], size=(100, 2))
    points = np.concatenate([points, grid.points()])
    corners, weights = grid.corners(points)
    np.testing.assert_allclose((f(grid.points())[corners] * weights).sum(axis=1), f(points), atol=1e-12)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)


@dataclass(frozen=True)
class Line:
    """A drifting walk on a long line that pays x or x²: its values have a closed form."""

    power: int
    noise: float = 0.05
    low: tuple[float, ...] = (-10.0,)
    high: tuple[float, ...] = (10.0,)
    actions: int = 2

    def rewards(self, states):
        return states[:, 0] ** self.power

    def mean_next(self, states, action):
        return states + 0.1 * (2 * action - 1)

    def project(self, points):
        return np.clip(points, -10.0, 10.0)


def test_values_of_a_line_in_closed_form():
    # Always right: r = x at each of 5 steps, x + 0.1h on average; the grid is exact for linear values.
    solution = solve(Line(power=1), 5)
    assert solution.V.shape == (6, 161)
    assert solution.value([0.3]) == pytest.approx(5 * 0.3 + 0.1 * (0 + 1 + 2 + 3 + 4), abs=1e-9)
    assert solution.gap([0.3], 0, step=1) == pytest.approx(0.2 * 3, abs=1e-9)


def test_the_variance_on_the_grid_is_that_of_the_world():
    # E[x²] grows by noise² a step. Interpolation alone would add up to a quarter of the squared spacing.
    right = evaluate_smooth(Line(power=2), np.ones((3, 801), dtype=int), 3, resolution=801)
    x, var = 0.5, 0.05**2
    expected = x**2 + ((x + 0.1) ** 2 + var) + ((x + 0.2) ** 2 + 2 * var)
    assert right.value([x]) == pytest.approx(expected, abs=0.1 * var)


def test_without_noise_a_walk_along_the_grid_is_exact():
    model = BallDynamics(noise=0.0)
    _, _, returns = simulate(model, lambda s, h: np.full(len(s), int(h > 17)), 1, 0, start=(0.0, 0.0))
    table = (np.arange(H) > 17).astype(int)[:, None].repeat(81**2, axis=1)
    assert evaluate_smooth(model, table, H, resolution=81).value((0.0, 0.0)) == pytest.approx(returns[0], abs=1e-9)


# --- V* and Q* ---------------------------------------------------------------------------------------------


def test_shapes_and_the_bellman_equation():
    solution = solve(PBall2D(), H)
    assert isinstance(solution, GridSolution)
    assert solution.V.shape == (H + 1, 161**2)
    assert solution.Q.shape == (H, 161**2, 4)
    np.testing.assert_array_equal(solution.V[H], 0.0)
    np.testing.assert_array_equal(solution.V[:H], solution.Q.max(axis=2))
    assert solution.value((0.75, 0.0), step=H) == 0.0
    assert solution.value((0.75, 0.0), step=H - 1) == pytest.approx(1.0)  # a grid point: the reward itself
    assert solution.value((0.3, 0.4), step=7) == solution.q((0.3, 0.4), step=7).max()
    assert (solution.V[0] >= solution.V[1]).all()  # rewards are not negative


def test_known_value_and_refinement():
    coarse, fine = solve(PBall2D(), H), solve_smooth(BALL, H, 241)
    assert coarse.value((0.0, 0.0)) == pytest.approx(15.08, abs=0.1)
    assert coarse.value((0.0, 0.0)) == pytest.approx(15.1110, abs=5e-4)
    points = BALL.project(np.random.default_rng(0).uniform(-1, 1, size=(200, 2)))
    errors = [coarse.value(p) - fine.value(p) for p in points]
    assert np.abs(errors).max() < 0.05


def test_simulation_of_the_greedy_policy_returns_the_value():
    solution = solve(PBall2D(), H)
    states, actions, returns = simulate(
        BALL, lambda s, h: solution.q_values(s, np.full(len(s), h)).argmax(axis=1), 2000, seed=1
    )
    assert abs(returns.mean() - solution.value((0.0, 0.0))) < four_sigma(returns)
    assert four_sigma(returns) < 0.1  # the interval says something
    assert gap_regret(solution, states[:, 0], actions[:, 0]) == 0.0


def test_turning_the_world_turns_its_values():
    solution = solve(PBall2D(), H)
    points = BALL.project(np.random.default_rng(1).uniform(-1, 1, size=(50, 2)))
    x, y = points.T
    turned = solve(PBall2D(centre=(0.0, 0.75)), H)
    values = [turned.value(p) for p in np.column_stack([-y, x])]
    np.testing.assert_allclose(values, [solution.value(p) for p in points], atol=1e-3)


def test_equal_worlds_are_solved_once():
    first = solve(PBall2D(), H)
    assert solve(gymnasium.make("cmerl/PBall2D-v0", horizon=5), H) is first
    assert solve_smooth(BALL, H, 41) is not solve_smooth(BallDynamics(noise=0.02), H, 41)
    assert not first.V.flags.writeable
    assert not first.Q.flags.writeable


# --- V^π and regret ----------------------------------------------------------------------------------------


def test_the_optimal_policy_attains_the_optimal_value_on_the_grid():
    solution = solve(PBall2D(), H)
    np.testing.assert_array_equal(evaluate(PBall2D(), solution.policy, H).V, solution.V)


def test_every_form_of_a_policy_has_the_same_value():
    act = towards((0.75, 0.0))
    policy = Tabulated(act)
    env = PBall2D()
    expected = evaluate(env, policy, H)
    assert isinstance(expected, GridEvaluation)
    points = BALL.project(expected.grid.points())
    np.testing.assert_array_equal(evaluate(env, np.eye(4)[policy.table(points)], H).V, expected.V)
    short = evaluate_smooth(BALL, lambda obs, step: int(act(obs[None], step)[0]), 2, resolution=21)
    tabulated = evaluate_smooth(BALL, policy.table(BALL.project(short.grid.points()))[:2], 2, resolution=21)
    np.testing.assert_array_equal(short.V, tabulated.V)


GRID_ERROR = 0.02  # of V* at the default resolution: see test_simulation_of_the_greedy_policy…


@pytest.mark.parametrize(("right", "other"), [(1.0, 0.0), (0.85, 0.05)])
def test_gaps_sum_to_the_policys_regret_on_average(right, other):
    law = np.array([right, other, other, other])
    rng = np.random.default_rng(5)
    states, actions, returns = simulate(BALL, lambda s, h: rng.choice(4, size=len(s), p=law), 2000, seed=2)
    evaluation = evaluate(PBall2D(), np.tile(law, (H, 161**2, 1)), H)
    assert abs(returns.mean() - evaluation.value((0.0, 0.0))) < four_sigma(returns)
    regrets = gaps_by_episode(states, actions)
    expected = policy_regret(solve(PBall2D(), H), evaluation, (0.0, 0.0))
    assert abs(regrets.mean() - expected) < four_sigma(regrets) + GRID_ERROR
    assert expected > 5


@pytest.mark.parametrize("point", [(0.75, 0.1), (0.7, 0.15), (0.6, 0.3)])
def test_gaps_sum_to_what_is_lost_on_average(point):
    states, actions, returns = simulate(BALL, towards(point), 2000, seed=2)
    total = gaps_by_episode(states, actions) + returns
    assert abs(total.mean() - solve(PBall2D(), H).value((0.0, 0.0))) < four_sigma(total) + GRID_ERROR
    assert returns.mean() < 14


def test_gaps_are_never_negative():
    solution = solve(PBall2D(), H)
    rng = np.random.default_rng(3)
    states = BALL.project(rng.uniform(-1, 1, size=(5000, 2)))
    gaps = solution.gaps(states, rng.integers(4, size=5000), rng.integers(H, size=5000))
    assert gaps.min() >= 0
    assert gaps.max() > 0.5
    assert gap_regret(solution, states[:3], [0, 1, 2]) == pytest.approx(
        sum(solution.gap(states[h], h, step=h) for h in range(3))
    )
    assert gap_regret(solution, [], []) == 0.0


def test_agents_record_the_gaps():
    env = gymnasium.make("cmerl/PBall2D-v0")
    agent = make("random", env, seed=0)
    played = []
    agent.learn(2, callback=lambda agent, record: played.append(agent.lesson()))
    solution = solve(env, H)
    for record, lesson in zip(agent.history, played, strict=True):
        states, actions = lesson["observations"][:-1], lesson["actions"]
        assert record.regret_kind == "gaps"
        assert record.regret == gap_regret(solution, states, actions)
        assert record.regret > 5


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: gymnasium.wrappers.TransformReward(env, lambda r: 2 * r),
        lambda env: gymnasium.wrappers.TransformObservation(env, np.negative, env.observation_space),
        lambda env: gymnasium.wrappers.TransformAction(env, lambda a: 3 - a, env.action_space),
    ],
)
def test_a_transformed_world_has_no_regret(wrap):
    env = wrap(PBall2D())
    assert smooth_model(env) is None
    record = make("random", env, seed=0).learn(1).history[0]
    assert record.regret is None
    assert record.regret_kind is None


# --- models and errors -------------------------------------------------------------------------------------


def test_models():
    assert smooth_model(gymnasium.make("cmerl/PBall2D-v0")) == BALL
    assert known_model(BALL) is BALL
    assert finite_model(PBall2D()) is None
    assert smooth_model(gymnasium.make("cmerl/RiverSwim-v0")) is None
    assert smooth_model(SimpleNamespace(dynamics="smooth")) is None
    assert known_model(gymnasium.make("CartPole-v1")) is None


def test_lookups_are_checked():
    solution = solve(PBall2D(), H)
    for call in (
        lambda: solution.value((0.0, 0.0), step=H + 1),
        lambda: solution.value((0.0, 0.0), step=-1),
        lambda: solution.q((0.0, 0.0), step=H),
        lambda: solution.gap((0.0, 0.0), 4),
    ):
        with pytest.raises(InputError, match="from 0 to"):
            call()
    for state in (0.0, (0.0, 0.0, 0.0), (np.nan, 0.0)):
        with pytest.raises(InputError, match="2 finite coordinates"):
            solution.value(state)
    with pytest.raises(InputError, match="n ≤ 30"):
        gap_regret(solution, np.zeros((31, 2)), np.zeros(31, dtype=int))
    with pytest.raises(InputError, match="one shape"):
        gap_regret(solution, np.zeros((2, 2)), [0])


def test_sizes_are_checked():
    for resolution in (1, 2000):
        with pytest.raises(InputError, match="a grid needs at least 2 points"):
            solve_smooth(BALL, H, resolution)
    with pytest.raises(InputError, match="horizon must be"):
        solve(PBall2D(), 0)
    with pytest.raises(InputError, match=r"of shape \(30, 9\)"):
        evaluate(PBall2D(), np.zeros((H, 9), dtype=int), H)
