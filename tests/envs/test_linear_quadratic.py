"""The linear-quadratic world: its box, its optimum, and options that make no sense."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import cmerl
from cmerl.envs import LinearQuadratic
from cmerl.errors import InputError
from cmerl.oracles import solve


def test_gymnasiums_checker_has_no_complaint():
    check_env(gymnasium.make("cmerl/LinearQuadratic-v0").unwrapped, skip_render_check=True)


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


def test_an_action_out_of_range_is_refused():
    env = LinearQuadratic()
    env.reset(seed=0)
    for action in ([1.5], "left", None):
        with pytest.raises(InputError, match="the action must have shape"):
            env.step(action)
    with pytest.raises(InputError, match="state"):
        env.reset(options={"state": "full"})
