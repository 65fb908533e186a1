"""Agents by name: what the catalogue says of them, and how a user adds one."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

from cmerl import agents
from cmerl.agents import catalogue
from cmerl.errors import InputError


def river() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("cmerl/RiverSwim-v0")


class Always(agents.Agent):
    """Plays one action for ever. And nothing else.

    Args:
        env: the world.
        action: which one; any
            integer will do. It is not checked.
        options: of every agent.
    """

    name = "always"

    def __init__(self, env: gymnasium.Env[Any, Any], *, action: int = 1, **options: Any) -> None:
        super().__init__(env, **options)
        self.action = action

    def policy(self, explore: bool = True) -> Any:
        return lambda obs, step: self.action


def test_a_class_is_registered_with_its_options() -> None:
    agents.register("mine", Always)
    assert "mine" in agents.names()
    assert agents.groups()["registered"] == ["mine"]
    assert agents.make("mine", river(), action=0, seed=2).learn(1).action == 0
    assert agents.describe("mine") == "Plays one action for ever. And nothing else"
    assert agents.parameters("mine") == (catalogue.Option("action", "int", "1", "which one; any integer will do"),)
    with pytest.raises(InputError, match="did you mean 'action'"):
        agents.make("mine", river(), acton=0)


def test_a_callable_is_registered_too() -> None:
    def reckless(env: Any, *, horizon: int | None = None, seed: int = 0, push: int = 1) -> agents.Agent:
        """Swims."""
        return Always(env, horizon=horizon, seed=seed, action=push)

    agents.register("reckless", reckless)
    made = agents.make("reckless", river(), horizon=3, seed=5, push=0)
    assert (made.horizon, made.seed, made.action) == (3, 5, 0)
    assert agents.options("reckless") == ["push"]
    agents.register("reckless", lambda env, **options: 7)
    with pytest.raises(InputError, match="its factory made int"):
        agents.make("reckless", river())


@pytest.mark.parametrize(
    ("name", "factory", "message"),
    [
        ("psrl", Always, "there is an agent 'psrl' already"),
        ("", Always, "the name of an agent must be a text"),
        ("x", 3, "needs a class or a callable"),
        ("x", dict, "must derive from cmerl.agents.Agent; dict does not"),
        ("x", lambda obs: 1, r"must take \(env, \*, horizon, seed\), and takes \(obs\): .*from_function"),
    ],
)
def test_what_cannot_be_registered_is_refused(name: str, factory: Any, message: str) -> None:
    before = agents.names()
    with pytest.raises(InputError, match=message):
        agents.register(name, factory)
    assert agents.names() == before


def test_every_agent_of_the_project_has_a_line_and_typed_options() -> None:
    listed = [name for group in agents.groups().values() for name in group]
    assert sorted(listed) == agents.names() == sorted(set(listed))
    for name in listed:
        assert len(agents.describe(name)) > 10
        for option in agents.parameters(name):
            assert option.type, (name, option)
            assert option.default is not None, (name, option)
            assert option.line or option.name in ("B_V", "B_R"), (name, option)  # explained with B_P


def test_the_signature_is_the_truth_about_defaults() -> None:
    (weight,) = (o for o in agents.parameters("psrl") if o.name == "prior_weight")
    assert float(weight.default or "nan") == agents.make("psrl", river()).prior_weight
    assert not {"bonus"} & set(agents.options("greedy"))
    assert not {"kernel", "bonus"} & set(agents.options("random"))
