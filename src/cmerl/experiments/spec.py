"""Specs: environments × agents × seeds, from a TOML or JSON file, flags or Python."""

from __future__ import annotations

import json
import os
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from cmerl.errors import InputError
from cmerl.experiments.spec_errors import first_sentence
from cmerl.files import read_regular

PositiveInt = Annotated[int, Field(ge=1, le=2**53, strict=True)]
Horizon = Annotated[int, Field(ge=1, le=10**6, strict=True)]
Seed = Annotated[int, Field(ge=0, lt=2**63, strict=True)]


def _text(value: str) -> str:
    """Text that can be written to a file and shown on one line."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{value!r} contains an incomplete character") from None
    if not value.isprintable():
        raise ValueError(f"{value!r} contains unprintable characters")
    return value


Name = Annotated[str, Field(min_length=1, max_length=500, strict=True), AfterValidator(_text)]


def _option(value: Any) -> Any:
    """A value that TOML and JSON can say."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise ValueError(f"{repr(value)[:80]} cannot be written as TOML or JSON") from None


Options = Annotated[dict[str, Annotated[Any, BeforeValidator(_option)]], Field(default_factory=dict)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WrapperSpec(_Table):
    """A wrapper by name, with its options as keys of the same table."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: Name

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(key): _option(option) for key, option in value.items()}
        return {"name": value} if isinstance(value, str) else value

    @property
    def options(self) -> dict[str, Any]:
        """What it is made with."""
        return dict(self.model_extra or {})


class EnvironmentSpec(_Table):
    """An environment.

    Attributes:
        id: as Gymnasium knows it, such as "cmerl/RiverSwim-v0", or "module:attribute" of a callable that makes it.
        label: what results call it; by default the id with its options.
        options: for ``gymnasium.make``.
        wrappers: around it, the first one innermost.
        horizon: steps per episode, if not the one of the whole spec.
        optimum: the best expected return of an episode where you know it and no oracle does.
    """

    id: Name
    label: Name = ""
    options: Options
    wrappers: tuple[WrapperSpec, ...] = ()
    horizon: Horizon | None = None
    optimum: float | None = Field(default=None, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _labelled(cls, value: Any) -> Any:
        return _with_label(value, "id")


class AgentSpec(_Table):
    """An agent.

    Attributes:
        name: as ``cmerl agents`` lists it, or "module:attribute" of a class or a callable that makes one.
        label: what results call it; by default the name with its options.
        options: for ``cmerl.agents.make``.
    """

    name: Name
    label: Name = ""
    options: Options

    @model_validator(mode="before")
    @classmethod
    def _labelled(cls, value: Any) -> Any:
        return _with_label(value, "name")


class Spec(_Table):
    """An experiment.

    Attributes:
        environments: at least one.
        agents: by default CME-RL.
        episodes: of every unit.
        horizon: steps per episode; by default each environment's own.
        seeds: how many (0, 1, …), or a list.
        step_timeout: seconds that a step may take; by default no limit.
        rollouts: if regret has no oracle, estimate it after every episode from this many episodes of the same policy
            in a copy of the environment; 0 does not estimate.
        engine: "local" or "ray".
        jobs: units at a time; by default as many as there are cores.
        address: address of a Ray cluster; by default a local one is started.
        journals: with Ray, "driver" sends records through the driver; "shared" writes to a common disk.
        allow_env_modules: other modules that environments and agents may come from.
    """

    environments: Annotated[tuple[EnvironmentSpec, ...], Field(min_length=1)]
    agents: Annotated[tuple[AgentSpec, ...], Field(min_length=1)] = Field(
        default_factory=lambda: (AgentSpec.model_validate("cme-rl"),)
    )
    episodes: PositiveInt = 100
    horizon: Horizon | None = None
    seeds: (
        Annotated[int, Field(ge=1, le=10**6, strict=True)]
        | Annotated[tuple[Seed, ...], Field(min_length=1, max_length=10**6)]
    ) = 1
    rollouts: Annotated[int, Field(ge=0, le=10**6, strict=True)] = 0
    step_timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    engine: Literal["local", "ray"] = "local"
    jobs: PositiveInt | None = None
    address: Name | None = None
    journals: Literal["driver", "shared"] = "driver"
    allow_env_modules: tuple[Name, ...] = ()

    @model_validator(mode="after")
    def _told_apart(self) -> Spec:
        for key, labels in (("environments", [e.label for e in self.environments]), ("agents", self._agent_labels())):
            twice = _twice(labels)
            if twice is not None:
                raise ValueError(f"{key}: two of them are called {twice!r}; drop one, or give each a label")
        twice_seed = None if isinstance(self.seeds, int) else _twice(self.seeds)
        if twice_seed is not None:
            raise ValueError(f"seeds: {twice_seed} is listed twice; drop one")
        if self.address is not None and self.engine != "ray":
            raise ValueError("address: only engine 'ray' has an address; add engine = 'ray' (--engine ray)")
        return self

    def _agent_labels(self) -> list[str]:
        return [agent.label for agent in self.agents]

    @property
    def seed_list(self) -> list[int]:
        """The list of seeds."""
        return list(range(self.seeds)) if isinstance(self.seeds, int) else list(self.seeds)


def _twice(entries: Sequence[Any]) -> Any:
    """The first entry that comes again, or None."""
    counts = Counter(entries)
    return next((entry for entry in entries if counts[entry] > 1), None)


def parse(values: Mapping[str, Any], source: str = "spec", sources: Mapping[str, str] | None = None) -> Spec:
    """A spec from a dictionary.

    Args:
        values: its keys.
        source: where a mistake is said to be.
        sources: the same for single keys that come from elsewhere.
    """
    try:
        return Spec.model_validate(plurals(values))
    except ValidationError as error:
        location = error.errors()[0]["loc"]
        where = (sources or {}).get(str(location[0]), source) if location else source
        raise InputError(f"{where}: {first_sentence(error, Spec)}") from None


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The unchecked contents of a TOML or JSON file, or the spec of a manifest.json."""
    return read_file(path)[0]


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], bool]:
    """The contents of a spec file, and whether it was a manifest, which is not trusted."""
    file = Path(path)
    try:
        text = read_regular(file, follow=True, most=1 << 26).decode()
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}") from None
    try:
        values = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{path}: it is nested too deeply") from None
    except ValueError as error:
        kind = "JSON" if file.suffix == ".json" else "TOML"
        raise InputError(f"{path}: this is not {kind}: {str(error)[:1].lower()}{str(error)[1:]}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: a spec is a table, such as episodes = 100, not a {type(values).__name__}")
    manifest = "spec" in values and "versions" in values
    if manifest:
        values = values["spec"]
    if not isinstance(values, dict):
        raise InputError(f"{path}: the spec of a manifest is a table, not a {type(values).__name__}")
    return dict(values), manifest


def plurals(values: Mapping[str, Any]) -> dict[str, Any]:
    """``environment`` and ``agent`` may be said of one, ``envs`` is short, and one need not be in a list."""
    found = dict(values)
    for short in ("env", "envs"):
        if short in found and "environments" not in found:
            found["environments"] = found.pop(short)
    for one, many in (("environment", "environments"), ("agent", "agents")):
        if one in found and many not in found:
            found[many] = found.pop(one)
        if isinstance(found.get(many), str | Mapping):
            found[many] = [found[many]]
    return found


def _with_label(value: Any, key: str) -> Any:
    if isinstance(value, str):
        value = {key: value}
    if not isinstance(value, Mapping) or value.get("label") is not None or not isinstance(value.get(key), str):
        return value
    options = value.get("options")
    shown = ", ".join(f"{k}={_short(v)}" for k, v in options.items()) if isinstance(options, Mapping) else ""
    return {**value, "label": f"{value[key]} ({shown})" if shown else value[key]}


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
