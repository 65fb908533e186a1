"""Each field of an exported policy is checked before anything is made from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cmerl
from cmerl.errors import InputError
from cmerl.exported import container
from cmerl.exported.schema import check


def test_a_well_sealed_file_that_is_none(ball: tuple[cmerl.CMERL, Path], tmp_path: Path) -> None:
    """Whoever can compute a checksum can write anything: each field is checked before anything is made from it."""
    meta, arrays = container.from_bytes(ball[1].read_bytes(), "a.policy")
    changes: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"kind": "pickle"}, {}),
        ({"horizon": "many"}, {}),
        ({"terms": [{"scale": 1.0, "state": [{"kind": "os.system"}], "action": []}]}, {}),
        ({"terms": []}, {}),
        ({"actions": {"shape": [], "dtype": "O"}}, {}),
        ({"ascent": {"rounds": 10**9, "lengths": [1.0]}}, {}),
        ({"observations": [{"path": [], "shape": [3]}]}, {}),
        ({}, {"weights": arrays["weights"][:, :-1]}),
        ({}, {"order": arrays["order"] * 0}),
        ({}, {"scale": arrays["scale"] * 0}),
    ]
    for header, changed in changes:
        with pytest.raises(InputError):
            check({**meta, **header}, {**arrays, **changed})
        (tmp_path / "b.policy").write_bytes(container.to_bytes({**meta, **header}, {**arrays, **changed}))
        with pytest.raises(InputError, match="is damaged"):
            cmerl.load_policy(tmp_path / "b.policy")
    check(meta, arrays)
