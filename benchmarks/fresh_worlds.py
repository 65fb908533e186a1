"""Small plants that are in no suite: what the default agent earns there, with nothing set but the horizon.

    python benchmarks/fresh_worlds.py                        # all worlds, seed 1
    python benchmarks/fresh_worlds.py Fishery --seeds 3      # one of them, seeds 1 to 3
    python benchmarks/fresh_worlds.py Fishery --model direct

A row has the returns of all episodes, and those of random play beside. They were written to look for faults, so they
confirm nothing: docs/evidence/control.md says which rules they have changed.
"""

from __future__ import annotations

import argparse
import logging
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import cmerl
from plants import WORLDS, Plant


def random_play(world: type[Plant], episodes: int = 20) -> float:
    """The mean return of random actions."""
    env, total = world(), 0.0
    env.action_space.seed(0)
    for seed in range(episodes):
        env.reset(seed=seed)
        for _ in range(world.horizon):
            _, reward, ended, *_ = env.step(env.action_space.sample())
            total += reward
            if ended:
                break
    return total / episodes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="*", help="names; all by default")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--model", default="auto", choices=("auto", "direct", "displacement"))
    options = parser.parse_args()
    logging.getLogger("cmerl").setLevel(logging.ERROR)
    for world in (w for w in WORLDS if not options.worlds or w.__name__ in options.worlds):
        print(f"{world.__name__}: random play {random_play(world):.1f}", flush=True)
        for seed in range(1, options.seeds + 1):
            started = time.process_time()
            agent = cmerl.CMERL(world(), horizon=world.horizon, seed=seed, model=options.model).learn(world.episodes)
            seconds = (time.process_time() - started) / world.episodes
            returns = " ".join(f"{record.ret:.1f}" for record in agent.history)
            print(
                f"  seed {seed}, {agent.diagnostics()['backend']}, {seconds:.2f} s an episode: {returns}", flush=True
            )


if __name__ == "__main__":
    main()
