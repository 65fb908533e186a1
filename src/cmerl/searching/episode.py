"""Consecutive searches of one episode."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.searching.icem import Channels, Found, Score, Search, noise_bank, search
from cmerl.searching.proposals import Policy, follow
from cmerl.searching.simulator import Simulator, Step, roll

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]

Value = Callable[[SingleArray], SingleArray]
"""V (n,) at states (n, d) where sequences end."""

BANK = 2048  # sequences of noise drawn once an episode


def scorer(
    step: Step, x: SingleArray, length: int, discount: float, value: Value | None, optimistic: Value | None = None
) -> Score:
    """Values of sequences (b, n, h, e) from states (b, d).

    Args:
        step: the model.
        x: the states.
        length: steps of the sequences that count.
        discount: of a step.
        value: of what follows; None where nothing does.
        optimistic: an optimistic value of what follows; None for no such score.
    """

    def score(sequences: SingleArray) -> tuple[SingleArray, SingleArray | None]:
        b, n = sequences.shape[:2]
        trials = sequences[:, :, :length].reshape(b * n, length, -1)
        total, y, over = roll(step, np.repeat(x, n, axis=0), trials, discount)
        optimistic_total = None
        if value is not None:
            alive = np.float32(discount**length) * (1.0 if over is None else ~over)
            if optimistic is not None:
                optimistic_total = (total + alive * optimistic(y)).reshape(b, n)
            total = total + alive * value(y)
        return total.reshape(b, n), optimistic_total

    return score


class Searches:
    """Searches from one state or from several at once; each is played for some steps, and the next continues from it.

    Args:
        channels: of the actions.
        settings: sizes of a search.
        every: steps that are played of each.
        depth: steps that each looks ahead.
        model: that they simulate.
        seed: of what is drawn.
        policy: that proposes sequences; None for no proposals.

    Attributes:
        found: the last search; None before the first.
        decided: the step of it.
    """

    def __init__(
        self,
        channels: Channels,
        settings: Search,
        every: int,
        depth: int,
        model: Simulator,
        seed: tuple[int, ...],
        policy: Policy | None = None,
    ) -> None:
        self.channels, self._settings, self._every, self._seed = channels, settings, every, seed
        self._model, self._policy = model, policy
        self._sequences = settings.sequences(channels, depth, model.centres)
        self._bank = noise_bank(np.random.default_rng(seed), settings, BANK, depth, channels.latent)
        self.found: Found | None = None
        self.decided = 0
        self._next: tuple[SingleArray, int] | None = None  # the state that the last action leads to, and its step

    def due(self, count: int, step: int) -> bool:
        """Whether so many states need a new search at this step."""
        found = self.found
        return found is None or len(found.best) != count or not 0 < step - self.decided < self._every

    def goes_on(self, count: int, step: int) -> bool:
        """Whether it would continue from the last one."""
        found = self.found
        return found is not None and len(found.best) == count and step - self.decided == self._every

    def search(self, score: Score, x: SingleArray, step: int, balance: float, deadline: float | None) -> Found:
        """A new search from states (b, d)."""
        count, rng = len(x), np.random.default_rng((*self._seed, step))
        before = self.found.memory.shifted(self._every) if self.found and self.goes_on(count, step) else None
        self.found = search(
            score,
            self.channels,
            self._bank,
            rng,
            self._settings,
            sequences=self._sequences,
            states=count,
            before=before,
            proposals=self._proposals(x, rng, deadline),
            balance=balance,
            deadline=deadline,
        )
        self.decided = step
        return self.found

    def _proposals(self, x: SingleArray, rng: np.random.Generator, deadline: float | None) -> SingleArray | None:
        """Sequences (b, k, h, l) that follow the policy from states (b, d), the first without noise; None if late."""
        count, late = self._settings.proposals, deadline is not None and time.perf_counter() > deadline
        if self._policy is None or not count or late:
            return None
        noise = self._settings.spread * self._bank[rng.integers(0, len(self._bank), (len(x), count))]
        noise[:, 0] = 0.0
        return follow(self._model, self._policy, self.channels, x, noise)

    def features(self, step: int) -> FloatArray:
        """Features of the actions (b, e) that the last search plays at this step."""
        assert self.found is not None
        best: NDArray[Any] = self.found.best[:, step - self.decided]
        return np.asarray(self.channels.decode(best), dtype=np.float64)

    def played(self, x: FloatArray, features: FloatArray, step: int) -> None:
        """Remember where an action (1, e) leads that is played at a state (1, d)."""
        self._next = self._model(x.astype(np.float32), features.astype(np.float32))[0], step + 1

    def led_to(self, x: FloatArray, step: int) -> bool:
        """Whether the last action has led to a state (1, d) at this step, but for less than a usual displacement."""
        if self._next is None or step != self._next[1]:
            return False
        return bool(np.linalg.norm(x - self._next[0]) <= np.linalg.norm(self._model.spread))
