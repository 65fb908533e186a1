"""What to tune: the table ``[tune]`` of a spec."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from cmerl import agents
from cmerl.errors import InputError
from cmerl.experiments.runner import check, load_spec
from cmerl.experiments.spec import AgentSpec, PositiveInt, Spec, read
from cmerl.experiments.spec_errors import first_sentence, nearest

Seed = Annotated[int, Field(ge=0, strict=True)]


class Range(BaseModel):
    """Numbers from ``low`` to ``high``, whole ones if both are; evenly on a logarithmic scale if ``log``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    low: Annotated[int, Field(strict=True)] | float
    high: Annotated[int, Field(strict=True)] | float
    log: bool = False

    @model_validator(mode="after")
    def _in_order(self) -> Range:
        if not self.low < self.high:
            raise ValueError(f"low must be below high, not {self.low} and {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"a logarithmic range must begin above 0, not at {self.low}")
        return self


class TuneSpec(BaseModel):
    """The table ``[tune]`` of a spec.

    Attributes:
        options: what to search: a range, or a list of values. A dot goes into a table: "bonus.sigma_scale".
        trials: how many settings to try.
        seeds: how many seeds to try each on, which then follow those of the spec, or which. None may be among those
            of the spec: they are kept for the final comparison.
        objective: "regret" (cumulative), "return" (mean), or "auto": regret where it is known.
        sampler_seed: of the search.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    options: Annotated[dict[str, Range | Annotated[list[Any], Field(min_length=2)]], Field(min_length=1)]
    trials: PositiveInt = 30
    seeds: PositiveInt | Annotated[tuple[Seed, ...], Field(min_length=1)] = 4
    objective: Literal["auto", "return", "regret"] = "auto"
    sampler_seed: Seed = 0


def load(source: str | os.PathLike[str] | Mapping[str, Any], **settings: Any) -> tuple[Spec, TuneSpec]:
    """A spec and its table ``[tune]``, from a TOML or JSON file or a dictionary; ``settings`` go before the table."""
    values = dict(source) if isinstance(source, Mapping) else read(source)
    place = "spec" if isinstance(source, Mapping) else os.fspath(source)
    if not isinstance(values.get("tune"), Mapping):
        raise InputError(
            f"{place}: it has no table [tune]: say what to search, such as [tune.options] lam = [0.1, 1.0]"
        )
    table = {**values.pop("tune"), **settings}
    spec = load_spec(values, {}, place)
    if len(spec.agents) != 1:
        raise InputError(f"{place}: tuning is for one agent, not for {len(spec.agents)}: leave the others out")
    try:
        tune = TuneSpec.model_validate(table)
    except ValidationError as error:
        raise InputError(f"{place}, tune: {first_sentence(error, TuneSpec)}") from None
    _check_options(spec.agents[0], tune, place)
    shared = sorted(set(tuning_seeds(spec, tune)) & set(spec.seed_list))
    if shared:
        raise InputError(
            f"{place}, tune: seed {shared[0]} is also one of the final comparison's: a setting chosen on a seed "
            "looks better there than it is, so choose others"
        )
    check(spec)
    return spec, tune


def tuning_seeds(spec: Spec, tune: TuneSpec) -> list[int]:
    """On which trials are compared: by default those that follow the final ones."""
    first = max(spec.seed_list) + 1
    return list(range(first, first + tune.seeds)) if isinstance(tune.seeds, int) else list(tune.seeds)


def _check_options(agent: AgentSpec, tune: TuneSpec, place: str) -> None:
    known = agents.options(agent.name)
    for name in tune.options:
        first, *rest = name.split(".")
        if first not in known:
            raise InputError(f"{place}, tune: agent {agent.name!r} has no option {first!r}: {nearest(first, known)}")
        if rest:
            with_options(agent.options, {name: None})


def with_options(options: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """``options`` with some of them replaced, inside tables where a name has dots."""
    result = deepcopy(dict(options))
    for name, value in found.items():
        *tables, last = name.split(".")
        inner: Any = result
        for table in tables:
            inner = inner.get(table)
            if not isinstance(inner, dict):
                raise InputError(
                    f"option {name!r} is inside {table!r}, which must be a table among the agent's options"
                )
        inner[last] = value
    return result
