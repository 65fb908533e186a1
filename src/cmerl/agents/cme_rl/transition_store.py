"""The transition store: the log of transitions, and the models built from it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC, Actor, Greedy
from cmerl.agents.cme_rl.default_kernels import (
    automatic_kernel,
    automatic_value_kernel,
    seen_spread,
    shared_fraction,
    state_kernel,
)
from cmerl.agents.cme_rl.settings import Settings
from cmerl.embedding import (
    CompressedEmbedding,
    ConditionalMeanEmbedding,
    DisplacementEmbedding,
    ExactEmbedding,
    KernelEmbedding,
    Model,
    compressed,
    fourier,
    is_kernel_embedding,
    nystrom,
)
from cmerl.errors import InputError
from cmerl.growing import nested, part
from cmerl.kernels import RBF, Delta, Kernel
from cmerl.kernels.spec import from_spec, to_spec
from cmerl.model_selection import Choice, choose_actor, displacement_is_better, returns_within
from cmerl.objects import ObjectTable
from cmerl.rollback import all_or_nothing
from cmerl.spaces import StateSpace
from cmerl.spaces.resolution import rebind
from cmerl.transitions import Transitions, concatenate

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

log = logging.getLogger("cmerl")

BACKENDS = ("auto", "exact", "compressed", "nystrom", "fourier")
MODELS = ("auto", "direct", "displacement")


@dataclass(frozen=True)
class Recipe:
    """The recipe of an embedding.

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
        settings: all numbers.
        action_objects: the actions, where they are objects.
        reward: the reward function of encoded states, actions and next states, or None to learn it.
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
    settings: Settings = field(default_factory=Settings)
    action_objects: ObjectTable | None = None
    reward: Callable[[FloatArray, FloatArray, FloatArray], FloatArray] | None = None

    def kernels(self, rho: float, spread: FloatArray) -> tuple[Kernel, Kernel]:
        """k_φ and k_ψ, as given or as the data have it."""
        about, dims = self.settings.kernels, self.actions.shape[1]
        automatic = automatic_kernel(rho, self.states, spread, self.action_kernel, dims, about)
        return self.kernel or automatic, self.value_kernel or automatic_value_kernel(self.states, spread, about)

    def loaded(self, spec: dict[str, Any]) -> Kernel:
        """A saved kernel, at the objects that were saved with it."""
        return rebind(from_spec(spec), self.states, self.action_objects)

    @property
    def fixed(self) -> bool:
        """Whether the data have no say in the kernels."""
        return self.kernel is not None and self.value_kernel is not None

    def make(self, kernel: Kernel, value_kernel: Kernel, backend: str) -> Model:
        """An empty embedding."""
        actions = self.actions
        if backend == "compressed":
            free, keep = not self.provable, self.settings.keep
            return compressed(kernel, value_kernel, self.lam, actions, keep=keep, centre=free, single=free)
        if backend == "nystrom":
            return nystrom(kernel, self.lam, actions, keep=self.settings.keep, centre=not self.provable)
        if backend == "fourier":
            return fourier(kernel, self.lam, actions, seed=self.seed)
        return ExactEmbedding(kernel, self.lam, actions, track_std=self.track_std)


