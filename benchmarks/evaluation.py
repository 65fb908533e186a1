"""How often the practical intervals of ``cmerl.evaluate`` contain the value, on small real-valued worlds.

    python benchmarks/evaluation.py --draws 60
    python benchmarks/evaluation.py --optimised --draws 30

Each draw is a data set of random play and a random policy. Worlds with finitely many points are observed as
coordinates, so that values are exact; those of the tanks come from 20 000 simulated episodes. Every line is a world:
how often the 95 % interval covered, errors and the median half-width over the spread of the values of the policies
that were drawn, and data sets that were refused because they hold a single reward.

With ``--optimised`` the policy is the one that ``attitude="pessimistic"`` makes from the same data. A policy that is
chosen for its bound flatters it; counted are the lower bounds that hold, and policies worse than the logging one.
"""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import cmerl
from cmerl.envs import Chain, GridWorld, LinearQuadratic, RiverSwim
from cmerl.errors import InputError
from cmerl.oracles import evaluate

Draw = Callable[[np.random.Generator], tuple[list[dict[str, Any]], Any, int, float]]
"""Logged episodes, a policy, H, and its value."""


def finite(make: Callable[[], Any], episodes: int) -> Draw:
    """A finite world seen as coordinates; policies are random tables."""
    env = make()
    S, A = env.R.shape

    def draw(rng: np.random.Generator) -> tuple[list[dict[str, Any]], Any, int, float]:
        H = env.horizon
        log = [random_play(env, H, rng, lambda obs: int(rng.integers(A))) for _ in range(episodes)]
        lean = rng.dirichlet(np.ones(A))  # a policy with a taste, so that values differ
        table = rng.choice(A, size=S, p=lean)
        places = [tuple(np.round(row, 6)) for row in env.observations]
        starts = [places.index(tuple(np.round(episode["observations"][0], 6))) for episode in log]
        value = float(evaluate(env, np.tile(table, (H, 1)), H).V[0, starts].mean())
        lookup = dict(zip(places, table.tolist(), strict=True))
        return log, lambda obs, step: lookup[tuple(np.round(obs, 6))], H, value

    return draw


def tanks(episodes: int) -> Draw:
    """Linear-quadratic control with a linear policy."""
    env = LinearQuadratic()

    def draw(rng: np.random.Generator) -> tuple[list[dict[str, Any]], Any, int, float]:
        H = env.horizon
        log = [random_play(env, H, rng, lambda obs: rng.uniform(-1.0, 1.0, 1)) for _ in range(episodes)]
        gain, offset = rng.uniform(-0.5, 0.5, 2), rng.uniform(-0.3, 0.3)

        def act(s: Any) -> Any:
            return np.clip(np.asarray(s) @ gain + offset, -1.0, 1.0)

        model, total = env.dynamics, np.zeros(20_000)
        s = np.tile(env.start, (len(total), 1))
        for _ in range(H):
            a = act(s)[:, None]
            total -= np.einsum("ij,jk,ik->i", s, model.Q, s) + np.einsum("ij,jk,ik->i", a, model.R, a)
            s = s @ model.A.T + a @ model.B.T + rng.uniform(-env.noise, env.noise, s.shape)
            s = np.clip(s, -env.bound, env.bound)
        return log, lambda obs, step: np.array([act(obs)]), H, float(total.mean())

    return draw


def random_play(env: Any, horizon: int, rng: np.random.Generator, act: Callable[[Any], Any]) -> dict[str, Any]:
    """One episode."""
    obs, _ = env.reset(seed=int(rng.integers(2**31)))
    seen, actions, rewards, terminated = [obs], [], [], False
    for _ in range(horizon):
        actions.append(act(obs))
        obs, reward, terminated, truncated, _ = env.step(actions[-1])
        seen.append(obs)
        rewards.append(reward)
        if terminated or truncated:
            break
    return {"observations": seen, "actions": actions, "rewards": rewards, "terminated": terminated}


FINITE: dict[str, tuple[Callable[[], Any], int]] = {
    "RiverSwim-8 on a line, H = 10": (lambda: RiverSwim(8, 10, coordinates=True), 30),
    "GridWorld-4x4 in the plane, H = 12": (lambda: GridWorld(4, goal=(2, 3), horizon=12, coordinates=True), 60),
    "Chain on a line": (lambda: Chain(coordinates=True), 30),
}
WORLDS: dict[str, Draw] = {
    **{name: finite(*about) for name, about in FINITE.items()},
    "two tanks, continuous actions, H = 20": tanks(15),
}


def optimised(first: int, draws: int) -> None:
    """Lower bounds of the policies that are chosen for them."""
    held = total = 0
    for name, (make, episodes) in FINITE.items():
        env, rows, refused = make(), [], 0
        (S, A), H = env.R.shape, env.horizon
        for i in range(first, first + draws):
            rng = np.random.default_rng((len(name), i))
            log = [random_play(env, H, rng, lambda obs, rng=rng, A=A: int(rng.integers(A))) for _ in range(episodes)]
            try:
                policy = cmerl.CMERL(env, attitude="pessimistic", seed=i).fit(log).policy()
            except InputError:
                refused += 1
                continue
            table = np.array([[policy(obs, step) for obs in env.observations] for step in range(H)])
            start = [int(np.abs(env.observations - e["observations"][0]).sum(axis=1).argmin()) for e in log]
            uniform = np.full((H, S, A), 1.0 / A)
            value, logging_value = (float(evaluate(env, p, H).V[0, start].mean()) for p in (table, uniform))
            rows.append((policy.lower <= value, value >= logging_value, value - policy.lower, value))
        holds, better, slack, values = np.array(rows, dtype=float).reshape(-1, 4).T
        held, total = held + int(holds.sum()), total + len(rows)
        print(
            f"{name:38} lower bound held {int(holds.sum())} of {len(rows)}, not worse than the logging policy "
            f"{int(better.sum())}, mean value {values.mean():.2f}, median slack {np.median(slack):.2f}; "
            f"{refused} refused",
            flush=True,
        )
    print(f"all: {held} of {total}, {held / max(total, 1):.1%}, nominal 90 %")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--optimised", action="store_true", help="policies chosen for their lower bounds")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    if args.optimised:
        optimised(args.first, args.draws)
        return
    held = total = 0
    for name, draw in WORLDS.items():
        rows, refused = [], 0
        for i in range(args.first, args.first + args.draws):
            log, policy, H, value = draw(np.random.default_rng((len(name), i)))
            try:
                found = cmerl.evaluate(policy, log, horizon=H)
            except InputError:  # all rewards were alike
                refused += 1
                continue
            rows.append((found.lower <= value <= found.upper, found.mean - value, found.upper - found.lower, value))
        covered, errors, widths, values = np.array(rows, dtype=float).T
        spread = max(float(values.std()), 1e-12)
        held, total = held + int(covered.sum()), total + len(rows)
        print(
            f"{name:38} covered {covered.mean():.1%} of {len(rows)}, mean error {errors.mean() / spread:+.2f}, "
            f"root mean square error {np.sqrt(np.square(errors).mean()) / spread:.2f}, "
            f"median half-width {0.5 * np.median(widths) / spread:.2f}; {refused} refused",
            flush=True,
        )
    print(f"all: {held} of {total}, {held / total:.1%}, nominal 95 %")


if __name__ == "__main__":
    main()
