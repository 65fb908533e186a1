"""What an agent remembers: its embeddings, how they are held, and the log they can be made from again."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.actions import followed
from cmerl.agents.default_kernels import (
    WIDTH,
    automatic_kernel,
    automatic_value_kernel,
    seen_spread,
    shared_fraction,
    state_kernel,
)
from cmerl.agents.model_selection import REPEATS, ROLLOUTS, choose_planning, displacement_is_better, repeats_near
from cmerl.embedding import (
    CompressedEmbedding,
    DisplacementEmbedding,
    Embedding,
    ExactEmbedding,
    compressed,
    fourier,
    nystrom,
)
from cmerl.errors import InputError
from cmerl.growing import nested, part
from cmerl.kernels import RBF, Delta, Kernel
from cmerl.kernels.spec import from_spec, to_spec
from cmerl.objects import ObjectTable
from cmerl.spaces import StateSpace
from cmerl.spaces.resolution import rebind
from cmerl.transitions import Transitions, concatenate

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

log = logging.getLogger("cmerl")

BACKENDS = ("auto", "exact", "compressed", "nystrom", "fourier")
MODELS = ("auto", "direct", "displacement")
EXACT_LIMIT = 1000  # distinct state-actions up to which an exact episode is a matter of milliseconds
KEEP = 20_000  # transitions logged: what dictionaries are chosen from, and what save() writes


@dataclass(frozen=True)
class Recipe:
    """How to make an embedding.

    Attributes:
        kernel: k_φ on state-actions, or None for ``automatic_kernel`` with ρ and widths from the data.
        value_kernel: k_ψ on states, or None for ``automatic_value_kernel``.
        lam: the ridge λ.
        states: what the columns of a state are.
        actions: the finite action set (A, d_a).
        action_kernel: k_a of the automatic kernel.
        backend: one of ``BACKENDS``.
        model: one of ``MODELS``; a displacement needs numeric states, and no proof.
        horizon: steps per episode, for which the action repeat of a displacement is chosen.
        track_std: whether plans use σ.
        provable: whether bounds must hold: then "auto" stays exact, and V is interpolated as it is.
        seed: for random sketches.
        following: how many of the last actions give way to actions played, where there is a displacement.
        action_objects: the actions, where they are objects.
    """

    kernel: Kernel | None
    value_kernel: Kernel | None
    lam: float
    states: StateSpace
    actions: FloatArray
    action_kernel: Kernel
    backend: str
    track_std: bool
    provable: bool
    seed: int
    model: str = "direct"
    horizon: int = 1
    following: int = 0
    action_objects: ObjectTable | None = None

    def kernels(self, rho: float, spread: FloatArray) -> tuple[Kernel, Kernel]:
        """k_φ and k_ψ, as given or as the data have it."""
        automatic = automatic_kernel(rho, self.states, spread, self.action_kernel, self.actions.shape[1])
        return self.kernel or automatic, self.value_kernel or automatic_value_kernel(self.states, spread)

    def loaded(self, spec: dict[str, Any]) -> Kernel:
        """A saved kernel, at the objects that were saved with it."""
        return rebind(from_spec(spec), self.states, self.action_objects)

    @property
    def fixed(self) -> bool:
        """Whether the data have no say in the kernels."""
        return self.kernel is not None and self.value_kernel is not None

    def make(self, kernel: Kernel, value_kernel: Kernel, backend: str, actions: FloatArray) -> Embedding:
        """An empty embedding over these actions (A, d_a)."""
        if backend == "compressed":
            return compressed(kernel, value_kernel, self.lam, actions, keep=KEEP, centre=not self.provable)
        if backend == "nystrom":
            return nystrom(kernel, self.lam, actions, keep=KEEP)
        if backend == "fourier":
            return fourier(kernel, self.lam, actions, seed=self.seed)
        return ExactEmbedding(kernel, self.lam, actions, track_std=self.track_std)


class Memory:
    """Embeddings for one agent, one for all steps or one for each, made from a log of updates.

    Everything is a function of the sequence of updates, so replaying the log gives the same memory bit for bit.
    """

    def __init__(self, recipe: Recipe, count: int) -> None:
        if recipe.backend not in BACKENDS:
            raise InputError(f"backend {recipe.backend!r} is unknown: use one of {', '.join(BACKENDS)}")
        self.recipe = recipe
        self.kernel, self.value_kernel = recipe.kernels(0.5, np.ones(recipe.states.dims))
        self._count = count
        self._backend = "exact" if recipe.backend == "auto" else recipe.backend
        self.batches: list[tuple[IntArray, Transitions]] | None = []  # None once it was too long to keep
        self.n = 0
        self._adapted_at = 0
        self.actions = recipe.actions  # that plans range over
        self._followed_at = 0
        self._ends: list[bool] = []  # whether an episode was over with each batch
        self._chosen_at = 0
        self._starts: list[FloatArray] = []  # of the latest episodes
        self.displacement: DisplacementEmbedding | None = None  # where it is what plans are made with
        self._make()

    def _make(self) -> None:
        made = (self.kernel, self.value_kernel, self._backend, self.actions)
        self.embeddings: list[Embedding] = [self.recipe.make(*made) for _ in range(self._count)]

    def update(self, steps: IntArray, batch: Transitions, *, end: bool = True) -> None:
        """Learn transitions made at the given steps (n,); ``end`` says whether an episode is over with them."""
        try:
            self._learn(steps, batch)
        except BaseException:
            # With an embedding for each step, some have learned their part of the batch: start again without it.
            if self._count > 1 and self.batches:
                self._relearn()
            elif self._count > 1:
                self._make()
            raise
        self.n += len(batch)
        if isinstance(batch.Z, np.ndarray):
            begun = batch.Z[steps == 0, : -self.recipe.actions.shape[1]]
            self._starts = [*self._starts, *begun][-ROLLOUTS:]
        if self.batches is None:
            return
        self.batches.append((steps, batch))
        self._ends.append(end)
        adapted = self._adapt_kernels()
        if self.displacement is None and (adapted or self._hand_over()):
            self._relearn()
        self._follow_actions()
        if end and self.recipe.model != "direct" and self.due:
            self._choose_model()
        if end and self._log_ends():
            self.batches = None

    @property
    def due(self) -> bool:
        """Whether something waits for the end of an episode: a choice of the model, or of what to keep."""
        doubled = self.recipe.model != "direct" and self.n >= 2 * self._chosen_at
        return self.batches is not None and (doubled or self._log_ends())

    def _log_ends(self) -> bool:
        """Whether the log is too long to keep, and not needed to go on."""
        return self.n >= KEEP and (self.displacement is not None or self._backend == "compressed")

    @property
    def starts(self) -> FloatArray:
        """First states of the latest episodes (k, d)."""
        return np.array(self._starts).reshape(-1, self.recipe.states.dims)

    def _choose_model(self) -> None:
        """When the data have doubled, ask them whether displacements predict better, and how long to hold actions."""
        self._chosen_at = self.n
        recipe, model = self.recipe, self.displacement
        if model is None:
            model = self._make_displacement()
            model.update(self._all_data())
        wanted = recipe.model == "displacement" or displacement_is_better(
            model, self.kernel, self.value_kernel, recipe.lam
        )
        if wanted:
            # Later choices move by one: plans and rollouts for repeats far from the present one are mostly wasted.
            repeats = REPEATS if self.displacement is None else repeats_near(model.repeat)
            starts = np.vstack(self._starts)
            repeat, ahead = choose_planning(model, recipe.horizon, starts, self.value_kernel, repeats)
            self.displacement = model.with_repeat(repeat)
            self.displacement.looks_ahead = ahead
            self.embeddings = [self.displacement]
        elif self.displacement is not None:
            self.displacement = None
            self._relearn()

    def _make_displacement(self) -> DisplacementEmbedding:
        return DisplacementEmbedding(self.actions, categorical=isinstance(self.recipe.action_kernel, Delta))

    def tensors(self, state_dims: int) -> dict[str, NDArray[Any]]:
        """The log as arrays, or the embeddings once it was dropped; states have ``state_dims`` columns."""
        if self.batches is None:
            return self._embedding_tensors()
        batches = [batch for _, batch in self.batches]
        action_dims = self.recipe.actions.shape[1]
        return {
            "Z": np.concatenate([np.empty((0, state_dims + action_dims)), *(b.Z for b in batches)]),
            "next_states": np.concatenate([np.empty((0, state_dims)), *(b.next_states for b in batches)]),
            "rewards": np.concatenate([np.empty(0), *(b.rewards for b in batches)]),
            "terminated": np.concatenate([np.empty(0, dtype=bool), *(b.terminated for b in batches)]),
            "steps": np.concatenate([np.empty(0, dtype=np.int64), *(steps for steps, _ in self.batches)]),
            "batch_sizes": np.array([len(b) for b in batches], dtype=np.int64),
            "batch_ends": np.array(self._ends, dtype=bool),
        }

    def replay(self, tensors: dict[str, NDArray[Any]]) -> None:
        """Learn a saved log update by update, which gives the same factors bit for bit."""
        if "memory.about" in tensors:
            self._restore_embeddings(tensors)
            return
        stops = np.cumsum(tensors["batch_sizes"])
        for start, stop, end in zip(stops - tensors["batch_sizes"], stops, tensors["batch_ends"], strict=True):
            names = ("Z", "next_states", "rewards", "terminated")
            batch = Transitions.of(*(tensors[name][start:stop] for name in names))
            self.update(tensors["steps"][start:stop].astype(np.intp), batch, end=bool(end))

    def _embedding_tensors(self) -> dict[str, NDArray[Any]]:
        """Embeddings as they are, and the kernels that they ended with."""
        kernels = {"kernel": to_spec(self.kernel), "value_kernel": to_spec(self.value_kernel)}
        backend = "displacement" if self.displacement is not None else self._backend
        about = json.dumps({"n": self.n, "backend": backend, **kernels})
        parts = {}
        for i, E in enumerate(self.embeddings):
            assert isinstance(E, CompressedEmbedding | DisplacementEmbedding)  # only they live without a log
            parts[f"embedding.{i}"] = E.arrays()
        named = np.frombuffer(about.encode(), dtype=np.uint8)
        return {"memory.about": named, "memory.starts": self.starts, "memory.actions": self.actions, **nested(parts)}

    def _restore_embeddings(self, tensors: dict[str, NDArray[Any]]) -> None:
        about = json.loads(tensors["memory.about"].tobytes())
        self.n, self.batches = about["n"], None
        self._starts = list(tensors["memory.starts"])
        self.actions = tensors.get("memory.actions", self.recipe.actions)
        self.kernel, self.value_kernel = (self.recipe.loaded(about[name]) for name in ("kernel", "value_kernel"))
        if about["backend"] == "displacement":
            self.displacement = self._make_displacement()
            self.embeddings = [self.displacement]
        else:
            self._backend = about["backend"]
            self._make()
        for i, E in enumerate(self.embeddings):
            assert isinstance(E, CompressedEmbedding | DisplacementEmbedding)
            E.restore(part(tensors, f"embedding.{i}"))

    def _learn(self, steps: IntArray, batch: Transitions) -> None:
        if self._count == 1:
            self.embeddings[0].update(batch)
        else:
            for i, step in enumerate(steps):
                self.embeddings[step].update(batch[i : i + 1])

    def _relearn(self) -> None:
        """All data again, in one go."""
        assert self.batches is not None
        self._make()
        self._learn(np.concatenate([steps for steps, _ in self.batches]), self._all_data())

    def _all_data(self) -> Transitions:
        assert self.batches is not None
        return concatenate([batch for _, batch in self.batches])

    def _adapt_kernels(self) -> bool:
        """At doubling times, make kernels as wide as the data are, and let actions share as much as the data say."""
        if self.recipe.fixed or self.n < 2 * self._adapted_at or self.batches is None:
            return False
        self._adapted_at = self.n
        data = self._all_data()
        assert isinstance(data.next_states, np.ndarray)
        spread = seen_spread(self.recipe.states, data.next_states)
        similarity = state_kernel(RBF, WIDTH, self.recipe.states, spread)
        rho = shared_fraction(data, similarity, self.recipe.actions.shape[1])
        kernels = self.recipe.kernels(rho, spread)
        if kernels == (self.kernel, self.value_kernel):
            return False
        self.kernel, self.value_kernel = kernels
        return True

    def _follow_actions(self) -> None:
        """At doubling times, let some candidates of a displacement follow the actions played since the last one.

        With a direct embedding what is played is still to be explored, and so would be what follows it.
        """
        waiting = not self.recipe.following or self.n < 2 * self._followed_at
        if waiting or self.displacement is None or self.batches is None:
            return
        self._followed_at = self.n
        fixed, spare = np.split(self.recipe.actions, [len(self.recipe.actions) - self.recipe.following])
        data = self._all_data()
        assert isinstance(data.Z, np.ndarray)
        chosen = followed(fixed, data.Z[self.n // 2 :, -fixed.shape[1] :], len(spare))
        actions = np.vstack([fixed, chosen, spare[len(chosen) :]])
        if not np.array_equal(actions, self.actions):
            self.actions = actions
            self.displacement.range_over(actions)

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
