"""The recipe of an agent's embeddings: kernels, ridge, backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.agents.cme_rl.default_kernels import (
    automatic_kernel,
    automatic_value_kernel,
    seen_spread,
    shared_fraction,
    state_kernel,
)
from cmerl.agents.cme_rl.settings import Settings
from cmerl.embedding import DisplacementEmbedding, ExactEmbedding, Model, compressed, fourier, nystrom
from cmerl.kernels import RBF, Delta, Kernel
from cmerl.kernels.spec import from_spec
from cmerl.objects import ObjectTable
from cmerl.spaces import StateSpace
from cmerl.spaces.resolution import rebind
from cmerl.transitions import Transitions

FloatArray = NDArray[np.float64]

BACKENDS = ("auto", "exact", "compressed", "nystrom", "fourier")


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
        model: one of ``cmerl.model_selection.MODELS``; a displacement needs numeric states, and no proof.
        horizon: steps per episode, for which the action repeat of a displacement is chosen.
        track_std: whether plans use σ.
        provable: whether bounds must hold: then "auto" stays exact, and V is interpolated as it is.
        seed: for random sketches.
        settings: all numbers.
        action_objects: the actions, where they are objects.
        reward: the reward function of encoded states, actions and next states, or None to learn it.
        most: the largest return that the user has declared possible; None if there is no bound.
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
    most: float | None = None

    def kernels(self, data: Transitions | None = None) -> tuple[Kernel, Kernel]:
        """k_φ and k_ψ: those given, else as wide as the data are, with actions that share what the data say."""
        rho, spread = 0.5, np.ones(self.states.dims)
        if data is not None and not self.fixed:
            settings = self.settings.kernels
            assert isinstance(data.next_states, np.ndarray)
            spread = seen_spread(self.states, data.next_states, settings.sensible)
            similarity = state_kernel(RBF, settings.width, self.states, spread, settings)
            rho = shared_fraction(data, similarity, self.actions.shape[1], settings.shared)
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

    def displacement(self) -> DisplacementEmbedding:
        """An empty displacement model."""
        categorical, settings = isinstance(self.action_kernel, Delta), self.settings.displacement
        return DisplacementEmbedding(
            self.actions, settings=settings, categorical=categorical, lam=self.lam, reward=self.reward
        )
