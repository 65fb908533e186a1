"""Agents: CME-RL and baselines.

>>> import cmerl.agents
>>> "cme-rl" in cmerl.agents.names()
True
"""

from __future__ import annotations

from cmerl.agents.adapters import FunctionAgent, StableBaselines, from_function
from cmerl.agents.base import Agent, EpisodeRecord, Policy
from cmerl.agents.baselines.controls import GreedyAgent, RandomAgent
from cmerl.agents.baselines.epsilon_greedy import EpsilonGreedyAgent
from cmerl.agents.baselines.kl_ucrl import KLUCRL
from cmerl.agents.baselines.psrl import PSRL
from cmerl.agents.baselines.q_learning import OptimisticQLearning
from cmerl.agents.baselines.ucbvi import UCBVI, UCBVIBF, UCBVICH
from cmerl.agents.baselines.ucrl2 import UCRL2
from cmerl.agents.catalogue import describe, groups, make, names, options, parameters, register
from cmerl.agents.cme_rl import CMERL
from cmerl.agents.cme_rl.balanced import BalancedAgent
from cmerl.agents.cme_rl.settings import Settings

__all__ = [
    "CMERL",
    "KLUCRL",
    "PSRL",
    "UCBVI",
    "UCBVIBF",
    "UCBVICH",
    "UCRL2",
    "Agent",
    "BalancedAgent",
    "EpisodeRecord",
    "EpsilonGreedyAgent",
    "FunctionAgent",
    "GreedyAgent",
    "OptimisticQLearning",
    "Policy",
    "RandomAgent",
    "Settings",
    "StableBaselines",
    "describe",
    "from_function",
    "groups",
    "make",
    "names",
    "options",
    "parameters",
    "register",
]
