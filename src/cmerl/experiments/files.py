"""Files that are whole or absent: atomic JSON, and lines that may be torn."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cmerl.errors import InputError


def write_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Write, sync, rename: whoever reads sees the old file or the new one, also after a power cut."""
    partial = path.with_name(f".{path.name}.partial")
    with open(partial, "wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def write_json(path: Path, value: Any) -> None:
    """Readable JSON, atomically."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(path, [text.encode(), b"\n"])


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object, or one sentence on why not."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"there is no {path.name} in {str(path.parent)!r}") from None
    except (OSError, ValueError):
        raise InputError(f"{path} is damaged: it is not JSON") from None
    if not isinstance(value, dict):
        raise InputError(f"{path} is damaged: it is not a JSON object")
    return value


def to_line(value: dict[str, Any]) -> bytes:
    """One line of JSON."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n").encode()


def whole_lines(content: bytes) -> Iterable[dict[str, Any]]:
    """JSON objects of all lines that are whole; what a killed process tore is left out."""
    for line in content.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
