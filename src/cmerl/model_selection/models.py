"""Direct embedding or displacement: which predicts held-out next states better."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding import DisplacementEmbedding
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky
from cmerl.model_selection.rule import Selection, exceeds

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")


def displacement_is_better(
    displacement: DisplacementEmbedding, kernel: Kernel, value_kernel: Kernel, lam: float, settings: Selection
) -> bool:
    """Whether next states, left out one by one, follow closely from a displacement, and far better than directly.

    The noise is that of the typical step: a bump into a wall now and then does not count.
    """
    data = displacement.data
    alive = np.flatnonzero(~data.terminated)
    if len(alive) < 2:
        return False
    rows = alive[np.linspace(0, len(alive) - 1, min(len(alive), settings.held_out)).astype(np.intp)]
    next_states = np.asarray(data.next_states)[rows]
    Z = np.asarray(data.Z)[rows]
    direct = direct_losses(kernel(Z, Z), next_states, value_kernel, lam)
    residuals = displacement.left_out_residuals[rows]
    moved = displacement_losses(residuals, value_kernel, settings.residuals)
    scale = np.maximum((next_states - Z[:, : next_states.shape[1]]).std(axis=0), 1e-12)
    noise = float(np.median(np.square(residuals / scale).mean(axis=1)))
    log.debug("held-out errors: %.3g direct, %.3g by displacement; noise %.3g", direct.mean(), moved.mean(), noise)
    quiet = noise < settings.most_noise or errors_shrink(displacement, settings)
    return quiet and exceeds(-moved, -settings.margin * direct)


def errors_shrink(displacement: DisplacementEmbedding, settings: Selection) -> bool:
    """Whether what a displacement leaves unexplained is for want of data, and not noise.

    The same held-out half of the data is predicted from the other half and from a quarter: more data help against
    errors of the model, and do nothing about noise. With few data nothing can be told.
    """
    dynamics = displacement.dynamics
    n = len(dynamics.data)
    if n < settings.fewest_to_judge:
        return False
    order = np.random.default_rng(n).permutation(n)
    held, half, quarter = order[: n // 2], order[n // 2 :], order[n // 2 : 3 * n // 4]
    errors = [dynamics.errors(displacement.shape, rows, held) for rows in (half, quarter)]
    more, less = (float(np.median(error)) for error in errors)
    log.debug("held-out errors: %.3g from half of the data, %.3g from a quarter", more, less)
    return more < settings.shrinking * less


def direct_losses(Kzz: FloatArray, next_states: FloatArray, value_kernel: Kernel, lam: float) -> FloatArray:
    """‖ψ(s'_i) − μ̂₋ᵢ(z_i)‖² (n,), the embedding made without transition i.

    The residual of a ridge regression without its own row is [G Ψ]_i / G_ii with G = (K + λI)⁻¹.
    """
    G = Cholesky.of(Kzz, lam).solve(np.eye(len(Kzz)))
    squares = np.einsum("ij,ij->i", G @ value_kernel(next_states, next_states), G)
    return np.asarray(squares / np.square(np.diagonal(G)))


def displacement_losses(residuals: FloatArray, value_kernel: Kernel, draws: int) -> FloatArray:
    """The same for the embedding of (prediction + a residual drawn from those seen); k_ψ is stationary."""
    noise = residuals[np.linspace(0, len(residuals) - 1, min(len(residuals), draws)).astype(np.intp)]
    cross, own = value_kernel(residuals, noise), value_kernel(noise, noise)  # the prediction drops out
    return np.asarray(value_kernel.diag(residuals) - 2.0 * cross.mean(axis=1) + own.mean())
