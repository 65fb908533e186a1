"""Agents that CME-RL is compared with."""
