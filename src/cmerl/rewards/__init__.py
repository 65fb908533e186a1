"""Rewards: their range, and reward functions that a user knows."""

from cmerl.rewards.known import KnownReward, RewardFunction
from cmerl.rewards.range import RewardRange, alike, check_range

__all__ = ["KnownReward", "RewardFunction", "RewardRange", "alike", "check_range"]
