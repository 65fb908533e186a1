"""What a decision takes: an exported policy at a thousand landmarks, beside a loop of kernel evaluations.

python benchmarks/decisions.py
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import cmerl
from cmerl.agents.exporting import expansion

WORLDS = {"four actions": "cmerl/PBall2D-v0", "continuous actions": "cmerl/LinearQuadratic-v0"}


def log_of(env: gymnasium.Env[Any, Any], transitions: int) -> list[dict[str, Any]]:
    """Random play from random states, in episodes of one step."""
    env.observation_space.seed(0)
    env.action_space.seed(0)
    found = []
    while len(found) < transitions:
        state = env.observation_space.sample()
        if np.linalg.norm(state) > 1.0:
            continue
        env.reset(seed=0, options={"state": state})
        action = env.action_space.sample()
        after, reward, *_ = env.step(action)
        found.append({"observations": [state, after], "actions": [action], "rewards": [reward]})
    return found


def seconds(act: Callable[[Any, int], Any], observations: list[Any], repeats: int) -> list[float]:
    """Of single calls, in the time of this process: other work on the machine does not count."""
    act(observations[0], 3)
    found = []
    for obs in (observations * repeats)[: len(observations) * repeats]:
        started = time.process_time()
        act(obs, 3)
        found.append(time.process_time() - started)
    return found


def loop(policy: Any) -> Callable[[Any, int], int]:
    """The same Q by one call of the kernel for every landmark and action."""
    plan = policy.plan
    kernel = plan.views[0].layout.kernel
    _, points = expansion(plan.views[0], policy.states.dims, policy.actions)

    def act(obs: Any, step: int) -> int:
        row = policy.states.encode(obs)
        for action in policy.actions.rows:
            z = np.hstack([row, action[None]])
            for point in points:
                kernel(z, point[None])
        return 0

    return act


def main() -> None:
    logging.getLogger("cmerl").setLevel(logging.ERROR)
    for name, world in WORLDS.items():
        env = gymnasium.make(world)
        agent = cmerl.CMERL(env, seed=0, model="direct", backend="exact", replan=False).fit(log_of(env, 1000))
        policy = agent.policy(explore=False)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.policy"
            policy.export(path)
            loaded, size = cmerl.load_policy(path), path.stat().st_size
        some = [env.observation_space.sample() for _ in range(50)]
        print(f"{name}: {loaded.weights.shape[1]} landmarks, {len(policy.actions)} candidates, {size / 1e6:.2f} MB")
        for what, act, repeats, part in (
            ("exported policy", loaded, 20, some),
            ("the agent's policy", policy, 2, some),
            ("loop of kernel evaluations", loop(policy), 1, some[:3]),
        ):
            taken = np.array(seconds(act, part, repeats)) * 1e3
            print(f"  {what}: median {np.median(taken):.3f} ms, 99 % below {np.quantile(taken, 0.99):.3f} ms")


if __name__ == "__main__":
    main()
