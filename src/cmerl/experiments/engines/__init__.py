"""Engines: where units are played."""

from __future__ import annotations

from importlib.util import find_spec

from cmerl.errors import InputError
from cmerl.experiments.engines.base import Engine, EpisodeFinished, Event, Task, UnitFailed, UnitFinished, UnitStarted

__all__ = [
    "ENGINES",
    "Engine",
    "EpisodeFinished",
    "Event",
    "Task",
    "UnitFailed",
    "UnitFinished",
    "UnitStarted",
    "check",
    "make",
]

ENGINES = ("local", "ray")


def check(name: str) -> None:
    """Raise now, before a run directory is made, if an engine's extra is missing."""
    if name == "ray" and find_spec("ray") is None:
        raise InputError("engine 'ray' needs the extra: pip install 'cmerl[ray]'")


def make(name: str, *, jobs: int | None = None, address: str | None = None, journals: str = "driver") -> Engine:
    """An engine by name.

    Args:
        name: one of ``ENGINES``.
        jobs: how many units to play at a time; by default as many as there are cores.
        address: of a Ray cluster to join.
        journals: with Ray, whether records go to the run directory through the "driver", or straight onto a disk that
            all machines "shared".
    """
    check(name)
    if name == "ray":
        from cmerl.experiments.engines.ray import RayEngine

        engine: Engine = RayEngine(jobs=jobs, address=address, journals=journals)
        return engine
    from cmerl.experiments.engines.local import LocalEngine

    return LocalEngine(jobs)
