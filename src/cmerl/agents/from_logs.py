"""Learning from logs: what others have played counts for the model, and not for history or regret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

import gymnasium

from cmerl import logs
from cmerl.certificates import Ledger
from cmerl.errors import CmerlError, InputError
from cmerl.logs.tables import Names
from cmerl.rollback import all_or_nothing

LogRecord = dict[str, Any]
"""What an agent remembers of one log: source, episodes, transitions, sha256."""


class Learner(Protocol):
    """What is needed of an agent."""

    env: gymnasium.Env[Any, Any] | None
    horizon: int
    ingested: tuple[LogRecord, ...]
    _first_numbers: tuple[int, int]
    _open: Any

    @property
    def ledger(self) -> Ledger | None:
        """What proves the certificate."""
        ...

    def _learning(self) -> AbstractContextManager[None]: ...

    def _ingest(self, episodes: Sequence[logs.LoggedEpisode]) -> None: ...

    def _relearn(self, lesson: dict[str, Any]) -> None: ...

    def __reduce__(self) -> tuple[Any, ...]: ...


L = TypeVar("L", bound=Learner)


class FitsLogs:
    """The part of an agent that learns from logs.

    Attributes:
        ingested: one record a call of ``fit``: source, episodes, transitions and a checksum.
    """

    ingested: tuple[LogRecord, ...] = ()

    def fit(self: L, episodes: Any, *, columns: Mapping[str, Names] | None = None) -> L:
        """Learn from episodes that somebody has played: from all of them, or from none if one is wrong.

        They count for the model, and neither for ``history`` nor for regret.

        Args:
            episodes: an iterable of mappings with ``observations`` (T + 1), ``actions`` (T), ``rewards`` (T) and
                ``terminated``; a frame of pandas or Polars; the path of a CSV or Parquet file; a Minari data set; the
                results of a run (``cmerl.experiments.load(directory)``).
            columns: of a table, which columns hold what, such as {"observations": ["x", "v"], "actions": "u"}.
        """
        if self.env is None:
            raise InputError(
                "this agent has no environment to check logs with: load it with CMERL.load(path, env=env)"
            )
        if self._open is not None and self._open.step > 0:
            raise InputError("an episode is open, and logs would come into its middle: close it first")
        found = logs.read(episodes, columns).within(self.env.observation_space, self.env.action_space)
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
    """An agent whose arrays change in place is made again, as it would be loaded, when something fails."""
    make, saved, *_ = agent.__reduce__()
    try:
        yield
    except BaseException:
        vars(agent).update(vars(make(*saved)))
        raise


def check_length(episode: logs.LoggedEpisode, horizon: int) -> None:
    """Refuse an episode with more steps than the agent plans for."""
    if len(episode) > horizon:
        raise InputError(
            f"{episode.where} has {len(episode)} steps, more than the horizon of {horizon}: split it, or make the "
            "agent with a longer horizon"
        )


@contextmanager
def naming(episode: logs.LoggedEpisode) -> Iterator[None]:
    """What is wrong with an episode is said with its name."""
    try:
        yield
    except CmerlError as error:
        raise type(error)(f"{episode.where}: {error}") from error
