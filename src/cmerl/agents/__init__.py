"""Agents: CME-RL and what it is compared with."""

from cmerl.agents.base import Agent, EpisodeRecord
from cmerl.agents.cme_rl import CMERL

__all__ = ["CMERL", "Agent", "EpisodeRecord"]
