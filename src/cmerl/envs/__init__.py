"""Environments, most of them with known dynamics and exact regret."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cmerl.envs.registration import register

if TYPE_CHECKING:
    from cmerl.envs.battery import Battery
    from cmerl.envs.bilinear import Bilinear
    from cmerl.envs.chain import Chain
    from cmerl.envs.deepsea import DeepSea
    from cmerl.envs.dm_control import DmControl
    from cmerl.envs.finite import FiniteMDP
    from cmerl.envs.gridworld import GridWorld
    from cmerl.envs.inventory import Inventory, Prices
    from cmerl.envs.knapsack import Knapsack
    from cmerl.envs.lead_time import LeadTimeInventory
    from cmerl.envs.linear_mixture import LinearMixture
    from cmerl.envs.linear_quadratic import LinearQuadratic
    from cmerl.envs.molecule import Molecule
    from cmerl.envs.object_world import ObjectWorld
    from cmerl.envs.pball import BallDynamics, PBall2D
    from cmerl.envs.pets_cart_pole import PetsCartPole
    from cmerl.envs.pilco_cart_pole import PilcoCartPole
    from cmerl.envs.pilco_double_pendulum import PilcoDoublePendulum
    from cmerl.envs.random_worlds import RandomMDP, random_mdp
    from cmerl.envs.reactor import PIController, Reactor, ReactorDynamics
    from cmerl.envs.regulator import Regulator, RegulatorDynamics
    from cmerl.envs.riverswim import RiverSwim
    from cmerl.envs.routing import Routing
    from cmerl.envs.string_edit import StringEdit
    from cmerl.envs.swing_up import CartPoleSwingUp
    from cmerl.envs.two_rooms import RoomDynamics, TwoRooms

__all__ = [
    "BallDynamics",
    "Battery",
    "Bilinear",
    "CartPoleSwingUp",
    "Chain",
    "DeepSea",
    "DmControl",
    "FiniteMDP",
    "GridWorld",
    "Inventory",
    "Knapsack",
    "LeadTimeInventory",
    "LinearMixture",
    "LinearQuadratic",
    "Molecule",
    "ObjectWorld",
    "PBall2D",
    "PIController",
    "PetsCartPole",
    "PilcoCartPole",
    "PilcoDoublePendulum",
    "Prices",
    "RandomMDP",
    "Reactor",
    "ReactorDynamics",
    "Regulator",
    "RegulatorDynamics",
    "RiverSwim",
    "RoomDynamics",
    "Routing",
    "StringEdit",
    "TwoRooms",
    "random_mdp",
    "register",
]

_HOMES = {
    "BallDynamics": "pball",
    "Battery": "battery",
    "Bilinear": "bilinear",
    "CartPoleSwingUp": "swing_up",
    "Chain": "chain",
    "DeepSea": "deepsea",
    "DmControl": "dm_control",
    "FiniteMDP": "finite",
    "GridWorld": "gridworld",
    "Inventory": "inventory",
    "LinearMixture": "linear_mixture",
    "Knapsack": "knapsack",
    "LeadTimeInventory": "lead_time",
    "Molecule": "molecule",
    "Routing": "routing",
    "StringEdit": "string_edit",
    "ObjectWorld": "object_world",
    "LinearQuadratic": "linear_quadratic",
    "PBall2D": "pball",
    "PetsCartPole": "pets_cart_pole",
    "PilcoCartPole": "pilco_cart_pole",
    "PilcoDoublePendulum": "pilco_double_pendulum",
    "Prices": "inventory",
    "RandomMDP": "random_worlds",
    "PIController": "reactor",
    "Reactor": "reactor",
    "ReactorDynamics": "reactor",
    "Regulator": "regulator",
    "RegulatorDynamics": "regulator",
    "RiverSwim": "riverswim",
    "RoomDynamics": "two_rooms",
    "TwoRooms": "two_rooms",
    "random_mdp": "random_worlds",
}


def __getattr__(name: str) -> Any:
    """Import on first use: registering an environment must not import it."""
    if name in _HOMES:
        return getattr(import_module(f"cmerl.envs.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'cmerl.envs' has no attribute {name!r}")
