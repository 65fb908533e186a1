"""Run and resume: check a spec, pass its units to an engine, record events."""

from __future__ import annotations

import datetime
import logging
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cmerl.errors import CmerlError, InputError
from cmerl.experiments import engines, own
from cmerl.experiments.engines.base import Event
from cmerl.experiments.failures import told, what_now
from cmerl.experiments.results import Results
from cmerl.experiments.rollouts import RegretEstimate
from cmerl.experiments.spec import Spec, parse, plurals, read_file
from cmerl.experiments.store import Ledger, RunDirectory
from cmerl.experiments.units import Unit, make_agent, units_of

log = logging.getLogger("cmerl")

Callback = Callable[[Event, Ledger], None]
"""Called in the driver after every event was written down; must be quick, since workers do not wait for it."""


def run(
    spec: Spec | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    callbacks: Sequence[Callback] = (),
    progress: bool = False,
    command: str | None = None,
    **settings: Any,
) -> Results:
    """Run an experiment.

    Args:
        spec: a dictionary, a TOML or JSON file, or an environment's id; the keys are those of ``Spec``. From Python,
            ``envs`` and ``agents`` may also hold callables that make an environment, and classes or callables
            (env, *, horizon, seed, **options) that make an agent.
        out: the run directory; by default a new one in ``runs/``.
        callbacks: called as callback(event, ledger) after every event.
        progress: show progress bars.
        command: the command that the manifest records for repeating the run.
        settings: keys of the spec; they override ``spec``.

    Returns:
        The results. Units that failed are in ``results.failures``; the others are complete.
    """
    checked = load_spec(_with_names(spec) if isinstance(spec, Mapping) else spec, _with_names(settings))
    if checked.engine == "ray" and any(part for unit in units_of(checked) for part in unit.parts):
        raise InputError("objects that cannot be imported run on the local engine only: put them into a module")
    check(checked)
    directory = Path(out) if out is not None else new_directory(checked)
    repeat = command or f"cmerl run {shlex.quote(str(directory / 'manifest.json'))}"
    consent = Consent(checked.address, checked.allow_env_modules)
    return _go(RunDirectory.create(directory, checked, repeat), callbacks, progress, consent=consent)


def resume(
    directory: str | os.PathLike[str],
    *,
    callbacks: Sequence[Callback] = (),
    progress: bool = False,
    jobs: int | None = None,
    address: str | None = None,
    allow_env_modules: Sequence[str] = (),
    agents: Sequence[Callable[..., Any]] = (),
    envs: Sequence[Callable[..., Any]] = (),
) -> Results:
    """Continue an interrupted run exactly where it stopped; failed units are tried again.

    Args:
        directory: of the run.
        callbacks: as for ``run``.
        progress: show progress bars.
        jobs: units at a time; does not change the results.
        address: address of the Ray cluster, if the run used one; the manifest's own is not trusted.
        allow_env_modules: modules of the run whose code you trust.
        agents: classes and callables that were passed to ``run`` as objects.
        envs: likewise.
    """
    for part in agents:
        own.check_sendable({own.name_of(part, "agent"): part}, "")
    for part in envs:
        name = own.name_of(part, "environment")
        own.check_sendable({name: part}, name)
    return _go(RunDirectory(directory), callbacks, progress, jobs, Consent(address, tuple(allow_env_modules)))


