"""A policy that searches, asked as a function of the observation and the step."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Searching(Protocol):
    """A policy on its way through one episode."""

    def __call__(self, obs: Any, step: int) -> Any:
        """The action."""
        ...

    def expects(self, state: FloatArray, step: int) -> bool:
        """Whether its search has led to an encoded state (1, d) at this step."""
        ...


class LastAsked(threading.local):
    """The last call of a policy in this thread: search, step, encoded state and answer.

    A search that is asked step after step, for states that it has led to, goes on from what it has found; asked for
    anything else it begins anew.
    """

    episode: Searching | None = None
    step: int = -1
    state: bytes = b""
    action: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies start without a memory."""
        return LastAsked, ()

    def answer(self, obs: Any, state: FloatArray, step: int, begin: Callable[[], Searching]) -> Any:
        """The action at an observation, whose encoded state (1, d) is given too."""
        key = state.tobytes()
        if self.step != step or self.state != key:
            going_on = self.step + 1 == step and self.episode is not None and self.episode.expects(state, step)
            episode = self.episode if going_on and self.episode is not None else begin()
            self.step = -1  # nothing is known if the search is interrupted
            action = episode(obs, step)
            self.episode, self.step, self.state, self.action = episode, step, key, action
        return copy.deepcopy(self.action)
