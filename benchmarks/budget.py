"""Whether ``act`` keeps a budget on CartPoleSwingUp, and what that costs.

    python benchmarks/budget.py --learned 8 --episodes 4

One agent learns without a budget; it then plays the same first states greedily, without a budget and with one.
Printed are the returns, and of the calls of ``act`` how many kept the budget: by the clock, and by the processor's
time, which does not count what others do on the machine. With ``--own`` searches read that time too in place of the
clock, and play as they would on an idle machine.
"""

from __future__ import annotations

import argparse
import logging
import os
import time
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gymnasium
import numpy as np

import cmerl
from cmerl.acting import mpc
from cmerl.experiments.statistics import bootstrap_interval
from cmerl.searching import episode as searches
from cmerl.searching import icem


def played(
    agent: cmerl.CMERL, env: Any, seed: int, budget: float | None, own: bool = False
) -> tuple[float, list[tuple[float, float]]]:
    """The return of an episode, and what each call of ``act`` took: by the clock, and of the processor."""
    policy = agent.policy(explore=False).begin_episode()
    obs, _ = env.reset(seed=seed)
    total, taken = 0.0, []
    for step in range(agent.horizon):
        began = time.perf_counter(), time.process_time()
        action = policy.within(obs, step, None if budget is None else began[own] + budget)
        taken.append((time.perf_counter() - began[0], time.process_time() - began[1]))
        obs, reward, terminated, truncated, _ = env.step(action)
        total += float(reward)
        if terminated or truncated:
            break
    return total, taken


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", default="cmerl/CartPoleSwingUp-v0")
    parser.add_argument("--budget", type=float, default=0.02)
    parser.add_argument("--learned", type=int, default=8)
    parser.add_argument("--episodes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--own", action="store_true", help="searches read the processor's time, not the clock")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    if args.own:
        by_processor = SimpleNamespace(perf_counter=time.process_time)
        icem.time = mpc.time = searches.time = by_processor  # type: ignore[assignment, misc]
    env = gymnasium.make(args.world)
    agent = cmerl.CMERL(env, seed=args.seed).learn(args.learned)
    print(f"learned: {[round(record.ret, 1) for record in agent.history]}", flush=True)
    returns: dict[str, list[float]] = {"no budget": [], "budget": []}
    for episode in range(args.episodes):
        for name, budget in (("no budget", None), ("budget", args.budget)):
            total, taken = played(agent, env, 1000 + episode, budget, args.own)
            returns[name].append(total)
            if budget is None:
                continue
            clock, own = np.array(taken).T
            print(
                f"episode {episode}: {len(taken)} calls within {budget * 1e3:g} ms: {(clock <= budget).mean():.2%} "
                f"by the clock, {(own <= budget).mean():.2%} of the processor's time; "
                f"longest {clock.max() * 1e3:.1f} and {own.max() * 1e3:.1f} ms",
                flush=True,
            )
    apart = np.array(returns["budget"]) - np.array(returns["no budget"])
    low, high = bootstrap_interval(apart, seed=0)
    print(
        f"return without a budget {np.mean(returns['no budget']):.1f}, with one {np.mean(returns['budget']):.1f}, "
        f"difference {apart.mean():.1f} [{low:.1f}, {high:.1f}]"
    )


if __name__ == "__main__":
    main()
