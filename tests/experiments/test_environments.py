"""Environments of a spec: modules that are allowed, and modules that fail."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec

from cmerl.errors import InputError
from cmerl.experiments.environments import is_home, list_environments, make_environment, wrapper_names
from cmerl.experiments.runner import check
from cmerl.experiments.spec import parse

RIVER = "cmerl/RiverSwim-v0"


def table(**keys: Any) -> dict[str, Any]:
    return {"environments": [RIVER], "agents": ["random"], **keys}


@pytest.mark.parametrize(
    ("broken", "wanted"),
    [
        ("worlds", "environment 'Fragile-v0' cannot be made: RuntimeError: the simulator is not installed"),
        ("__init__", "module 'fragile', allowed with --allow-env-module, cannot be imported: RuntimeError: the simu"),
    ],
)
def test_a_module_that_fails_when_it_is_imported_gives_one_sentence(
    broken: str, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "fragile"
    package.mkdir()
    for name in ("__init__", "worlds"):
        text = "raise RuntimeError('the simulator is not installed\\nhere')" if name == broken else ""
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(gymnasium.registry, "Fragile-v0", EnvSpec("Fragile-v0", "fragile.worlds:World"))
    with pytest.raises(InputError) as caught:
        check(parse(table(environments=["Fragile-v0"], allow_env_modules=["fragile"])))
    sys.modules.pop("fragile", None)
    assert wanted in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_allowed_module_may_make_environments() -> None:
    spec = parse(table(environments=["MiniGrid-Empty-5x5-v0"], allow_env_modules=["minigrid"]))
    assert make_environment(spec.environments[0], spec.allow_env_modules).spec is not None


def test_a_module_is_at_home_with_all_that_is_inside_it() -> None:
    assert is_home("gymnasium.envs.classic_control")
    assert is_home("cmerl.envs")
    assert not is_home("cmerlish.envs")
    assert not is_home("minigrid.envs")
    assert is_home("minigrid.envs", ["minigrid"])


def test_environments_are_listed_with_their_horizon_and_those_of_the_project_first() -> None:
    found = list_environments(pattern="cart")
    assert ("CartPole-v1", 500, "gymnasium") in found
    assert [module for *_, module in found] == sorted(module for *_, module in found)
    assert all("cart" in id.lower() for id, *_ in found)


def test_wrappers_are_applied_in_order_and_listed() -> None:
    wrappers = [{"name": "DiscretizeAction", "bins": 5}, "TimeAwareObservation"]
    spec = parse(table(environments=[{"id": "Pendulum-v1", "wrappers": wrappers}]))
    env = make_environment(spec.environments[0])
    assert env.action_space.n == 5  # type: ignore[attr-defined]
    assert env.observation_space.shape == (4,)  # with the time
    assert {"DiscretizeAction", "TimeAwareObservation"} <= set(wrapper_names())
