"""Modes with proofs from counts, for finite MDPs with delta kernels: KL optimism, and the guard."""

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
    """Optimism within Kullback–Leibler balls around the empirical distributions: the recommended provable mode.

    Q_h(z) = R(z) + max{q·V_{h+1} : KL(p̂(z)‖q) ≤ β_n/n}. It needs no constants.

    Args:
        growth: replan when the count of a state-action has grown by this share since the last plan.
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
        """False: it uses counts."""
        return False

    def check(self, problem: Problem) -> None:
        """Raise unless the kernels are delta kernels."""
        if problem.tabular is None:
            raise MissingConstantError(
                f"bonus {self.name!r} counts, so it needs delta kernels on Discrete spaces: use those, or "
                "bonus='split' with B_P=…"
            )

    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """Not used: the plan maximises within a ball."""
        raise InputError(f"bonus {self.name!r} is not a multiple of σ: ask the plan, plan.bonus(states, step)")


@dataclass(frozen=True, kw_only=True)
class Guarded(KL):
    """The practical plan while its account covers it, else the plan of ``KL``.

    U bounds V*, L(π) and U(π) the value of a policy π. An episode that plays π loses at most U − L(π). It adds
    κ·(U(π) − L(π)) minus that to an account. The practical policy is played if the account stays at 0 or above from
    every first state seen so far. So all episodes together lose at most κ times the widths of the bounds on the
    policies played.

    Args:
        kappa: κ ≥ 1; larger values allow more practical plans.
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
            raise InputError(f"kappa must be a number of at least 1, not {self.kappa!r}")

    @property
    def practical(self) -> Practical:
        """The guarded mode."""
        return Practical(prior_scale=self.prior_scale)
