"""Bonus modes: how much optimism each state-action deserves.

A bonus at state-action z and step h has the form a_h·σ(z) + b_h·σ²(z); a mode says what a_h and b_h are.
Values are in shifted units (rewards start at 0), so ``width`` = r_max − r_min plays the part of r_max.
In formulas h runs from 1 to H; in code ``step`` = h − 1, so V_{h+1} covers ``left`` = H − 1 − step steps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence.problem import Problem
from cmerl.confidence.radii import noise_radius, paper_radius, tight_radius
from cmerl.embedding import Embedding
from cmerl.errors import InputError, MissingConstantError

FloatArray = NDArray[np.float64]


class ValueNorms(NamedTuple):
    """RKHS norms of V_{h+1} on a set of states: its own, and the least over added constants."""

    norm: float
    centred: float


class BonusTerms(NamedTuple):
    """A bonus linear·σ + quadratic·σ²."""

    linear: float = 0.0
    quadratic: float = 0.0

    def at(self, sigma: FloatArray) -> FloatArray:
        """The bonus where the standard deviation is ``sigma``."""
        return sigma * (self.linear + self.quadratic * sigma)


def noise(problem: Problem, data: Embedding) -> float:
    """The noise radius; where coordinates were chosen k times from the data, each choice starts a new martingale.

    Half of δ covers the noise of the unprojected data at all times, and δ/(2k(k+1)) what is absorbed after choice k.
    """
    delta, k = problem.delta_transition, data.choices
    if k == 0:
        return noise_radius(data.sum_r, D=problem.diameter, delta=delta)
    first = 0.5 * math.log(2.0 / delta)
    return noise_radius(data.sum_r + first, D=problem.diameter, delta=delta / (2.0 * k * (k + 1)))


def projected(radius: float, B_P: float, data: Embedding) -> float:
    """The coefficient of ‖V‖σ for a radius, with what a projection of the data onto coordinates adds.

    Misfit of the targets adds B_P√R_φ + √R_ψ to the radius, and the part of φ(z) outside the coordinates B_P·ρ(z).
    As σ² = ρ² + λ‖φ̃‖²_{M̃⁻¹}, the two together are at most the hypotenuse times σ.
    """
    loss = data.projection_loss
    if loss is None:
        return radius / math.sqrt(data.lam)
    R_phi, R_psi = loss
    radius += B_P * math.sqrt(R_phi) + math.sqrt(R_psi)
    return math.hypot(radius / math.sqrt(data.lam), B_P)


@dataclass(frozen=True, kw_only=True)
class Mode(ABC):
    """A rule for the transition bonus. Modes are plain values: equal options make equal modes."""

    name: ClassVar[str]
    provable: ClassVar[bool] = True
    to_the_letter: ClassVar[bool] = False  # Alg. 1: V clipped only from above at H, a bonus at the last step too
    optimistic_prior: ClassVar[bool] = False  # unseen state-actions are worth the most that can be left
    needs_norms: ClassVar[bool] = False  # wants ValueNorms of V_{h+1}
    survives_projection: ClassVar[bool] = True  # whether what it claims extends to compressed embeddings

    @property
    def uses_sigma(self) -> bool:
        """Whether bonuses depend on σ."""
        return True

    def check(self, problem: Problem) -> None:
        """Raise a typed error now rather than in the first plan."""

    @abstractmethod
    def bonus(
        self, problem: Problem, data: Embedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """a_h and b_h at ``step``, for the episode-th episode (from 1)."""


@dataclass(frozen=True, kw_only=True)
class Paper(Mode):
    """Algorithm 1 to the letter: B_V β_t(δ/2) λ^{-1/2} σ with the radius of Thm 1.

    For any practical amount of data the bonus exceeds H almost everywhere, so this mode explores uniformly.

    Args:
        general: use the radius for kernels not bounded by 1 (B_ψ and B_φ in place of 1).
    """

    name: ClassVar[str] = "paper"
    to_the_letter: ClassVar[bool] = True
    survives_projection: ClassVar[bool] = False
    general: bool = False

    def radius(self, problem: Problem, data: Embedding, episode: int) -> float:
        """β_t(δ/2)."""
        bounds = {}
        if self.general:
            bounds = {"B_psi": problem.value_kernel.bound, "B_phi": problem.kernel.bound}
        return paper_radius(
            data.information_gain,
            lam=data.lam,
            B_P=problem.constant("B_P", self.name),
            episode=episode,
            horizon=problem.horizon,
            delta=problem.delta_transition,
            **bounds,
        )

    def check(self, problem: Problem) -> None:
        """Need B_P and B_V, and kernels bounded by 1 for the radius as it is printed."""
        problem.require(self.name, "B_P", "B_V")
        if not self.general and max(problem.kernel.bound, problem.value_kernel.bound) > 1.0:
            raise MissingConstantError(
                "the radius of 'paper' holds for kernels bounded by 1 only: scale the kernels, or use "
                "bonus=cmerl.confidence.Paper(general=True)"
            )

    def bonus(
        self, problem: Problem, data: Embedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """One B_V for all steps, as in the paper."""
        B_V = problem.value_norm(problem.horizon, self.name)
        return BonusTerms(B_V * self.radius(problem, data, episode) / math.sqrt(data.lam))


@dataclass(frozen=True, kw_only=True)
class Tight(Mode):
    """The paper's bonus with the radius of ``tight_radius``, some 40 times smaller."""

    name: ClassVar[str] = "tight"

    def radius(self, problem: Problem, data: Embedding, episode: int) -> float:
        """β with probability 1 − δ for all n at once."""
        B_P = problem.constant("B_P", self.name)
        if data.choices == 0:
            delta = problem.delta_transition
            return tight_radius(data.sum_r, lam=data.lam, B_P=B_P, D=problem.diameter, delta=delta)
        # Coordinates chosen after the fact: bias and noise are bounded apart.
        return math.sqrt(data.lam) * B_P + noise(problem, data)

    def check(self, problem: Problem) -> None:
        """Need B_P and B_V."""
        problem.require(self.name, "B_P", "B_V")

    def bonus(
        self, problem: Problem, data: Embedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """B_V of the steps that are left."""
        B_V = problem.value_norm(problem.horizon - 1 - step, self.name)
        B_P = problem.constant("B_P", self.name)
        return BonusTerms(B_V * projected(self.radius(problem, data, episode), B_P, data))


@dataclass(frozen=True, kw_only=True)
class Split(Mode):
    """Bias and noise bounded apart, with the norms of the actual V_{h+1}: a constant in V costs no noise."""

    name: ClassVar[str] = "split"
    needs_norms: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        """Need B_P, unless kernels are delta."""
        problem.require(self.name, "B_P")

    def bonus(
        self, problem: Problem, data: Embedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """[√λ·B_P‖V‖ + ‖V − c‖·β_noise] λ^{-1/2}; for delta kernels ‖Θ_PᵀV‖ ≤ left·width·√(SA) is sharper."""
        assert norms is not None
        left = problem.horizon - 1 - step
        if problem.tabular is not None and problem.B_P is None:
            S, A = problem.tabular
            bias = left * problem.width * math.sqrt(S * A)
        else:
            bias = problem.constant("B_P", self.name) * norms.norm
        beta = noise(problem, data)
        loss = norms.norm * projected(0.0, problem.constant("B_P", self.name), data) if data.projection_loss else 0.0
        return BonusTerms(bias + norms.centred * beta / math.sqrt(data.lam) + loss)


@dataclass(frozen=True, kw_only=True)
class NonNegative(Mode):
    """Optimism for the fixed V* only, which suffices where all weights α are non-negative (delta kernels)."""

    name: ClassVar[str] = "nonnegative"
    survives_projection: ClassVar[bool] = False

    def check(self, problem: Problem) -> None:
        """Only delta kernels keep all weights non-negative."""
        if problem.tabular is None:
            raise MissingConstantError(
                "bonus 'nonnegative' holds only where all weights are non-negative, that is for delta kernels on "
                "Discrete spaces: use those, or bonus='split' with B_P=…"
            )

    def bonus(
        self, problem: Problem, data: Embedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """(H−h)·width·{σ² + ½√(2(G + log(H/δ))) λ^{-1/2} σ}: shrinkage of V*, then its noise."""
        left = problem.horizon - 1 - step
        value = left * problem.width
        # One V*_h for each step; with an embedding for each step the union is in delta_transition already.
        union = problem.horizon if problem.embeddings == 1 else 1
        log_term = data.information_gain + math.log(union / problem.delta_transition)
        return BonusTerms(0.5 * value * math.sqrt(2.0 * log_term / data.lam), value)


@dataclass(frozen=True, kw_only=True)
class Practical(Mode):
    """An optimistic prior mean in place of a bonus: away from data Q reverts to the most that can be left.

    It carries no proof: its optimism decays like λ/N, faster than the noise.

    Args:
        sigma_scale: adds a bonus sigma_scale · (value left) · σ on top.
    """

    name: ClassVar[str] = "practical"
    provable: ClassVar[bool] = False
    optimistic_prior: ClassVar[bool] = True
    sigma_scale: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.sigma_scale) and self.sigma_scale >= 0.0):
            raise InputError(f"sigma_scale must be a number from 0 on, not {self.sigma_scale!r}")

    @property
    def uses_sigma(self) -> bool:
        """Only with the optional bonus."""
        return self.sigma_scale != 0.0

    def bonus(
        self, problem: Problem, data: Embedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """Only the optional bonus; the prior is the planner's affair."""
        return BonusTerms(self.sigma_scale * (problem.horizon - 1 - step) * problem.width)


@dataclass(frozen=True, kw_only=True)
class Greedy(Mode):
    """No bonus and no optimistic prior: what the data say, and nothing where they are silent."""

    name: ClassVar[str] = "greedy"
    provable: ClassVar[bool] = False

    @property
    def uses_sigma(self) -> bool:
        """No bonus, no σ."""
        return False

    def bonus(
        self, problem: Problem, data: Embedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """Zero."""
        return BonusTerms()


MODES: dict[str, type[Mode]] = {m.name: m for m in (Practical, Paper, Tight, Split, NonNegative, Greedy)}


def as_mode(bonus: str | Mode) -> Mode:
    """A mode from its name or as it is."""
    if isinstance(bonus, Mode):
        return bonus
    if isinstance(bonus, str) and bonus in MODES:
        return MODES[bonus]()
    raise InputError(f"bonus {bonus!r} is unknown: use one of {', '.join(MODES)}, or a mode object")
