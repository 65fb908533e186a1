"""One unit of work: an environment, an agent and a seed, played episode by episode into a journal."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from cmerl import agents, blas
from cmerl.agents.base import EpisodeRecord
from cmerl.agents.environment_calls import StepLimit
from cmerl.confidence import Mode, as_mode
from cmerl.errors import CmerlError, InputError
from cmerl.experiments import own
from cmerl.experiments.environments import make_environment
from cmerl.experiments.journal import Journal
from cmerl.experiments.packing import pack, unpack
from cmerl.experiments.rollouts import RegretEstimate
from cmerl.experiments.snapshots import Recorder
from cmerl.experiments.spec import AgentSpec, EnvironmentSpec, Spec
from cmerl.experiments.spec_errors import nearest
from cmerl.kernels import from_spec

FORMAT = 1  # of journals


class Unit(BaseModel):
    """One unit of a run: an environment, an agent and a seed; equal units give equal bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    env: EnvironmentSpec
    agent: AgentSpec
    seed: int
    episodes: int
    horizon: int | None
    rollouts: int
    allow_env_modules: tuple[str, ...]
    snapshots: bool = False  # of what it believes over its states, for the report's maps
    step_timeout: float | None = None  # seconds; decides nothing of what comes out

    @property
    def key(self) -> tuple[str, str, int]:
        """(environment, agent, seed), as episodes.jsonl names them."""
        return self.env.label, self.agent.label, self.seed

    @property
    def parts(self) -> dict[str, Callable[..., Any]]:
        """Objects of the user's own that it is made of, and that a worker does not know."""
        return own.needed((self.env.id, self.agent.name)) | own.registered(self.agent.name)

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.env.label} · {self.agent.label} · seed {self.seed}"

    @property
    def digest(self) -> str:
        """A digest of everything that determines the result."""
        return hashlib.sha256(self.model_dump_json(exclude={"step_timeout"}).encode()).hexdigest()

    @property
    def file(self) -> str:
        """Name of its journal: readable, and distinct where labels differ in signs only."""
        words = re.sub(r"[^A-Za-z0-9.]+", "-", f"{self.env.label} {self.agent.label}").strip("-")[:80]
        distinct = hashlib.sha256(json.dumps(self.key).encode()).hexdigest()[:8]
        return f"{words}-{self.seed}-{distinct}.journal"


def units_of(spec: Spec) -> list[Unit]:
    """Every environment with every agent and every seed."""
    seeds = spec.seed_list
    return [
        Unit(
            env=env,
            agent=agent,
            seed=seed,
            episodes=spec.episodes,
            horizon=env.horizon or spec.horizon,
            rollouts=spec.rollouts,
            allow_env_modules=spec.allow_env_modules,
            snapshots=seed == seeds[0],
            step_timeout=spec.step_timeout,
        )
        for env in spec.environments
        for agent in spec.agents
        for seed in seeds
    ]


def make_agent(unit: Unit) -> agents.Agent:
    """The agent in its environment, before the first episode."""
    env = make_environment(unit.env, unit.allow_env_modules)
    options = {key: _option(value) for key, value in unit.agent.options.items()}
    name: Any = unit.agent.name
    if own.is_reference(name):
        name = own.find(name, unit.allow_env_modules, "agent")
    return agents.make(name, env, horizon=unit.horizon, seed=unit.seed, **options)


def _option(value: Any) -> Any:
    """A value of a spec as an agent wants it: a table with a "type" is a kernel, one with a "mode" a bonus."""
    if isinstance(value, dict) and "type" in value:
        return from_spec(value)
    if isinstance(value, dict) and "mode" in value:
        return _mode(**value)
    return tuple(value) if isinstance(value, list) else value


def _mode(mode: str, **settings: Any) -> Mode:
    cls = type(as_mode(mode))
    known = [field.name for field in dataclasses.fields(cls)]
    for name in settings:
        if name not in known:
            raise InputError(f"bonus {mode!r} has no setting {name!r}: {nearest(name, known)}")
    return cls(**settings)


