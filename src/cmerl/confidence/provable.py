"""Provable modes: the paper's Alg. 1, and sharper ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from cmerl.confidence.modes import FloatArray, Mode
from cmerl.confidence.norms import constant_norm
from cmerl.confidence.problem import Problem
from cmerl.confidence.radii import noise_radius, paper_radius, scalar_radius, second_moment_radius, tight_radius
from cmerl.confidence.sets import Estimate
from cmerl.confidence.terms import BonusTerms, ValueNorms
from cmerl.embedding import KernelEmbedding
from cmerl.errors import MissingConstantError
from cmerl.validation.numbers import check_not_negative


def noise(problem: Problem, data: KernelEmbedding, share: float = 1.0) -> float:
    """The noise radius; where coordinates were chosen k times from the data, each choice starts a new martingale.

    Half of δ covers the noise of the unprojected data at all times, and δ/(2k(k+1)) what is absorbed after choice k.
    """
    delta, k = share * problem.delta_transition, data.choices
    if k == 0:
        return noise_radius(data.sum_r, D=problem.diameter, delta=delta)
    first = 0.5 * math.log(2.0 / delta)
    return noise_radius(data.sum_r + first, D=problem.diameter, delta=delta / (2.0 * k * (k + 1)))


def sharp_noise(problem: Problem, data: KernelEmbedding) -> float:
    """The noise radius from second moments; choices of coordinates are paid for as in ``noise``.

    From a choice on e² continues from what half of δ allows the unprojected data, whose G is at most that of
    ``data``.
    """
    delta, gain, k = problem.delta_transition, data.information_gain, data.choices
    if k == 0:
        return second_moment_radius(gain, data.sum_r, D=problem.diameter, delta=delta)
    gain += math.log(2.0 / delta)
    return second_moment_radius(gain, math.inf, D=problem.diameter, delta=delta / (2.0 * k * (k + 1)))


def projected(radius: float, B_P: float, data: KernelEmbedding) -> float:
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
class Misspecified(Mode):
    """A mode for value functions that are near the RKHS, not in it.

    V = Ṽ + e with |e| ≤ ζ. The mode's own bonus covers Ṽ, and e costs at most ζ(1 + ‖α(z)‖₁) for weights of any sign.
    So Q stays optimistic, and constants need not be in the space.

    Args:
        zeta: ζ; 0 if every value function is in the space.
    """

    zeta: float = 0.0

    def __post_init__(self) -> None:
        check_not_negative("zeta", self.zeta)

    @property
    def _price(self) -> BonusTerms:
        return BonusTerms(weights=self.zeta, constant=self.zeta)


@dataclass(frozen=True, kw_only=True)
class Paper(Misspecified):
    """The paper's Algorithm 1: bonus B_V β_t(δ/2) λ^{-1/2} σ with the radius of Thm 1.

    For any practical amount of data the bonus exceeds H almost everywhere, so this mode explores uniformly.

    Args:
        general: use the radius for kernels not bounded by 1 (B_ψ and B_φ in place of 1).
        zeta: with ζ > 0 the bonus of Thm 3, (B_V + ζ‖1‖_ψ)·βσ/√λ; Q may then fall short of Q* by 2(H−h)ζ, or by
            more where weights are negative.
        one_norm: ‖1‖_ψ for Thm 3; None derives it from the kernel: 1/√c for k + c, √S for delta kernels.
    """

    name: ClassVar[str] = "paper"
    literal_algorithm1: ClassVar[bool] = True
    survives_projection: ClassVar[bool] = False
    general: bool = False
    one_norm: float | None = None

    def radius(self, problem: Problem, data: KernelEmbedding, episode: int) -> float:
        """β_t(δ/2)."""
        bounds = {}
        if self.general:
            end = 1.0 if problem.terminations else 0.0  # the length of its feature
            bounds = {"B_psi": max(problem.value_kernel.bound, end), "B_phi": problem.kernel.bound}
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
        """Raise without B_P and B_V, or if the printed radius meets kernels not bounded by 1."""
        problem.require(self.name, "B_P", "B_V")
        self._one_norm(problem)
        if not self.general and max(problem.kernel.bound, problem.value_kernel.bound) > 1.0:
            raise MissingConstantError(
                "the radius of 'paper' holds for kernels bounded by 1 only: scale the kernels, or use "
                "bonus=cmerl.confidence.Paper(general=True)"
            )

    def caveat(self) -> str | None:
        """With ζ > 0: Thm 3 does not keep Q above Q*."""
        return None if self.zeta == 0.0 else "none: Thm 3 lets Q fall short of Q*; use 'tight' with zeta"

    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """The bonus, with one B_V for all steps as in the paper."""
        B_V = problem.value_norm(problem.horizon, self.name) + self.zeta * self._one_norm(problem)
        return BonusTerms(B_V * self.radius(problem, data, episode) / math.sqrt(data.lam))

    def covers(
        self, problem: Problem, data: KernelEmbedding, found: Estimate, P: FloatArray, V: FloatArray, *, episode: int
    ) -> bool:
        """True if Θ_P ∈ C_t in operator norm."""
        return found.distance(P, "operator") <= self.radius(problem, data, episode)

    def _one_norm(self, problem: Problem) -> float:
        if self.zeta == 0.0:
            return 0.0
        states = None if problem.tabular is None else problem.tabular[0] + problem.terminations
        one_norm = constant_norm(problem.value_kernel, states) if self.one_norm is None else self.one_norm
        if one_norm is None:
            raise MissingConstantError(
                f"Thm 3 needs the norm of the constant 1, which {problem.value_kernel!r} does not tell: pass "
                "Paper(zeta=…, one_norm=…), or add a constant to the kernel"
            )
        return one_norm


@dataclass(frozen=True, kw_only=True)
class Tight(Misspecified):
    """The paper's bonus with ``tight_radius``, about 40 times smaller."""

    name: ClassVar[str] = "tight"

    def radius(self, problem: Problem, data: KernelEmbedding, episode: int) -> float:
        """β, which holds with probability 1 − δ for all n at once."""
        B_P = problem.constant("B_P", self.name)
        if data.choices == 0:
            delta = problem.delta_transition
            return tight_radius(data.sum_r, lam=data.lam, B_P=B_P, D=problem.diameter, delta=delta)
        # Coordinates chosen after the fact: bias and noise are bounded apart.
        return math.sqrt(data.lam) * B_P + noise(problem, data)

    def check(self, problem: Problem) -> None:
        """Raise without B_P and B_V."""
        problem.require(self.name, "B_P", "B_V")

    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """The bonus, with B_V for the remaining steps."""
        B_V = problem.value_norm(problem.horizon - 1 - step, self.name)
        B_P = problem.constant("B_P", self.name)
        return BonusTerms(B_V * projected(self.radius(problem, data, episode), B_P, data)).plus(self._price)

    def covers(
        self, problem: Problem, data: KernelEmbedding, found: Estimate, P: FloatArray, V: FloatArray, *, episode: int
    ) -> bool:
        """True if Θ_P ∈ C_t in the Hilbert–Schmidt norm."""
        return found.distance(P) <= self.radius(problem, data, episode)


