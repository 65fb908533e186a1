"""Gymnasium ids of the environments. Entry points are strings, so an environment is imported only when made."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

# of the DeepMind Control Suite; cmerl.envs.DmControl makes any other
DMC_TASKS = [
    ("cartpole", "balance"),
    ("cartpole", "swingup"),
    ("pendulum", "swingup"),
    ("reacher", "easy"),
    ("point_mass", "easy"),
]

# id → (entry point, default options)
WORLDS: dict[str, tuple[str, dict[str, Any]]] = {
    "cmerl/RiverSwim-v0": ("cmerl.envs.riverswim:RiverSwim", {}),
    "cmerl/Chain-v0": ("cmerl.envs.chain:Chain", {}),
    "cmerl/GridWorld-v0": ("cmerl.envs.gridworld:GridWorld", {}),
    "cmerl/DeepSea-v0": ("cmerl.envs.deepsea:DeepSea", {}),
    "cmerl/RandomMDP-v0": ("cmerl.envs.random_worlds:RandomMDP", {"states": 10, "actions": 3, "seed": 0}),
    "cmerl/Inventory-v0": ("cmerl.envs.inventory:Inventory", {}),
    "cmerl/LeadTimeInventory-v0": ("cmerl.envs.lead_time:LeadTimeInventory", {}),
    "cmerl/Battery-v0": ("cmerl.envs.battery:Battery", {}),
    "cmerl/StringEdit-v0": ("cmerl.envs.string_edit:StringEdit", {}),
    "cmerl/Molecule-v0": ("cmerl.envs.molecule:Molecule", {}),
    "cmerl/Knapsack-v0": ("cmerl.envs.knapsack:Knapsack", {}),
    "cmerl/Routing-v0": ("cmerl.envs.routing:Routing", {}),
    "cmerl/PBall2D-v0": ("cmerl.envs.pball:PBall2D", {}),
    "cmerl/TwoRooms-v0": ("cmerl.envs.two_rooms:TwoRooms", {}),
    "cmerl/Reactor-v0": ("cmerl.envs.reactor:Reactor", {}),
    "cmerl/CartPoleSwingUp-v0": ("cmerl.envs.swing_up:CartPoleSwingUp", {}),
    "cmerl/PetsCartPole-v0": ("cmerl.envs.pets_cart_pole:PetsCartPole", {}),
    "cmerl/PilcoCartPole-v0": ("cmerl.envs.pilco_cart_pole:PilcoCartPole", {}),
    "cmerl/PilcoDoublePendulum-v0": ("cmerl.envs.pilco_double_pendulum:PilcoDoublePendulum", {}),
    "cmerl/LinearQuadratic-v0": ("cmerl.envs.linear_quadratic:LinearQuadratic", {}),
    "cmerl/LinearMixture-v0": ("cmerl.envs.linear_mixture:LinearMixture", {}),
    "cmerl/Bilinear-v0": ("cmerl.envs.bilinear:Bilinear", {}),
    "cmerl/Regulator-v0": ("cmerl.envs.regulator:Regulator", {}),
    **{
        f"cmerl/dmc-{domain}-{task}-v0": ("cmerl.envs.dm_control:DmControl", {"domain": domain, "task": task})
        for domain, task in DMC_TASKS
    },
}


def register() -> None:
    """Register every world with Gymnasium; calling it again changes nothing.

    No ``max_episode_steps`` is set, so there is no TimeLimit wrapper: the agent's horizon ends an episode, and
    ``env.unwrapped.horizon`` is a suggestion.
    """
    from gymnasium.envs.registration import register as register_with_gymnasium
    from gymnasium.envs.registration import registry

    for name, (entry_point, options) in WORLDS.items():
        if name not in registry:  # Gymnasium warns when an id is registered twice
            register_with_gymnasium(id=name, entry_point=entry_point, kwargs=dict(options))


def register_soon() -> None:
    """Register the environments as soon as Gymnasium is there, without waiting a quarter of a second for it now."""
    if "gymnasium" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, _AfterGymnasium())


class _AfterGymnasium:
    """Lets Gymnasium be imported as ever, and then registers the environments.

    A finder by its one method: to import ``importlib.abc`` for a base class takes as long as the rest of cmerl.
    """

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module's own spec, with a word added to its loader."""
        if fullname != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                register()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
