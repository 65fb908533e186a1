"""The transition operator of a finite MDP: its exact Hilbert–Schmidt norm for any kernels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cmerl.errors import InputError
from cmerl.linalg import spectrum
from cmerl.oracles.bellman import Floats

RANK = 1e-10  # eigenvalues of a kernel matrix below this, relative to the largest, are zero


def operator_norm(P: ArrayLike, K_phi: ArrayLike, K_psi: ArrayLike) -> float:
    """‖Θ_P‖_HS = √tr(K_φ⁺ P K_ψ Pᵀ), where Θ_P maps φ(z) to the mean embedding of P(· | z).

    Args:
        P: (S, A, S), or one row for each state-action (S·A, S).
        K_phi: kernel on all state-actions (S·A, S·A), in the order of P's rows.
        K_psi: kernel on all states (S, S).

    If K_φ is singular, P must be linear in the features; otherwise no such operator exists.
    """
    Kz, Ks = np.asarray(K_phi, dtype=np.float64), np.asarray(K_psi, dtype=np.float64)
    rows: Floats = np.asarray(P, dtype=np.float64).reshape(-1, len(Ks))
    if Kz.shape != (len(rows), len(rows)) or Ks.shape != (len(Ks), len(Ks)):
        raise InputError(f"P has {len(rows)} state-actions and {len(Ks)} states; the kernel matrices have others")
    values, vectors = spectrum(Kz)
    kept = values > RANK * values[0]
    inside = vectors[:, kept].T @ rows
    lost = rows - vectors[:, kept] @ inside
    if np.abs(lost).max() > 1e-6:
        raise InputError("P is not linear in the features of this kernel, so it has no transition operator")
    scaled = inside / np.sqrt(values[kept])[:, None]
    return math.sqrt(max(float(np.sum((scaled @ Ks) * scaled)), 0.0))