def play(unit: Unit, journal: Journal) -> dict[str, Any]:
    """Play a unit to its end, going on where its journal ends.

    Args:
        unit: what to play.
        journal: gets a record for every episode as soon as it is finished, and a last one.

    Returns:
        The report that the last record holds.
    """
    with blas.one_thread():
        records = [unpack(record) for record in journal.records()]
        if not records:
            journal.append(pack({"format": FORMAT, "unit": unit.digest}))
        else:
            check_header(unit, records[0])
        if records and "report" in records[-1]:
            return dict(records[-1]["report"])
        agent = rebuild(unit, records[1:])
        keep = keeper(unit, agent, journal, [record["lesson"] for record in records[1:]])
        limit = None if unit.step_timeout is None else StepLimit(unit.step_timeout, end_process=True)
        agent.learn(unit.episodes - len(agent.history), callback=keep, step_timeout=limit)
        report = report_of(agent)
        journal.append(pack({"report": report}))
    return report


def keeper(
    unit: Unit, agent: agents.Agent, journal: Journal, past: Sequence[dict[str, Any]] = ()
) -> Callable[[agents.Agent, EpisodeRecord], None]:
    """A callback for ``agent.learn`` that writes every episode down; ``past`` are the lessons of those before."""
    estimate = RegretEstimate(unit, agent)
    recorder = Recorder(agent, unit.episodes) if unit.snapshots else None
    if recorder is not None:
        for lesson in past:
            recorder.see(lesson)

    def keep(agent: agents.Agent, record: EpisodeRecord) -> None:
        lesson = agent.lesson()
        kept = {"line": line_of(unit, estimate(record)), "lesson": lesson}
        if recorder is not None:
            recorder.see(lesson)
            kept |= recorder.snapshot()
        journal.append(pack(kept))

    return keep


def check_header(unit: Unit, header: dict[str, Any]) -> None:
    """Refuse a journal of another unit or another format."""
    if type(header.get("format")) is not int or header["format"] != FORMAT:
        raise InputError(f"{unit.title}: the journal has format {header.get('format')}, cmerl reads {FORMAT}")
    if header.get("unit") != unit.digest:
        raise InputError(f"{unit.title}: the journal belongs to other settings than the manifest's")


def rebuild(unit: Unit, records: list[dict[str, Any]], episodes: int | None = None) -> agents.Agent:
    """The agent as it was after the recorded episodes, or after the first ``episodes`` of them, bit for bit."""
    agent = make_agent(unit)
    for record in records[:episodes]:
        if "line" not in record:
            continue
        try:
            agent.relearn(record_of(record["line"]), record["lesson"])
        except CmerlError as error:
            raise InputError(
                f"{unit.title}: episode {len(agent.history)} cannot be learned again: {error}"
            ) from error
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            raise InputError(f"{unit.title}: episode {len(agent.history)} cannot be learned again: {why}") from error
    return agent


def line_of(unit: Unit, record: EpisodeRecord) -> dict[str, Any]:
    """The line of episodes.jsonl for an episode."""
    env, agent, seed = unit.key
    line = {
        "env": env,
        "agent": agent,
        "seed": seed,
        "episode": record.episode,
        "return": record.ret,
        "length": record.length,
        "regret": record.regret,
        "regret_kind": record.regret_kind,
        "seconds": record.seconds,
        "metrics": record.metrics,
    }
    return {key: plain(value) for key, value in line.items()}


def record_of(line: dict[str, Any]) -> EpisodeRecord:
    """The inverse of ``line_of``."""
    names = ("episode", "length", "regret", "regret_kind", "seconds", "metrics")
    return EpisodeRecord(ret=line["return"], **{name: line[name] for name in names})


def report_of(agent: agents.Agent) -> dict[str, Any]:
    """What is worth keeping of an agent that has played its last episode."""
    diagnostics: Callable[[], dict[str, Any]] | None = getattr(agent, "diagnostics", None)
    found: dict[str, Any] = plain(diagnostics()) if diagnostics is not None else {}
    return {"horizon": agent.horizon, "jitter": found.get("jitter", 0.0), "diagnostics": found}


def plain(value: Any) -> Any:
    """A value ready for strict JSON: NumPy's numbers as Python's, what is not finite as null."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(value.tolist()) if isinstance(value, np.ndarray | np.generic) else str(value)
