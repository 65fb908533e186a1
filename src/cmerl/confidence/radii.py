"""Confidence radii as pure functions."""

from __future__ import annotations

import math


def paper_radius(
    information_gain: float,
    *,
    lam: float,
    B_P: float,
    episode: int,
    horizon: int,
    delta: float,
    B_psi: float = 1.0,
    B_phi: float = 1.0,
) -> float:
    """β_t(δ) of [CO22, Thm 1]; with B_psi and B_phi other than 1, the form that holds for any bounded kernels."""
    growth = 256.0 * B_psi**2 * (1.0 + B_phi**2 / lam) * information_gain
    return math.sqrt(2.0 * lam * B_P**2 + growth * math.log(2.0 * episode**2 * horizon / delta))


def noise_radius(sum_r: float, *, D: float, delta: float) -> float:
    """The part of the tight radius that comes from noise: √(D²Σr_i + (D²/2) log(1/δ))."""
    return D * math.sqrt(sum_r + 0.5 * math.log(1.0 / delta))


def second_moment_radius(information_gain: float, sum_r: float, *, D: float, delta: float) -> float:
    """Another bound on the noise, from its second moment: √(D²(min{G, ¾Σr_i} + log(1/δ))).

    With e² = ‖WM^{-1/2}‖², u = ‖Ŵφ‖ and ε the next noise, e² grows by [−u² + 2⟨ε, Ŵφ⟩ + w‖ε‖²]/(1+w). Two draws of a
    law differ by at most D, so E‖ε‖² ≤ D²/2, and the bracket moves in an interval of length 2Du + wD². Hoeffding's
    lemma at η = 1/D² leaves, after the best u, exp(½r + ¼r²/(1+r)): no more than ½log(1+w) = ½(r + ½r² + …) nor ¾r.
    Ville's inequality does the rest. It is smaller than ``noise_radius`` once Σr_i is some twice log(1/δ).
    """
    return D * math.sqrt(min(information_gain, 0.75 * sum_r) + math.log(1.0 / delta))


def tight_radius(sum_r: float, *, lam: float, B_P: float, D: float, delta: float) -> float:
    """Anytime radius of ‖(Θ̂ − Θ_P)M^{1/2}‖_HS from one supermartingale, without a union bound over time."""
    return math.hypot(math.sqrt(lam) * B_P, noise_radius(sum_r, D=D, delta=delta))


def scalar_radius(information_gain: float, *, span: float, delta: float) -> float:
    """Self-normalised radius for one fixed function whose noise stays in an interval of length ``span``."""
    return 0.5 * span * math.sqrt(2.0 * (information_gain + math.log(1.0 / delta)))


def reward_radius(
    information_gain: float, *, lam: float, B_R: float, noise: float, delta: float, choices: int = 0
) -> float:
    """β_R: self-normalised radius for a reward of norm ≤ B_R seen with ``noise``-sub-Gaussian noise.

    Where coordinates were chosen k = ``choices`` times from the data that they represent, half of δ covers the noise
    of the unprojected data at all times, which bounds that of any projection of them, and δ/(2k(k+1)) what is
    absorbed after choice k. From there on det(M̃)^{-1/2}·exp(‖S‖²_{M̃⁻¹}/(2·noise²)) is a supermartingale again, so
    both logarithms add up.
    """
    if choices:
        information_gain += math.log(2.0 / delta)
        delta /= 2.0 * choices * (choices + 1)
    return math.sqrt(lam) * B_R + scalar_radius(information_gain, span=2.0 * noise, delta=delta)


def mixture_radius(variance: float, *, start: float, delta: float) -> float:
    """An anytime bound on a sum of martingale differences, with probability 1 − δ.

    ``variance`` is the sum of the squared sub-Gaussian constants so far, and ``start`` > 0 is fixed beforehand: the
    radius is sharpest while the variance is a few times as large. Mixing exp(ηS − η²v/2) over a normal η of
    precision ``start`` gives a supermartingale, and Ville's inequality the bound.
    """
    whole = variance + start
    return math.sqrt(whole * (math.log(whole / start) + 2.0 * math.log(1.0 / delta)))
