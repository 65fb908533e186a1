"""Play some seeds of a suite again, and say which kept regrets the present code does not reproduce.

    python benchmarks/replay.py comparison --seeds 1 --without GridWorld-5x5 CliffWalking
    python benchmarks/replay.py tabular --agents cme-rl psrl --seeds 2

Names are those of files in benchmarks/results; a row is reproduced if its first seeds agree to nine digits.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from cmerl.experiments import run
from cmerl.experiments.spec import parse, read
from suite_table import regrets

ROOT = Path(__file__).parent.parent
SUITES = {"comparison": ["comparison", "cliffwalking"]}  # the others are named after their file


def main() -> None:
    """Play and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--agents", nargs="+", help="names of agents; by default all")
    parser.add_argument("--without", nargs="+", default=[], help="labels of environments to leave out")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    for name in given.names:
        kept, same = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text()), 0
        for suite in SUITES.get(name, [name]):
            spec = parse(read(ROOT / "suites" / f"{suite}.toml"))
            players = tuple(a for a in spec.agents if given.agents is None or a.name in given.agents)
            worlds = tuple(env for env in spec.environments if env.label not in given.without)
            if not players or not worlds:
                continue
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "run"
                run(spec.model_copy(update={"agents": players, "environments": worlds}), seeds=given.seeds, out=out)
                found = regrets(out)
            for agent, row in found.items():
                for world, lost in row.items():
                    before = kept[agent][world][: given.seeds]
                    if np.allclose(lost, before, rtol=1e-9):
                        same += 1
                    else:
                        print(f"{name}: {agent} in {world}: {np.round(lost, 2)}, kept {np.round(before, 2)}")
        print(f"{name}: {same} rows the same", flush=True)


if __name__ == "__main__":
    main()
