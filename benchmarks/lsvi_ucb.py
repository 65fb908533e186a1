"""LSVI-UCB beside itself planning by the triple loop in Python that its pseudocode suggests, in one run.

    python benchmarks/lsvi_ucb.py

Both play the same episodes of RiverSwim-6. The loop replaces the plan of an episode. The whole of an episode is that,
acting, the environment and learning, without the oracle that computes regret: 20 steps that both play alike. Seconds
are of the processor, so that the load of the machine matters little.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import numpy as np

import cmerl
from agents_cost import processor_time
from cmerl.agents.baselines.lsvi_ucb import LSVIUCB

TABLE = np.eye(12).reshape(6, 2, 12)  # features (S, A, d)
AROUND = 5  # episodes before and after one whose median counts


def triple_loop(agent: LSVIUCB, table: np.ndarray) -> np.ndarray:
    """Q (H, S, A): over steps, transitions and actions, with features table (S, A, d); all steps share their data."""
    H, (S, A, d) = agent.horizon, table.shape
    data = [
        (int(s), int(a), float(r), int(t))
        for e in agent.log
        for s, a, r, t in zip(e.states[:, 0], e.actions[:, 0], e.rewards, e.next_states[:, 0], strict=True)
    ]
    precision = agent.lam * np.eye(d)
    for s, a, _, _ in data:
        precision += np.outer(table[s, a], table[s, a])
    inverse = np.linalg.inv(precision)
    Q, w = np.zeros((H, S, A)), np.zeros(d)
    for h in reversed(range(H)):
        total = np.zeros(d)
        for s, a, r, t in data:
            best = 0.0
            if h + 1 < H:
                beta = agent.width * (H - h - 1)
                for b in range(A):
                    phi = table[t, b]
                    best = max(best, min(phi @ w + beta * math.sqrt(phi @ inverse @ phi), H - h - 1))
            total += table[s, a] * (r + best)
        w = inverse @ total
        for s in range(S):
            for a in range(A):
                phi = table[s, a]
                q = phi @ w + agent.width * (H - h) * math.sqrt(phi @ inverse @ phi)
                Q[h, s, a] = min(max(q, 0.0), H - h)
    return Q


class Timed(LSVIUCB):
    """The agent, which takes down the seconds of its plans."""

    plans: list[float]

    def _make_policy(self, explore: bool) -> Any:
        started = time.process_time()
        policy = self._planned(explore)
        self.__dict__.setdefault("plans", []).append(time.process_time() - started)
        return policy

    def _planned(self, explore: bool) -> Any:
        return super()._make_policy(explore)


class TripleLoop(Timed):
    """The same, planning by that loop."""

    def _planned(self, explore: bool) -> Any:
        Q = triple_loop(self, TABLE)
        return self._step_policy(lambda states, step: Q[step, states[:, 0].astype(int)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, nargs="+", default=[25, 50, 100])
    counts = parser.parse_args().episodes
    players = {
        "loop": TripleLoop(cmerl.envs.RiverSwim(), seed=0),
        "dense": Timed(cmerl.envs.RiverSwim(), features=lambda s, a: TABLE[s, a], seed=0),
        "one-hot": Timed(cmerl.envs.RiverSwim(), seed=0),
    }
    with processor_time():
        for _ in range(max(counts) + AROUND):  # in turns, so that the load of the machine is the same for all
            for agent in players.values():
                agent.learn(1)
    assert len({tuple(agent.history.returns()) for agent in players.values()}) == 1, "they have played other episodes"
    whole = {name: 1e3 * np.array([record.seconds for record in agent.history]) for name, agent in players.items()}
    plans = {name: 1e3 * np.array(agent.plans[: max(counts) + AROUND]) for name, agent in players.items()}
    head = ("features", "episode", *("plan: loop (ms)", "agent (ms)", "ratio"))
    print("|", " | ".join((*head, *("whole episode: loop (ms)", "agent (ms)", "ratio"))), "|")
    print("|---|---|---|---|---|---|---|---|")
    for features in ("dense", "one-hot"):
        for n in counts:
            cells = ""
            for spent in (plans, whole):
                slow, fast = (float(np.median(spent[name][n - AROUND : n + AROUND])) for name in ("loop", features))
                cells += f" {slow:.0f} | {fast:.2f} | {slow / fast:.0f} |"
            print(f"| {features} | {n} |{cells}")
    for features in ("dense", "one-hot"):
        n = max(counts)
        ratios = [spent["loop"][:n].sum() / spent[features][:n].sum() for spent in (plans, whole)]
        ahead = plans["loop"][1:] / plans[features][1:]
        since = 2 + int(np.flatnonzero(ahead < 40.0).max(initial=-1) + 1)
        print(
            f"{features}: {n} episodes together, plans {ratios[0]:.0f} and all {ratios[1]:.0f} times as fast; "
            f"every plan from episode {since} on at least 40 times"
        )


if __name__ == "__main__":
    main()
