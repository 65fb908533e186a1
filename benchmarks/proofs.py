"""What proofs cost and give on finite worlds: regret, certified regret and time of the shipped agent.

    python benchmarks/proofs.py riverswim kl guarded practical          # known reward, 1000 episodes, 8 seeds
    python benchmarks/proofs.py riverswim kl --learned
    python benchmarks/proofs.py grid guarded:kappa=5 guarded:kappa=5,prior_scale=0.01 --seeds 4

A mode is its name, with options after a colon. A line gives mean and worst regret, the certified regret, in how many
runs the certificate was ever below what was lost, how many episodes the KL plan played, and milliseconds an episode.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import numpy as np

import cmerl
from cmerl.confidence import MODES
from cmerl.envs import Chain, DeepSea, FiniteMDP, GridWorld, RiverSwim, random_mdp
from cmerl.oracles import solve


def world(name: str) -> tuple[gymnasium.Env[Any, Any], dict[str, Any]]:
    """A world, and what must be said of it: horizon and range of rewards."""
    if name.startswith("random"):  # random:S,A,H,seed
        S, A, H, seed = (int(x) for x in (name.partition(":")[2] or "6,3,10,3").split(","))
        return random_mdp(S, A, seed=seed, concentration=0.3, horizon=H), {}
    named: dict[str, FiniteMDP] = {"riverswim": RiverSwim(6, 20), "grid": GridWorld(), "chain": Chain()}
    if name in named:
        return named[name], {}
    if name == "deepsea":
        return DeepSea(8), {}
    if name == "frozenlake":
        return gymnasium.make("FrozenLake-v1", max_episode_steps=40), {"reward_range": (0, 1)}
    if name == "cliffwalking":
        return gymnasium.make("CliffWalking-v1", max_episode_steps=40), {"reward_range": (-100, 0)}
    raise SystemExit(f"there is no world {name!r}")


def mode(text: str) -> Any:
    """A mode from its name and options."""
    name, _, options = text.partition(":")
    given = dict(option.split("=") for option in options.split(",") if option)
    return MODES[name](**{key: float(value) for key, value in given.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world")
    parser.add_argument("modes", nargs="+")
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--learned", action="store_true", help="learn the reward instead of being given it")
    parser.add_argument("--delta", type=float, default=0.1)
    args = parser.parse_args()
    env, options = world(args.world)
    model = cmerl.oracles.known_model(env)
    horizon = cmerl.CMERL(env, **options).horizon
    best = solve(env, horizon).V[0] @ model.start
    T = args.episodes
    print(f"{args.world}: V* = {best:.4g}, V*·T = {best * T:.5g}, {args.seeds} seeds, {T} episodes", flush=True)
    for text in args.modes:
        given = dict(options)
        if not args.learned:
            given["reward"] = lambda s, a: model.R[s, a]
        regrets, proven, loss, below, kl, seconds = [], [], [], 0, [], 0.0
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            agent = cmerl.CMERL(env, seed=seed, bonus=mode(text), delta=args.delta, **given)
            began = time.perf_counter()
            agent.learn(T)
            seconds += time.perf_counter() - began
            lost = np.cumsum([r.regret for r in agent.history])
            certified = np.array([r.metrics["certified_regret"] for r in agent.history])
            found = agent.certificate()
            regrets.append(lost[-1])
            proven.append(found.regret_bound)
            loss.append(found.policy_loss_bound)
            below += int((certified < lost).any())
            kl.append(sum(r.metrics.get("played") == "kl" for r in agent.history))
        half = 1.96 * np.std(regrets) / np.sqrt(len(regrets))
        print(
            f"  {text:38s} {'learned' if args.learned else 'known':8s} regret {np.mean(regrets):8.1f} ± {half:6.1f} "
            f"worst {max(regrets):8.1f}  certified {np.mean(proven):8.0f} (policy loss {np.mean(loss):6.2f})  "
            f"below measured {below}/{args.seeds}  kl plays {np.mean(kl):5.0f}  "
            f"{1000 * seconds / (T * args.seeds):6.1f} ms/episode",
            flush=True,
        )


if __name__ == "__main__":
    main()