@dataclass(frozen=True, kw_only=True)
class Split(Misspecified):
    """Separate bounds on bias and noise, with the norms of the actual V_{h+1}; constants in V cost no noise.

    Args:
        zeta: with ζ > 0 the norms are those of a smooth function found within ζ of V_{h+1}, which are smaller, and
            exist where V_{h+1} itself has a huge norm or none.
        sharp: bias ‖Θ_PᵀV‖·λ‖M⁻¹φ‖ and noise from second moments; False for bias ‖Θ_PᵀV‖·σ and the noise of
            ``tight``, as in the first version.
    """

    name: ClassVar[str] = "split"
    needs_norms: ClassVar[bool] = True
    sharp: bool = True

    @property
    def near(self) -> float:
        """ζ."""
        return self.zeta

    def check(self, problem: Problem) -> None:
        """Raise without B_P, unless the kernels are delta kernels."""
        problem.require(self.name, "B_P")

    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """The ridge pulls Θ̂φ by λΘ_PM⁻¹φ towards 0, and the noise adds ‖V − c‖·β_noise λ^{-1/2} σ.

        As λ²‖M⁻¹φ‖² = σ² − λ‖α‖₂², the pull is at most B_P‖V‖ times that root. For delta kernels λM⁻¹φ(z) is σ²φ(z),
        so it is E[V | z]·σ², at most left·width·σ².
        """
        assert norms is not None
        bias, loss = self._bias(problem, data, norms, problem.horizon - 1 - step), 0.0
        if data.projection_loss is not None:
            loss = norms.norm * projected(0.0, problem.constant("B_P", self.name), data)
        noise = BonusTerms(norms.centred * self._noise(problem, data) / math.sqrt(data.lam) + loss)
        return bias.plus(noise).plus(self._price)

    def _bias(self, problem: Problem, data: KernelEmbedding, norms: ValueNorms, left: int) -> BonusTerms:
        height = left * problem.width + self.zeta
        exact = self.sharp and data.projection_loss is None
        if problem.tabular is None or problem.B_P is not None:
            bias = problem.constant("B_P", self.name) * norms.norm
            return BonusTerms(shrinkage=bias) if exact else BonusTerms(bias)
        if exact:
            return BonusTerms(quadratic=height)
        S, A = problem.tabular
        return BonusTerms(height * math.sqrt(S * A))

    def _noise(self, problem: Problem, data: KernelEmbedding) -> float:
        return sharp_noise(problem, data) if self.sharp else noise(problem, data)

    def covers(
        self, problem: Problem, data: KernelEmbedding, found: Estimate, P: FloatArray, V: FloatArray, *, episode: int
    ) -> bool:
        """True if the noise is within its radius."""
        return found.noise(P) <= self._noise(problem, data)


