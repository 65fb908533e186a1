"""Cumulative regret and time per episode of linear, kernel and dynamical agents, as a Markdown table.

    python benchmarks/kernel_agents.py --seeds 10 11 12

Intervals are 95 % Student t intervals of the mean over seeds.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np
from scipy import stats

from cmerl import agents

FINITE = ["lsvi-ucb", "kovi", "kernel-ucbvi", "rs-kernel-ucbvi", "matrix-rl", "kernel-rlsvi", "cme-ps"]
COMPARED: list[tuple[str, int, list[tuple[str, dict[str, Any]]]]] = [
    ("RiverSwim", 300, [*((name, {}) for name in FINITE), ("ucrl-vtr", {})]),
    ("GridWorld", 100, [(name, {}) for name in FINITE]),
    ("LinearMixture", 100, [("lsvi-ucb", {}), ("ucrl-vtr", {}), ("kernel-rlsvi", {})]),
    ("Bilinear", 100, [("lsvi-ucb", {}), ("matrix-rl", {}), ("kernel-rlsvi", {})]),
    ("LinearQuadratic", 12, [("ce-lq", {}), ("ofu-lq", {}), ("lc3", {})]),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11, 12])
    parser.add_argument("--worlds", nargs="*", default=[world for world, _, _ in COMPARED])
    arguments = parser.parse_args()
    print("| world (episodes) | agent | cumulative regret | last tenth, an episode | ms an episode |")
    print("|---|---|---|---|---|")
    for world, episodes, compared in COMPARED:
        for name, options in compared if world in arguments.worlds else []:
            total, late, times = [], [], []
            for seed in arguments.seeds:
                env = gymnasium.make(f"cmerl/{world}-v0")
                history = agents.make(name, env, seed=seed, **options).learn(episodes).history
                total.append(sum(record.regret or 0.0 for record in history))
                late.append(np.mean([record.regret or 0.0 for record in history[-(episodes // 10 + 1) :]]))
                times.append(np.median([record.seconds for record in history]))
            said = name + "".join(f", `{key}` {value:g}" for key, value in options.items())
            half = stats.t.ppf(0.975, len(total) - 1) * np.std(total, ddof=1) / np.sqrt(len(total))
            print(
                f"| {world} ({episodes}) | {said} | {np.mean(total):.3g} ± {half:.2g} | {np.mean(late):.2g} "
                f"| {1e3 * np.mean(times):.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
