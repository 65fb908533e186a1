"""Ask rliable and confseq for the statistics that cmerl computes itself, and keep their answers for the tests.

    python tools/reference_statistics.py      # writes tests/fixtures/statistics.json

Neither can be a dependency of the tests: rliable 1.2.0 does not import with pandas 3, nor confseq 0.0.11 with
NumPy 2, and its C++ part needs Boost. So they answer in an environment of their own, confseq with its Python part.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np

ANSWERS = Path(__file__).parents[1] / "tests" / "fixtures" / "statistics.json"
RLIABLE = ["rliable==1.2.0", "pandas<3", "numpy<2", "multiprocess"]  # the last two for confseq
CONFSEQ = "confseq==0.0.11"
RESAMPLES = 4000
BREAKS = 2000  # of confseq's grid of means


def main() -> None:
    """Make the environment, ask in it, write the answers."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        python = place / "venv" / "bin" / "python"
        pip = [python, "-m", "pip", "--quiet"]
        subprocess.run([*pip, "install", *RLIABLE], check=True)
        subprocess.run([*pip, "download", "--no-deps", "--no-binary=confseq", "-d", place, CONFSEQ], check=True)
        (archive,) = place.glob("confseq-*.tar.gz")
        with tarfile.open(archive) as content:
            content.extractall(place, filter="data")
        (source,) = place.glob("confseq-*/src")
        answers = subprocess.check_output([python, __file__, "--answer", source])
    ANSWERS.write_bytes(answers)


def answer() -> dict[str, Any]:
    """What both libraries say of made-up scores; in the environment made for them."""
    from importlib.metadata import version

    rng = np.random.default_rng(0)
    a = rng.gamma(3.0, size=(12, 5)).round(3)  # runs × environments, as rliable has them
    b = rng.gamma(2.5, size=(12, 5)).round(1)  # with ties
    differences = np.clip(rng.normal(0.3, 0.4, size=60), -1, 1).round(3)
    return {
        "versions": {name: version(name) for name in ("rliable", "arch", "numpy", "scipy")} | {"confseq": "0.0.11"},
        "resamples": RESAMPLES,
        "a": a.tolist(),
        "b": b.tolist(),
        **_rliable(a, b),
        "differences": differences.tolist(),
        "bounds": [-1.0, 1.0],
        "fractions": FRACTIONS.tolist(),
        "breaks": BREAKS,
        **_confseq((differences + 1) / 2),
    }


def _rliable(a: Any, b: Any) -> dict[str, Any]:
    from rliable import library, metrics

    def interval(scores: Any, metric: Any) -> list[float]:
        _, found = library.get_interval_estimates({"x": scores}, lambda *x: np.array([metric(*x)]), reps=RESAMPLES)
        return [float(end) for end in found["x"][:, 0]]

    return {
        "iqm": {"value": metrics.aggregate_iqm(a), "interval": interval(a, metrics.aggregate_iqm)},
        "improvement": {
            "value": metrics.probability_of_improvement(a, b),
            "interval": interval((a, b), metrics.probability_of_improvement),
        },
    }


FRACTIONS = np.geomspace(0.01, 0.99, 7)  # of the largest stake that cannot lose all


def _confseq(x: Any) -> dict[str, Any]:
    """Money and interval after every observation of x in [0, 1], if bets are fractions of the largest safe stake."""
    from confseq.betting import cs_from_martingale, diversified_betting_mart

    def stake(fraction: float, against: Any) -> Any:
        return lambda x, m: np.full(len(x), fraction / max(against(m), 1e-12))

    up = [stake(f, lambda m: m) for f in FRACTIONS]
    down = [stake(f, lambda m: 1 - m) for f in FRACTIONS]

    def money(x: Any, m: float) -> Any:
        return diversified_betting_mart(x, m, up, down, trunc_scale=1)

    low, high = cs_from_martingale(x, money, breaks=BREAKS)
    tried = [0.3, 0.5, 0.65, 0.9]
    return {
        "means": [2 * m - 1 for m in tried],
        "money": [money(x, m).tolist() for m in tried],
        "low": (2 * low - 1).tolist(),
        "high": (2 * high - 1).tolist(),
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--answer"]:
        sys.path.insert(0, sys.argv[2])
        print(json.dumps(answer()).replace("], ", "],\n"))
    else:
        main()
