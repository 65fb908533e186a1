"""FiniteMDP: it plays the tables it was given, reproducibly, and refuses tables that are not a model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cmerl.envs import FiniteMDP, random_mdp
from cmerl.envs.finite import cumulative, draw
from cmerl.errors import InputError

P = np.array([[[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [[0.2, 0.0, 0.8], [1.0, 0.0, 0.0]], [[0, 0, 1], [0, 1, 0]]])
R = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, -5.0]])
POINTS = np.array([[0.0, -1.0], [0.5, 3.0], [2.0, 0.0]])


def play(env, actions, **reset):
    trace = [env.reset(**reset)[1]["state"]]
    for a in actions:
        _, reward, terminated, truncated, info = env.step(a)
        assert not terminated
        assert not truncated
        trace += [reward, info["state"]]
    return trace


def test_rewards_and_deterministic_moves_follow_the_tables():
    env = FiniteMDP(P, R)
    assert play(env, [1, 1, 1, 0], seed=0) == [0, 1.0, 2, -5.0, 1, 3.0, 0, 0.0, env.state]


def test_it_never_ends_by_itself():
    env = FiniteMDP(P, R, horizon=3)
    play(env, [0] * 50, seed=0)  # play() asserts both flags at every step
    assert env.horizon == 3


def test_same_seed_same_trajectory_other_seed_another():
    env = random_mdp(6, 2, seed=1)
    actions = [0, 1] * 20
    first = play(env, actions, seed=5)
    assert play(env, actions, seed=5) == first
    assert play(random_mdp(6, 2, seed=1), actions, seed=5) == first
    assert play(env, actions, seed=6) != first


def test_next_states_have_the_frequencies_of_P():
    env = random_mdp(5, 2, seed=3)
    env.reset(seed=0)
    counts = np.zeros((2, 5))
    for a in range(2):
        for _ in range(4000):
            env.reset(options={"state": 2})
            env.step(a)
            counts[a, env.state] += 1
        assert stats.chisquare(counts[a], 4000 * env.P[2, a]).pvalue > 1e-4
    # The test has power: the other action's distribution is refused.
    assert stats.chisquare(counts[0], 4000 * env.P[2, 1]).pvalue < 1e-4


def test_first_states_have_the_frequencies_of_start():
    start = np.array([0.1, 0.6, 0.3])
    env = FiniteMDP(P, R, start)
    env.reset(seed=0)
    counts = np.bincount([env.reset()[0] for _ in range(4000)], minlength=3)
    assert stats.chisquare(counts, 4000 * start).pvalue > 1e-4


@given(
    st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1.0)), min_size=1, max_size=8).filter(any),
    st.one_of(st.floats(0.0, 1.0, exclude_max=True), st.sampled_from([0.0, np.nextafter(1.0, 0.0)])),
)
def test_a_draw_is_always_possible(weights, u):
    p = np.array(weights) / np.sum(weights)
    assert p[draw(cumulative(p), u)] > 0


def test_a_sum_that_rounds_below_one_does_not_reach_a_state_of_probability_zero():
    p = np.array([0.0, 0.5, 0.5 - 1e-9, 0.0])
    assert draw(cumulative(p), np.nextafter(1.0, 0.0)) == 2
    assert draw(cumulative(p), 0.0) == 1


def test_reset_starts_anywhere():
    env = FiniteMDP(P, R, start=1)
    assert env.reset(seed=0) == (1, {"state": 1})
    assert env.reset(options={"state": np.int64(2)}) == (2, {"state": 2})
    assert env.reset() == (1, {"state": 1})


@pytest.mark.parametrize("options", [{"state": 3}, {"state": -1}, {"state": 0.5}, {"state": None}])
def test_reset_refuses_a_state_that_does_not_exist(options):
    with pytest.raises(InputError, match="from 0 to 2"):
        FiniteMDP(P, R).reset(options=options)


def test_reset_refuses_an_unknown_option():
    with pytest.raises(InputError, match="sate"):
        FiniteMDP(P, R).reset(options={"sate": 1})


@pytest.mark.parametrize("action", [1, np.int64(1), np.int32(1), np.array(1)])
def test_any_integer_is_an_action(action):
    env = FiniteMDP(P, R)
    env.reset(seed=0)
    assert env.step(action)[:2] == (2, 1.0)


@pytest.mark.parametrize("action", [2, -1, 0.0, "left", None])
def test_other_actions_are_refused(action):
    env = FiniteMDP(P, R)
    env.reset(seed=0)
    with pytest.raises(InputError, match="action must be an integer from 0 to 1"):
        env.step(action)


def test_step_before_reset_is_refused():
    with pytest.raises(InputError, match="reset"):
        FiniteMDP(P, R).step(0)


def test_coordinates_are_observed_instead_of_numbers():
    env = FiniteMDP(P, R, coordinates=POINTS)
    observation, info = env.reset(seed=0, options={"state": 1})
    assert info == {"state": 1}
    assert observation.dtype == np.float64
    np.testing.assert_array_equal(observation, POINTS[1])
    np.testing.assert_array_equal(env.observations, POINTS)
    np.testing.assert_array_equal(env.observation_space.low, [0.0, -1.0])
    np.testing.assert_array_equal(env.observation_space.high, [2.0, 3.0])
    observation[:] = 99.0  # the caller's copy, not the world's
    np.testing.assert_array_equal(env.observations, POINTS)


def test_coordinates_do_not_change_the_play():
    plain, spatial = FiniteMDP(P, R), FiniteMDP(P, R, coordinates=POINTS)
    assert play(plain, [0] * 30, seed=4) == play(spatial, [0] * 30, seed=4)


def test_the_model_is_a_copy_that_cannot_be_changed():
    table = P.copy()
    env = FiniteMDP(table, R)
    table[0, 0] = [0.0, 0.0, 1.0]
    np.testing.assert_array_equal(env.P, P)
    with pytest.raises(ValueError, match="read-only"):
        env.P[0, 0, 0] = 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"P": P[:, :, :2]}, r"shape \(S, A, S\)"),
        ({"P": P[0]}, r"shape \(S, A, S\)"),
        ({"P": P - 0.01 * np.eye(3)[1][:, None, None]}, r"state 1, action 0"),
        ({"P": P + np.array([1.0, -1.0, 0.0])}, r"state 0, action 0"),  # sums to 1, but is negative
        ({"P": np.full_like(P, np.nan)}, "finite"),
        ({"R": R.T}, r"R must have shape \(3, 2\)"),
        ({"R": np.where(R > 3, np.inf, R)}, "R must be finite"),
        ({"start": 3}, "start must be an integer from 0 to 2"),
        ({"start": 1.5}, "start must be an integer"),
        ({"start": [0.5, 0.5]}, r"start must have shape \(3,\)"),
        ({"start": [0.5, 0.6, 0.0]}, "start must be non-negative and sum to 1"),
        ({"start": [1.5, -0.5, 0.0]}, "start must be non-negative"),
        ({"horizon": 0}, "horizon must be an integer of at least 1"),
        ({"horizon": 2.5}, "horizon must be an integer"),
        ({"coordinates": POINTS[:2]}, r"coordinates must have shape \(3, 2\)"),
        ({"coordinates": [0.0, 1.0, 2.0]}, r"coordinates must have shape \(S, d\)"),
        ({"coordinates": POINTS[[0, 1, 0]]}, "two rows are equal"),
    ],
)
def test_what_is_not_a_model_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        FiniteMDP(**({"P": P, "R": R} | change))


def test_sums_within_the_tolerance_are_accepted_and_beyond_it_named():
    FiniteMDP(P * (1 + 5e-9), R)
    wrong = P.copy()
    wrong[2, 1, 1] += 2e-8
    with pytest.raises(InputError, match="state 2, action 1"):
        FiniteMDP(wrong, R)