@dataclass(frozen=True, kw_only=True)
class NonNegative(Mode):
    """Optimism for the fixed V* only, which suffices if all weights α are non-negative (delta kernels)."""

    name: ClassVar[str] = "nonnegative"
    survives_projection: ClassVar[bool] = False

    def check(self, problem: Problem) -> None:
        """Raise unless the kernels are delta kernels."""
        if problem.tabular is None:
            raise MissingConstantError(
                "bonus 'nonnegative' holds only where all weights are non-negative, that is for delta kernels on "
                "Discrete spaces: use those, or bonus='split' with B_P=…"
            )

    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """(H−h)·width·{σ² + ½√(2(G + log(H/δ))) λ^{-1/2} σ}: shrinkage of V*, then its noise."""
        value = (problem.horizon - 1 - step) * problem.width
        return BonusTerms(self._noise(problem, data, value) / math.sqrt(data.lam), value)

    def excess(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """Twice the bonus for V*, plus the noise of V − V*, where only 0 ≤ V − V* ≤ (H−h)·width is known.

        Shrinkage can only lower V − V*, and it lies within half its range of a constant. Its noise takes half of the
        martingale's failure probability, which is as much as half of its own.
        """
        assert problem.tabular is not None
        half = (
            0.5 * (problem.horizon - 1 - step) * problem.width * math.sqrt(problem.tabular[0] + problem.terminations)
        )
        rest = BonusTerms(half * noise(problem, data, share=0.5) / math.sqrt(data.lam))
        return self.bonus(problem, data, episode=episode, step=step, norms=norms).times(2.0).plus(rest)

    def covers(
        self, problem: Problem, data: KernelEmbedding, found: Estimate, P: FloatArray, V: FloatArray, *, episode: int
    ) -> bool:
        """True if the noise of every V*_h is within its radius."""
        lefts = range(problem.horizon - 1, 0, -1)
        radii = [self._noise(problem, data, left * problem.width) for left in lefts]
        return bool((found.value_noise(P, V[1 : problem.horizon]) <= radii).all())

    def _noise(self, problem: Problem, data: KernelEmbedding, span: float) -> float:
        # One V*_h for each step; with an embedding for each step the union is in delta_transition already.
        union = problem.horizon if problem.embeddings == 1 else 1
        return scalar_radius(data.information_gain, span=span, delta=problem.delta_transition / union)
