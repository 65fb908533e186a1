"""Optimistic (and pessimistic) value iteration over any model [CO22, Alg. 1].

One formula makes every plan, for every model and mode:

    Q_h(s, a) = reward + E[V_{h+1}] + (1 − mass)·ceiling_h + bonus.

The model gives the mean E[V_{h+1}] and its mass, the mean of the constant 1: Σα for an embedding, 1 − u for a
displacement. Without data both are 0, and Q is the ceiling (optimistic initialisation).

Inside a plan rewards count from the smallest one, so a value with k steps to go lies in [0, k·width]; what a plan
reports is in the environment's own units.
"""

from cmerl.embedding import is_kernel_embedding
from cmerl.planning.backward import make_plan
from cmerl.planning.plan import TIE, Plan
from cmerl.planning.site import Basis, RewardEstimate, Site, Stage
from cmerl.planning.task import KnownReward, Task, clip_value

__all__ = [
    "TIE",
    "Basis",
    "KnownReward",
    "Plan",
    "RewardEstimate",
    "Site",
    "Stage",
    "Task",
    "clip_value",
    "is_kernel_embedding",
    "make_plan",
]
