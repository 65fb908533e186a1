"""The schema of embeddings that a file holds without their log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cmerl.agents.saving import container
from cmerl.agents.saving.embeddings import check_embeddings, read_json
from cmerl.errors import InputError

FILES = Path(__file__).parents[2] / "fixtures" / f"format-{container.FORMAT}"


@pytest.mark.parametrize("name", ["compressed", "displacement"])
def test_saved_embeddings_fit_and_all_of_them_must_be_there(name: str) -> None:
    tensors, _ = container.read(FILES / f"{name}.cmerl")
    arrays = {key: value for key, value in tensors.items() if key.startswith(("memory.", "embedding."))}
    e, d = tensors["actions"].shape[1], tensors["memory.starts"].shape[1]
    sizes: tuple[Any, ...] = d, e, len(tensors["actions"])
    check_embeddings(arrays, *sizes, 1)
    with pytest.raises(InputError, match="must hold 2 embeddings, not 1"):
        check_embeddings(arrays, *sizes, 2)
    about = np.frombuffer(b"[]", dtype=np.uint8)
    with pytest.raises(InputError, match=r"memory\.about"):
        check_embeddings({**arrays, "memory.about": about}, *sizes, 1)


def test_json_is_read_or_refused_in_a_sentence() -> None:
    assert read_json(b'{"a": [1, 2]}', "about") == {"a": [1, 2]}
    for content in (b"{", b"[" * 100_000, b"\xff"):
        with pytest.raises(InputError, match="about is not JSON"):
            read_json(content, "about")
    with pytest.raises(InputError, match="about is longer than 3 bytes"):
        read_json(b"1234", "about", most=3)
