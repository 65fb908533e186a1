"""Is an environment fit to learn in? Findings that one can act on, before an episode is wasted.

>>> import cmerl, gymnasium
>>> cmerl.check_env(gymnasium.make("CartPole-v1")).ok
True
"""

from cmerl.checking.check import check_env
from cmerl.checking.embeddings import check_embedding
from cmerl.checking.report import Finding, Report

__all__ = ["Finding", "Report", "check_embedding", "check_env"]
