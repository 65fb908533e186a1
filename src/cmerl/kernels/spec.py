"""Kernels to JSON-able dictionaries and back, for any kernel that is a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import Any

from cmerl.errors import KernelError
from cmerl.kernels.base import OPERATIONS, REGISTRY, Kernel
from cmerl.objects import from_json


def to_spec(kernel: Kernel) -> dict[str, Any]:
    """Describes a kernel by the name of its class and its dataclass fields; kernels inside it are nested."""
    cls = type(kernel)
    if "__dataclass_fields__" not in cls.__dict__:  # an inherited list of fields would miss the class's own
        raise KernelError(f"{cls.__name__} cannot be saved: decorate it with @dataclass(frozen=True).")
    return {"type": cls.__name__} | {
        field.name: _encode(getattr(kernel, field.name), f"{cls.__name__}.{field.name}")
        for field in fields(kernel)
        if field.init
    }


def from_spec(spec: Mapping[str, Any]) -> Kernel:
    """Builds the kernel that `Kernel.spec` described.

    Raises:
        KernelError: If the type is unknown or the fields do not match.
    """
    if not isinstance(spec, Mapping) or "type" not in spec:
        raise KernelError(f'A kernel description is a dictionary with a "type", got {spec!r}.')
    cls = REGISTRY.get(spec["type"])
    if cls is None or inspect.isabstract(cls):
        known = {name.lower(): name for name, c in REGISTRY.items() if not inspect.isabstract(c)}
        close = [known[name] for name in get_close_matches(str(spec["type"]).lower(), known)]
        hint = f"did you mean {' or '.join(close)}?" if close else "import its module, or use one of cmerl.kernels."
        raise KernelError(f"There is no kernel named {spec['type']!r}; {hint}")
    settable = [field for field in fields(cls) if field.init]
    allowed = {field.name for field in settable}
    required = {f.name for f in settable if f.default is MISSING and f.default_factory is MISSING}
    given = set(spec) - {"type"}
    if wrong := sorted(given - allowed):
        raise KernelError(f"{cls.__name__} has no parameter {', '.join(wrong)}.")
    if missing := sorted(required - given):
        raise KernelError(f"The description of {cls.__name__} lacks {', '.join(missing)}.")
    return cls(**{name: _decode(spec[name]) for name in given})


def _encode(value: Any, where: str) -> Any:
    if isinstance(value, Kernel):
        return value.spec()
    if isinstance(value, tuple | list):
        return [_encode(v, where) for v in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise KernelError(f"{where} cannot be saved: {type(value).__name__} has no JSON form.")


def _decode(value: Any) -> Any:
    if isinstance(value, Mapping):
        return from_json(value["object"]) if set(value) == {"object"} else from_spec(value)
    if isinstance(value, list | tuple):
        return tuple(_decode(v) for v in value)
    return value


OPERATIONS["spec"] = to_spec
