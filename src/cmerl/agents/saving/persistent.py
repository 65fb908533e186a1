"""Saving agents: one file, checked when it is loaded."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import Any, ClassVar, Self

import gymnasium
import numpy as np

from cmerl import blas, oracles
from cmerl.agents.certified import Certified
from cmerl.agents.episode import Episode
from cmerl.agents.history import History
from cmerl.agents.records import REGRET_KINDS, EpisodeRecord, Trajectory
from cmerl.agents.saving import container
from cmerl.agents.saving.contents import check_any
from cmerl.certificates import Ledger
from cmerl.errors import CmerlError, InputError
from cmerl.growing import nested, part


class Persistent(Certified):
    """The part of an agent that saves and loads it."""

    name: ClassVar[str]
    seed: int
    broken_off: int
    paused: bool
    history: History
    ingested: tuple[dict[str, Any], ...]
    _latest: Trajectory
    _open: Episode | None
    _model: Any
    _solution: oracles.AnySolution | None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything learned to one file; ``load`` continues exactly where this stopped."""
        container.write(path, *self._everything())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as it is saved, with its environment; what cannot be saved is refused with what to do instead."""
        return unpickled, (type(self), container.to_bytes(*self._everything()), self.env, self._unsaved())

    def _everything(self) -> tuple[container.Tensors, dict[str, Any]]:
        """What ``save`` writes."""
        self._check_thread()
        if self._open is not None and self._open.step > 0:
            raise InputError("an episode is open: close it, or save after it has ended")
        tensors, meta = self._state()
        records = self.history[:]
        for name in ("ret", "length", "seconds"):
            tensors[f"history.{name}"] = np.array([getattr(r, name) for r in records], dtype=np.float64)
        regrets = [np.nan if r.regret is None else r.regret for r in records]
        tensors["history.regret"] = np.array(regrets, dtype=np.float64)
        kinds = [REGRET_KINDS.index(r.regret_kind) for r in records]
        tensors["history.regret_kind"] = np.array(kinds, dtype=np.int64)
        about = {"agent": self.name, "horizon": self.horizon, "seed": self.seed, "broken_off": self.broken_off}
        about["metrics"] = [r.metrics for r in records]
        if self.paused:
            about["paused"] = True
        if self.ingested:
            about["ingested"] = list(self.ingested)
        if (ledger := self.ledger) is not None:
            about["ledger"] = {**ledger.spec(), "first": list(self._first_numbers)}
            tensors |= nested({"ledger": ledger.arrays()})
        return tensors, {**about, **meta}

    @classmethod
    def load(cls, path: str | os.PathLike[str], env: gymnasium.Env[Any, Any] | None = None, **given: Any) -> Self:
        """A saved agent; without an environment it can predict but not learn.

        Args:
            path: what ``save`` wrote.
            env: the environment to go on in.
            given: what cannot be saved, such as ``reward`` if it was a function.
        """
        return cls._from(*container.read(path), repr(os.fspath(path)), env, given)

    @classmethod
    def _from(
        cls,
        tensors: container.Tensors,
        meta: dict[str, Any],
        name: str,
        env: gymnasium.Env[Any, Any] | None,
        given: dict[str, Any],
    ) -> Self:
        """An agent from what a file holds, all of it checked first; ``name`` is what messages call the file."""
        if meta.get("agent") != cls.name:
            raise InputError(f"{name} holds an agent {str(meta.get('agent'))[:60]!r}, not {cls.name!r}")
        try:
            cls._check_saved(tensors, meta)
        except InputError as error:
            raise InputError(f"{name} is damaged: {error}") from None
        try:
            with np.errstate(all="ignore"), blas.one_thread():
                return cls._built(tensors, meta, env, given)
        except CmerlError:
            raise
        except (Exception, RecursionError) as error:
            kind = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            raise InputError(f"{name} is damaged: no agent can be made from it ({kind})") from error

    @classmethod
    def _built(
        cls,
        tensors: container.Tensors,
        meta: dict[str, Any],
        env: gymnasium.Env[Any, Any] | None,
        given: dict[str, Any],
    ) -> Self:
        agent = cls.__new__(cls)
        agent.seed, agent.horizon, agent.broken_off = meta["seed"], meta["horizon"], meta["broken_off"]
        agent.env, agent._model, agent._solution = None, None, None
        agent._latest = Trajectory()
        agent.ingested = tuple(meta.get("ingested", ()))
        agent.paused = meta.get("paused", False)
        agent._books = "it was saved without one"
        if "ledger" in meta:
            about = dict(meta["ledger"])
            agent._first_numbers = tuple(about.pop("first"))
            agent._books = Ledger.restore(about, part(tensors, "ledger"))
        if env is not None:
            agent._set_env(env, agent.horizon)
        columns = [
            tensors[f"history.{name}"].tolist() for name in ("ret", "length", "regret", "regret_kind", "seconds")
        ]
        agent.history = History(
            EpisodeRecord(i, ret, int(length), None if np.isnan(regret) else regret, REGRET_KINDS[kind], sec, metrics)
            for i, (ret, length, regret, kind, sec, metrics) in enumerate(zip(*columns, meta["metrics"], strict=True))
        )
        agent._restore(tensors, meta, given)
        return agent

    @classmethod
    def _check_saved(cls, tensors: container.Tensors, meta: dict[str, Any]) -> None:
        """Raise an InputError unless a file's arrays and description are what ``_state`` could have written."""
        check_any(tensors, meta)

    def _unsaved(self) -> dict[str, Any]:
        """What ``load`` must be given, since a file cannot hold it."""
        return {}

    def _state(self) -> tuple[container.Tensors, dict[str, Any]]:
        """Arrays and a JSON-able description of what this agent has learned and was told."""
        return {}, {}

    def _restore(self, tensors: container.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        """Undo ``_state``."""

    @abstractmethod
    def _set_env(self, env: gymnasium.Env[Any, Any], horizon: int | None) -> None:
        """Meet an environment."""

    @abstractmethod
    def _check_thread(self) -> None:
        """Refuse other threads while the agent learns."""


def unpickled(
    cls: type[Persistent], content: bytes, env: gymnasium.Env[Any, Any] | None, given: dict[str, Any]
) -> Persistent:
    """The agent that was pickled."""
    return cls._from(*container.from_bytes(content, "the pickled agent"), "the pickled agent", env, given)
