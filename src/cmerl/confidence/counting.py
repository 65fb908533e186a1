"""The modes that prove from counts, in finite worlds with delta kernels: KL optimism, and a guard on the default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cmerl.confidence.modes import Mode, Practical
from cmerl.confidence.problem import Problem
from cmerl.confidence.terms import BonusTerms, ValueNorms
from cmerl.embedding import KernelEmbedding
from cmerl.errors import InputError, MissingConstantError
from cmerl.validation.numbers import check_not_negative


@dataclass(frozen=True, kw_only=True)
class KL(Mode):
    """Optimism within Kullback–Leibler balls around what was counted: the recommended provable mode.

    Q_h(z) = R(z) + max{q·V_{h+1} : KL(p̂(z)‖q) ≤ β_n/n}. It needs no constants.

    Args:
        growth: a new plan is made when the count of a state-action has grown by this share since the last one.
    """

    name: ClassVar[str] = "kl"
    from_counts: ClassVar[bool] = True
    survives_projection: ClassVar[bool] = False
    default_lam: ClassVar[float] = Practical.default_lam  # for plans without exploration
    growth: float = 0.05

    def __post_init__(self) -> None:
        check_not_negative("growth", self.growth)

    @property
    def uses_sigma(self) -> bool:
        """Counts serve in place of σ."""
        return False

    def check(self, problem: Problem) -> None:
        """Only delta kernels make a world that can be counted."""
        if problem.tabular is None:
            raise MissingConstantError(
                f"bonus {self.name!r} counts, so it needs delta kernels on Discrete spaces: use those, or "
                "bonus='split' with B_P=…"
            )

    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """A maximum within a ball is no multiple of σ, so never asked for."""
        raise InputError(f"bonus {self.name!r} is not a multiple of σ: ask the plan, plan.bonus(states, step)")


@dataclass(frozen=True, kw_only=True)
class Guarded(KL):
    """The practical mode's plan while its account covers it, else that of ``KL``.

    U bounds V*, L(π) and U(π) the value of a policy π. An episode that plays π loses at most U − L(π), and puts
    κ·(U(π) − L(π)) less that into an account. Practical's policy is played if the account stays at 0 or above, from
    every first state seen so far. So all episodes lose at most κ times the widths of the bounds on what was played.

    Args:
        kappa: κ ≥ 1; the larger, the more is left to the practical plan.
        prior_scale: of the practical plan, as in ``Practical``.
        growth: as in ``KL``.
    """

    name: ClassVar[str] = "guarded"
    kappa: float = 2.0
    prior_scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative("prior_scale", self.prior_scale)
        if not self.kappa >= 1.0:
            raise InputError(f"kappa must be a number from 1 on, not {self.kappa!r}")

    @property
    def practical(self) -> Practical:
        """The mode whose plans are guarded."""
        return Practical(prior_scale=self.prior_scale)
