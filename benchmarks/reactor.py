"""Runaways and returns on the reactor: with a limit and a fallback, with nothing, random play and the fallback alone.

python benchmarks/reactor.py --seeds 10 --episodes 60 -o benchmarks/results/reactor.json
python benchmarks/reactor.py --picture    # docs/images/reactor.png of that file
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from pathlib import Path
from typing import Any

import numpy as np

import cmerl
from cmerl.envs import PIController, Reactor
from cmerl.experiments.statistics import bootstrap_interval

ROOT = Path(__file__).parent.parent
RESULTS, PICTURE = ROOT / "benchmarks" / "results" / "reactor.json", ROOT / "docs" / "images" / "reactor.png"
LIMIT = 375.0
LATE = 20


class Watched(Reactor):
    """A reactor that takes down the highest temperature of every episode."""

    def __init__(self) -> None:
        super().__init__()
        self.peaks: list[float] = []

    def reset(self, **options: Any) -> Any:
        """A new episode."""
        self.peaks.append(-np.inf)
        return super().reset(**options)

    def step(self, action: Any) -> Any:
        """A step, whose temperature counts."""
        found = super().step(action)
        self.peaks[-1] = max(self.peaks[-1], float(found[0][1]))
        return found


def learned(seed: int, episodes: int, **options: Any) -> dict[str, Any]:
    """One run of the agent."""
    env = Watched()
    agent = cmerl.CMERL(env, seed=seed, **options).learn(episodes)
    by: dict[str, int] = {}
    for intervention in agent.interventions:
        by[intervention.by] = by.get(intervention.by, 0) + 1
    lengths = [record.length for record in agent.history]
    return outcome(env, [record.ret for record in agent.history], lengths) | {"interventions": by}


def played(seed: int, episodes: int, kind: str) -> dict[str, Any]:
    """The same for a policy that does not learn, on the same first states."""
    env, agent = Watched(), cmerl.agents.RandomAgent(Reactor(), seed=seed)
    returns, lengths = [], []
    for episode in range(episodes):
        obs, _ = env.reset(seed=agent.reset_seed(episode))
        rng, controller = np.random.default_rng((seed, episode)), PIController()
        total = 0.0
        for step in range(env.horizon):
            action = controller(obs, step) if kind == "pi" else rng.uniform(280.0, 320.0, 1)
            obs, reward, terminated, _, _ = env.step(action)
            total += reward
            if terminated:
                break
        returns.append(total)
        lengths.append(step + 1)
    return outcome(env, returns, lengths)


def outcome(env: Watched, returns: list[float], lengths: list[int]) -> dict[str, Any]:
    """What is reported of a run."""
    peaks = np.array(env.peaks)
    return {
        "runaways": int((peaks > 400.0).sum()),
        "over_limit": int((peaks > LIMIT).sum()),
        "peak": float(peaks.max()),
        "late": float(np.mean(returns[-LATE:])),
        "returns": [round(x, 3) for x in returns],
        "lengths": lengths,
    }


def picture(runs: dict[str, list[dict[str, Any]]]) -> None:
    """The mean and the range of returns by episode."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7.7, 4.0), layout="constrained")
    labels = {
        "limit and fallback": "limit and fallback",
        "nothing given": "nothing given",
        "pi": "PI controller alone",
    }
    for name, label in labels.items():
        returns = np.array([run["returns"] for run in runs[name]])
        episodes = np.arange(1, returns.shape[1] + 1)
        (line,) = axes.plot(episodes, returns.mean(axis=0), label=label)
        axes.fill_between(
            episodes, returns.min(axis=0), returns.max(axis=0), alpha=0.12, color=line.get_color(), lw=0
        )
    axes.set(xlabel="episode", ylabel="product per episode")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(PICTURE, dpi=100)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--episodes", type=int, default=60)
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--picture", action="store_true", help="run nothing, and draw what the results hold")
    args = parser.parse_args()
    if args.picture:
        picture(json.loads(RESULTS.read_text())["runs"])
        return
    logging.disable(logging.WARNING)
    cautious = {"limits": {"temperature": (None, LIMIT)}, "fallback": PIController()}
    runs: dict[str, list[dict[str, Any]]] = {"limit and fallback": [], "nothing given": [], "random": [], "pi": []}
    for seed in range(args.seeds):
        began = time.perf_counter()
        runs["limit and fallback"].append(learned(seed, args.episodes, **cautious))
        runs["nothing given"].append(learned(seed, args.episodes))
        for kind in ("random", "pi"):
            runs[kind].append(played(seed, args.episodes, kind))
        said = {name: (found[-1]["runaways"], round(found[-1]["late"], 2)) for name, found in runs.items()}
        print(f"seed {seed} ({time.perf_counter() - began:.0f} s): {said}", flush=True)
        if args.out is not None:
            about = {"limit": LIMIT, "episodes": args.episodes, "late": LATE}
            args.out.write_text(json.dumps({**about, "runs": runs}) + "\n")
    for name, found in runs.items():
        late = [run["late"] for run in found]
        low, high = bootstrap_interval(late, seed=0) if len(late) > 1 else (np.nan, np.nan)
        total = sum(len(run["returns"]) for run in found)
        runaways, over = (sum(run[key] for run in found) for key in ("runaways", "over_limit"))
        print(
            f"{name:20} runaways {runaways:4d} of {total}  above {LIMIT:g} K {over:4d}  "
            f"peak {max(run['peak'] for run in found):.1f} K  "
            f"return of the last {LATE}: {np.mean(late):.2f} [{low:.2f}, {high:.2f}]"
        )


if __name__ == "__main__":
    main()
