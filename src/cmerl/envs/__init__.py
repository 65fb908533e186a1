"""Worlds whose dynamics are known, so that regret can be computed exactly."""

from __future__ import annotations

from cmerl.envs.chain import Chain
from cmerl.envs.deepsea import DeepSea
from cmerl.envs.finite import FiniteMDP
from cmerl.envs.gridworld import GridWorld
from cmerl.envs.inventory import Inventory, Prices
from cmerl.envs.linear_quadratic import LinearQuadratic
from cmerl.envs.pball import BallDynamics, PBall2D
from cmerl.envs.random_mdp import RandomMDP, random_mdp
from cmerl.envs.registration import register
from cmerl.envs.riverswim import RiverSwim

__all__ = [
    "BallDynamics",
    "Chain",
    "DeepSea",
    "FiniteMDP",
    "GridWorld",
    "Inventory",
    "LinearQuadratic",
    "PBall2D",
    "Prices",
    "RandomMDP",
    "RiverSwim",
    "random_mdp",
    "register",
]
