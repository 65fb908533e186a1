"""What an agent remembers: its embeddings, how they are held, and the log they can be made from again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding import Embedding, ExactEmbedding, compressed, fourier, nystrom
from cmerl.errors import InputError
from cmerl.kernels import RBF, Constant, Delta, Kernel, StateAction
from cmerl.transitions import Transitions, concatenate, take

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

log = logging.getLogger("cmerl")

BACKENDS = ("auto", "exact", "compressed", "nystrom", "fourier")
EXACT_LIMIT = 1000  # distinct state-actions up to which an exact episode is a matter of milliseconds
WIDTH = 0.1  # of the automatic kernel, on observations scaled to [0, 1]
KEEP = 20_000  # transitions logged: what dictionaries are chosen from, and what save() writes


@dataclass(frozen=True)
class Recipe:
    """How to make an embedding.

    Attributes:
        kernel: k_φ on state-actions, or None for ``automatic_kernel`` with ρ from the data.
        value_kernel: k_ψ on states.
        lam: the ridge λ.
        actions: the finite action set (A, d_a).
        action_kernel: k_a of the automatic kernel.
        backend: one of ``BACKENDS``.
        track_std: whether plans use σ.
        provable: whether bounds must hold: then "auto" stays exact, and V is interpolated as it is.
        seed: for random sketches.
    """

    kernel: Kernel | None
    value_kernel: Kernel
    lam: float
    actions: FloatArray
    action_kernel: Kernel
    backend: str
    track_std: bool
    provable: bool
    seed: int

    def make(self, kernel: Kernel, backend: str) -> Embedding:
        """An empty embedding."""
        if backend == "compressed":
            return compressed(kernel, self.value_kernel, self.lam, self.actions, keep=KEEP, centre=not self.provable)
        if backend == "nystrom":
            return nystrom(kernel, self.lam, self.actions, keep=KEEP)
        if backend == "fourier":
            return fourier(kernel, self.lam, self.actions, seed=self.seed)
        return ExactEmbedding(kernel, self.lam, self.actions, track_std=self.track_std)


class Memory:
    """Embeddings for one agent, one for all steps or one for each, made from a log of updates.

    Everything is a function of the sequence of updates, so replaying the log gives the same memory bit for bit.
    """

    def __init__(self, recipe: Recipe, count: int) -> None:
        if recipe.backend not in BACKENDS:
            raise InputError(f"backend {recipe.backend!r} is unknown: use one of {', '.join(BACKENDS)}")
        self.recipe = recipe
        self.kernel = recipe.kernel or automatic_kernel(0.5, recipe.action_kernel, recipe.actions.shape[1])
        self._count = count
        self._backend = "exact" if recipe.backend == "auto" else recipe.backend
        self.batches: list[tuple[IntArray, Transitions]] | None = []  # None once it was too long to keep
        self.n = 0
        self._adapted_at = 0
        self._make()

    def _make(self) -> None:
        self.embeddings: list[Embedding] = [self.recipe.make(self.kernel, self._backend) for _ in range(self._count)]

    def update(self, steps: IntArray, batch: Transitions) -> None:
        """Learn transitions made at the given steps (n,)."""
        try:
            self._learn(steps, batch)
        except BaseException:
            # With an embedding for each step, some have learned their part of the batch: start again without it.
            if self._count > 1 and self.batches:
                self._relearn(self.batches)
            elif self._count > 1:
                self._make()
            raise
        self.n += len(batch)
        if self.batches is None:
            return
        self.batches.append((steps, batch))
        if self._adapt_kernel() or self._hand_over():
            self._relearn(self.batches)
        if self.n >= KEEP and self._backend == "compressed":
            self.batches = None

    def tensors(self, state_dims: int) -> dict[str, NDArray[Any]]:
        """The log as arrays, for saving; states have ``state_dims`` columns."""
        if self.batches is None:
            raise InputError(f"an agent that has dropped its raw data, after {KEEP} transitions, cannot be saved")
        batches = [batch for _, batch in self.batches]
        action_dims = self.recipe.actions.shape[1]
        return {
            "Z": np.concatenate([np.empty((0, state_dims + action_dims)), *(b.Z for b in batches)]),
            "next_states": np.concatenate([np.empty((0, state_dims)), *(b.next_states for b in batches)]),
            "rewards": np.concatenate([np.empty(0), *(b.rewards for b in batches)]),
            "terminated": np.concatenate([np.empty(0, dtype=bool), *(b.terminated for b in batches)]),
            "steps": np.concatenate([np.empty(0, dtype=np.int64), *(steps for steps, _ in self.batches)]),
            "batch_sizes": np.array([len(b) for b in batches], dtype=np.int64),
        }

    def replay(self, tensors: dict[str, NDArray[Any]]) -> None:
        """Learn a saved log update by update, which gives the same factors bit for bit."""
        stops = np.cumsum(tensors["batch_sizes"])
        for start, stop in zip(stops - tensors["batch_sizes"], stops, strict=True):
            names = ("Z", "next_states", "rewards", "terminated")
            batch = Transitions.of(*(tensors[name][start:stop] for name in names))
            self.update(tensors["steps"][start:stop].astype(np.intp), batch)

    def _learn(self, steps: IntArray, batch: Transitions) -> None:
        if self._count == 1:
            self.embeddings[0].update(batch)
        else:
            for i, step in enumerate(steps):
                self.embeddings[step].update(batch[i : i + 1])

    def _relearn(self, batches: Sequence[tuple[IntArray, Transitions]]) -> None:
        """All data again, in one go."""
        self._make()
        self._learn(np.concatenate([steps for steps, _ in batches]), concatenate([batch for _, batch in batches]))

    def _adapt_kernel(self) -> bool:
        """At doubling times, let actions share as much as the data say."""
        if self.recipe.kernel is not None or self.n < 2 * self._adapted_at or self.batches is None:
            return False
        self._adapted_at = self.n
        action_dims = self.recipe.actions.shape[1]
        rho = shared_fraction(concatenate([batch for _, batch in self.batches]), action_dims)
        kernel = automatic_kernel(rho, self.recipe.action_kernel, action_dims)
        if kernel == self.kernel:
            return False
        self.kernel = kernel
        return True

    def _hand_over(self) -> bool:
        if self.recipe.backend != "auto" or self.recipe.provable or self._backend != "exact":
            return False
        distinct = max(E.diagnostics()["distinct state-actions"] for E in self.embeddings)
        if distinct <= EXACT_LIMIT:
            return False
        log.info(
            "after %d transitions at %d distinct state-actions the exact embedding hands over to a compressed one; "
            "pass backend='exact' to keep it",
            self.n,
            distinct,
        )
        self._backend = "compressed"
        return True


def automatic_kernel(rho: float, action_kernel: Kernel, action_dims: int) -> Kernel:
    """The kernel on continuous states: what actions share is smooth, what they do differently is local.

    A fraction ρ of the kernel does not look at the action. The rest is each action's own, at half the width: were it
    as wide as what they share, an action found bad on one side of a goal would be taken for bad on the other too.
    """
    shared = StateAction(RBF(WIDTH), Constant(rho), action_dims)
    own = StateAction(RBF(WIDTH / 2), (1.0 - rho) * action_kernel, action_dims)
    return shared + own


def shared_fraction(data: Transitions, action_dims: int) -> float:
    """ρ: how alike the states before and after a step are, on average, rounded and kept in [0.5, 0.9].

    A step that hardly moves the state leaves all actions nearly alike. Rounding keeps small changes from calling for
    a new embedding.
    """
    states, _ = StateAction(RBF(WIDTH), Delta(), action_dims).split(data.Z)
    rows = np.linspace(0, len(data) - 1, min(len(data), 300)).astype(np.intp)
    similarity = np.mean(np.diagonal(RBF(WIDTH)(take(states, rows), take(data.next_states, rows))))
    return float(np.clip(np.round(similarity, 1), 0.5, 0.9))
