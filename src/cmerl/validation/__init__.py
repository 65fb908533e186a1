"""Checks of what users give: each returns the value as it is meant, or raises one sentence."""

from cmerl.validation.episodes import check_reward, check_seed, check_step

__all__ = ["check_reward", "check_seed", "check_step"]
