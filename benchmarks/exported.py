"""What exporting costs: returns of exported policies beside those of the agents, on the same first states.

    python benchmarks/exported.py --seeds 3 --episodes 20
    python benchmarks/exported.py --seeds 3 --episodes 20 --distilled

Each line is one trained agent: how it acts, both mean returns, their paired difference with a 95 % interval, what a
decision of the file takes, and what exporting took.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gymnasium
import numpy as np

import cmerl
from cmerl.agents.evaluation.values import play
from cmerl.experiments.statistics import bootstrap_interval

WORLDS = {"Pendulum-v1": (200, 10), "CartPole-v1": (200, 8), "MountainCar-v0": (200, 8)}  # horizon, episodes


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--episodes", type=int, default=20, help="played by each policy")
    parser.add_argument("--distilled", action="store_true", help="export without the search")
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS))
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    for world in args.worlds:
        horizon, learned = WORLDS[world]
        for seed in range(args.first, args.first + args.seeds):
            env = gymnasium.make(world)
            agent = cmerl.CMERL(env, seed=seed, horizon=horizon).learn(learned)
            policy = agent.policy(explore=False)
            with tempfile.TemporaryDirectory() as folder:
                path, began = Path(folder) / "a.policy", time.process_time()
                policy.export(path, search=not args.distilled)
                took, size = time.process_time() - began, path.stat().st_size
                loaded = cmerl.load_policy(path)
            mine, theirs = (play(env, p, horizon, args.episodes, 1000 + seed).returns for p in (policy, loaded))
            low, high = bootstrap_interval(theirs - mine, seed=0)
            obs, _ = env.reset(seed=0)
            began = time.process_time()
            for step in range(horizon):
                loaded(obs, step)
            each = (time.process_time() - began) / horizon
            kind = type(policy.actor).__name__
            marks = getattr(loaded, "weights", np.empty((0, 0))).shape[1]  # none where it searches
            print(
                f"{world:15} seed {seed} {kind:7} agent {mine.mean():8.1f}  exported {theirs.mean():8.1f}  by "
                f"{(theirs - mine).mean():6.1f} [{low:.1f}, {high:.1f}]  {marks} landmarks, {size / 1e6:.2f} MB, "
                f"a decision {each * 1e3:.3f} ms, exported in {took:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
