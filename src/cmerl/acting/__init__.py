"""A plan becomes actions: greedily, refined between candidates, or by a search through simulation."""

from cmerl.acting.base import Actor, EpisodeActor
from cmerl.acting.greedy import Greedy
from cmerl.acting.refine import Refined
from cmerl.acting.shooting import Shooting

__all__ = ["Actor", "EpisodeActor", "Greedy", "Refined", "Shooting"]
