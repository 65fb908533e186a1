"""Atomic JSON files, and line files whose end may be torn."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cmerl.errors import InputError
from cmerl.files import read_regular, reason, write_atomically

__all__ = ["read_json", "runs_inside", "to_line", "whole_lines", "write_atomically", "write_json"]


def write_json(path: Path, value: Any) -> None:
    """Readable JSON, atomically."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(path, [text.encode(), b"\n"])


def read_json(path: Path, most: int = 1 << 28) -> dict[str, Any]:
    """A JSON object of at most so many bytes, or one sentence on why not."""
    try:
        value = json.loads(read_regular(path, most=most), parse_float=_finite, parse_constant=_finite)
    except FileNotFoundError:
        raise InputError(f"there is no {path.name} in {str(path.parent)!r}") from None
    except OSError as error:
        raise InputError(reason(error, str(path))) from None
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError(f"{path} is damaged: it is not JSON") from None
    if not isinstance(value, dict):
        raise InputError(f"{path} is damaged: it is not a JSON object")
    return value


def runs_inside(path: Path, most: int = 3) -> str:
    """A hint for who names a folder of runs instead of one of them."""
    found = sorted(file.parent for file in path.glob("*/manifest.json"))
    named = ", ".join(map(str, found[:most])) + (", …" if len(found) > most else "")
    return f"; there is one in {named}" if found else ""


def _finite(text: str) -> float:
    """A number that JSON can hold: what is read may be written again, and infinity could not be."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a JSON number")
    return value


def to_line(value: dict[str, Any]) -> bytes:
    """One line of JSON."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n").encode()


def whole_lines(content: bytes) -> Iterable[dict[str, Any]]:
    """JSON objects of all lines that are whole; what a killed process tore is left out."""
    for line in content.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
