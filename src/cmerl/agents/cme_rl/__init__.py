"""CME-RL: one agent composed of a model, an optimism, a planner, an actor and updates."""

from cmerl.agents.cme_rl.agent import CMERL

__all__ = ["CMERL"]
