"""Learning from logs: logged episodes count for the model, not for history or regret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl import logs
from cmerl.certificates import Ledger
from cmerl.errors import CmerlError, InputError
from cmerl.logs.tables import Names
from cmerl.rollback import all_or_nothing

LogRecord = dict[str, Any]
"""The record of a log: source, episodes, transitions, sha256."""


class Learner(Protocol):
    """The interface of an agent that learns from logs."""

    env: gymnasium.Env[Any, Any] | None
    horizon: int
    ingested: tuple[LogRecord, ...]
    _first_numbers: tuple[int, int]
    _open: Any

    @property
    def ledger(self) -> Ledger | None:
        """The ledger of the certificate."""
        ...

    def _learning(self) -> AbstractContextManager[None]: ...

    def _ingest(self, episodes: Sequence[logs.LoggedEpisode]) -> None: ...

    def _relearn(self, lesson: dict[str, Any]) -> None: ...


L = TypeVar("L", bound=Learner)


class FitsLogs:
    """The part of an agent that learns from logs.

    Attributes:
        ingested: one record a call of ``fit``: source, episodes, transitions and a checksum.
    """

    ingested: tuple[LogRecord, ...] = ()

    def fit(self: L, episodes: Any, *, columns: Mapping[str, Names] | None = None) -> L:
        """Learn from logged episodes: from all of them, or from none if one is invalid.

        They count for the model, and neither for ``history`` nor for regret.

        Args:
            episodes: an iterable of mappings with ``observations`` (T + 1), ``actions`` (T), ``rewards`` (T) and
                ``terminated``; a frame of pandas or Polars; the path of a CSV or Parquet file; a Minari data set; the
                results of a run (``cmerl.experiments.load(directory)``).
            columns: of a table, which columns hold what, such as {"observations": ["x", "v"], "actions": "u"}. An
                environment that names its observation's numbers (``env.unwrapped.columns``) need not name them again.
        """
        if self.env is None:
            raise InputError(
                "this agent has no environment to check logs with: load it with CMERL.load(path, env=env)"
            )
        if self._open is not None and self._open.step > 0:
            raise InputError("an episode is open: close it before fitting logs")
        observed = [str(name) for name in getattr(self.env.unwrapped, "columns", ())]
        found = logs.read(episodes, columns, observed).within(self.env.observation_space, self.env.action_space)
        about = found.provenance()
        if any(about["sha256"] == before["sha256"] for before in self.ingested):
            raise InputError(f"{found.source}: the agent has learned from these episodes already")
        with self._learning(), all_or_nothing(self):
            self.ingested = (*self.ingested, about)
            self._ingest(found.episodes)
            _witness(self, found.episodes)
        return self

    def _ingest(self: L, episodes: Sequence[logs.LoggedEpisode]) -> None:
        """Learn logged episodes; by default one after the other, as if they had been played."""
        for episode in episodes:
            check_length(episode, self.horizon)
        with _turned_back(self):
            for episode in episodes:
                with naming(episode):
                    self._relearn(episode.lesson())


def _witness(agent: Learner, episodes: Sequence[logs.LoggedEpisode]) -> None:
    """Let logged transitions count for what is proven."""
    if (ledger := agent.ledger) is None:
        return
    first_state, first_action = agent._first_numbers
    for episode in episodes:
        states = [int(obs) - first_state for obs in episode.observations]
        actions = [int(action) - first_action for action in episode.actions]
        ledger.observe(states, actions, episode.rewards.tolist(), terminated=episode.terminated)


@contextmanager
def _turned_back(agent: Learner) -> Iterator[None]:
    """Arrays that change in place get their numbers back when something fails; `all_or_nothing` sees to the rest."""
    held = [(array, array.copy()) for array in _arrays({**vars(agent), "env": None}, set())]
    try:
        yield
    except BaseException:
        for array, before in held:
            array[...] = before
        raise


def _arrays(value: Any, seen: set[int]) -> Iterator[NDArray[Any]]:
    """The arrays in an object of this package, or in a collection of such objects."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            yield value
    elif isinstance(value, dict | list | tuple):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _arrays(entry, seen)
    elif type(value).__module__.startswith("cmerl.") and hasattr(value, "__dict__"):
        yield from _arrays(vars(value), seen)


def check_length(episode: logs.LoggedEpisode, horizon: int) -> None:
    """Refuse an episode with more steps than the agent plans for."""
    if len(episode) > horizon:
        raise InputError(
            f"{episode.where} has {len(episode)} steps, more than the horizon of {horizon}: split it, or make the "
            "agent with a longer horizon"
        )


@contextmanager
def naming(episode: logs.LoggedEpisode) -> Iterator[None]:
    """Add the episode's name to errors."""
    try:
        yield
    except CmerlError as error:
        raise type(error)(f"{episode.where}: {error}") from error
