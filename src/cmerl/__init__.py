"""Reinforcement learning with conditional mean embeddings, for when every episode costs something."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cmerl.envs.registration import register_soon as _register_soon

if TYPE_CHECKING:
    from cmerl.agents import CMERL
    from cmerl.checking import check_agent, check_embedding, check_env, check_kernel
    from cmerl.embedding import ConditionalMeanEmbedding
    from cmerl.exported import load as load_policy

__version__ = "0.2.0"
__all__ = [
    "CMERL",
    "ConditionalMeanEmbedding",
    "__version__",
    "check_agent",
    "check_embedding",
    "check_env",
    "check_kernel",
    "load_policy",
]

_register_soon()

_HOMES = {
    "CMERL": "cmerl.agents",
    "ConditionalMeanEmbedding": "cmerl.embedding",
    "check_agent": "cmerl.checking",
    "check_embedding": "cmerl.checking",
    "check_env": "cmerl.checking",
    "check_kernel": "cmerl.checking",
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
    "theory",
    "wrappers",
)


def __getattr__(name: str) -> Any:
    """Import on first use: ``import cmerl`` itself stays quick."""
    if name == "load_policy":
        return import_module("cmerl.exported").load
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"cmerl.{name}")
    raise AttributeError(f"module 'cmerl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
