"""The file of an exported policy: a magic line, a JSON header, raw arrays and a checksum.

Reading executes nothing: the file holds JSON and numbers. Only NumPy is needed.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError

MAGIC = b"cmerl policy\n"
FORMAT = 1
DTYPES = ("<f8", "<i8")
MOST_BYTES = 1 << 30
_LENGTH = struct.Struct("<I")
_DIGEST = 32

Arrays = dict[str, NDArray[Any]]


def to_bytes(meta: dict[str, Any], arrays: Arrays) -> bytes:
    """A file's content."""
    blobs, shapes = [], {}
    for name, array in arrays.items():
        kept = np.ascontiguousarray(array, dtype="<i8" if array.dtype.kind in "biu" else "<f8")
        shapes[name] = [kept.dtype.str, list(kept.shape)]
        blobs.append(kept.tobytes())
    header = json.dumps({"format": FORMAT, **meta, "arrays": shapes}, allow_nan=False).encode()
    content = b"".join([MAGIC, _LENGTH.pack(len(header)), header, *blobs])
    return content + hashlib.sha256(content).digest()


def from_bytes(content: bytes, name: str) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays, once the checksum holds and sizes fit."""
    if not content.startswith(MAGIC):
        raise InputError(f"{name} is not an exported policy: policy.export(path) writes one")
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    start = len(MAGIC) + _LENGTH.size
    if len(content) < start + _DIGEST or hashlib.sha256(body).digest() != digest:
        raise InputError(f"{name} is damaged: its checksum does not fit; export the policy again")
    (length,) = _LENGTH.unpack_from(body, len(MAGIC))
    try:
        meta = json.loads(body[start : start + length])
        found = meta["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{name} is damaged: it has no header") from None
    if found != FORMAT:
        raise InputError(f"{name} has format {str(found)[:40]}, cmerl reads {FORMAT}: export the policy again")
    return meta, _arrays(meta.pop("arrays", None), memoryview(body)[start + length :], name)


def _arrays(shapes: Any, payload: memoryview, name: str) -> Arrays:
    found: Arrays = {}
    if not isinstance(shapes, dict):
        raise InputError(f"{name} is damaged: it lists no arrays")
    for key, entry in shapes.items():
        good = isinstance(entry, list) and len(entry) == 2 and entry[0] in DTYPES and isinstance(entry[1], list)
        if not good or any(type(side) is not int or side < 0 for side in entry[1]) or len(entry[1]) > 4:
            raise InputError(f"{name} is damaged: array {key!r} has no shape")
        size = 8 * math.prod(entry[1])
        if size > len(payload):
            raise InputError(f"{name} is damaged: array {key!r} is larger than the file")
        array = np.frombuffer(payload[:size], dtype=entry[0]).reshape(entry[1])
        if not np.isfinite(array).all():
            raise InputError(f"{name} is damaged: array {key!r} holds NaN or infinity")
        found[key], payload = array, payload[size:]
    if len(payload):
        raise InputError(f"{name} is damaged: {len(payload)} bytes are left over")
    return found
