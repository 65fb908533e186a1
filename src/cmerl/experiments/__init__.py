"""Experiments: run, resume, store and compare environments × agents × seeds.

>>> from cmerl import experiments
>>> experiments.run("cmerl/RiverSwim-v0", agents=["cme-rl", "random"], episodes=20)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cmerl.experiments.results import Results, load
    from cmerl.experiments.runner import resume, run
    from cmerl.experiments.spec import Spec

__all__ = ["Results", "Spec", "load", "resume", "run"]

_HOMES = {"Results": "results", "load": "results", "resume": "runner", "run": "runner", "Spec": "spec"}


def __getattr__(name: str) -> Any:
    """Import on first use: statistics alone need none of this."""
    if name in _HOMES:
        return getattr(import_module(f"cmerl.experiments.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'cmerl.experiments' has no attribute {name!r}")
