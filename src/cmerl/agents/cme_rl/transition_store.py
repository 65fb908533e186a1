"""The transition store: the log of transitions, and the models built from it."""

from __future__ import annotations

import json
import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import Actor
from cmerl.agents.cme_rl.recipe import BACKENDS, Recipe
from cmerl.embedding import (
    CompressedEmbedding,
    ConditionalMeanEmbedding,
    DisplacementEmbedding,
    KernelEmbedding,
    Model,
    is_kernel_embedding,
)
from cmerl.errors import InputError
from cmerl.growing import nested, part
from cmerl.kernels.spec import to_spec
from cmerl.model_selection import Choice, Selector
from cmerl.optimism import attained_share
from cmerl.rollback import all_or_nothing
from cmerl.transitions import Transitions, concatenate

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

log = logging.getLogger("cmerl")


class TransitionStore:
    """Embeddings for one agent, one for all steps or one for each, made from a log of updates.

    Everything is a function of the sequence of updates, so replaying the log gives the same memory bit for bit.
    """

    def __init__(self, recipe: Recipe, count: int) -> None:
        if recipe.backend not in BACKENDS:
            raise InputError(f"backend {recipe.backend!r} is unknown: use one of {', '.join(BACKENDS)}")
        self.recipe = recipe
        self.kernel, self.value_kernel = recipe.kernels()
        self._count = count
        self._backend = "exact" if recipe.backend == "auto" else recipe.backend
        self.batches: list[tuple[IntArray, Transitions]] | None = []  # None once it was too long to keep
        self.n = 0
        self._ends: list[bool] = []  # whether an episode was over with each batch
        self.log_is_needed = False
        self._starts: list[FloatArray] = []  # of the latest episodes
        self.selector = Selector(recipe.model, recipe.horizon, recipe.lam, recipe.settings.selection)
        self._make()

    @property
    def choice(self) -> Choice:
        """The present choice of model, action repeat and actor."""
        return self.selector.choice

    @property
    def displacement(self) -> DisplacementEmbedding | None:
        """The displacement, where it is what plans are made with."""
        return self.choice.displacement

    @property
    def actor(self) -> Actor:
        """The present actor."""
        return self.choice.actor

    @property
    def embedding(self) -> ConditionalMeanEmbedding:
        """The embedding (of the first step, if each step has its own) as users see it.

        Where plans are made with a displacement, it is made for the asking, of the same data.
        """
        learned = self.embeddings[0]
        if not is_kernel_embedding(learned):
            learned = self._embedded()
        return ConditionalMeanEmbedding.wrap(learned, self.value_kernel)

    def _embedded(self) -> KernelEmbedding:
        """All data as an embedding."""
        if self.batches is None:
            raise InputError(f"{self.n} transitions are too many to keep beside a model: pass model='direct'")
        few = self.recipe.backend == "auto" and self.n <= self.recipe.settings.exact_limit
        backend = "exact" if few else "compressed" if self.recipe.backend == "auto" else self.recipe.backend
        made = self.recipe.make(self.kernel, self.value_kernel, backend)
        made.update(self._all_data())
        assert is_kernel_embedding(made)
        return made

    @property
    def information_gain(self) -> float:
        """The information gathered so far, in nats."""
        return sum(model.information_gain for model in self.embeddings)

    def at(self, step: int) -> Model:
        """The model of one step."""
        return self.embeddings[min(step, len(self.embeddings) - 1)]

    def diagnostics(self) -> dict[str, Any]:
        """The choices with reasons, sizes and numerical health."""
        actor = {"actor": type(self.actor).__name__.lower()} if self.displacement else {}
        return {**self.embeddings[0].diagnostics(), **actor, **self.choice.reasons}

    @property
    def proven(self) -> list[KernelEmbedding]:
        """The embeddings, where they are what proofs are about."""
        return [E for E in self.embeddings if is_kernel_embedding(E)]

    def _make(self) -> None:
        made = (self.kernel, self.value_kernel, self._backend)
        self.embeddings: list[Model] = [self.recipe.make(*made) for _ in range(self._count)]

    def update(self, steps: IntArray, batch: Transitions, *, end: bool = True) -> None:
        """Learn transitions made at the given steps (n,); ``end`` says whether an episode is over with them.

        When this raises, nothing has changed.
        """
        with all_or_nothing(self):
            self._update(steps, batch, end)

    def _update(self, steps: IntArray, batch: Transitions, end: bool) -> None:
        self._learn(steps, batch)
        self.n += len(batch)
        if isinstance(batch.Z, np.ndarray):
            begun = batch.Z[steps == 0, : -self.recipe.actions.shape[1]]
            self._starts = [*self._starts, *begun][-self.recipe.settings.selection.starts :]
        if self.batches is None:
            if end:
                self._check(batch)
            return
        self.batches.append((steps, batch))
        self._ends.append(end)
        adapted = self.selector.doubled(self.n) and self._adapt_kernels()
        if self.displacement is None and (adapted or self._hand_over()):
            self._relearn()
        if end and self.displacement is not None:
            self.displacement.end_episode()
        if end and self.selector.due:
            self._choose(batch)
        elif end:
            self._check(batch)
        if end and self._log_ends():
            self.batches = None

    @property
    def due(self) -> bool:
        """Whether something waits for the end of an episode: a choice of the model, or of what to keep."""
        return self.batches is not None and (self.selector.waits(self.n) or self._log_ends())

    def keep_log(self) -> None:
        """Never drop the log, because it is needed elsewhere."""
        self.log_is_needed = True

    def _log_ends(self) -> bool:
        """Whether the log is too long to keep, and not needed to go on."""
        return (
            not self.log_is_needed
            and self.n >= self.recipe.settings.keep
            and (self.displacement is not None or self._backend == "compressed")
        )

    @property
    def starts(self) -> FloatArray:
        """First states of the latest episodes (k, d)."""
        return np.array(self._starts).reshape(-1, self.recipe.states.dims)

    def _visited(self, latest: Transitions) -> FloatArray:
        """Where the latest episode began, and its state half-way through what was learned last (2, d)."""
        middle = np.asarray(latest.Z)[len(latest) // 2, : -self.recipe.actions.shape[1]]
        return np.array([*self._starts[-1:], middle])

    def _check(self, latest: Transitions) -> None:
        """Let the selector see whether its actor still does well."""
        if self.displacement is not None and len(self._starts):
            self.selector.check(self.value_kernel, self.starts, self._visited(latest))
            self.embeddings = [self.displacement]

    def _choose(self, latest: Transitions) -> None:
        """Let the selector choose, and plan with the model that it takes."""
        before, data, steps = self.displacement, self._all_data(), self._all_steps()
        model = before
        if model is None:
            model = self.recipe.displacement()
            model.update(data)
        starts = self.starts
        if not len(starts):  # the first step of every episode was lost: the earliest states that were seen
            Z = np.asarray(data.Z)[steps == steps.min()]
            starts = Z[-self.recipe.settings.selection.starts :, : -self.recipe.actions.shape[1]]
        kernels, visited = (self.kernel, self.value_kernel), self._visited(latest)
        self.selector.choose(model, kernels, starts, visited, attained=self._attained())
        if self.displacement is not None:
            self.embeddings = [self.displacement]
        elif before is not None:
            self._relearn()

    def _attained(self) -> float:
        """The share of the best reward seen that good episodes earn a step; 0 if nothing much better is possible."""
        data, settings = self._all_data(), self.recipe.settings
        sizes = [len(batch) for _, batch in self.batches or ()]
        ends = np.cumsum(sizes)[self._ends]  # one after the last row of every episode
        usual = settings.prize.usual(np.add.reduceat(data.rewards, np.append(0, ends[:-1]))) or 0.0
        most = self.recipe.most
        if most is not None and most < settings.selection.room * usual:
            return 0.0
        return attained_share(usual, self.recipe.horizon, float(data.rewards.max()))

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
        about = json.dumps({"n": self.n, "backend": backend, **self.selector.spec(), **kernels})
        parts = {}
        for i, E in enumerate(self.embeddings):
            assert isinstance(E, CompressedEmbedding | DisplacementEmbedding)  # only they live without a log
            parts[f"embedding.{i}"] = E.arrays()
        named = np.frombuffer(about.encode(), dtype=np.uint8)
        parts["memory.value"] = self.selector.arrays()
        return {"memory.about": named, "memory.starts": self.starts, **nested(parts)}

    def _restore_embeddings(self, tensors: dict[str, NDArray[Any]]) -> None:
        about = json.loads(tensors["memory.about"].tobytes())
        self.n, self.batches = about["n"], None
        self._starts = list(tensors["memory.starts"])
        self.kernel, self.value_kernel = (self.recipe.loaded(about[name]) for name in ("kernel", "value_kernel"))
        if about["backend"] == "displacement":
            displacement = self.recipe.displacement()
            self.selector.restore(about, displacement)
            self.embeddings = [displacement]
        else:
            self._backend = about["backend"]
            self._make()
        for i, E in enumerate(self.embeddings):
            assert isinstance(E, CompressedEmbedding | DisplacementEmbedding)
            E.restore(part(tensors, f"embedding.{i}"))
        self.selector.restore_value(part(tensors, "memory.value"))

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
        self._learn(self._all_steps(), self._all_data())

    def _all_data(self) -> Transitions:
        assert self.batches is not None
        return concatenate([batch for _, batch in self.batches])

    def _all_steps(self) -> IntArray:
        return np.concatenate([steps for steps, _ in self.batches or ()])

    def _adapt_kernels(self) -> bool:
        """Make kernels as wide as the data are, and let actions share as much as the data say."""
        if self.recipe.fixed:
            return False
        kernels = self.recipe.kernels(self._all_data())
        if kernels == (self.kernel, self.value_kernel):
            return False
        self.kernel, self.value_kernel = kernels
        return True

    def _hand_over(self) -> bool:
        if self.recipe.backend != "auto" or self.recipe.provable or self._backend != "exact":
            return False
        distinct = max(E.diagnostics()["distinct state-actions"] for E in self.embeddings)
        if distinct <= self.recipe.settings.exact_limit:
            return False
        log.info(
            "after %d transitions at %d distinct state-actions the exact embedding hands over to a compressed one; "
            "pass backend='exact' to keep it",
            self.n,
            distinct,
        )
        self._backend = "compressed"
        return True
