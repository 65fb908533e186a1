"""Pessimistic policies from logs of a random policy, and bounds on the values of policies, against exact ones.

    python benchmarks/offline.py --sets 40 --episodes 300 1000 3000

Each line is one size of the logs: data sets refused, policies worse than the logging policy, lower bounds that
failed, and how often the interval of a random deterministic policy and of the logging policy covered their values.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import cmerl
from cmerl.agents import RandomAgent
from cmerl.envs import Chain, RiverSwim, random_mdp
from cmerl.errors import InputError
from cmerl.oracles import evaluate

WORLDS = {
    "random 4×2, H = 5": lambda i: random_mdp(4, 2, seed=700 + i, horizon=5),
    "random 6×3, H = 8": lambda i: random_mdp(6, 3, seed=800 + i, horizon=8),
    "Chain": lambda i: Chain(),
    "RiverSwim-4, H = 10": lambda i: RiverSwim(4, 10),
}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--episodes", type=int, nargs="+", default=[300, 1000, 3000])
    args = parser.parse_args()
    for episodes in args.episodes:
        refused = worse = failed = covered = 0
        gains, widths = [], []
        for i in range(args.sets):
            env = list(WORLDS.values())[i % len(WORLDS)](i)
            H = env.horizon
            agent = RandomAgent(env, seed=i, reward_range=(0.0, 1.0)).learn(episodes)
            weights = agent.ledger.starts / agent.ledger.starts.sum()  # type: ignore[union-attr]

            def worth(policy, env=env, H=H, weights=weights):  # type: ignore[no-untyped-def]
                return float(weights @ evaluate(env, policy, H).V[0])

            S, A = env.R.shape
            uniform = np.full((H, S, A), 1.0 / A)
            logging, table = worth(uniform), np.random.default_rng(i).integers(A, size=(H, S))
            for policy, exact in ((agent.policy(), logging), (table, worth(table))):
                found = cmerl.evaluate(policy, agent)
                covered += found.lower - 1e-9 <= exact <= found.upper + 1e-9
                widths.append((found.upper - found.lower) / H)
            try:
                policy = agent.pessimistic_policy()
            except InputError:
                refused += 1
                continue
            true = worth(policy.table(np.arange(S)))
            worse += true < logging - 1e-9
            failed += policy.lower > true + 1e-9
            gains.append(true - logging)
        print(
            f"{episodes:6d} episodes: refused {refused} of {args.sets}, worse than the logging policy {worse}, "
            f"lower bounds that failed {failed}, mean gain {np.mean(gains) if gains else np.nan:.3f} "
            f"(least {min(gains, default=np.nan):.3f}); evaluate covered {covered} of {2 * args.sets}, "
            f"mean width {np.mean(widths):.2f} of the largest return",
            flush=True,
        )


if __name__ == "__main__":
    main()
