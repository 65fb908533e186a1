"""Each field of an exported search is checked before anything is made from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exports import VALUES, policy_of

import cmerl
from cmerl.errors import InputError
from cmerl.exported import container
from cmerl.exported.schema import check


@pytest.mark.parametrize("value", VALUES)
def test_damaged_files_are_refused(agent: cmerl.CMERL, value: str, tmp_path: Path) -> None:
    """Whoever can compute a checksum can write anything: each field is checked before anything is made from it."""
    policy_of(agent, value).export(tmp_path / "a.policy")
    meta, arrays = container.from_bytes((tmp_path / "a.policy").read_bytes(), "a.policy")
    check(meta, arrays)
    check(meta, {**arrays, "within": np.array([0.5])})  # files of earlier versions may hold it
    check({**meta, "search": {**meta["search"], "surprise": 0.5}}, arrays)  # and name this
    said = meta["search"]
    earlier = {name: size for name, size in said["sizes"].items() if name != "proposals"}
    unproposed = {name: array for name, array in arrays.items() if not name.startswith("policy.")}
    check({**meta, "search": {**said, "sizes": earlier}}, unproposed)  # they propose nothing
    wrong: list[tuple[Any, Any]] = [
        ({"value": "other"}, {}),
        ({"more": 1}, {}),
        ({"every": 0}, {}),
        ({"depth": meta["horizon"] + 1}, {}),
        ({"discount": 2.0}, {}),
        ({"discount": "1"}, {}),
        ({"seed": [-1]}, {}),
        ({"seed": 3}, {}),
        ({"categorical": 1}, {}),
        ({"sizes": {**said["sizes"], "samples": 10**9}}, {}),
        ({"sizes": {**said["sizes"], "kept": said["sizes"]["elites"] + 1}}, {}),
        ({"sizes": {**said["sizes"], "amplitudes": []}}, {}),
        ({"sizes": {**said["sizes"], "proposals": -1}}, {}),
        ({"sizes": None}, {}),
        ({}, {"unit": 0.0 * arrays["unit"]}),
        ({}, {"bounds": -arrays["bounds"]}),
        ({}, {"pays": arrays["pays"][::-1] + np.array([1.0, 0.0])}),
    ]
    wrong += [({name: "much"}, {}) for name in set(said) - {"seed", "categorical", "reward_at_next"}]
    optional = {"action_low", "action_high", "limits", "ended"}
    wrong += [({}, {name: None}) for name in set(arrays) - optional - {"end_coef"}]  # earlier versions lacked that
    sides = {name for name in set(arrays) - optional if arrays[name].size}
    wrong += [({}, {name: arrays[name][..., :-1]}) for name in sides]
    for header, changed in wrong:
        kept = {name: array for name, array in {**arrays, **changed}.items() if array is not None}
        with pytest.raises(InputError):
            check({**meta, "search": {**said, **header}}, kept)
