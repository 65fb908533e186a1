"""A battery against a price series: learn to trade, cold or with a log of somebody's trades.

python examples/battery.py                          40 episodes, with and without 200 logged hours
python examples/battery.py --episodes 3 --out figures
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import cmerl
from cmerl import oracles
from cmerl.envs import Battery


def random_days(env: Battery, hours: int, seed: int) -> list[dict[str, Any]]:
    """A log of somebody who trades at random."""
    rng, log = np.random.default_rng(seed), []
    while hours > 0:
        obs, _ = env.reset(seed=int(rng.integers(2**31)))
        day: dict[str, Any] = {"observations": [obs], "actions": [], "rewards": []}
        for _ in range(min(hours, env.horizon)):
            action = int(rng.integers(env.action_space.n))
            obs, reward, *_ = env.step(action)
            day["observations"].append(obs)
            day["actions"].append(action)
            day["rewards"].append(reward)
        hours -= len(day["actions"])
        log.append(day)
    return log


def day(env: Battery, policy: Any, seed: int) -> tuple[list[float], list[float]]:
    """Charge and price of one day."""
    obs, _ = env.reset(seed=seed)
    charges, prices = [], []
    for hour in range(env.horizon):
        charges.append(float(obs[0]))
        prices.append(float(obs[1]))
        obs, *_ = env.step(policy(obs, hour))
    return charges, prices


def main(arguments: list[str] | None = None) -> tuple[float, float]:
    """Learn twice, compare the regrets, and draw a day."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--logged", type=int, default=200, help="hours")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("figures"))
    given = parser.parse_args(arguments)
    logging.getLogger("cmerl").setLevel(logging.ERROR)

    env = Battery()
    options = {"seed": given.seed, "kernel": env.kernel(), "lam": 0.03, "reward_range": env.reward_range}
    cold = cmerl.CMERL(env, **options).learn(given.episodes)
    warm = cmerl.CMERL(Battery(), **options).fit(random_days(Battery(), given.logged, 7)).learn(given.episodes)
    best = float(env.start @ oracles.solve(env, env.horizon).V[0])
    for name, agent in (("cold", cold), ("warm", warm)):
        value = float(env.start @ oracles.evaluate(env, agent.policy(), env.horizon).V[0])
        lost = sum(r.regret for r in agent.history)
        print(f"{name}: lost {lost:.0f} in {given.episodes} days, earns {value:.0f} of {best:.0f} a day now")

    given.out.mkdir(parents=True, exist_ok=True)
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for name, agent in (("cold", cold), ("with 200 logged hours", warm)):
        panels[0].plot(np.cumsum([r.regret for r in agent.history]), label=name)
    panels[0].set(xlabel="day", ylabel="cumulative regret")
    panels[0].legend()
    charges, prices = day(env, warm.policy(), 3)
    panels[1].step(range(env.horizon), charges, where="mid", label="charge")
    panels[1].set(xlabel="hour", ylabel="charge")
    other = panels[1].twinx()
    other.plot(prices, color="tab:red", linewidth=1)
    other.set_ylabel("price", color="tab:red")
    figure.savefig(given.out / "battery.png", dpi=130)
    plt.close(figure)
    return tuple(float(sum(r.regret for r in agent.history)) for agent in (cold, warm))


if __name__ == "__main__":
    main()
