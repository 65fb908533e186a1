"""Ranges of rewards: what widens them, and outliers that do not; a known reward function."""

import gymnasium
import numpy as np
import pytest

from cmerl.errors import InputError, RewardRangeError
from cmerl.rewards import KnownReward, RewardRange, alike
from cmerl.rewards.known import takes_next
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet


def seen(*rewards, done=(), **options):
    found = RewardRange("auto", may_end=False, **options)
    for reward in rewards:
        found.see(reward, 3 if reward in done else None)
    return found


def counted(found, *rewards, ended=False):
    return found.counted(np.array(rewards), np.full(len(rewards), ended)).tolist()


def test_a_reward_near_the_others_widens_the_range_at_once():
    assert seen(0.0, 0.5, 1.9).bounds == (0.0, 1.9)
    assert seen(0.0, 0.5, -0.9).bounds == (-0.9, 1.0)
    assert counted(seen(0.0, 0.5, 1.9), 0.5, 1.9) == [0.5, 1.9]


@pytest.mark.parametrize(("outlier", "instead"), [(1e6, 1.0), (-1e6, -0.5)])
def test_a_single_outlier_counts_as_the_most_extreme_of_the_others(outlier, instead):
    found = seen(0.3, -0.5, -0.5, outlier, 0.2)
    assert found.bounds == (-0.5, 1.0)
    assert counted(found, 0.3, outlier) == [0.3, instead]


@pytest.mark.parametrize("reward", [1e6, -1e6])
def test_what_comes_twice_is_believed(reward):
    found = seen(0.3, reward, 0.2, reward)
    assert found.bounds == (min(0.0, reward), max(1.0, reward))
    assert counted(found, reward, 0.2) == [reward, 0.2]


def test_rewards_of_another_scale_are_believed_from_the_first_episode_on():
    rewards = -1000.0 * np.arange(1.0, 20.0)
    assert seen(*rewards).bounds == (-19_000.0, 1.0)
    assert counted(seen(*rewards), *rewards) == rewards.tolist()


def test_what_ends_an_episode_is_believed_at_once():
    found = seen(-0.1, 0.0, 100.0, done=(100.0,))
    assert found.bounds == (-0.1, 100.0)
    assert counted(found, 100.0, ended=True) == [100.0]
    assert counted(found, 100.0) == [1.0]  # but not where no episode ended


def test_a_penalty_that_ends_an_episode_widens_the_range_downwards():
    assert seen(-0.1, 0.0, -100.0, done=(-100.0,)).bounds == (-100.0, 1.0)


@pytest.mark.parametrize(("declared", "bounds"), [((1.0, 3.0), (0.0, 3.0)), ((-3.0, -1.0), (-3.0, 0.0))])
def test_a_declared_range_includes_the_0_of_steps_after_an_end_once_there_was_one(declared, bounds):
    assert RewardRange(declared, may_end=True).bounds == bounds
    found = RewardRange(declared, may_end=False)
    found.see(declared[0])
    assert found.bounds == declared
    found.see(declared[0], 3)
    assert found.bounds == bounds


@pytest.mark.parametrize(("near", "far"), [(1.99, 2.01), (-0.99, -1.01)])
def test_an_outlier_is_further_outside_of_the_others_range_than_that_is_wide(near, far):
    assert counted(seen(0.0, 1.0, near), near) == [near]
    assert counted(seen(0.0, 1.0, far), far) == [1.0 if far > 0 else 0.0]


def test_proofs_and_declared_ranges_doubt_nothing():
    assert seen(0.0, 0.5, 1e6, robust=False).bounds == (0.0, 1e6)
    declared = RewardRange((0.0, 1e6), may_end=False)
    for reward in (0.0, 0.5, 1e6):
        declared.see(reward)
    assert counted(declared, 1e6) == [1e6]


def test_the_range_is_the_same_after_saving():
    found = seen(0.3, -0.5, 1e6, 3.0, done=(3.0,))
    again = RewardRange.from_spec(found.spec())
    assert again.spec() == found.spec()
    assert again.bounds == found.bounds
    again.see(1e6)
    assert again.bounds[1] == 1e6


