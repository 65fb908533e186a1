"""Tuning: options of an agent, searched on some seeds and compared with the default on others."""

from cmerl.experiments.tuning.search import RESULT, Tuned, tune
from cmerl.experiments.tuning.spec import Range, TuneSpec, load

__all__ = ["RESULT", "Range", "TuneSpec", "Tuned", "load", "tune"]
