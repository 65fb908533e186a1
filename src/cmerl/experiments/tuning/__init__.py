"""Tuning: options of an agent, searched on some seeds and compared with the default on others."""

from cmerl.experiments.tuning.search import Tuned, tune
from cmerl.experiments.tuning.spec import Range, TuneSpec, load

__all__ = ["Range", "TuneSpec", "Tuned", "load", "tune"]
