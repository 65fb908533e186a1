"""The catalogue of tabular agents and controls."""

from __future__ import annotations

from cmerl.agents.base import Agent
from cmerl.agents.baselines.controls import GreedyAgent, RandomAgent
from cmerl.agents.baselines.epsilon_greedy import EpsilonGreedyAgent
from cmerl.agents.baselines.kl_ucrl import KLUCRL
from cmerl.agents.baselines.psrl import PSRL
from cmerl.agents.baselines.q_learning import OptimisticQLearning
from cmerl.agents.baselines.ucbvi import UCBVI, UCBVIBF, UCBVICH
from cmerl.agents.baselines.ucrl2 import UCRL2

CONTROLS: tuple[type[Agent], ...] = (RandomAgent, GreedyAgent, EpsilonGreedyAgent)
TABULAR: tuple[type[Agent], ...] = (PSRL, UCBVI, UCBVICH, UCBVIBF, UCRL2, KLUCRL, OptimisticQLearning)
