"""Statistics over seeds: intervals, aggregates over environments, comparisons and learning speed.

Everything is a pure function of its numbers and a seed.
"""

from cmerl.experiments.statistics.aggregates import interquartile_mean, probability_of_improvement
from cmerl.experiments.statistics.anytime import AnytimeComparison, anytime_comparison, confidence_sequence
from cmerl.experiments.statistics.comparisons import (
    Comparison,
    PairedDifference,
    compare_all,
    holm,
    paired_difference,
)
from cmerl.experiments.statistics.intervals import Estimate, bootstrap_interval, mean_curve, stratified_bootstrap
from cmerl.experiments.statistics.learning import (
    RegretSummary,
    Threshold,
    episodes_to_threshold,
    late_regret,
    regret_exponent,
    summarise_regret,
    thin,
)

__all__ = [
    "AnytimeComparison",
    "Comparison",
    "Estimate",
    "PairedDifference",
    "RegretSummary",
    "Threshold",
    "anytime_comparison",
    "bootstrap_interval",
    "compare_all",
    "confidence_sequence",
    "episodes_to_threshold",
    "holm",
    "interquartile_mean",
    "late_regret",
    "mean_curve",
    "paired_difference",
    "probability_of_improvement",
    "regret_exponent",
    "stratified_bootstrap",
    "summarise_regret",
    "thin",
]
