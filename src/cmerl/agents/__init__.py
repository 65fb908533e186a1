"""Agents: CME-RL and what it is compared with.

>>> import cmerl.agents
>>> cmerl.agents.names()
['balanced', 'cme-rl', 'greedy', 'psrl', 'random', 'ucbvi']
"""

from __future__ import annotations

import difflib
import inspect
from typing import Any

import gymnasium

from cmerl.agents.balanced import BalancedAgent
from cmerl.agents.base import Agent, EpisodeRecord, Policy
from cmerl.agents.baselines.controls import GreedyAgent, RandomAgent
from cmerl.agents.baselines.psrl import PSRL
from cmerl.agents.baselines.ucbvi import UCBVI
from cmerl.agents.cme_rl import CMERL
from cmerl.agents.settings import Settings
from cmerl.errors import InputError

__all__ = [
    "CMERL",
    "PSRL",
    "UCBVI",
    "Agent",
    "BalancedAgent",
    "EpisodeRecord",
    "GreedyAgent",
    "Policy",
    "RandomAgent",
    "Settings",
    "describe",
    "make",
    "names",
    "options",
]

_AGENTS: dict[str, type[Agent]] = {
    agent.name: agent for agent in (CMERL, BalancedAgent, GreedyAgent, PSRL, RandomAgent, UCBVI)
}


def names() -> list[str]:
    """Names that ``make`` understands, sorted."""
    return sorted(_AGENTS)


def make(
    name: str, env: gymnasium.Env[Any, Any], *, horizon: int | None = None, seed: int = 0, **options: Any
) -> Agent:
    """An agent by name; options that it does not have are an error that names the nearest one."""
    cls = _class(name)
    known = _options(cls)
    for option in options:
        if option not in known:
            near = difflib.get_close_matches(option, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known) or 'none'}"
            raise InputError(f"agent {name!r} has no option {option!r}: {hint}")
    return cls(env, horizon=horizon, seed=seed, **options)


def options(name: str) -> list[str]:
    """Names of the options that ``make`` takes for an agent."""
    return _options(_class(name))


def describe(name: str) -> str:
    """What an agent is, in a line."""
    return (inspect.getdoc(_class(name)) or "").partition("\n")[0].rstrip(".")


def _class(name: str) -> type[Agent]:
    if name not in _AGENTS:
        near = difflib.get_close_matches(name, names(), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names())}"
        raise InputError(f"there is no agent {name!r}: {hint}")
    return _AGENTS[name]


def _options(cls: type[Agent]) -> list[str]:
    """Names of an agent's own options, those of its base included where it passes them on."""
    found: list[str] = []
    for base in cls.__mro__:
        if "__init__" not in base.__dict__:
            continue
        parameters = inspect.signature(vars(base)["__init__"]).parameters.values()
        found += [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in ("horizon", "seed")]
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break
    fixed = {GreedyAgent: ["bonus"], BalancedAgent: ["bonus", "misspecification", "replan"]}.get(cls, [])
    return [name for name in found if name not in fixed]
