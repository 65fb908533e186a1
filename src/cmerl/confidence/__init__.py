"""Confidence: radii, bonus modes, and the confidence set as an object."""

from cmerl.confidence.modes import (
    MODES,
    BonusTerms,
    Greedy,
    Mode,
    NonNegative,
    Paper,
    Practical,
    Split,
    Tight,
    ValueNorms,
    as_mode,
)
from cmerl.confidence.problem import FailureBudget, Problem
from cmerl.confidence.radii import noise_radius, paper_radius, reward_radius, tight_radius
from cmerl.confidence.sets import ConfidenceSet, NormCalculator

__all__ = [
    "MODES",
    "BonusTerms",
    "ConfidenceSet",
    "FailureBudget",
    "Greedy",
    "Mode",
    "NonNegative",
    "NormCalculator",
    "Paper",
    "Practical",
    "Problem",
    "Split",
    "Tight",
    "ValueNorms",
    "as_mode",
    "noise_radius",
    "paper_radius",
    "reward_radius",
    "tight_radius",
]
