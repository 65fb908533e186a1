"""What the plan without exploration earns beside the one that explores, after the same episodes.

    python benchmarks/without_exploring.py --seeds 3

Values of plans are exact in finite MDPs, and means of 20 fresh episodes in PBall2D, where the model is a direct
embedding. "least" is the plan that gives what is unknown the smallest reward.
"""

from __future__ import annotations

import argparse
import logging
import os
import warnings
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gymnasium
import numpy as np

import cmerl
from cmerl import oracles
from cmerl.envs import LeadTimeInventory

WORLDS: dict[str, tuple[Any, tuple[int, ...], dict[str, Any]]] = {
    "RiverSwim-6": (lambda: gymnasium.make("cmerl/RiverSwim-v0"), (5, 20, 60), {}),
    "GridWorld-5x5": (lambda: gymnasium.make("cmerl/GridWorld-v0"), (30, 100, 250), {}),
    "FrozenLake": (lambda: gymnasium.make("FrozenLake-v1"), (30, 100, 300), {}),
    "CliffWalking": (lambda: gymnasium.make("CliffWalking-v1"), (10, 30, 100), {"horizon": 100}),
    "inventory": (
        LeadTimeInventory,
        (20, 40, 60),
        {"kernel": LeadTimeInventory.kernel(), "lam": 0.3, "reward_range": LeadTimeInventory().reward_range},
    ),
    "PBall2D": (lambda: gymnasium.make("cmerl/PBall2D-v0"), (10, 40), {"model": "direct"}),
}


def value(env: Any, agent: cmerl.CMERL, policy: Any) -> float:
    """What a policy earns."""
    world = env.unwrapped
    if not (hasattr(world, "start") or hasattr(world, "initial_state_distrib")):
        return agent_plays(env, agent, policy)
    start = world.start if hasattr(world, "start") else world.initial_state_distrib
    return float(np.asarray(start) @ oracles.evaluate(env, policy, agent.horizon).V[0])


def agent_plays(env: Any, agent: cmerl.CMERL, policy: Any, episodes: int = 20) -> float:
    """The mean return of fresh episodes."""
    total = 0.0
    for seed in range(episodes):
        obs, _ = env.reset(seed=10**6 + seed)
        act = policy.begin_episode()
        for step in range(agent.horizon):
            obs, reward, ended, *_ = env.step(act(obs, step))
            total += float(reward)
            if ended:
                break
    return total / episodes


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="*", default=list(WORLDS), help=f"of {', '.join(WORLDS)}")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    logging.getLogger("cmerl").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    print("| world | episodes | exploring | without | least | without − exploring, least of the seeds |")
    print("|---|---|---|---|---|---|")
    for name in given.worlds:
        make, counts, options = WORLDS[name]
        found: dict[int, list[list[float]]] = {count: [] for count in counts}
        for seed in range(given.first, given.first + given.seeds):
            agent = cmerl.CMERL(make(), seed=seed, **options)
            for count in counts:
                agent.learn(count - len(agent.history))
                cautious = agent._act_on(agent.planner.plan(explore=False, unseen="least"), explore=False)
                plans = agent.policy(), agent.policy(explore=False), cautious
                found[count].append([value(make(), agent, plan) for plan in plans])
        for count, rows in found.items():
            table = np.array(rows)
            means, worst = table.mean(axis=0), float((table[:, 1] - table[:, 0]).min())
            print(f"| {name} | {count} | " + " | ".join(f"{x:.2f}" for x in means) + f" | {worst:+.2f} |", flush=True)


if __name__ == "__main__":
    main()
