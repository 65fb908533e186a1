"""Wrong specs: each gives one sentence that names the place and the fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import pytest

from cmerl.errors import InputError
from cmerl.experiments.runner import check, load_spec
from cmerl.experiments.spec import parse

RIVER = "cmerl/RiverSwim-v0"

gymnasium.register(id="Foreign-v0", entry_point="foreign.worlds:World")
gymnasium.register(id="Scripted-v0", entry_point="__main__:World")


def table(**keys: Any) -> dict[str, Any]:
    return {"environments": [RIVER], "agents": ["random"], **keys}


def env(**keys: Any) -> dict[str, Any]:
    return table(environments=[{"id": RIVER, **keys}])


def agent(**keys: Any) -> dict[str, Any]:
    return table(agents=[{"name": "cme-rl", **keys}])


WRONG: list[tuple[dict[str, Any], str]] = [
    # keys
    ({}, "spec: 'environments' is missing: say what to run in"),
    ({"enviroments": [RIVER]}, "spec: there is no key 'enviroments': did you mean 'environments'?"),
    (table(episods=5), "spec: there is no key 'episods': did you mean 'episodes'?"),
    (table(Seeds=5), "spec: there is no key 'Seeds': did you mean 'seeds'?"),
    (table(zzz=1), "spec: there is no key 'zzz': there are environments, agents, episodes"),
    (env(horizn=3), "spec: environment 1: there is no key 'horizn': did you mean 'horizon'?"),
    (agent(option={}), "spec: agent 1: there is no key 'option': did you mean 'options'?"),
    # values
    (table(episodes=0), "spec: episodes must be a whole number of at least 1, not 0"),
    (table(episodes=-3), "spec: episodes must be a whole number of at least 1, not -3"),
    (table(episodes="many"), "spec: episodes must be a whole number, not 'many'"),
    (table(episodes="200"), "spec: episodes must be a whole number, not '200'"),
    (table(episodes=2.5), "spec: episodes must be a whole number, not 2.5"),
    (table(episodes=True), "spec: episodes must be a whole number, not True"),
    (table(horizon=0), "spec: horizon must be a whole number of at least 1, not 0"),
    (table(jobs=0), "spec: jobs must be a whole number of at least 1, not 0"),
    (table(rollouts=-1), "spec: rollouts must be a whole number of at least 0, not -1"),
    (table(seeds=0), "spec: seeds must be a number of at least 1 or a list of numbers of at least 0, not 0"),
    (table(seeds="a"), "spec: seeds must be how many, such as 8, or which, such as [0, 1, 2], not 'a'"),
    (table(seeds=[]), "spec: seeds is an empty list: say how many, such as seeds = 8"),
    (table(seeds=[1, 1]), "spec: seeds: 1 is listed twice; drop one"),
    (table(seeds=[-1]), "spec: seeds must be how many, such as 8, or which, such as [0, 1, 2], not [-1]"),
    (table(engine="rey"), "spec: engine cannot be 'rey': did you mean 'ray'?"),
    (table(engine="spark"), "spec: engine cannot be 'spark': there are local, ray"),
    (table(address="127.0.0.1:6379"), "spec: address: only engine 'ray' has an address; add engine = 'ray'"),
    (table(journals="disk"), "spec: journals cannot be 'disk': there are driver, shared"),
    (table(allow_env_modules="minigrid"), "spec: allow_env_modules must be a list, not 'minigrid'"),
    (table(environments=[]), "spec: environments is empty: say what to run in"),
    (
        table(environments=[3]),
        "spec: environment 1 must be a name, a table or, in Python, a class or callable that makes one, not 3",
    ),
    (table(environments=[{}]), "spec: environment 1: 'id' is missing: give the id that Gymnasium knows it by"),
    (table(environments=[""]), "spec: environment 1: id is empty text"),
    (table(environments=[RIVER, RIVER]), f"spec: environments: two of them are called {RIVER!r}; drop one"),
    (table(agents=[]), "spec: agents is empty: say who plays"),
    (table(agents=["random", "random"]), "spec: agents: two of them are called 'random'; drop one, or give each a"),
    (env(options=[1]), "spec: environment 1, options must be a table, such as {states = 8}, not [1]"),
    (env(optimum="high"), "spec: environment 1, optimum must be a number, not 'high'"),
    (env(optimum=float("inf")), "spec: environment 1, optimum must be a finite number, not inf"),
    (env(wrappers=[{}]), "spec: environment 1, wrapper 1: 'name' is missing"),
    (agent(options={"kernel": object()}), "cannot be written as TOML or JSON"),
    # what environments and agents say
    (
        table(environments=["cmerl/RiverSwin-v0"]),
        "no environment 'cmerl/RiverSwin-v0': did you mean 'cmerl/RiverSwim",
    ),
    (table(environments=["MountainCar"]), "no environment 'MountainCar': did you mean 'MountainCar-v0'?"),
    (
        table(environments=["Nonesuch-v7"]),
        "there is no environment 'Nonesuch-v7': see cmerl envs (if another package",
    ),
    (table(environments=["Foreign-v0"]), "comes from module 'foreign', which is neither Gymnasium's nor cmerl's: if"),
    (table(environments=["Scripted-v0"]), "is defined in the script that runs, where workers cannot find it: put it"),
    (table(environments=["antigravity:Fly-v0"]), "would import module 'antigravity': if you trust it, allow it with"),
    (table(allow_env_modules=["no_such_module"]), "module 'no_such_module', allowed with --allow-env-module, cannot"),
    (env(options={"state": 8}), f"environment {RIVER!r} has no option 'state': did you mean 'states'?"),
    (env(options={"states": 0}), f"environment {RIVER!r}:"),
    (table(environments=[{"id": "CartPole-v1", "options": {"max_episode_steps": 9}}]), "use horizon instead"),
    (
        env(wrappers=["FlatenObservation"]),
        "there is no wrapper 'FlatenObservation': did you mean 'FlattenObservation'",
    ),
    (env(wrappers=["NormalizeObservation"]), "keeps state between episodes"),
    (
        env(wrappers=[{"name": "TimeLimit", "steps": 3}]),
        "wrapper 'TimeLimit' has no option 'steps': there are max_ep",
    ),
    (env(wrappers=["RescaleAction"]), "wrapper 'RescaleAction' cannot be made: "),
    (table(agents=["cme-lr"]), "there is no agent 'cme-lr': did you mean 'cme-rl'?"),
    (agent(options={"bonsu": "split"}), "agent 'cme-rl' has no option 'bonsu': did you mean 'bonus'?"),
    (agent(options={"bonus": "splot"}), f"cme-rl (bonus=splot) in {RIVER}: bonus 'splot' is unknown: use one of"),
    (agent(options={"kernel": {"type": "Rbf"}}), "There is no kernel named 'Rbf'"),
    (agent(options={"bonus": {"mode": "split", "c": 1}}), "bonus 'split' has no setting 'c': there are"),
    (agent(options={"lam": -1}), "lam must be a positive number or 'auto', not -1"),
    (table(environments=["MountainCar-v0"], horizon=300), "cuts episodes after 200 steps, before the horizon of 300"),
    (table(environments=["MountainCar-v0"], rollouts=3), "give it as optimum, or leave rollouts out"),
]


@pytest.mark.parametrize(("values", "wanted"), WRONG, ids=[wanted[:40] for _, wanted in WRONG])
def test_a_wrong_spec_gives_one_sentence(values: dict[str, Any], wanted: str) -> None:
    with pytest.raises(InputError) as caught:
        check(parse(values))
    sentence = str(caught.value)
    assert wanted in sentence
    assert "\n" not in sentence
    assert len(sentence) < 400


def test_a_mistake_in_a_flag_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    path = tmp_path / "good.toml"
    path.write_text(f'environments = ["{RIVER}"]')
    with pytest.raises(InputError, match="command line: episodes must be"):
        load_spec(path, {"episodes": 0}, "command line")
