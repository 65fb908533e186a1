"""The schema of saved agents: it holds for every file of the present format, and for nothing that was changed."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cmerl.agents.saving import container
from cmerl.agents.saving.contents import check_any, check_cme_rl
from cmerl.errors import InputError

FILES = Path(__file__).parents[2] / "fixtures" / f"format-{container.FORMAT}"
CHECKS = {"log": check_cme_rl, "compressed": check_cme_rl, "displacement": check_cme_rl, "psrl": check_any}


def held(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return container.read(FILES / f"{name}.cmerl")


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where numbers, flags and words are in a description."""
    if isinstance(tree, dict):
        return [place for key, value in tree.items() for place in leaves(value, (*path, key))]
    if isinstance(tree, list):
        return [place for i, value in enumerate(tree) for place in leaves(value, (*path, i))]
    return [path]


@pytest.mark.parametrize("name", CHECKS)
def test_saved_agents_fit(name: str) -> None:
    CHECKS[name](*held(name))


@pytest.mark.parametrize("name", CHECKS)
def test_an_array_that_holds_what_is_no_number_is_refused(name: str) -> None:
    tensors, meta = held(name)
    for key, array in tensors.items():
        if array.size and array.dtype.kind == "f" and not key.endswith((".regret", ".sums")):
            wrong = array.copy()
            wrong.flat[0] = np.nan
            with pytest.raises(InputError, match=key.split(".")[-1]):
                CHECKS[name]({**tensors, key: wrong}, meta)


@pytest.mark.parametrize("name", ["log", "displacement"])
def test_an_array_that_is_missing_or_has_a_side_too_many_is_refused(name: str) -> None:
    tensors, meta = held(name)
    for key in tensors:
        optional = (
            key.startswith(("ledger.", "shape.")) or ".shape." in key or key.endswith((".depths", "all_states"))
        )
        if not optional:
            with pytest.raises(InputError):
                check_cme_rl({other: array for other, array in tensors.items() if other != key}, meta)
            with pytest.raises(InputError):
                check_cme_rl({**tensors, key: tensors[key][..., None]}, meta)


def test_a_field_that_holds_another_kind_of_value_is_refused() -> None:
    tensors, meta = held("log")
    free = {"metrics", "ledger", "mode", "settings", "kernel", "value_kernel"}  # of any plain values
    places = [path for path in leaves(meta) if not free & set(path)]
    assert len(places) > 30
    for path in places:
        changed = copy.deepcopy(meta)
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = {"wrong": 1}
        with pytest.raises(InputError):
            check_cme_rl(tensors, changed)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"metrics": []}, "metrics has 0 entries for 3 episodes"),
        ({"horizon": 0}, "horizon"),
        ({"seed": -1}, "seed"),
        ({"strange": 1}, "strange"),
    ],
)
def test_what_does_not_fit_together_is_named(change: dict[str, Any], sentence: str) -> None:
    tensors, meta = held("log")
    with pytest.raises(InputError, match=sentence):
        check_cme_rl(tensors, {**meta, **change})
