"""Estimates of the constants of proofs: an interval for ‖Θ_P‖_HS that holds with probability 1 − δ.

Let Φ hold the features of the state-actions seen, W = Σ ε_i φ_iᵀ the noise, and A = Σ φ_iφ_iᵀ with eigenvalues κ_j
and eigenvectors u_j. Then Σ ψ_i φ_iᵀ = Θ_P A + W, so on the first k directions

    Θ_P Π_k  =  Σ ψ_i φ_iᵀ A⁻¹ Π_k  −  W M^{-1/2} · M^{1/2} A⁻¹ Π_k,      ‖M^{1/2} A⁻¹ Π_k‖ = √(κ_k + λ)/κ_k.

The noise radius bounds ‖W M^{-1/2}‖_HS without knowing B_P, for all k at once. Nothing bounds what the data have not
seen, except on a finite domain: there Θ_P (1 − Π_k) is a combination of embeddings μ(z), none longer than B_ψ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.linalg import Cholesky, spectrum

FloatArray = NDArray[np.float64]

RANK_TOLERANCE = 1e-9  # directions of less weight than this share of the largest are taken for unseen


class Interval(NamedTuple):
    """Bounds on a constant; ``note`` says when they hold."""

    lower: float
    upper: float
    note: str


def operator_norm(
    K_phi: FloatArray,
    K_psi: FloatArray,
    transitions: FloatArray,
    *,
    lam: float,
    noise_radius: float,
    B_psi: float,
    exhaustive: bool,
) -> Interval:
    """Bounds on ‖Θ_P‖_HS that hold when the noise stays within ``noise_radius``, for any B_P.

    Args:
        K_phi: kernel of the state-actions (m, m).
        K_psi: kernel of the next states (S, S).
        transitions: transition counts (m, S).
        lam: the ridge λ that the noise radius is for.
        noise_radius: β_noise, from ``confidence.noise_radius``.
        B_psi: bound on √k_ψ(s, s).
        exhaustive: True if the m state-actions are all; otherwise there is no upper bound.
    """
    counts = transitions.sum(axis=1)
    root = np.sqrt(counts)
    kappa, vectors = spectrum(root[:, None] * K_phi * root)
    k = int(np.sum(kappa > RANK_TOLERANCE * max(float(kappa[0]), 0.0))) if counts.any() else 0
    kappa, vectors = kappa[:k], vectors[:, :k]
    inverse_root = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    sums = transitions.T @ (inverse_root[:, None] * vectors)  # Σψφᵀ A⁻¹ u_j = Ψᵀ sums_j/√κ_j
    squares = np.maximum(np.einsum("sj,st,tj->j", sums, K_psi, sums), 0.0) / kappa
    seen = np.sqrt(np.cumsum(squares))  # ‖Σψφᵀ A⁻¹ Π_k‖_HS for every k
    noise = noise_radius * np.sqrt(kappa + lam) / kappa
    lower = float(np.max(seen - noise, initial=0.0))
    if not exhaustive:
        return Interval(lower, math.inf, "lower bound holds anywhere; no data bound what was not visited")
    # The projector onto the rest, in coefficients of the φ(z): K_φ⁻¹ − Σ c_j c_jᵀ with u_j = Φᵀc_j.
    rest = Cholesky.of(K_phi).solve(np.eye(len(K_phi)))
    unseen = [float(np.abs(rest).sum())]
    for c in (root[:, None] * vectors / np.sqrt(kappa)).T:
        rest -= np.multiply.outer(c, c)
        unseen.append(float(np.abs(rest).sum()))
    known = np.append(0.0, seen + noise) ** 2
    upper = math.sqrt(float(np.min(known + B_psi**2 * np.array(unseen))))
    return Interval(lower, upper, "both bounds hold: the state-actions are all there are")
