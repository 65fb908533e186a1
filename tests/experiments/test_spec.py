"""Specs: files, dictionaries and single environments say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cmerl.errors import InputError
from cmerl.experiments.environments import make_environment
from cmerl.experiments.runner import load_spec
from cmerl.experiments.spec import Spec, parse, read

RIVER = "cmerl/RiverSwim-v0"


def table(**keys: Any) -> dict[str, Any]:
    return {"environments": [RIVER], "agents": ["random"], **keys}


def agent(**keys: Any) -> dict[str, Any]:
    return table(agents=[{"name": "cme-rl", **keys}])


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("none.toml", None, "there is no file"),
        ("bad.toml", "episodes = ", "bad.toml: this is not TOML: invalid value (at end of document)"),
        ("bad.json", "{", "bad.json: this is not JSON: expecting property name"),
        ("list.json", "[1]", "list.json: a spec is a table"),
        ("key.toml", "episods = 3", "key.toml: there is no key 'episods'"),
        ("bytes.toml", b"\xff\xff", "bytes.toml: cannot be read: it is not text"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, name: str, text: str | bytes | None, wanted: str) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as caught:
        load_spec(path, {})
    assert wanted in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_spec_says_what_a_dictionary_says(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(
        """
        episodes = 7
        seeds = [3, 4]

        [[environments]]
        id = "Pendulum-v1"
        options = {g = 9.0}
        wrappers = ["FlattenObservation", {name = "DiscretizeAction", bins = 5}]

        [[agents]]
        name = "cme-rl"
        options = {bonus = "split"}
        """
    )
    spec = load_spec(path, {"horizon": 20})
    assert spec == parse(
        {
            "environment": {
                "id": "Pendulum-v1",
                "options": {"g": 9.0},
                "wrappers": ["FlattenObservation", {"name": "DiscretizeAction", "bins": 5}],
            },
            "agent": {"name": "cme-rl", "options": {"bonus": "split"}},
            "episodes": 7,
            "seeds": [3, 4],
            "horizon": 20,
        }
    )
    assert spec.agents[0].label == "cme-rl (bonus=split)"
    assert spec.environments[0].label == "Pendulum-v1 (g=9.0)"
    assert Spec.model_validate_json(spec.model_dump_json()) == spec
    assert make_environment(spec.environments[0]).action_space.n == 5  # type: ignore[attr-defined]


def test_an_environment_alone_is_a_spec() -> None:
    spec = load_spec(RIVER, {})
    assert [a.name for a in spec.agents] == ["cme-rl"]
    assert (spec.episodes, spec.seed_list, spec.engine) == (100, [0], "local")


def test_a_manifest_is_read_as_the_spec_in_it(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text('{"format": 1, "versions": {}, "spec": {"environments": ["x"]}}')
    assert read(path) == {"environments": ["x"]}