def _with_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a spec with objects replaced by names; who passes an object trusts the module that it comes from."""
    found, modules = plurals(values), []
    for key, what in (("environments", "environment"), ("agents", "agent")):
        if key in found:
            found[key], more = own.named(found[key], what)
            modules += more
    if modules:
        found["allow_env_modules"] = [*dict.fromkeys([*(found.get("allow_env_modules") or ()), *modules])]
    return found


@dataclass(frozen=True)
class Consent:
    """The modules and address that the user allows now; a manifest alone is not trusted.

    Attributes:
        address: of a Ray cluster, to which code and data go.
        modules: that may be imported.
    """

    address: str | None = None
    modules: tuple[str, ...] = ()

    def check(self, spec: Spec, place: str) -> None:
        """Refuse a spec that wants more."""
        for module in spec.allow_env_modules:
            if module not in self.modules:
                raise InputError(
                    f"{place} wants code of module {module!r} to run: if you trust it, allow it again with "
                    f"--allow-env-module {module} (allow_env_modules=[…])"
                )
        if spec.address is not None and self.address is None:
            raise InputError(
                f"{place} wants to join the Ray cluster at {spec.address!r}: if you trust it, allow it again with "
                f"--address {spec.address} (address=…)"
            )


def load_spec(spec: Any, settings: Mapping[str, Any], place: str = "spec") -> Spec:
    """A spec from any argument that ``run`` accepts.

    Args:
        spec: a spec, a dictionary, a TOML or JSON file, or an environment's id.
        settings: keys that go before it.
        place: where a mistake that is not in a file is said to be.
    """
    source, manifest = place, False
    if isinstance(spec, Spec):
        values: dict[str, Any] = spec.model_dump(mode="json")
    elif isinstance(spec, Mapping) or spec is None:
        values = dict(spec or {})
    elif isinstance(spec, os.PathLike) or str(spec).endswith((".toml", ".json")):
        (values, manifest), source = read_file(spec), os.fspath(spec)
    else:
        values = {"environments": [spec]}
    found = parse({**plurals(values), **plurals(settings)}, source, dict.fromkeys(plurals(settings), place))
    if manifest:
        Consent(settings.get("address"), tuple(settings.get("allow_env_modules") or ())).check(found, source)
    return found


def check(spec: Spec) -> None:
    """Make every environment with every agent once, so that mistakes show before anything is begun."""
    engines.check(spec.engine)
    for unit in units_of(spec.model_copy(update={"seeds": (spec.seed_list[0],)})):
        _check_unit(unit)


def _check_unit(unit: Unit) -> None:
    try:
        agent = make_agent(unit)
        RegretEstimate(unit, agent)
        own.check_sendable(unit.parts, unit.env.id)
    except CmerlError as error:
        raise InputError(f"{_where(unit, str(error))}{error}") from error
    except Exception as error:  # an option of the wrong kind, or what an environment's constructor does
        why = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise InputError(f"{_where(unit, '')}it cannot be made with these options: {why}") from error
    with suppress(Exception):
        if agent.env is not None:
            agent.env.close()


def _where(unit: Unit, message: str) -> str:
    """The part of a spec that is wrong, unless the message names it."""
    named = message.startswith(("environment ", "there is no ", "module ", "agent "))
    return "" if named else f"{unit.agent.label} in {unit.env.label}: "


def _go(
    directory: RunDirectory,
    callbacks: Sequence[Callback],
    progress: bool,
    jobs: int | None = None,
    consent: Consent | None = None,
) -> Results:
    consent = consent or Consent()
    spec = directory.spec()
    consent.check(spec, str(directory.manifest_file))
    with directory.lock(), closing(Ledger(directory)) as ledger:
        if ledger.spec != spec:
            raise InputError(f"{directory.manifest_file} was changed meanwhile: look at it, then try again")
        address = consent.address if spec.engine == "ray" else None
        engine = engines.make(spec.engine, jobs=jobs or spec.jobs, address=address, journals=spec.journals)
        with _shown(ledger, progress) as show, closing(engine.run(ledger.tasks)) as events:
            for event in events:
                ledger.note(event)
                for callback in (show, *callbacks):
                    callback(event, ledger)
    results = Results(directory.path, allow_env_modules=consent.modules)
    if not progress and (failures := results.failures):  # with bars, whoever shows them tells
        for words, where in told(failures):
            log.warning("%s%s", words, f" (at {where})" if where else "")
        log.warning(what_now(len(failures), len(results.units), directory.path, consent.modules))
    return results


def _shown(ledger: Ledger, progress: bool) -> AbstractContextManager[Callback]:
    if not progress:
        return nullcontext(lambda event, ledger: None)
    from cmerl.experiments.progress import shown

    return shown(ledger)


def new_directory(spec: Spec) -> Path:
    """A name that says what and when."""
    what = re.sub(r"[^A-Za-z0-9.]+", "-", spec.environments[0].id.rpartition("/")[2]).strip("-")
    when = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    base = Path("runs") / f"{what}-{when}"
    number = 1
    found = base
    while found.exists():
        number += 1
        found = base.with_name(f"{base.name}-{number}")
    return found
