"""Failures of units: the reason in a sentence, and the line of code."""

from __future__ import annotations

import linecache
import os
import shlex
import sysconfig
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium

from cmerl.errors import CmerlError
from cmerl.files import reason

_LIBRARIES = (str(Path(gymnasium.__file__).parent), str(Path(__file__).parents[1]))


class Failure(NamedTuple):
    """A unit that cannot go on.

    Attributes:
        message: why, in one line.
        where: file, line, function and code of the user's frame that raised; "" where none did.
    """

    message: str
    where: str = ""


def failure_of(error: BaseException) -> Failure:
    """The message for an exception."""
    return Failure(sentence(error), place(error))


def sentence(error: BaseException) -> str:
    """Why a unit failed, in one line."""
    if isinstance(error, CmerlError):
        return " ".join(str(error).split())
    if isinstance(error, OSError) and error.errno is not None:
        return reason(error)
    if isinstance(error, MemoryError):
        return "memory is short: play fewer runs at a time (--jobs), or raise the limit"
    return f"{type(error).__name__}: {error}".strip().rstrip(":").replace("\n", " ")


def place(error: BaseException) -> str:
    """The user's line of code that raised: the innermost frame outside of cmerl, Gymnasium and other libraries."""
    frames = [frame for link in _chain(error) for frame in traceback.extract_tb(link.__traceback__)]
    foreign = [frame for frame in frames if not frame.filename.startswith((*_LIBRARIES, "<"))]
    if foreign:
        return _told(([frame for frame in foreign if not _installed(frame.filename)] or foreign)[-1])
    return _told(frames[-1]) if frames and not isinstance(error, CmerlError) else ""


def _installed(filename: str) -> bool:
    return "site-packages" in filename or filename.startswith(sysconfig.get_path("stdlib"))


def told(failures: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """(sentence, place) for each environment, agent and reason among a summary's failures, naming the seeds."""
    seeds: dict[tuple[str, str, str, str], list[int]] = {}
    for failure in failures:
        key = failure["env"], failure["agent"], failure["message"], failure.get("where", "")
        seeds.setdefault(key, []).append(failure["seed"])
    return [
        (f"{env} · {agent} · seed{'s' * (len(found) > 1)} {', '.join(map(str, found))} failed: {message}", where)
        for (env, agent, message, where), found in seeds.items()
    ]


def what_now(failed: int, total: int, directory: str | os.PathLike[str], modules: Sequence[str] = ()) -> str:
    """Number of failed units, place of tracebacks, and how to continue."""
    return (
        f"{failed} of {total} runs failed: the tracebacks are in {Path(directory) / 'run.log'}; "
        f"once the cause is mended, {resuming(directory, modules)} goes on"
    )


def resuming(directory: str | os.PathLike[str], modules: Sequence[str] = (), address: str | None = None) -> str:
    """The command that goes on with a run, naming again what its user must trust again."""
    trusted = [word for module in modules for word in ("--allow-env-module", module)]
    cluster = [] if address is None else ["--address", address]
    return shlex.join(["cmerl", "resume", os.fspath(directory), *trusted, *cluster])


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and what caused it, the outermost first."""
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _told(frame: traceback.FrameSummary) -> str:
    path = Path(frame.filename)
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    code = linecache.getline(frame.filename, frame.lineno or 0).strip()
    return f"{shown}, line {frame.lineno}, in {frame.name}" + (f": {code}" if code else "")
