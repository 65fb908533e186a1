"""Linear and kernel agents, and those for dynamical systems: what the catalogue lists of them."""

from __future__ import annotations

from cmerl.agents.base import Agent

LINEAR_AND_KERNEL: tuple[type[Agent], ...] = ()
DYNAMICAL: tuple[type[Agent], ...] = ()
