"""Ranges of rewards: what widens them, and outliers that do not; a known reward function."""

import numpy as np
import pytest

from cmerl.errors import InputError, RewardRangeError
from cmerl.rewards import RewardRange, alike
from cmerl.rewards.range import ENOUGH


def seen(*rewards, done=(), usual=ENOUGH, **options):
    """What was seen of these rewards, the first of them often enough for others to stand out."""
    found = RewardRange("auto", may_end=False, **options)
    for reward in (*rewards[:1] * usual, *rewards):
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


def test_the_range_of_a_few_rewards_doubts_nothing():
    """A usual cost of the first episode would be learned as a small one for ever."""
    assert counted(seen(-0.2, -0.3, -2.0, usual=0), -2.0) == [-2.0]
    assert counted(seen(-0.2, -0.3, -2.0, usual=ENOUGH - 3), -2.0) == [-0.3]


def test_files_of_earlier_versions_do_not_say_how_many_rewards_there_were():
    spec = seen(0.3, -0.5, 1e6).spec()
    del spec["seen"]
    assert RewardRange.from_spec(spec).believed_step_rewards == (-0.5, 0.3)


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


def test_how_many_rewards_there_were_is_saved():
    found = RewardRange.from_spec(seen(0.3, -0.5, 0.2, usual=0).spec())
    found.see(1e6, None)
    assert found.believed_step_rewards == (-0.5, 1e6)  # too few to doubt it