def test_what_was_seen_of_steps_and_of_ends_is_kept_apart():
    found = seen(0.3, -0.5, 1e6, 3.0, 2.0, done=(3.0, 2.0))
    assert found.step_rewards == (-0.5, 1e6)
    assert found.believed_step_rewards == (-0.5, 0.3)
    assert found.best_end == 3.0
    assert RewardRange.from_spec(found.spec()).best_end == 3.0


@pytest.mark.parametrize(
    ("declared", "seen", "expected"),
    [
        ((-100.0, 100.0), [0.5, 2.0], 0.0),
        ((-100.0, 100.0), [0.5, -3.0], -3.0),
        ((5.0, 10.0), [7.0], 5.0),  # never below the range
        ((-100.0, 100.0), [], 0.0),
        ("auto", [0.5, 0.7], 0.0),
        ("auto", [-2.0, 0.7, -2.0], -2.0),
    ],
)
def test_what_is_assumed_without_exploring_is_what_was_seen_however_wide_the_range(declared, seen, expected):
    rewards = RewardRange(declared, may_end=False)
    for reward in seen:
        rewards.see(reward)
    assert rewards.fallback == expected


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [
        (0.0, 0.0, True),
        (1e-263, 1e-46, True),  # tails of something far away
        (0.3, 0.1 + 0.2, True),  # rounding
        (1e6, 1e6 + 1e-5, True),
        (-1.0, 0.0, False),
        (0.0, 1e-6, False),
        (1e6, 1e6 + 1.0, False),
    ],
)
def test_rewards_that_differ_by_rounding_are_alike(lo, hi, expected):
    assert alike(lo, hi) is expected


def test_before_anything_was_seen_there_is_nothing_to_tell():
    found = RewardRange("auto", may_end=False)
    assert (found.step_rewards, found.believed_step_rewards, found.best_end) == (None, None, None)


def test_the_soonest_end_is_the_earliest_step_at_which_one_came():
    found = RewardRange("auto", may_end=False)
    for step in (7, 5, 9):
        found.see(0.0, step)
    assert found.soonest_end == 5
    assert RewardRange.from_spec(found.spec()).soonest_end == 5


@pytest.mark.parametrize("wrong", ["wide", (1.0,), (2.0, 1.0), (0.0, np.inf), 3.0])
def test_what_is_no_range_is_refused(wrong):
    with pytest.raises(InputError, match="reward_range"):
        RewardRange(wrong, may_end=False)


def test_a_reward_outside_a_declared_range_is_an_error_and_an_automatic_one_says_so_once(caplog):
    with pytest.raises(RewardRangeError, match=r"outside the declared reward_range \(0, 1\)"):
        RewardRange((0.0, 1.0), may_end=False).see(1.5)
    found = RewardRange("auto", may_end=False)
    for reward in (0.5, 1.5, 2.5):
        found.see(reward)
    assert found.widened
    assert sum("widens" in message for message in caplog.messages) == 1


def test_a_known_reward_is_asked_for_once_at_every_state():
    asked = []

    def reward(obs, action):
        asked.append((float(obs[0]), int(action)))
        return 10.0 * obs[0] + action

    states = StateSpace.of(gymnasium.spaces.Box(0.0, 2.0, (1,), np.float64))
    known = KnownReward(reward, states, ActionSet.of(gymnasium.spaces.Discrete(2)))
    rows = states.encode_many(np.array([[0.5], [1.0], [0.5]]))
    np.testing.assert_allclose(known(rows), [[5.0, 6.0], [10.0, 11.0], [5.0, 6.0]])
    np.testing.assert_allclose(known(rows[:1]), [[5.0, 6.0]])
    assert len(asked) == 4


BOX = gymnasium.spaces.Box(np.array([-1.0, 0.0, -np.inf]), np.array([3.0, 8.0, np.inf]), dtype=np.float64)
TORQUE = gymnasium.spaces.Box(-2.0, 2.0, (1,), np.float32)


def rows_of(n=40, seed=0):
    rng = np.random.default_rng(seed)
    states, actions = StateSpace.of(BOX), ActionSet.of(TORQUE)
    obs, later = (np.column_stack([rng.uniform(-1, 3, n), rng.uniform(0, 8, n), rng.normal(0, 9, n)]) for _ in "ab")
    chosen = rng.uniform(-2, 2, (n, 1)).astype(np.float32)
    coded = states.encode_many(obs), actions.scale.encode(chosen), states.encode_many(later)
    return states, actions, (obs, chosen, later), coded


