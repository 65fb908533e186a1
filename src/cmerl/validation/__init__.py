"""Input checks: each returns the validated value or raises a one-sentence error."""

from cmerl.validation.episodes import check_reward, check_seed, check_step

__all__ = ["check_reward", "check_seed", "check_step"]
