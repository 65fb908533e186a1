"""The catalogue of agents: names, options and registration.

To add an agent to cmerl, add its class to the tuple of its group. Users call ``register``.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium

from cmerl.agents.base import Agent
from cmerl.agents.baselines.kernel_agents import DYNAMICAL, LINEAR_AND_KERNEL
from cmerl.agents.baselines.tabular_agents import CONTROLS, TABULAR
from cmerl.agents.cme_rl import CMERL
from cmerl.agents.cme_rl.balanced import BalancedAgent
from cmerl.errors import InputError

Factory = Callable[..., Agent]
"""A class of agents, or any callable ``factory(env, *, horizon=None, seed=0, **options)`` that makes an agent."""

GROUPS: dict[str, tuple[type[Agent], ...]] = {
    "conditional mean embeddings": (CMERL, BalancedAgent),
    "tabular": TABULAR,
    "linear and kernel": LINEAR_AND_KERNEL,
    "dynamical systems": DYNAMICAL,
    "controls": CONTROLS,
}
REGISTERED = "registered"

_FACTORIES: dict[str, Factory] = {agent.name: agent for group in GROUPS.values() for agent in group}


@dataclass(frozen=True)
class Option:
    """An option that ``make`` takes for an agent.

    Attributes:
        name: the keyword.
        type: its annotation, as written.
        default: its default as Python writes it; None if it must be given.
        line: what it is, in a sentence or less.
    """

    name: str
    type: str
    default: str | None
    line: str


def names() -> list[str]:
    """All agent names, sorted."""
    return sorted(_FACTORIES)


def groups() -> dict[str, list[str]]:
    """Agent names by group; registered ones come last."""
    found = {group: [agent.name for agent in classes] for group, classes in GROUPS.items()}
    own = {name for listed in found.values() for name in listed}
    found[REGISTERED] = [name for name in names() if name not in own]
    return {group: listed for group, listed in found.items() if listed}


def register(name: str, factory: Factory) -> None:
    """Register an agent under a name for ``make``, specs and the command line.

    Args:
        name: the name; names of cmerl's own agents are reserved.
        factory: an agent class, or a callable (env, *, horizon=None, seed=0, **options) that returns an agent; it
            replaces an earlier one of the same name.
    """
    if not isinstance(name, str) or not name or name != name.strip():
        raise InputError(f"the name of an agent must be a text such as 'my-agent', not {name!r}")
    if any(name == agent.name for group in GROUPS.values() for agent in group):
        raise InputError(f"there is an agent {name!r} already: choose another name")
    _check_factory(name, factory)
    _FACTORIES[name] = factory


def _check_factory(name: str, factory: Any) -> None:
    """Refuse what cannot make an agent."""
    if not callable(factory):
        raise InputError(f"agent {name!r} needs a class or a callable that makes it, not {factory!r}")
    if isinstance(factory, type) and not issubclass(factory, Agent):
        raise InputError(f"agent {name!r} must derive from cmerl.agents.Agent; {factory.__name__} does not")
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # a builtin
        return
    try:
        signature.bind_partial("env", horizon=None, seed=0)
    except TypeError:
        raise InputError(
            f"agent {name!r} must take (env, *, horizon, seed), and takes {signature}: pass a name of "
            "cmerl.agents.names(), an Agent class, a callable with that signature, or "
            "cmerl.agents.from_function(f) for f(obs)"
        ) from None


def make(
    name: str | Factory, env: gymnasium.Env[Any, Any], *, horizon: int | None = None, seed: int = 0, **options: Any
) -> Agent:
    """Make an agent by name or from a factory. An unknown option raises an error that names the nearest one."""
    factory = find(name)
    if not isinstance(name, str):
        name = getattr(name, "__name__", type(name).__name__)
    _check_factory(name, factory)
    known = [option.name for option in parameters(factory)]
    for option in options:
        if option not in known and not _takes_anything(factory):
            near = difflib.get_close_matches(option, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known) or 'none'}"
            raise InputError(f"agent {name!r} has no option {option!r}: {hint}")
    made = factory(env, horizon=horizon, seed=seed, **options)
    if not isinstance(made, Agent):
        raise InputError(f"agent {name!r} must be a cmerl.agents.Agent; its factory made {type(made).__name__}")
    return made


def options(name: str) -> list[str]:
    """Names of an agent's options."""
    return [option.name for option in parameters(name)]


def parameters(name: str | Factory) -> tuple[Option, ...]:
    """An agent's options, including inherited ones."""
    factory = find(name)
    fixed = getattr(factory, "fixed_options", ())
    lines: dict[str, str] = {}
    found: dict[str, inspect.Parameter] = {}
    for documented, signature in _signatures(factory):
        lines = {**argument_lines(inspect.getdoc(documented) or ""), **lines}
        for parameter in signature.values():
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in ("horizon", "seed", *fixed):
                found.setdefault(parameter.name, parameter)
    return tuple(
        Option(
            parameter.name,
            _annotation(parameter),
            None if parameter.default is parameter.empty else _default(parameter.default),
            lines.get(parameter.name, ""),
        )
        for parameter in found.values()
    )


def describe(name: str) -> str:
    """One-line description of an agent."""
    return (inspect.getdoc(find(name)) or "").partition("\n")[0].rstrip(".")


def find(name: str | Factory) -> Factory:
    """The factory of a name; a factory is returned unchanged."""
    if not isinstance(name, str):
        return name
    if name not in _FACTORIES:
        near = difflib.get_close_matches(name, names(), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names())}"
        raise InputError(f"there is no agent {name!r}: {hint}")
    return _FACTORIES[name]


def argument_lines(docstring: str) -> dict[str, str]:
    """The first sentence on every argument in the ``Args`` section of a docstring in Google's style."""
    section = docstring.partition("\nArgs:\n")[2].partition("\n\n")[0]
    found: dict[str, list[str]] = {}
    latest: list[str] = []
    for line in section.splitlines():
        if not line.startswith("    "):
            break
        if line[4] != " " and ":" in line:
            argument, _, text = line.strip().partition(":")
            latest = found.setdefault(argument, [])
            latest.append(text.strip())
        else:
            latest.append(line.strip())
    return {argument: _first_sentence(" ".join(parts)) for argument, parts in found.items()}


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


def _default(value: Any) -> str:
    """A default as Python writes it; a function by its name, since its repr is an address."""
    return str(value.__name__) if inspect.isfunction(value) else repr(value)


def _annotation(parameter: inspect.Parameter) -> str:
    found = parameter.annotation
    if found is parameter.empty:
        return "Any"
    return found if isinstance(found, str) else getattr(found, "__name__", str(found))


def _signatures(factory: Factory) -> Iterator[tuple[Any, dict[str, inspect.Parameter]]]:
    """The documented signatures of an agent: its class, then the bases that receive its options."""
    if not isinstance(factory, type):
        yield factory, dict(inspect.signature(factory).parameters)
        return
    for base in factory.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        found = dict(inspect.signature(vars(base)["__init__"]).parameters)
        yield base, found
        if not any(p.kind is p.VAR_KEYWORD for p in found.values()):
            return


def _takes_anything(factory: Factory) -> bool:
    """Whether a user's callable takes options that it does not name."""
    if isinstance(factory, type):
        return False
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(factory).parameters.values())
