"""The update buffer: transitions not yet given to the model, and their information gain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.growing import Arrays
from cmerl.transitions import Transitions

FloatArray = NDArray[np.float64]


class Seen(NamedTuple):
    """One transition at a step of its episode: encoded state-action and next state (1, d), raw reward, its end."""

    step: int
    z: FloatArray
    next_state: FloatArray
    reward: float
    done: bool


class UpdateBuffer:
    """Transitions of one episode or several, in the order in which they were seen.

    Attributes:
        seen: them.
        surprise: Σ½log(1 + σ²/λ) over them, the information that each would bring on its own; together they bring
            less, so a limit on it holds for what is really missed.
    """

    def __init__(self, seen: Sequence[Seen] = (), surprise: float = 0.0) -> None:
        self.seen, self.surprise = list(seen), surprise

    def __len__(self) -> int:
        return len(self.seen)

    def add(self, seen: Seen, nats: float) -> None:
        """One more, that would bring so much information."""
        self.seen.append(seen)
        self.surprise += nats

    @property
    def state_actions(self) -> FloatArray:
        """Encoded state-actions (n, d), n ≥ 1."""
        return np.vstack([seen.z for seen in self.seen])

    @property
    def total_reward(self) -> float:
        """The sum of their rewards."""
        return float(sum(seen.reward for seen in self.seen))

    def complete(self, horizon: int) -> bool:
        """Whether the episode went on to its horizon or a terminal state."""
        return self.seen[-1].done or self.seen[-1].step + 1 == horizon

    def split(self) -> tuple[UpdateBuffer, UpdateBuffer]:
        """The transitions before the latest episode, and those of the latest episode."""
        first = max((i for i, seen in enumerate(self.seen) if seen.step == 0), default=0)
        return UpdateBuffer(self.seen[:first]), UpdateBuffer(self.seen[first:])

    def batch(self) -> tuple[NDArray[np.intp], Transitions]:
        """Steps (n,) and transitions, n ≥ 1."""
        steps, Z, next_states, rewards, done = zip(*self.seen, strict=True)
        return np.array(steps, dtype=np.intp), Transitions.of(np.vstack(Z), np.vstack(next_states), rewards, done)

    def arrays(self) -> Arrays:
        """All of it, for saving."""
        if not self.seen:
            return {}
        steps, data = self.batch()
        assert isinstance(data.Z, np.ndarray)
        assert isinstance(data.next_states, np.ndarray)
        return {
            "steps": steps.astype(np.int64),
            "Z": data.Z,
            "next_states": data.next_states,
            "rewards": data.rewards,
            "terminated": data.terminated,
            "surprise": np.array(self.surprise),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> UpdateBuffer:
        """The inverse of ``arrays``."""
        if not arrays:
            return cls()
        columns = (arrays[name].tolist() for name in ("steps", "rewards", "terminated"))
        rows = zip(*columns, arrays["Z"], arrays["next_states"], strict=True)
        seen = [Seen(step, z[None], next_state[None], r, done) for step, r, done, z, next_state in rows]
        return cls(seen, float(arrays["surprise"].item()))
