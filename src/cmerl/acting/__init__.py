"""Actors turn plans into actions: greedy, refined between candidates, or model-predictive control."""

from cmerl.acting.base import Actor, EpisodeActor
from cmerl.acting.budgeted import ExplorationBudget
from cmerl.acting.greedy import Greedy
from cmerl.acting.mpc import MPC
from cmerl.acting.refine import Refined

__all__ = ["MPC", "Actor", "EpisodeActor", "ExplorationBudget", "Greedy", "Refined"]
