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

FORMAT = 1
Tensors = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], tensors: Tensors, meta: dict[str, Any]) -> None:
    """Write arrays and a JSON-able description; an interrupted write leaves the old file."""
    from safetensors.numpy import save

    header = json.dumps({"format": FORMAT, **meta}, sort_keys=True)
    arrays = {name: np.ascontiguousarray(a) for name, a in tensors.items()}
    content = save(arrays, metadata={"cmerl": header, "sha256": _checksum(arrays, header)})
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"there is no directory {str(target.parent)!r} to save to")
    partial = target.with_name(target.name + ".partial")
    with open(partial, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, target)


def read(path: str | os.PathLike[str]) -> tuple[Tensors, dict[str, Any]]:
    """Arrays and description of a saved agent, or one sentence on why not."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(os.fspath(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except FileNotFoundError:
        raise InputError(f"there is no file {os.fspath(path)!r} to load") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{os.fspath(path)!r} is not a saved agent: {error}") from None
    if "cmerl" not in metadata:
        raise InputError(f"{os.fspath(path)!r} is a safetensors file, but not of an agent")
    if _checksum(tensors, metadata["cmerl"]) != metadata.get("sha256"):
        raise InputError(f"{os.fspath(path)!r} is damaged: its checksum does not match its content")
    meta: dict[str, Any] = json.loads(metadata["cmerl"])
    if meta["format"] != FORMAT:
        raise InputError(f"{os.fspath(path)!r} has format {meta['format']}, this cmerl reads {FORMAT}")
    return tensors, meta


def _checksum(tensors: Tensors, header: str) -> str:
    digest = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        a = tensors[name]
        digest.update(f"{name} {a.dtype.str} {a.shape}".encode())
        digest.update(a.tobytes())
    return digest.hexdigest()
