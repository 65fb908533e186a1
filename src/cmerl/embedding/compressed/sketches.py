"""Constructors of sketches: compressed, Nyström, random Fourier features."""

from __future__ import annotations

import numpy as np

from cmerl.embedding.compressed.dictionary import Dictionary
from cmerl.embedding.compressed.embedding import CompressedEmbedding
from cmerl.embedding.compressed.features import FourierFeatures
from cmerl.embedding.compressed.landmarks import InterpolatedLandmarks, Landmarks, StateTable
from cmerl.errors import InputError
from cmerl.kernels import Kernel
from cmerl.transitions import Points


def compressed(
    kernel: Kernel,
    value_kernel: Kernel,
    lam: float,
    actions: Points | None = None,
    *,
    tolerance: float = 1e-3,
    value_tolerance: float = 3e-3,
    cap: int = 1000,
    keep: int = 20_000,
    rebuild: bool = True,
    centre: bool = True,
    single: bool = True,
) -> CompressedEmbedding:
    """A compressed embedding with two dictionaries; the cost of an episode does not depend on the amount of data.

    Args:
        kernel: k_φ on state-actions.
        value_kernel: k_ψ on states, in whose space value functions are interpolated.
        lam: the ridge λ.
        actions: the finite action set (A, d_a).
        tolerance: largest squared residual of state-actions, relative to k_φ(z, z).
        value_tolerance: the same for next states and k_ψ; 0 makes every next state a landmark.
        cap: largest size of a dictionary. At the cap nothing is appended; remaining residuals count in σ and in
            provable bonuses. The next reselection raises the tolerance until the cap suffices.
        keep: number of transitions kept for selecting dictionaries; beyond it the raw data are dropped.
        rebuild: reselect both dictionaries when the data have doubled, unless they have hardly grown.
        centre: interpolate V around its mean: more accurate, but without a proof.
        single: let plans read means in single precision if the tolerance is positive; not for proofs.
    """
    for name, value in (("tolerance", tolerance), ("value_tolerance", value_tolerance)):
        if not 0.0 <= value < 1.0:
            raise InputError(f"{name} must lie from 0 to below 1, not {value!r}")
    if cap < 1:
        raise InputError(f"cap must be at least 1, not {cap!r}")
    landmarks: Landmarks = StateTable()
    if value_tolerance:
        landmarks = InterpolatedLandmarks(value_kernel, value_tolerance, cap)
    return CompressedEmbedding(
        "compressed",
        kernel,
        lambda part: Dictionary(part, tolerance, cap, widen=True),
        landmarks,
        lam,
        actions,
        keep=keep,
        rebuild=rebuild and (tolerance > 0 or value_tolerance > 0),
        centre=centre,
        single=single and tolerance > 0,
    )


def nystrom(
    kernel: Kernel,
    lam: float,
    actions: Points | None = None,
    *,
    count: int = 300,
    tolerance: float = 1e-6,
    keep: int = 20_000,
    rebuild: bool = True,
    centre: bool = True,
) -> CompressedEmbedding:
    """Nyström coordinates of state-actions, with all next states kept: the classical sketch.

    Args:
        kernel: k_φ on state-actions.
        lam: the ridge λ.
        actions: the finite action set (A, d_a).
        count: largest number of landmarks of state-actions per independent regression.
        tolerance: no landmark is added for a squared residual below this.
        keep: number of transitions kept for selecting landmarks.
        rebuild: reselect landmarks whenever the data have doubled; False appends them in the order of arrival.
        centre: regress V around its mean, and keep no weights for bounds.
    """
    return CompressedEmbedding(
        "nystrom",
        kernel,
        lambda part: Dictionary(part, tolerance, count),
        StateTable(),
        lam,
        actions,
        keep=keep,
        rebuild=rebuild,
        centre=centre,
    )


def fourier(
    kernel: Kernel,
    lam: float,
    actions: Points | None = None,
    *,
    count: int = 300,
    orthogonal: bool = True,
    seed: int = 0,
) -> CompressedEmbedding:
    """Random Fourier features: a heuristic, because they leave no residual and σ is too small.

    Args:
        kernel: k_φ on state-actions. In a product with an indicator of the action, features are drawn for the state
            kernel, which must be RBF or Matern.
        lam: the ridge λ.
        actions: the finite action set (A, d_a).
        count: number of features per independent regression.
        orthogonal: draw frequencies in orthogonal blocks.
        seed: seed of the frequencies.
    """
    rng = np.random.default_rng(seed)
    return CompressedEmbedding(
        "fourier",
        kernel,
        lambda part: FourierFeatures(part, count, rng, orthogonal=orthogonal),
        StateTable(),
        lam,
        actions,
        keep=0,
        rebuild=False,
    )
