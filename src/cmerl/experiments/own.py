"""The user's own classes and callables in a run, by "module:attribute" or as objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from loky.backend.reduction import dumps

from cmerl.agents import catalogue as agents
from cmerl.errors import InputError
from cmerl.experiments.spec_errors import nearest

HANDED = "own"  # "own:NAME" is an object that was handed over, and cannot be imported

_OBJECTS: dict[str, Callable[..., Any]] = {}


def hand_over(parts: Mapping[str, Callable[..., Any]]) -> None:
    """Let this process know objects by name: those of ``name_of``, and agents that were registered."""
    for name, part in parts.items():
        if name.startswith(f"{HANDED}:"):
            _OBJECTS[name] = part
        else:
            agents.register(name, part)


def needed(names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """The handed-over objects among these names, for a worker to be sent."""
    return {name: _OBJECTS[name] for name in names if name in _OBJECTS}


def check_sendable(parts: Mapping[str, Callable[..., Any]], environment: str) -> None:
    """Refuse an object that cannot be sent to a worker.

    Args:
        parts: objects by their names.
        environment: the name that is an environment's, for the message.
    """
    for name, part in parts.items():
        try:
            dumps(part)
        except Exception as error:  # whatever an object does when it is pickled
            what = "environment" if name == environment else "agent"
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            raise InputError(
                f"{what} {name.removeprefix(f'{HANDED}:')!r} cannot be sent to another process ({why}): pass a name, "
                "put it into a module, or create what cannot be pickled inside the call"
            ) from error


def registered(name: str) -> dict[str, Callable[..., Any]]:
    """A registered agent by its name, for a worker to be sent; nothing if it is another agent."""
    return {name: agents.find(name)} if name in agents.groups().get(agents.REGISTERED, ()) else {}


def name_of(part: Callable[..., Any], what: str) -> str:
    """A name by which a worker finds a class or a callable; one that cannot be imported is handed over."""
    module, attribute = getattr(part, "__module__", None), getattr(part, "__qualname__", None)
    if isinstance(module, str) and isinstance(attribute, str) and module != "__main__" and attribute.isidentifier():
        try:
            if getattr(import_module(module), attribute, None) is part:
                return f"{module}:{attribute}"
        except ImportError:
            pass
    given = getattr(part, "__name__", None) or type(part).__name__
    words = re.sub(r"[^A-Za-z0-9_.-]+", "", given) or what
    name, number = f"{HANDED}:{words}", 1
    while name in _OBJECTS and _OBJECTS[name] is not part:
        number += 1
        name = f"{HANDED}:{words}-{number}"
    _OBJECTS[name] = part
    return name


def is_reference(name: str) -> bool:
    """Whether a name is "module:attribute"; Gymnasium's own "module:Id-v0" is none, as Id-v0 is no attribute."""
    module, colon, attribute = name.partition(":")
    return bool(colon) and all(p.isidentifier() for p in module.split(".")) and _plain(attribute, module)


def _plain(attribute: str, module: str) -> bool:
    return attribute.isidentifier() or module == HANDED


def module_of(name: str) -> str | None:
    """The module that a reference imports; None for an object that was handed over."""
    module = name.partition(":")[0]
    return None if module == HANDED else module


def find(name: str, allowed: Sequence[str], what: str) -> Callable[..., Any]:
    """What a reference stands for.

    Args:
        name: "module:attribute".
        allowed: modules whose code may run.
        what: "agent" or "environment", for messages.
    """
    if name.startswith(f"{HANDED}:"):
        if name not in _OBJECTS:
            raise InputError(
                f"{what} {name!r} was passed as an object, which is missing here: pass it again, resume(directory, "
                f"{what if what == 'agent' else 'env'}s=[…]), or put it into a module"
            )
        return _OBJECTS[name]
    module, _, attribute = name.partition(":")
    if not any(module == root or module.startswith(f"{root}.") for root in ("cmerl", *allowed)):
        raise InputError(
            f"{what} {name!r} would import module {module!r}: if you trust it, allow it with --allow-env-module "
            f"{module} (allow_env_modules in a spec)"
        )
    try:
        found = import_module(module)
    except Exception as error:  # whatever a module does when it is imported
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        raise InputError(f"{what} {name!r}: module {module!r} cannot be imported: {why}") from error
    part = getattr(found, attribute, None)
    if not callable(part):
        known = [key for key, value in vars(found).items() if callable(value) and not key.startswith("_")]
        raise InputError(f"{what} {name!r}: the module has no {attribute!r} to call: {nearest(attribute, known)}")
    return part  # type: ignore[no-any-return]


def named(entries: Any, what: str) -> tuple[Any, list[str]]:
    """Entries of a spec with objects replaced by their names, and the modules that those come from."""
    if callable(entries) and not isinstance(entries, Mapping):
        entries = [entries]
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        return entries, []
    found, modules = [], []
    key = "id" if what == "environment" else "name"
    for entry in entries:
        inner = entry.get(key) if isinstance(entry, Mapping) else entry
        if callable(inner):
            name = name_of(inner, what)
            modules += [m for m in [module_of(name)] if m is not None]
            label = name.partition(":")[2]
            entry = {"label": label, **(entry if isinstance(entry, Mapping) else {}), key: name}
        found.append(entry)
    return found, modules
