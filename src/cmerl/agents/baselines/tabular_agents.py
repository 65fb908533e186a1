"""Agents that count, and the controls: what the catalogue lists of them."""

from __future__ import annotations

from cmerl.agents.base import Agent
from cmerl.agents.baselines.controls import GreedyAgent, RandomAgent
from cmerl.agents.baselines.psrl import PSRL
from cmerl.agents.baselines.ucbvi import UCBVI

CONTROLS: tuple[type[Agent], ...] = (RandomAgent, GreedyAgent)
TABULAR: tuple[type[Agent], ...] = (PSRL, UCBVI)
