"""Model selection: direct or displacement, by held-out predictions of next states."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding import DisplacementEmbedding
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky
from cmerl.model_selection.relevance import relevant_columns
from cmerl.model_selection.rule import Selection, exceeds

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")


def displacement_is_better(
    displacement: DisplacementEmbedding, kernel: Kernel, value_kernel: Kernel, lam: float, settings: Selection
) -> bool:
    """Whether next states, left out one by one, follow far better from a displacement than directly.

    Both predict a law of the next state, the displacement that of its mean plus a residual, and errors are those of
    expected values. So noise counts on the scale on which values vary: where it blurs them, neither knows much more
    than the other, and the direct embedding stays, whose plans take the whole law into account. Columns that no
    reward depends on, now or later, do not count: sensors that nobody can predict would make both look alike.
    """
    data = displacement.data
    alive = np.flatnonzero(~data.terminated)
    if len(alive) < 2:
        return False
    rows = alive[np.linspace(0, len(alive) - 1, min(len(alive), settings.held_out)).astype(np.intp)]
    count = relevant_columns(displacement.dynamics, rows, settings.dependence)
    next_states = np.asarray(data.next_states)[rows] * count
    Z = np.asarray(data.Z)[rows]
    direct = direct_losses(kernel(Z, Z), next_states, value_kernel, lam)
    residuals = displacement.left_out_residuals[rows] * count
    moved = displacement_losses(residuals, value_kernel, settings.residuals)
    log.debug("held-out errors: %.3g direct, %.3g by displacement", direct.mean(), moved.mean())
    return exceeds(-moved, -settings.margin * direct)


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
