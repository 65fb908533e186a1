"""Stable-Baselines3 on tasks of suites/control.toml with as few episodes as ours, and with ten times as many.

Needs the extra ``baselines``. Settings of classic control are those that RL Baselines3 Zoo documents for each task;
only schedules that refer to the length of training are fitted to the episodes that there are, which favours the
baselines. The zoo's files hyperparams/{dqn,ppo,sac,td3}.yml are where each number is from; TD3 begins to learn after
10 000 steps in Pendulum, which twenty episodes do not have. SAC on tasks that the zoo does not know has the library's
defaults. Returns are those of the episodes played while learning, as ours are, and of the final policy without
exploration.

    python benchmarks/baselines.py            # goes on where it stopped, then prints the table
    python benchmarks/baselines.py --table    # only prints what benchmarks/results/baselines.json holds
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from cmerl.agents.base import find_horizon
from cmerl.wrappers import Horizon
from control_suite import tasks

RESULTS = Path(__file__).parent / "results" / "baselines.json"

WIDE = {"policy_kwargs": {"net_arch": [256, 256]}}
SETTINGS: dict[tuple[str, str], dict[str, Any]] = {
    ("DQN", "CartPole-v1"): {
        "learning_rate": 2.3e-3,
        "batch_size": 64,
        "buffer_size": 100_000,
        "learning_starts": 1000,
        "gamma": 0.99,
        "target_update_interval": 10,
        "train_freq": 256,
        "gradient_steps": 128,
        "exploration_fraction": 0.16,
        "exploration_final_eps": 0.04,
        **WIDE,
    },
    ("DQN", "MountainCar-v0"): {
        "learning_rate": 4e-3,
        "batch_size": 128,
        "buffer_size": 10_000,
        "learning_starts": 1000,
        "gamma": 0.98,
        "target_update_interval": 600,
        "train_freq": 16,
        "gradient_steps": 8,
        "exploration_fraction": 0.2,
        "exploration_final_eps": 0.07,
        **WIDE,
    },
    ("DQN", "Acrobot-v1"): {
        "learning_rate": 6.3e-4,
        "batch_size": 128,
        "buffer_size": 50_000,
        "learning_starts": 0,
        "gamma": 0.99,
        "target_update_interval": 250,
        "train_freq": 4,
        "gradient_steps": -1,
        "exploration_fraction": 0.12,
        "exploration_final_eps": 0.1,
        **WIDE,
    },
    ("PPO", "CartPole-v1"): {
        "n_envs": 8,
        "n_steps": 32,
        "batch_size": 256,
        "gae_lambda": 0.8,
        "gamma": 0.98,
        "n_epochs": 20,
        "learning_rate": lambda left: 1e-3 * left,
        "clip_range": lambda left: 0.2 * left,
    },
    ("PPO", "MountainCar-v0"): {
        "n_envs": 16,
        "normalize": True,
        "n_steps": 16,
        "gae_lambda": 0.98,
        "gamma": 0.99,
        "n_epochs": 4,
    },
    ("PPO", "Acrobot-v1"): {
        "n_envs": 16,
        "normalize": True,
        "n_steps": 256,
        "gae_lambda": 0.94,
        "gamma": 0.99,
        "n_epochs": 4,
    },
    ("SAC", "Pendulum-v1"): {"learning_rate": 1e-3},
    ("TD3", "Pendulum-v1"): {
        "learning_rate": 1e-3,
        "buffer_size": 200_000,
        "learning_starts": 10_000,
        "gamma": 0.98,
        "noise": ("normal", 0.1),
        "policy_kwargs": {"net_arch": [400, 300]},
    },
    ("SAC", "MountainCarContinuous-v0"): {
        "learning_rate": 3e-4,
        "buffer_size": 50_000,
        "batch_size": 512,
        "ent_coef": 0.1,
        "train_freq": 32,
        "gradient_steps": 32,
        "gamma": 0.9999,
        "tau": 0.01,
        "learning_starts": 0,
        "use_sde": True,
        "policy_kwargs": {"log_std_init": -3.67, "net_arch": [64, 64]},
    },
    ("TD3", "MountainCarContinuous-v0"): {"noise": ("ornstein-uhlenbeck", 0.5)},
}
DEFAULTS = [
    "PETS cart-pole",
    "InvertedPendulum-v5",
    "Reacher-v5",
    "PILCO cart-pole",
    "dmc cartpole-balance",
    "dmc cartpole-swingup",
    "dmc pendulum-swingup",
]  # of SAC, on these tasks with five seeds
TASKS = {task.name: task for task in tasks()}


# Seconds that an episode takes where it is more than half a one.
PACE = {
    ("DQN", "MountainCar-v0"): 1.0,
    ("PPO", "Acrobot-v1"): 1.0,
    ("DQN", "Acrobot-v1"): 6.0,
    ("SAC", "Pendulum-v1"): 8.0,
    ("SAC", "MountainCarContinuous-v0"): 4.0,
    ("TD3", "MountainCarContinuous-v0"): 4.0,
    ("SAC", "PETS cart-pole"): 5.0,
    ("SAC", "dmc cartpole-balance"): 6.0,
    ("SAC", "dmc cartpole-swingup"): 6.0,
    ("SAC", "dmc pendulum-swingup"): 6.0,
}


def jobs() -> list[tuple[str, str, int, int]]:
    """(algorithm, environment, episodes, seed): what takes a minute or less first, then seed by seed."""
    found = [(*pair, 20, seed) for pair in SETTINGS for seed in range(10)]
    longer = [pair for pair in SETTINGS if pair[1] in ("CartPole-v1", "Pendulum-v1")]
    found += [(*pair, 200, seed) for pair in longer for seed in range(3)]
    found += [("SAC", name, TASKS[name].episodes, seed) for name in DEFAULTS for seed in range(5)]

    def seconds(job: tuple[str, str, int, int]) -> float:
        pace = 4.0 if job[:3] == ("TD3", "Pendulum-v1", 200) else PACE.get(job[:2], 0.3)
        return pace * job[2]

    return sorted(found, key=lambda job: (seconds(job) > 60, seconds(job) > 600, job[3], seconds(job)))


def run(algorithm: str, env_id: str, episodes: int, seed: int) -> dict[str, Any]:
    """Train for some episodes, then play ten without exploration."""
    import stable_baselines3 as sb3
    import torch
    from stable_baselines3.common import noise
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    torch.set_num_threads(1)
    options = dict(SETTINGS.get((algorithm, env_id), {}))
    normalize = options.pop("normalize", False)
    steps = find_horizon(TASKS[env_id].make(), None)
    env = make_vec_env(
        lambda: Horizon(TASKS[env_id].make(), steps), n_envs=options.pop("n_envs", 1), seed=seed
    )  # its monitors report returns in the environment's own units
    if normalize:
        env = VecNormalize(env, gamma=options["gamma"])
    if "noise" in options:
        kind, scale = options.pop("noise")
        make = noise.NormalActionNoise if kind == "normal" else noise.OrnsteinUhlenbeckActionNoise
        d = env.action_space.shape[0]
        options["action_noise"] = make(mean=np.zeros(d), sigma=scale * np.ones(d))

    class Stop(BaseCallback):
        """Ends training after so many episodes, and keeps their returns in the order in which they ended."""

        def __init__(self) -> None:
            super().__init__()
            self.returns: list[float] = []

        def _on_step(self) -> bool:
            self.returns += [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
            return len(self.returns) < episodes

    started, stop = time.perf_counter(), Stop()
    model = getattr(sb3, algorithm)("MlpPolicy", env, seed=seed, device="cpu", **options)
    model.learn(episodes * steps, callback=stop)
    seconds = time.perf_counter() - started
    scale = env.normalize_obs if normalize else (lambda obs: obs)
    final = [_play(model, scale, Horizon(TASKS[env_id].make(), steps), 10_000 + i) for i in range(10)]
    return {
        "algorithm": algorithm,
        "env": env_id,
        "episodes": episodes,
        "seed": seed,
        "returns": [round(float(r), 3) for r in stop.returns[:episodes]],
        "final": round(float(np.mean(final)), 3),
        "seconds": round(seconds, 2),
    }


def _play(model: Any, scale: Any, env: gymnasium.Env, seed: int) -> float:
    obs, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        action, _ = model.predict(scale(obs[None]), deterministic=True)
        obs, reward, terminated, truncated, _ = env.step(action[0])
        total, over = total + float(reward), terminated or truncated
    return total


def table(rows: list[dict[str, Any]]) -> str:
    """Medians and worst seeds of the last five episodes and of the final policy, one line a combination."""
    lines = [
        "| environment | algorithm | episodes | seeds | last 5 episodes: median (worst) "
        "| final policy: median (worst) | s per episode |",
        "|---|---|---|---|---|---|---|",
    ]
    for key in dict.fromkeys((r["env"], r["episodes"], r["algorithm"]) for r in rows):
        group = [r for r in rows if (r["env"], r["episodes"], r["algorithm"]) == key]
        last = [float(np.mean(r["returns"][-5:])) for r in group]
        final = [r["final"] for r in group]
        pace = np.median([r["seconds"] / len(r["returns"]) for r in group])
        figures = [f"{np.median(x):.0f} ({min(x):.0f})" for x in (last, final)]
        env, episodes, algorithm = key
        lines.append(
            f"| {env} | {algorithm} | {episodes} | {len(group)} | {figures[0]} | {figures[1]} | {pace:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(r["algorithm"], r["env"], r["episodes"], r["seed"]) for r in rows}
    for job in [] if "--table" in sys.argv else jobs():
        if job in done:
            continue
        rows.append(run(*job))
        print(*job, f"final {rows[-1]['final']:.0f}, {rows[-1]['seconds']:.0f} s", flush=True)
        RESULTS.parent.mkdir(exist_ok=True)
        text = ",\n".join(json.dumps(r) for r in rows)
        RESULTS.write_text(f"[\n{text}\n]\n")
    order = list(TASKS)
    print(table(sorted(rows, key=lambda r: (order.index(r["env"]), r["episodes"], r["algorithm"]))))


if __name__ == "__main__":
    main()