def test_a_function_that_takes_arrays_is_asked_once_and_says_the_same():
    states, actions, (obs, chosen, later), coded = rows_of()
    calls = []

    def paid(obs, action, next_obs):
        calls.append(np.shape(obs))
        return np.sum(np.square(next_obs), axis=-1) - obs[..., 1] * np.asarray(action)[..., 0]

    known = KnownReward(paid, states, actions)
    assert known.of_next
    expected = [paid(*row) for row in zip(obs, chosen, later, strict=True)]
    calls.clear()
    np.testing.assert_allclose(known.of(*coded), expected, rtol=1e-5)
    assert [shape for shape in calls if len(shape) == 2] == [(8, 3), (40, 3)]  # a probe, and all of them
    calls.clear()
    known.of(*coded)
    assert calls == [(40, 3), (3,)]  # and one row again, to be sure


@pytest.mark.parametrize(
    "paid",
    [
        lambda obs, action, next_obs: float(next_obs[0]) - float(action[0]),  # an array has no float
        lambda obs, action, next_obs: next_obs.sum() - action.sum(),  # one number for all rows
        lambda obs, action, next_obs: 1.0 if next_obs[0] > 0 else 0.0,  # an array is neither true nor false
        lambda obs, action, next_obs: next_obs[0],  # the first row, not the first column
    ],
)
@pytest.mark.parametrize("n", [3, 8, 40])
def test_a_function_that_does_not_take_arrays_is_asked_row_by_row(paid, n):
    states, actions, raw, coded = rows_of(n)
    expected = [paid(*row) for row in zip(*raw, strict=True)]
    np.testing.assert_allclose(KnownReward(paid, states, actions).of(*coded), expected, rtol=1e-5, atol=1e-6)


def test_a_function_that_answers_arrays_by_their_first_row_does_not_mislead_a_plan():
    table = np.arange(12.0).reshape(4, 3)
    states, actions = StateSpace.of(gymnasium.spaces.Discrete(4)), ActionSet.of(gymnasium.spaces.Discrete(3))
    asked = []

    def paid(state, action):
        asked.append(np.size(state))
        return table[np.ravel(state)[0], action]

    np.testing.assert_array_equal(KnownReward(paid, states, actions)(np.array([[0.0], [1.0], [2.0], [3.0]])), table)
    assert asked == [1] * 12  # row by row: no probe can be sure of a function


def test_an_answer_for_the_first_row_alone_is_found_out_where_the_probe_could_not_tell():
    states, actions, (obs, _, _), (s, a, _) = rows_of()
    flat = np.zeros_like(s)
    known = KnownReward(lambda obs, action: np.ravel(obs)[0] + 0.0 * np.asarray(action)[..., 0], states, actions)
    zero = states.decode(flat[:1])[0][0]
    np.testing.assert_allclose(known.of(flat, a), np.full(len(a), zero))  # all rows alike: nothing to be seen
    for _ in range(3):
        found = known.of(s, a)
    np.testing.assert_allclose(found, obs[:, 0], rtol=1e-5, atol=1e-6)


def test_what_a_function_takes_is_read_from_its_signature():
    assert not takes_next(lambda obs, action: 0.0)
    assert takes_next(lambda obs, action, next_obs: 0.0)
    assert takes_next(lambda obs, action, next_obs=None: 0.0)
    assert not takes_next(lambda *args: 0.0)
    assert not takes_next(max)  # written in C, and silent
    for wrong in (lambda obs: 0.0, lambda a, b, c, d: 0.0, lambda obs, action, *, scale: 0.0):
        with pytest.raises(InputError, match=r"must be a function of \(observation, action\) or"):
            takes_next(wrong)


def test_a_known_reward_that_is_none_is_refused():
    states, actions, _, coded = rows_of()
    with pytest.raises(InputError, match="the reward is nan"):
        KnownReward(lambda obs, action: obs[..., 0] * np.nan, states, actions).of(*coded[:2])
    with pytest.raises(InputError, match="takes the next observation"):
        KnownReward(lambda obs, action, next_obs: 0.0, states, actions).of(*coded[:2])
    with pytest.raises(RewardRangeError, match=r"gives .* outside the declared reward_range \(0, 1\)"):
        KnownReward(lambda obs, action: obs[..., 1], states, actions, (0.0, 1.0)).of(*coded[:2])
