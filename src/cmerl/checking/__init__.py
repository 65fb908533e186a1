"""Checkers for environments, kernels, embeddings and agents.

>>> import cmerl, gymnasium
>>> cmerl.check_env(gymnasium.make("CartPole-v1")).ok
True
"""

from cmerl.checking.agents import AgentReport, check_agent
from cmerl.checking.check import check_env
from cmerl.checking.embeddings import check_embedding
from cmerl.checking.kernels import KernelReport, check_kernel
from cmerl.checking.report import Finding, Report

__all__ = [
    "AgentReport",
    "Finding",
    "KernelReport",
    "Report",
    "check_agent",
    "check_embedding",
    "check_env",
    "check_kernel",
]
