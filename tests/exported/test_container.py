"""The file of an exported policy: every flipped byte is found."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import pytest

import cmerl
from cmerl.errors import InputError
from cmerl.exported import container


def test_every_flipped_byte_is_found(ball: tuple[cmerl.CMERL, Path]) -> None:
    content = ball[1].read_bytes()
    for place in np.linspace(0, len(content) - 1, 60).astype(int):
        broken = bytearray(content)
        broken[place] ^= 1
        with pytest.raises(InputError, match=r"damaged|not an exported policy"):
            container.from_bytes(bytes(broken), "a.policy")
    for length in (0, 5, 20, len(content) - 1):
        with pytest.raises(InputError, match=r"damaged|not an exported policy"):
            container.from_bytes(content[:length], "a.policy")


def test_what_the_header_claims_is_checked_with_the_file(ball: tuple[cmerl.CMERL, Path]) -> None:
    meta, arrays = container.from_bytes(ball[1].read_bytes(), "a.policy")
    huge = json.dumps({"format": 1, "arrays": {"weights": ["<f8", [10**9, 10**9]]}}).encode()
    body = container.MAGIC + struct.pack("<I", len(huge)) + huge
    with pytest.raises(InputError, match="larger than the file"):
        container.from_bytes(body + hashlib.sha256(body).digest(), "a.policy")
    with pytest.raises(InputError, match="has format 2"):
        container.from_bytes(container.to_bytes({**meta, "format": 2}, arrays), "a.policy")


def test_arrays_and_descriptions_come_back() -> None:
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([3, -1], dtype=np.int64), "c": np.zeros((0, 2))}
    meta, found = container.from_bytes(container.to_bytes({"kind": "plan", "horizon": 3}, arrays), "a.policy")
    assert (meta["kind"], meta["horizon"]) == ("plan", 3)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
