"""One exact episode (update + plan) against dense references, in the same run.

The references are what one writes first: factorise K + λI, solve for the weights of all queries, back up H times.
They are shown with kernel matrices computed afresh, as such code does, and with the matrices given for free.

    python benchmarks/bench_exact.py [--n 4000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cmerl.confidence import FailureBudget, Practical, Problem
from cmerl.embedding import ExactEmbedding
from cmerl.kernels import RBF, Delta, StateAction
from cmerl.planning import Plan, Task, make_plan
from cmerl.transitions import Transitions

H, A, LAM = 20, 4, 0.1
EPISODES = 15
KERNEL = StateAction(RBF(0.1), Delta())
ACTIONS = np.arange(A, dtype=float)[:, None]


def world(n: int) -> Transitions:
    """Random walks in the unit square, A balanced actions, a smooth reward."""
    rng = np.random.default_rng(0)
    states = rng.random((n, 2))
    actions = rng.permutation(np.arange(n) % A)[:, None].astype(float)
    move = np.array([[0.05, 0], [-0.05, 0], [0, 0.05], [0, -0.05]])[actions[:, 0].astype(int)]
    nexts = np.clip(states + move + 0.01 * rng.standard_normal((n, 2)), 0, 1)
    rewards = np.exp(-np.sum((nexts - 0.7) ** 2, axis=1) / 0.02)
    return Transitions.of(np.hstack([states, actions]), nexts, rewards)


TASK = Task(
    problem=Problem(
        horizon=H,
        width=1.0,
        kernel=KERNEL,
        value_kernel=RBF(0.1),
        tabular=None,
        budget=FailureBudget(0.1, learned_reward=True),
    ),
    mode=Practical(),
    r_min=0.0,
)


def plan(embedding: ExactEmbedding) -> Plan:
    return make_plan([embedding], TASK, episode=1, order=np.arange(A))


def backups(weights: list[np.ndarray], rows: list[np.ndarray], data: Transitions) -> np.ndarray:
    """H backups with explicit weights: weights[a] (queries, rows of a); returns V at the first step (n,)."""
    v = np.zeros(len(data))
    for step in reversed(range(H)):
        cap = float(H - step)
        y = data.rewards + v - cap
        q = np.stack([W @ y[r] for W, r in zip(weights, rows, strict=True)], axis=1) + cap
        v = np.clip(q.max(axis=1), 0.0, cap)
    return v


def dense(data: Transitions, K: np.ndarray, Kq: np.ndarray) -> np.ndarray:
    """cho_factor of the full K + λI, cho_solve on all n·A query columns, H backups."""
    alpha = cho_solve(cho_factor(K + LAM * np.eye(len(K)), lower=True), Kq).T
    everything = np.arange(len(data))
    return backups([alpha[a::A] for a in range(A)], [everything] * A, data)


def per_action(data: Transitions, Ks: list[np.ndarray], Kqs: list[np.ndarray]) -> np.ndarray:
    """The same, refactorised for each action alone."""
    rows = [np.flatnonzero(data.Z[:, -1] == a) for a in range(A)]
    weights = [
        np.ascontiguousarray(cho_solve(cho_factor(K + LAM * np.eye(len(K)), lower=True), Kq).T)
        for K, Kq in zip(Ks, Kqs, strict=True)
    ]
    return backups(weights, rows, data)


def timed(f: Callable[[], object], repeats: int) -> tuple[float, object]:
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = f()
        best = min(best, time.perf_counter() - start)
    return best, result


def ours(data: Transitions, episodes: int) -> tuple[float, np.ndarray]:
    """Mean time of the last episodes' updates and plans; everything before them is in the embedding already."""
    n = len(data)
    embedding = ExactEmbedding(KERNEL, LAM, ACTIONS, track_std=False)
    embedding.update(data[: n - episodes * H])
    plan(embedding)
    times = []
    for start in range(n - episodes * H, n, H):
        begin = time.perf_counter()
        embedding.update(data[start : start + H])
        result = plan(embedding)
        times.append(time.perf_counter() - begin)
    return float(np.mean(times)), result.value(data.next_states, 0)


def compare(n: int, repeats: int) -> None:
    data = world(n)
    states, acts = data.Z[:, :2], data.Z[:, 2]
    rbf = RBF(0.1)
    t_ours, v_ours = ours(data, EPISODES)
    rows = [np.flatnonzero(acts == a) for a in range(A)]
    begin = time.perf_counter()
    Ks = [rbf(states[r], states[r]) for r in rows]
    Kqs = [rbf(states[r], data.next_states) for r in rows]
    t_kernel = time.perf_counter() - begin
    t_action, v_action = timed(lambda: per_action(data, Ks, Kqs), repeats)
    print(f"n = {n}, H = {H}, A = {A}, one BLAS thread")
    print(f"  incremental, this package      {t_ours:8.3f} s   (mean of {EPISODES} episodes in a row)")
    report("refactorised for each action", t_action, t_kernel, t_ours)
    begin = time.perf_counter()
    K = KERNEL(data.Z)
    Kq = KERNEL(data.Z, np.hstack([np.repeat(data.next_states, A, axis=0), np.tile(ACTIONS, (n, 1))]))
    t_kernel = time.perf_counter() - begin
    t_dense, v_dense = timed(lambda: dense(data, K, Kq), 1)
    report("dense, all n·A query columns", t_dense, t_kernel, t_ours)
    error = max(np.abs(v_ours - v_action).max(), np.abs(v_ours - v_dense).max())
    print(f"  largest difference in V        {error:8.1e}")


def report(name: str, algebra: float, kernel: float, reference: float) -> None:
    total = algebra + kernel
    print(
        f"  {name:30s} {total:8.3f} s   ratio {total / reference:6.1f}"
        f"   (kernel matrices given: {algebra:.3f} s, ratio {algebra / reference:.1f})"
    )


def growth() -> None:
    print("\ncost of one episode (update + plan) against n, indicator action kernel")
    for n in (500, 1000, 2000, 4000, 8000):
        seconds, _ = ours(world(n), EPISODES)
        print(f"  n = {n:5d}   {1e3 * seconds:8.1f} ms")


def finite() -> None:
    import gymnasium

    import cmerl

    print("\nfinite MDP (GridWorld-5x5): repeats are collapsed, so the cost does not grow with n")
    agent = cmerl.CMERL(gymnasium.make("cmerl/GridWorld-v0"))
    for episodes in (100, 400, 500, 1000):
        agent.learn(episodes)
        recent = np.median([record.seconds for record in agent.history[-100:]])
        print(f"  n = {agent.embedding.n:6d}   {1e3 * recent:6.2f} ms an episode (median of the last 100)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    compare(options.n, options.repeats)
    growth()
    finite()
