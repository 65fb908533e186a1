"""Bonus modes: the bonus of each state-action.

A bonus at state-action z and step h has the form a_h·σ(z) + b_h·σ²(z) + c_h·λ‖M⁻¹φ(z)‖ + ζ(1 + ‖α(z)‖₁); a mode says
what a_h, b_h, c_h and ζ are. Values are in shifted units (rewards start at 0), so ``width`` = r_max − r_min plays the
part of r_max.
In formulas h runs from 1 to H; in code ``step`` = h − 1, so V_{h+1} covers ``left`` = H − 1 − step steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence.problem import Problem
from cmerl.confidence.sets import Estimate
from cmerl.confidence.terms import BonusTerms, ValueNorms
from cmerl.embedding import KernelEmbedding
from cmerl.errors import InputError
from cmerl.validation.numbers import check_not_negative

FloatArray = NDArray[np.float64]
Unseen = Literal["least", "mean"]


@dataclass(frozen=True, kw_only=True)
class Mode(ABC):
    """A bonus mode. Modes are values: equal options make equal modes."""

    name: ClassVar[str]
    provable: ClassVar[bool] = True
    literal_algorithm1: ClassVar[bool] = False  # Alg. 1: V clipped only from above at H, a bonus at the last step too
    rewards_too: ClassVar[bool] = False  # the bonus stands for an unknown reward as well: the last step has one too
    needs_norms: ClassVar[bool] = False  # wants ValueNorms of V_{h+1}
    from_counts: ClassVar[bool] = False  # plans from counts in a finite world rather than by bonuses
    default_lam: ClassVar[float] = 1.0
    survives_projection: ClassVar[bool] = True  # whether what it claims extends to compressed embeddings

    @property
    def uses_sigma(self) -> bool:
        """True if bonuses depend on σ."""
        return True

    @property
    def optimism(self) -> float:
        """Prior value of unseen state-actions, in units of the largest possible remaining return; 0 for no prior."""
        return 0.0

    @property
    def reverts(self) -> bool:
        """True if Q is the mean of what was learned, rather than a prior, where there are no data."""
        return False

    @property
    def near(self) -> float:
        """Norms are those of a function within this distance of V; 0 for V itself."""
        return 0.0

    def check(self, problem: Problem) -> None:
        """Raise an error if something is missing, before the first plan."""

    def caveat(self) -> str | None:
        """Why these options void the proof, or None."""
        return None

    @abstractmethod
    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """The bonus at ``step``, for the episode-th episode (from 1)."""

    def excess(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """The most by which Q_h, without the reward, can exceed E[V_{h+1}]: twice the bonus.

        In modes that prove nothing it is what they would have to claim.
        """
        return self.bonus(problem, data, episode=episode, step=step, norms=norms).times(2.0)

    def covers(
        self,
        problem: Problem,
        data: KernelEmbedding,
        found: Estimate,
        P: FloatArray,
        V: FloatArray,
        *,
        episode: int,
    ) -> bool:
        """True if the event of the proof holds: Θ_P ∈ C_t, or the mode's own event.

        Args:
            problem: sizes and constants.
            data: the embedding that planned.
            found: its estimate on the finite domain.
            P: the true law (S, A, S).
            V: V* in shifted units (H+1, S).
            episode: t, from 1.
        """
        raise InputError(f"bonus {self.name!r} rests on no event that could be checked")


@dataclass(frozen=True, kw_only=True)
class Practical(Mode):
    """Optimistic initialisation instead of a bonus: without data Q is the largest possible remaining return.

    It has no proof: its optimism decays like λ/N, faster than the noise.

    Args:
        sigma_scale: adds a bonus sigma_scale · (value left) · σ on top.
        prior_scale: the prior mean in units of the largest possible remaining return; below 1 is risky, above 1
            explores longer.
    """

    name: ClassVar[str] = "practical"
    provable: ClassVar[bool] = False
    default_lam: ClassVar[float] = 0.1
    sigma_scale: float = 0.0
    prior_scale: float = 1.0

    def __post_init__(self) -> None:
        check_not_negative("sigma_scale", self.sigma_scale)
        check_not_negative("prior_scale", self.prior_scale)

    @property
    def optimism(self) -> float:
        """The prior is this multiple of the largest possible remaining return."""
        return self.prior_scale

    @property
    def uses_sigma(self) -> bool:
        """Only with the optional bonus."""
        return self.sigma_scale != 0.0

    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """The optional bonus only; the planner adds the prior."""
        return BonusTerms(self.sigma_scale * (problem.horizon - 1 - step) * problem.width)

    def excess(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """The prior mean times σ²: exact for delta kernels, approximate for others."""
        bonus = self.bonus(problem, data, episode=episode, step=step, norms=norms)
        prior = BonusTerms(quadratic=self.prior_scale * (problem.horizon - step) * problem.width)
        return bonus.plus(prior).times(2.0)


@dataclass(frozen=True, kw_only=True)
class Sigma(Mode):
    """A plain bonus scale · (value left) · σ, with no prior and no proof.

    Args:
        scale: 0 is greedy; 1 and more explores forever.
    """

    name: ClassVar[str] = "sigma"
    provable: ClassVar[bool] = False
    default_lam: ClassVar[float] = 0.1
    rewards_too: ClassVar[bool] = True
    scale: float = 0.1

    def __post_init__(self) -> None:
        check_not_negative("scale", self.scale)

    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """The bonus; the remaining value includes this step's reward."""
        return BonusTerms(self.scale * (problem.horizon - step) * problem.width)


@dataclass(frozen=True, kw_only=True)
class Greedy(Mode):
    """No bonus and no optimistic prior.

    Args:
        unseen: what is assumed where there are no data: "least", the smallest reward at every step, which is cautious
            and makes everything look worse that was seen less; or "mean", the mean of what the data say, which treats
            all alike.
    """

    name: ClassVar[str] = "greedy"
    provable: ClassVar[bool] = False
    default_lam: ClassVar[float] = 0.1
    unseen: Unseen = "least"

    def __post_init__(self) -> None:
        if self.unseen not in get_args(Unseen):
            raise InputError(f"unseen must be one of {', '.join(get_args(Unseen))}, not {self.unseen!r}")

    @property
    def reverts(self) -> bool:
        """Where the mean stands in for what is missing."""
        return self.unseen == "mean"

    @property
    def uses_sigma(self) -> bool:
        """False: there is no bonus."""
        return False

    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """Zero."""
        return BonusTerms()
