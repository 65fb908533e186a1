"""Gymnasium ids of the worlds: entry points are strings, so that a world is imported only when it is made."""

from __future__ import annotations

from typing import Any

from gymnasium.envs.registration import register as register_with_gymnasium
from gymnasium.envs.registration import registry

# id → (entry point, default options)
WORLDS: dict[str, tuple[str, dict[str, Any]]] = {
    "cmerl/RiverSwim-v0": ("cmerl.envs.riverswim:RiverSwim", {}),
    "cmerl/Chain-v0": ("cmerl.envs.chain:Chain", {}),
    "cmerl/GridWorld-v0": ("cmerl.envs.gridworld:GridWorld", {}),
    "cmerl/DeepSea-v0": ("cmerl.envs.deepsea:DeepSea", {}),
    "cmerl/RandomMDP-v0": ("cmerl.envs.random_mdp:RandomMDP", {"states": 10, "actions": 3, "seed": 0}),
    "cmerl/Inventory-v0": ("cmerl.envs.inventory:Inventory", {}),
    "cmerl/PBall2D-v0": ("cmerl.envs.pball:PBall2D", {}),
    "cmerl/LinearQuadratic-v0": ("cmerl.envs.linear_quadratic:LinearQuadratic", {}),
}


def register() -> None:
    """Register every world with Gymnasium; calling it again changes nothing.

    No ``max_episode_steps`` is set, hence no TimeLimit wrapper: an episode's length is the agent's horizon,
    for which ``env.unwrapped.horizon`` is the world's own suggestion.
    """
    for name, (entry_point, options) in WORLDS.items():
        if name not in registry:  # Gymnasium warns when an id is registered twice
            register_with_gymnasium(id=name, entry_point=entry_point, kwargs=dict(options))
