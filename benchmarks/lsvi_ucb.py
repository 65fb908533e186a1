"""LSVI-UCB against the triple loop in Python that its pseudocode suggests, on the same data.

    python benchmarks/lsvi_ucb.py

prints both times per plan and their ratio for several amounts of data, in seconds of CPU time, so that the load of
the machine matters little. A whole episode is planning, acting, the environment and learning; the oracle that
computes regret and the certificate are left out, as the loop has none.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

import cmerl
from cmerl.agents.baselines.lsvi_ucb import LSVIUCB


def triple_loop(agent: LSVIUCB, table: np.ndarray) -> np.ndarray:
    """Q (H, S, A): over steps, transitions and actions, with features table (S, A, d); all steps share their data."""
    H, (S, A, d) = agent.horizon, table.shape
    data = [
        (int(s), int(a), float(r), int(t))
        for e in agent._log
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, nargs="+", default=[25, 50, 100])
    arguments = parser.parse_args()
    env = cmerl.envs.RiverSwim()
    table = np.eye(12).reshape(6, 2, 12)
    print("features   episodes  loop s/plan  agent s/plan  ratio  agent s/episode  ratio  largest difference")
    for kind, features in (("dense", lambda s, a: table[s, a]), ("one-hot", "one-hot")):
        for episodes in arguments.episodes:
            agent = LSVIUCB(env, features=features, seed=0).learn(episodes)
            started = time.process_time()
            looped = triple_loop(agent, table)
            slow = time.process_time() - started
            states, fast = np.arange(6.0)[:, None], []
            for _ in range(5):
                started = time.process_time()
                policy = agent._make_policy(explore=True)
                fast.append(time.process_time() - started)
                agent._regressions[0]._factor = None  # so that a plan pays for its factor too
            planned = np.array([policy.q(states, h) for h in range(20)])
            off = np.abs(planned - looped).max()
            once = float(np.median(fast))
            agent._books, agent._regret = "not asked for", lambda policies, seen: (None, None)
            ticks = [time.process_time()]
            agent.learn(20, callback=lambda agent, record, ticks=ticks: ticks.append(time.process_time()))
            whole = float(np.median(np.diff(ticks)))
            ratios = f"{once:12.5f}  {slow / once:5.0f}  {whole:15.5f}  {slow / whole:5.0f}"
            print(f"{kind:9}  {episodes:8}  {slow:11.4f}  {ratios}  {off:.1e}")


if __name__ == "__main__":
    main()
