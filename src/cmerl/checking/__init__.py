"""Is an environment fit to learn in, is a kernel one? Findings that one can act on, before an episode is wasted.

>>> import cmerl, gymnasium
>>> cmerl.check_env(gymnasium.make("CartPole-v1")).ok
True
"""

from cmerl.checking.check import check_env
from cmerl.checking.kernels import KernelReport, check_kernel
from cmerl.checking.report import Finding, Report

__all__ = ["Finding", "KernelReport", "Report", "check_env", "check_kernel"]
