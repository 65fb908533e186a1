"""Confidence: radii, bonus modes and confidence sets."""

from cmerl.confidence.balanced import Balanced, BalancedProvable, Candidate, scales
from cmerl.confidence.counting import KL, Guarded
from cmerl.confidence.estimates import Interval, operator_norm
from cmerl.confidence.modes import Greedy, Mode, Practical, Sigma, Unseen
from cmerl.confidence.norms import NearNorms, NormCalculator, constant_norm
from cmerl.confidence.problem import FailureBudget, Problem
from cmerl.confidence.provable import Misspecified, NonNegative, Paper, Split, Tight
from cmerl.confidence.radii import (
    mixture_radius,
    noise_radius,
    paper_radius,
    reward_radius,
    scalar_radius,
    second_moment_radius,
    tight_radius,
)
from cmerl.confidence.registry import MODES, as_mode, mode_from_spec, mode_spec
from cmerl.confidence.sets import ConfidenceSet, Estimate, FiniteDomain
from cmerl.confidence.terms import BonusTerms, ValueNorms

__all__ = [
    "KL",
    "MODES",
    "Balanced",
    "BalancedProvable",
    "BonusTerms",
    "Candidate",
    "ConfidenceSet",
    "Estimate",
    "FailureBudget",
    "FiniteDomain",
    "Greedy",
    "Guarded",
    "Interval",
    "Misspecified",
    "Mode",
    "NearNorms",
    "NonNegative",
    "NormCalculator",
    "Paper",
    "Practical",
    "Problem",
    "Sigma",
    "Split",
    "Tight",
    "Unseen",
    "ValueNorms",
    "as_mode",
    "constant_norm",
    "mixture_radius",
    "mode_from_spec",
    "mode_spec",
    "noise_radius",
    "operator_norm",
    "paper_radius",
    "reward_radius",
    "scalar_radius",
    "scales",
    "second_moment_radius",
    "tight_radius",
]
