"""A plan becomes actions: greedily, refined between candidates, or by a search through simulation."""

from cmerl.acting.base import Actor, EpisodeActor
from cmerl.acting.greedy import Greedy
from cmerl.acting.mpc import MPC
from cmerl.acting.refine import Refined
from cmerl.acting.thrifty import Spending

__all__ = ["MPC", "Actor", "EpisodeActor", "Greedy", "Refined", "Spending"]
