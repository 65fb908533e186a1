"""The protocols of transition models, as the planner uses them.

Planner and agents depend on ``Model`` only. ``KernelEmbedding`` adds what proofs need. How a model stores its data
(transitions, features, landmarks) is internal.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cmerl.kernels import Kernel
from cmerl.transitions import Points, Transitions

FloatArray = NDArray[np.float64]
Coef: TypeAlias = Any
"""A regressed target in the model's own coordinates; only the model that made it can read it."""


class Grid(Protocol):
    """A model at q fixed states × A actions; everything independent of the step is computed once."""

    def expectation(self, coef: Coef) -> FloatArray:
        """The mean of the target of ``coef`` at every state and action (q, A); 0 without data."""
        ...

    def std(self) -> FloatArray:
        """The posterior standard deviation σ(z) at every state and action (q, A)."""
        ...


@runtime_checkable
class KernelGrid(Grid, Protocol):
    """An embedding at states × actions."""

    def weight_norm1(self) -> FloatArray:
        """‖α(z)‖₁ at every state and action (q, A); with landmarks the 1-norm of the weights on V there."""
        ...

    def shrinkage(self) -> FloatArray:
        """λ‖M⁻¹φ(z)‖ at every state and action (q, A), or σ, which is never smaller."""
        ...


class View(Protocol):
    """An immutable view of a model."""

    def grid(self, states: Points) -> Grid:
        """The view at states × all actions."""
        ...


@runtime_checkable
class SmoothView(View, Protocol):
    """A view that can also evaluate other actions, and derivatives in the action."""

    def with_actions(self, actions: FloatArray) -> View | None:
        """The same view at other actions (A, d_a); None if that is not possible."""
        ...

    def mean_slope(self, coef: Coef, z: FloatArray) -> FloatArray:
        """∂(α(z)ᵀy)/∂a (d_a,) at one state-action (d,)."""
        ...

    def variance_slope(self, z: FloatArray) -> FloatArray:
        """∂σ²(z)/∂a (d_a,) at one state-action (d,)."""
        ...


class Model(Protocol):
    """A transition distribution learned from data."""

    @property
    def n(self) -> int:
        """Transitions seen so far."""
        ...

    @property
    def information_gain(self) -> float:
        """The information gathered so far, in nats."""
        ...

    @property
    def repeat(self) -> int:
        """The action repeat: steps that one backup spans."""
        ...

    @property
    def support(self) -> Points:
        """Distinct states at which V must be known for a backup (m, d)."""
        ...

    def update(self, batch: Transitions) -> None:
        """Learn from a batch; unchanged if this raises."""
        ...

    def backup(self, v: FloatArray, *, reward: float = 1.0, terminal: float = 0.0) -> Coef:
        """Regress y_i = reward·r_i + V(s'_i) on the state-actions.

        Args:
            v: V at ``support`` (m,).
            reward: 1 to include the observed rewards, 0 to leave them out.
            terminal: V of a terminated next state.
        """
        ...

    def ones(self) -> Coef:
        """The constant 1, regressed: its mean is the mass, 0 where there are no data and up to 1 elsewhere."""
        ...

    def grid(self, states: Points | None = None) -> Grid:
        """The model at the given states × all actions; by default at ``support``, which is cached."""
        ...

    def freeze(self) -> View:
        """An immutable view, for plans that outlive later updates."""
        ...

    def information(self, Zq: Points) -> FloatArray:
        """Information gain of one more visit of each state-action Zq, in nats (q,)."""
        ...

    def weights(self, Zq: Points) -> FloatArray:
        """Total weight that each point of ``support`` receives at the state-actions Zq (q, m)."""
        ...

    def diagnostics(self) -> dict[str, Any]:
        """Sizes, information gain and numerical health, ready for JSON."""
        ...


@runtime_checkable
class KernelEmbedding(Model, Protocol):
    """A conditional mean embedding: a regression with a kernel on state-actions."""

    @property
    def kernel(self) -> Kernel:
        """k_φ on state-actions."""
        ...

    @property
    def lam(self) -> float:
        """The ridge λ."""
        ...

    @property
    def sum_r(self) -> float:
        """Σ r_i = Σ w_i/(1+w_i), accumulated in the order of arrival."""
        ...

    @property
    def projection_loss(self) -> tuple[float, float] | None:
        """(R_φ, R_ψ), the squared residuals of the data in these coordinates; None if nothing is projected."""
        ...

    @property
    def choices(self) -> int:
        """How often coordinates were chosen from the data that they represent; 0 if they are predictable."""
        ...

    @property
    def jitter(self) -> float:
        """The largest jitter that any factorisation needed."""
        ...

    def expectation(self, coef: Coef, Zq: Points) -> FloatArray:
        """α(z)ᵀy at the state-actions Zq (q,)."""
        ...

    def std(self, Zq: Points) -> FloatArray:
        """σ(z) at the state-actions Zq (q,)."""
        ...

    def weight_norm1(self, Zq: Points) -> FloatArray:
        """‖α(z)‖₁ at the state-actions Zq (q,); with landmarks the 1-norm of the weights on V there."""
        ...

    def shrinkage(self, Zq: Points) -> FloatArray:
        """λ‖M⁻¹φ(z)‖ at the state-actions Zq (q,), or σ, which is never smaller."""
        ...


def is_kernel_embedding(model: Model) -> TypeGuard[KernelEmbedding]:
    """True if a model is a kernel embedding, as proofs need."""
    return isinstance(model, KernelEmbedding)
