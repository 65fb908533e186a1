"""Ranges of rewards: what widens them, and outliers that do not."""

import logging

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.agents.rewards import PRIZES, RewardRange
from cmerl.envs import PBall2D, RiverSwim
from cmerl.planning import Hope


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


def test_where_only_an_end_pays_it_is_the_prize_that_is_hoped_for():
    assert seen(0.0, 0.0, 2.0, done=(2.0,)).prize() == Hope(0.0, once=PRIZES * 2.0)
    assert seen(-1.0, -1.0, 2.0, done=(2.0,)).prize() == Hope(0.0, once=PRIZES * 2.0)  # 0 a step after an end
    assert seen(0.0, 0.5, 2.0, done=(2.0,)).prize() is None  # other rewards may be better still
    assert seen(-1.0, -1.0, 0.0, done=(0.0,)).prize() is None
    assert seen(0.0, 0.0).prize() is None
    assert seen(0.0, 0.0, 2.0, 1.0, done=(1.0, 2.0)).prize() == Hope(0.0, once=PRIZES * 2.0)  # the best of them
    assert seen(0.5, 0.5, 2.0, done=(2.0,)).prize() == Hope(0.5, once=PRIZES * 1.5)  # instead of a step's reward
    declared = RewardRange((0.0, 2.0), may_end=False)
    declared.see(0.0)
    declared.see(2.0, 3)
    assert declared.prize() is None


def test_a_slippery_lake_is_crossed_while_learning(caplog):
    caplog.set_level(logging.ERROR, "cmerl")
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=100)
    returns = [record.ret for record in cmerl.CMERL(env, seed=0).learn(150).history]
    assert np.mean(returns[-50:]) > 0.5  # V* is 0.74; hoping for a prize at every step it was 0.1


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


@pytest.mark.parametrize("outlier", [1e6, -1e6])
@pytest.mark.parametrize(("world", "episodes"), [(RiverSwim, 60), (PBall2D, 12)])
def test_an_outlier_does_not_destroy_learning(world, episodes, outlier, caplog):
    caplog.set_level(logging.ERROR, "cmerl")

    class Outlying(world):
        steps = 0

        def step(self, action):
            self.steps += 1
            obs, reward, *rest = super().step(action)
            return obs, outlier if self.steps == 150 else reward, *rest

    def regret(env):
        return sum(record.regret for record in cmerl.CMERL(env, seed=0).learn(episodes).history)

    assert regret(Outlying()) < 1.3 * regret(world()) + 2.0
