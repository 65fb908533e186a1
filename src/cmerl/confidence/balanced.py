"""Balancing of several bonus modes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from cmerl.confidence.modes import Mode, Practical
from cmerl.confidence.problem import Problem
from cmerl.confidence.terms import BonusTerms, ValueNorms
from cmerl.embedding import KernelEmbedding
from cmerl.errors import InputError
from cmerl.validation.numbers import check_not_negative

SCALES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of the optimistic prior: from reckless to useless


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One of the balanced modes, with its own B_V if it differs from the problem's."""

    label: str
    mode: Mode
    B_V: float | None = None

    def problem(self, problem: Problem) -> Problem:
        """The problem as this candidate sees it."""
        return problem if self.B_V is None else dataclasses.replace(problem, B_V=self.B_V)


def scales(values: tuple[float, ...] = SCALES) -> tuple[Candidate, ...]:
    """Candidates that differ in the scale of the optimistic prior."""
    return tuple(Candidate(label=f"scale {c:g}", mode=Practical(prior_scale=c)) for c in values)


@dataclass(frozen=True, kw_only=True)
class Balanced(Mode):
    """Dynamic regret balancing over modes without a proof; it has none itself.

    Args:
        candidates: the modes to balance, the least optimistic first; by default scales of the optimistic prior.
        width: c, the width of the confidence intervals of mean returns in units of the largest return.
        floor: trials of more optimistic candidates may lose floor·√k in k episodes, in units of the largest return.
    """

    name: ClassVar[str] = "auto"
    provable: ClassVar[bool] = False
    default_lam: ClassVar[float] = 0.1
    candidates: tuple[Candidate, ...] = scales()
    width: float = 1.0
    floor: float = 0.1

    def __post_init__(self) -> None:
        check_not_negative("width", self.width)
        check_not_negative("floor", self.floor)
        if not self.candidates:
            raise InputError("balancing needs at least one candidate")
        wrong = [c.label for c in self.candidates if c.mode.provable != self.provable or isinstance(c.mode, Balanced)]
        if wrong:
            kind = "provable" if self.provable else "unproved"
            raise InputError(f"{type(self).__name__} balances {kind} modes only, and {', '.join(wrong)} is not one")

    @property
    def uses_sigma(self) -> bool:
        """True if any candidate uses σ."""
        return any(c.mode.uses_sigma for c in self.candidates)

    def check(self, problem: Problem) -> None:
        """Raise unless every candidate has its constants."""
        for candidate in self.candidates:
            candidate.mode.check(candidate.problem(problem))

    def bonus(
        self, problem: Problem, data: KernelEmbedding, *, episode: int, step: int, norms: ValueNorms | None
    ) -> BonusTerms:
        """Not used: each candidate has its own bonus."""
        raise InputError("a balanced bonus is that of the candidate whose turn it is")


@dataclass(frozen=True, kw_only=True)
class BalancedProvable(Balanced):
    """Dynamic regret balancing over provable modes, one of which has true constants.

    The defaults of ``width`` and ``floor`` are those of the proof: ``floor`` is √(2H·log(2J/δ)), set by `balanced`.
    """

    name: ClassVar[str] = "balanced"
    provable: ClassVar[bool] = True
    default_lam: ClassVar[float] = 1.0

    def caveat(self) -> str | None:
        """It is unknown which candidate is right, so no single plan is proven."""
        return "none: balancing bounds regret, not values; which candidate has true constants is not known"
