"""Reinforcement learning with conditional mean embeddings, for when episodes are expensive."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cmerl.envs.registration import register_soon as _register_soon

if TYPE_CHECKING:  # what __getattr__ imports on first use, for type checkers and editors
    from cmerl import (
        agents,
        checking,
        confidence,
        embedding,
        envs,
        errors,
        experiments,
        kernels,
        logs,
        oracles,
        planning,
        report,
        theory,
        wrappers,
    )
    from cmerl.agents import CMERL
    from cmerl.agents.evaluation.values import value_of as evaluate
    from cmerl.checking import check_agent, check_embedding, check_env, check_kernel
    from cmerl.embedding import ConditionalMeanEmbedding
    from cmerl.exported import load as load_policy

__version__ = "0.2.0"
__all__ = [
    "CMERL",
    "ConditionalMeanEmbedding",
    "__version__",
    "agents",
    "check_agent",
    "check_embedding",
    "check_env",
    "check_kernel",
    "checking",
    "confidence",
    "embedding",
    "envs",
    "errors",
    "evaluate",
    "experiments",
    "kernels",
    "load_policy",
    "logs",
    "oracles",
    "planning",
    "report",
    "theory",
    "wrappers",
]

_register_soon()

_HOMES = {  # name → its module, and its name there
    "CMERL": ("cmerl.agents", "CMERL"),
    "ConditionalMeanEmbedding": ("cmerl.embedding", "ConditionalMeanEmbedding"),
    "check_agent": ("cmerl.checking", "check_agent"),
    "check_embedding": ("cmerl.checking", "check_embedding"),
    "check_env": ("cmerl.checking", "check_env"),
    "check_kernel": ("cmerl.checking", "check_kernel"),
    "evaluate": ("cmerl.agents.evaluation.values", "value_of"),
    "load_policy": ("cmerl.exported", "load"),
}
_MODULES = (
    "agents",
    "checking",
    "confidence",
    "embedding",
    "envs",
    "errors",
    "experiments",
    "kernels",
    "logs",
    "oracles",
    "planning",
    "report",
    "theory",
    "wrappers",
)


def __getattr__(name: str) -> Any:
    """Import on first use: ``import cmerl`` itself stays quick."""
    if name in _HOMES:
        module, inside = _HOMES[name]
        return getattr(import_module(module), inside)
    if name in _MODULES:
        return import_module(f"cmerl.{name}")
    raise AttributeError(f"module 'cmerl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
