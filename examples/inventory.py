"""Inventory with a lead time: learn when and how much to order, from scratch or from a log of somebody's orders.

python examples/inventory.py                        60 episodes, a few seconds
python examples/inventory.py --episodes 5 --out figures
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import cmerl
from cmerl import oracles
from cmerl.confidence import Practical
from cmerl.envs import LeadTimeInventory


def excess(env: LeadTimeInventory, policy: object) -> float:
    """The cost of a policy above the optimal one."""
    best = env.start @ oracles.solve(env, env.horizon).V[0]
    return float(env.start @ oracles.evaluate(env, policy, env.horizon).V[0] / best - 1.0)


def orders(env: LeadTimeInventory, table: np.ndarray) -> np.ndarray:
    """What a policy (H, S) orders at the first step, over stock (rows) and units under way (columns)."""
    grid = np.full((env.highest - env.lowest + 1, env.max_order + 1), np.nan)
    grid[env.levels - env.lowest, env.pipelines[:, 0]] = table[0]
    return grid


def main(arguments: list[str] | None = None) -> float:
    """Learn, compare with the optimum, and draw both policies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("figures"))
    given = parser.parse_args(arguments)
    logging.getLogger("cmerl").setLevel(logging.ERROR)

    env = LeadTimeInventory()  # orders arrive two periods later; a unit in store costs 1 a period, a unit owed 4
    # Half of the kernel does not look at the order: the bonus keeps trying orders that only seem known.
    bonus = Practical(sigma_scale=0.03)
    options = {"kernel": env.kernel(), "lam": 0.3, "reward_range": env.reward_range, "bonus": bonus}
    agent = cmerl.CMERL(env, seed=given.seed, **options)
    seen: set[tuple[int, ...]] = set()
    agent.learn(
        given.episodes, callback=lambda agent, record: seen.update(map(tuple, agent.lesson()["observations"]))
    )
    learned = agent.policy(explore=False)
    found = excess(env, learned)
    print(f"after {given.episodes} episodes the policy costs {found:.1%} more than the optimal one")
    print(agent.explain(env.reset(seed=1)[0]))

    given.out.mkdir(parents=True, exist_ok=True)
    best = np.argmax(oracles.solve(env, env.horizon).Q, axis=2)
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    panels[0].plot(np.cumsum([r.regret for r in agent.history]))
    panels[0].set(xlabel="episode", ylabel="cumulative regret")
    visited = np.array([tuple(observation) in seen for observation in env.observations])
    played = np.where(visited, learned.table(env.observations), np.nan)
    colours = plt.get_cmap("viridis", env.max_order + 1).with_extremes(bad="#d8d8d8")
    for axes, table, title in (
        (panels[1], played, "order, learned (grey: not visited)"),
        (panels[2], best, "order, optimal"),
    ):
        shown = axes.imshow(
            orders(env, table), origin="lower", aspect="auto", cmap=colours, vmin=-0.5, vmax=env.max_order + 0.5,
            extent=(-0.5, env.max_order + 0.5, env.lowest - 0.5, env.highest + 0.5),
        )  # fmt: skip
        axes.set(xlabel="units under way", ylabel="stock", title=title)
    figure.colorbar(shown, ax=panels[2], ticks=range(env.max_order + 1))
    figure.savefig(given.out / "inventory.png", dpi=130)
    plt.close(figure)
    return found


if __name__ == "__main__":
    main()
