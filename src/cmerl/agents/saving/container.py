"""Agents on disk: one safetensors file with a JSON header and a checksum, written atomically, never pickled."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.files import check_replaceable, read_regular, saying_why, write_atomically

FORMAT = 2
READERS = {1: "cmerl 0.1"}  # of earlier formats
Tensors = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], tensors: Tensors, meta: dict[str, Any]) -> None:
    """Write arrays and a JSON-able description; an interrupted write leaves the old file."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"there is no directory {str(target.parent)!r} to save to")
    check_replaceable(target)
    write_atomically(target, [to_bytes(tensors, meta)])


def to_bytes(tensors: Tensors, meta: dict[str, Any]) -> bytes:
    """What ``write`` puts into a file."""
    from safetensors.numpy import save

    header = json.dumps({"format": FORMAT, **meta}, sort_keys=True)
    arrays = {name: np.ascontiguousarray(a) for name, a in tensors.items()}
    return bytes(save(arrays, metadata={"cmerl": header, "sha256": checksum(arrays, header)}))


def read(path: str | os.PathLike[str]) -> tuple[Tensors, dict[str, Any]]:
    """Arrays and description of a saved agent, or one sentence on why not; what they say is not yet checked."""
    name = os.fspath(path)
    if not os.path.lexists(name):
        raise InputError(f"there is no file {name!r} to load")
    with saying_why(name):
        content = read_regular(name, follow=True)
    return from_bytes(content, repr(name))


def from_bytes(content: bytes, name: str) -> tuple[Tensors, dict[str, Any]]:
    """The inverse of ``to_bytes``; ``name`` is what messages call it."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        metadata = _metadata(content)
        tensors = load(content)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{name} is not a saved agent: {_first_line(error)}") from None
    header = metadata.get("cmerl")
    if not isinstance(header, str):
        raise InputError(f"{name} is a safetensors file, but not of an agent")
    if checksum(tensors, header) != metadata.get("sha256"):
        raise InputError(f"{name} is damaged: its checksum does not match its content")
    try:
        meta = json.loads(header)
    except (ValueError, RecursionError):
        raise InputError(f"{name} is damaged: its description is not JSON") from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise InputError(f"{name} {_other_format(meta.get('format') if isinstance(meta, dict) else None)}")
    return tensors, meta


def _metadata(content: bytes) -> dict[str, Any]:
    """The texts in the header of a safetensors file: eight bytes of length, then JSON."""
    length = int.from_bytes(content[:8], "little")
    if not 2 <= length <= len(content) - 8:
        raise ValueError("it has no header")
    header = json.loads(content[8 : 8 + length])
    found = header.get("__metadata__", {})
    return found if isinstance(found, dict) else {}


def _other_format(found: Any) -> str:
    reader = READERS.get(found) if type(found) is int else None
    if reader is None:
        return f"has format {str(found)[:40]}, this version of cmerl reads {FORMAT}"
    return f"has format {found}, which {reader} reads: this version of cmerl reads format {FORMAT}, so train it again"


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]


def checksum(tensors: Tensors, header: str) -> str:
    """SHA-256 over the description and every array, with its name, type and shape."""
    digest = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        a = tensors[name]
        digest.update(f"{name} {a.dtype.str} {a.shape}".encode())
        digest.update(a.tobytes())
    return digest.hexdigest()
