"""Model selection: direct or displacement, by held-out predictions of next states and their values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.grid import DisplacementView
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky
from cmerl.model_selection.rule import Selection, exceeds
from cmerl.planning import Plan

FloatArray = NDArray[np.float64]


def displacement_is_better(
    plan: Plan,
    displacement: DisplacementEmbedding,
    kernels: tuple[Kernel, Kernel],
    lam: float,
    settings: Selection,
    *,
    present: bool,
) -> bool:
    """Whether next states, left out one by one, follow better from a displacement than directly.

    All functions of the value kernel are predicted at once, by the law of s'. A displacement takes its mean for the
    truth when it plans, so it must know that law far better. One that was chosen stays for another reason too: if the
    values of its plans follow better from it. What no value depends on does not count then, such as sensors that
    nobody can predict. A first choice cannot be made so, because the V of few data is a guess.

    Args:
        plan: of the displacement when it is taken for the environment, with its V.
        displacement: of all data.
        kernels: k_φ and k_ψ of the direct embedding.
        lam: its λ.
        settings: how many transitions are compared.
        present: whether the displacement is the present model.
    """
    data = displacement.data
    alive = np.flatnonzero(~data.terminated)
    if len(alive) < 2:
        return False
    rows = alive[np.linspace(0, len(alive) - 1, min(len(alive), settings.held_out)).astype(np.intp)]
    Z, next_states = np.asarray(data.Z)[rows], np.asarray(data.next_states)[rows]
    residuals, (kernel, value_kernel) = displacement.left_out_residuals[rows], kernels
    direct = direct_losses(kernel(Z, Z), next_states, value_kernel, lam)
    if exceeds(-displacement_losses(residuals, value_kernel, settings.residuals), -settings.margin * direct):
        return True
    if not present:
        return False
    (view,) = plan.views
    assert isinstance(view, DisplacementView)
    V, predicted = (view.value(plan.stages[0].coef, view.scaled(s)) for s in (next_states, next_states - residuals))
    return exceeds(-np.square(V - predicted), -direct_errors(kernel(Z, Z), V, lam))


def direct_errors(Kzz: FloatArray, V: FloatArray, lam: float) -> FloatArray:
    """(V(s'_i) − ⟨μ̂₋ᵢ(z_i), V⟩)² (n,), the embedding made without transition i, V counted from its mean."""
    G = Cholesky.of(Kzz, lam).solve(np.eye(len(Kzz)))
    return np.square(G @ (V - V.mean()) / np.diagonal(G))


def direct_losses(Kzz: FloatArray, next_states: FloatArray, value_kernel: Kernel, lam: float) -> FloatArray:
    """‖ψ(s'_i) − μ̂₋ᵢ(z_i)‖² (n,), the embedding made without transition i.

    The residual of a ridge regression without its own row is [G Ψ]_i / G_ii with G = (K + λI)⁻¹.
    """
    G = Cholesky.of(Kzz, lam).solve(np.eye(len(Kzz)))
    squares = np.einsum("ij,ij->i", G @ value_kernel(next_states, next_states), G)
    return np.asarray(squares / np.square(np.diagonal(G)))


def displacement_losses(residuals: FloatArray, value_kernel: Kernel, draws: int) -> FloatArray:
    """Losses of the displacement model: its prediction plus a residual drawn from those seen; k_ψ is stationary."""
    noise = residuals[np.linspace(0, len(residuals) - 1, min(len(residuals), draws)).astype(np.intp)]
    cross, own = value_kernel(residuals, noise), value_kernel(noise, noise)  # the prediction drops out
    return np.asarray(value_kernel.diag(residuals) - 2.0 * cross.mean(axis=1) + own.mean())
