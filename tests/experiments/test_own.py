"""Classes and callables of the user's own in runs, handed over or named."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import gymnasium
import pytest

from cmerl import agents, experiments
from cmerl.agents import from_function
from cmerl.errors import InputError
from cmerl.experiments import own

RIVER = "cmerl/RiverSwim-v0"

MODULE = '''
import gymnasium, cmerl
from cmerl.agents import RandomAgent, from_function

def right(obs):
    """Swims to the right."""
    return 1

swimmer = from_function(right)

class Mine(RandomAgent):
    """Random, but mine."""
    name = "mine"

def short_river(states=4):
    """A short river."""
    return gymnasium.make("cmerl/RiverSwim-v0", states=states)
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "my_parts.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(p for p in sys.path if p)}")
    sys.modules.pop("my_parts", None)
    return "my_parts"


def test_objects_in_a_run(module: str, tmp_path: Path) -> None:
    """Importable ones by their names, others as they are; both in the same report."""
    import my_parts  # type: ignore[import-not-found]

    results = experiments.run(
        envs=[my_parts.short_river],
        agents=["random", my_parts.Mine, from_function(lambda obs: 1, "always-right")],
        episodes=2,
        jobs=1,
        out=tmp_path / "run",
    )
    assert results.failures == []
    returns: dict[str, list[float]] = {}
    for line in results.episodes:
        returns.setdefault(line["agent"], []).append(line["return"])
    assert set(returns) == {"random", "Mine", "always-right"}
    assert {line["env"] for line in results.episodes} == {"short_river"}
    spec = results.spec
    assert [a.name for a in spec.agents] == ["random", "my_parts:Mine", "own:always-right"]
    assert spec.environments[0].id == "my_parts:short_river"
    env = my_parts.short_river()
    played = agents.FunctionAgent(env, function=lambda obs: 1, horizon=env.unwrapped.horizon).learn(2)
    assert returns["always-right"] == [r.ret for r in played.history]
    with pytest.raises(InputError, match=r"wants code of module 'my_parts' to run"):
        experiments.resume(tmp_path / "run")
    again = experiments.resume(tmp_path / "run", allow_env_modules=["my_parts"])
    assert again.finished


def test_a_registered_name_in_a_run(tmp_path: Path) -> None:
    """Workers are processes of their own, in which nothing was registered."""
    agents.register("always-right", from_function(lambda obs: 1))
    results = experiments.run(envs=[RIVER], agents=["always-right"], episodes=2, jobs=1, out=tmp_path / "run")
    assert results.failures == []
    assert [line["agent"] for line in results.episodes] == ["always-right"] * 2
    assert experiments.resume(tmp_path / "run").finished


def test_names_must_be_allowed(module: str) -> None:
    with pytest.raises(InputError, match="would import module 'my_parts': if you trust it"):
        own.find("my_parts:Mine", [], "agent")
    assert own.find("my_parts:Mine", ["my_parts"], "agent").name == "mine"
    with pytest.raises(InputError, match=r"has no 'mine' to call: did you mean 'Mine'\?"):
        own.find("my_parts:mine", ["my_parts"], "agent")
    with pytest.raises(InputError, match="module 'my_other' cannot be imported"):
        own.find("my_other:Mine", ["my_other"], "agent")
    with pytest.raises(InputError, match="was passed as an object, which is missing here"):
        own.find("own:nothing", [], "agent")
    assert not own.is_reference("my_pkg:World-v0")
    assert not own.is_reference("cmerl/RiverSwim-v0")


def test_an_option_that_a_callable_does_not_have(module: str, tmp_path: Path) -> None:
    import my_parts

    with pytest.raises(InputError, match="has no option 'state': did you mean 'states'"):
        experiments.run(envs=[{"id": my_parts.short_river, "options": {"state": 3}}], agents=["random"], episodes=1)
    with pytest.raises(InputError, match="must be a Gymnasium environment; int is none"):
        experiments.run(envs=[{"id": int}], agents=["random"], episodes=1)
    with pytest.raises(InputError, match=r"must be a cmerl.agents.Agent"):
        experiments.run(RIVER, agents=[lambda env, *, horizon=None, seed=0: 3], episodes=1)


def test_what_cannot_make_an_agent_is_refused_with_what_may_be_passed(tmp_path: Path) -> None:
    run = {"episodes": 1, "jobs": 1, "out": tmp_path / "run"}
    with pytest.raises(InputError, match=r"^agent '<lambda>' must take .*, and takes \(obs\): pass a name"):
        experiments.run(RIVER, agents=[lambda obs: 1], **run)
    with pytest.raises(InputError, match=r"^agent 'int' must derive from cmerl.agents.Agent"):
        experiments.run(RIVER, agents=[int], **run)
    with pytest.raises(InputError, match="agent 1 must be a name, a table or, in Python, a class or callable"):
        experiments.run(RIVER, agents=[agents.make("random", gymnasium.make(RIVER))], **run)
    assert not (tmp_path / "run").exists()


def test_what_cannot_be_sent_to_a_worker_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    lock = threading.Lock()

    def right(obs: int) -> int:
        with lock:
            return 1

    def river() -> gymnasium.Env[int, int]:
        with lock:
            return gymnasium.make(RIVER)

    run = {"episodes": 1, "jobs": 1, "out": tmp_path / "run"}
    with pytest.raises(InputError, match=r"^agent 'right' cannot be sent to another process \(TypeError: .*lock"):
        experiments.run(RIVER, agents=["random", from_function(right)], **run)
    with pytest.raises(InputError, match=r"^environment 'river' cannot be sent to another process"):
        experiments.run(envs=[river], agents=["random"], **run)
    assert not (tmp_path / "run").exists()
    experiments.run(RIVER, agents=["random"], **run)
    with pytest.raises(InputError, match=r"^environment 'river' cannot be sent to another process"):
        experiments.resume(tmp_path / "run", envs=[river])