class TransitionStore:
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
        self._ends: list[bool] = []  # whether an episode was over with each batch
        self._doubled_at = 0  # the clock: everything is chosen anew when the data have doubled since
        self._choice_due = False
        self._chosen_at = 0  # batches that there were when an actor was chosen last
        self._log_is_needed = False
        self._starts: list[FloatArray] = []  # of the latest episodes
        self.choice = Choice(None, Greedy(), {})
        self._make()

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
        why = {"actor": type(self.actor).__name__.lower(), **self.choice.reasons} if self.displacement else {}
        return {**self.embeddings[0].diagnostics(), **why}

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
            return
        self.batches.append((steps, batch))
        self._ends.append(end)
        doubled = self.n >= 2 * self._doubled_at
        if doubled:
            self._doubled_at, self._choice_due = self.n, self.recipe.model != "direct"
        adapted = doubled and self._adapt_kernels()
        if self.displacement is None and (adapted or self._hand_over()):
            self._relearn()
        if end and (self._choice_due or self._rewards_differ_now()):
            self._choose_model()
        if end and self._log_ends():
            self.batches = None

    def _rewards_differ_now(self) -> bool:
        """True if the first reward of a place came after actors were chosen with nothing to compare them by."""
        model = self.displacement
        return model is not None and not self.choice.compared and model.places_pay

    @property
    def due(self) -> bool:
        """Whether something waits for the end of an episode: a choice of the model, or of what to keep."""
        doubled = self.recipe.model != "direct" and (self._choice_due or self.n >= 2 * self._doubled_at)
        return self.batches is not None and (doubled or self._log_ends())

    def keep_log(self) -> None:
        """Never drop the log, because it is needed elsewhere."""
        self._log_is_needed = True

    def _log_ends(self) -> bool:
        """Whether the log is too long to keep, and not needed to go on."""
        return (
            not self._log_is_needed
            and self.n >= self.recipe.settings.keep
            and (self.displacement is not None or self._backend == "compressed")
        )

    @property
    def starts(self) -> FloatArray:
        """First states of the latest episodes (k, d)."""
        return np.array(self._starts).reshape(-1, self.recipe.states.dims)

    def _choose_model(self) -> None:
        """Ask the data whether displacements predict better, and how to act on plans made with them."""
        self._choice_due = False
        recipe, model = self.recipe, self.displacement
        before = None if model is None else self.choice
        if model is None:
            model = self._make_displacement()
            model.update(self._all_data())
        wanted = recipe.model == "displacement" or displacement_is_better(
            model, self.kernel, self.value_kernel, recipe.lam, recipe.settings.selection
        )
        if wanted:
            starts = np.vstack(self._starts)
            selection = recipe.settings.selection
            played = self._played(selection.simulated_steps)
            self.choice = choose_actor(model, recipe.horizon, starts, self.value_kernel, selection, before, played)
            self._chosen_at = len(self.batches or ())
            assert self.displacement is not None
            self.embeddings = [self.displacement]
        elif before is not None:
            self.choice = Choice(None, Greedy(), {})
            self._relearn()

    def _played(self, steps: int) -> FloatArray:
        """Rewards of the first steps of each episode since the last choice (k,)."""
        batches = (self.batches or [])[self._chosen_at :]
        if not batches:
            return np.zeros(0)
        rewards = np.concatenate([batch.rewards for _, batch in batches])
        return returns_within(np.concatenate([at for at, _ in batches]), rewards, steps)

    def _make_displacement(self) -> DisplacementEmbedding:
        recipe = self.recipe
        categorical, settings = isinstance(recipe.action_kernel, Delta), recipe.settings.displacement
        about: dict[str, Any] = {"categorical": categorical, "lam": recipe.lam, "reward": recipe.reward}
        return DisplacementEmbedding(recipe.actions, settings=settings, **about)

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
        search = self.actor.value if isinstance(self.actor, MPC) else None
        choice = self.choice
        chosen = {
            "search": search,
            "reasons": choice.reasons,
            "promised": choice.promised,
            "saturated": choice.saturated,
            "compared": choice.compared,
        }
        about = json.dumps({"n": self.n, "backend": backend, **chosen, **kernels})
        parts = {}
        for i, E in enumerate(self.embeddings):
            assert isinstance(E, CompressedEmbedding | DisplacementEmbedding)  # only they live without a log
            parts[f"embedding.{i}"] = E.arrays()
        named = np.frombuffer(about.encode(), dtype=np.uint8)
        return {"memory.about": named, "memory.starts": self.starts, **nested(parts)}

    def _restore_embeddings(self, tensors: dict[str, NDArray[Any]]) -> None:
        about = json.loads(tensors["memory.about"].tobytes())
        self.n, self.batches = about["n"], None
        self._starts = list(tensors["memory.starts"])
        self.kernel, self.value_kernel = (self.recipe.loaded(about[name]) for name in ("kernel", "value_kernel"))
        if about["backend"] == "displacement":
            displacement = self._make_displacement()
            searches = {mpc.value: mpc for mpc in self.recipe.settings.selection.searches}
            actor = searches[about["search"]] if about["search"] else Greedy()
            told = (about[name] for name in ("reasons", "promised", "saturated", "compared"))
            self.choice = Choice(displacement, actor, *told)
            self.embeddings = [displacement]
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
        """Make kernels as wide as the data are, and let actions share as much as the data say."""
        if self.recipe.fixed:
            return False
        data = self._all_data()
        assert isinstance(data.next_states, np.ndarray)
        recipe, settings = self.recipe, self.recipe.settings.kernels
        spread = seen_spread(recipe.states, data.next_states, settings.sensible)
        similarity = state_kernel(RBF, settings.width, recipe.states, spread, settings)
        rho = shared_fraction(data, similarity, recipe.actions.shape[1], settings.shared)
        kernels = self.recipe.kernels(rho, spread)
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
