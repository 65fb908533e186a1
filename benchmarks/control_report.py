"""The table and the picture of control.py."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from control import Task

Run = dict[str, Any]

COLUMNS = (
    "task",
    "what is counted",
    "aim",
    "agent",
    "episodes",
    "seeds",
    "median",
    "worst",
    "seeds that reach the aim",
    "first goal: median, worst",
    "s per episode (last three)",
    "model",
)
COUNTED = {"return": "mean return of {} – {}", "regret": "regret", "shortfall": "% below V\\*"}
BLOCK = 10  # episodes whose mean return is drawn where there are many
COLOURS = {"cmerl": "#0072B2", "PPO": "#E69F00", "DQN": "#D55E00", "SAC": "#009E73", "TD3": "#CC79A7"}


def score(task: Task, found: Run) -> float:
    """The number that counts."""
    return mean_return(found, task.window) if task.score == "return" else float(found[task.score])


def mean_return(found: Run, window: tuple[int, int]) -> float:
    """Over the episodes from the first to the last of ``window``; of several worlds at a time, some never end."""
    return float(np.mean(found["returns"][window[0] - 1 : window[1]] or found["returns"][-5:]))


def window_of(task: Task, episodes: int) -> tuple[int, int]:
    """The episodes that count: the task's, or the last five of those who took longer."""
    return task.window if episodes == task.episodes else (episodes - 4, episodes)


def table(tasks: Iterable[Task], runs: list[Run], baselines: list[Run]) -> str:
    """Medians and worst seeds, Stable-Baselines3 beside."""
    rows: list[Iterable[Any]] = [COLUMNS, ["---"] * len(COLUMNS)]
    for task in tasks:
        if own := [r for r in runs if r["task"] == task.name]:
            pace = f"{np.mean([r['seconds'] for r in own]):.2f} ({np.mean([r['late'] for r in own]):.2f})"
            models = ", ".join(sorted({r["model"] for r in own}))
            goals = [r["ends"][0] if r["ends"] else np.inf for r in own] if task.goal else []
            rows.append(row(task, "cmerl", task.episodes, [score(task, r) for r in own], goals, pace, models))
        others = [r for r in baselines if r["env"] == task.name]
        for episodes, algorithm in sorted({(r["episodes"], r["algorithm"]) for r in others}):
            group = [r for r in others if (r["episodes"], r["algorithm"]) == (episodes, algorithm)]
            scores = [mean_return(r, window_of(task, episodes)) for r in group]
            pace = f"{np.median([r['seconds'] / len(r['returns']) for r in group]):.2f}"
            rows.append(row(task, f"SB3 {algorithm}", episodes, scores, [], pace, ""))
    return "\n".join("| " + " | ".join(str(cell) for cell in cells) + " |" for cells in rows)


def row(
    task: Task, agent: str, episodes: int, scores: list[float], goals: list[float], pace: str, model: str
) -> list[Any]:
    """The cells of one line."""
    more = task.score == "return"
    aim, reached = "", ""
    if task.aim is not None:
        aim = f"{'≥' if more else '≤'} {task.aim:g}"
        reached = str(sum(s >= task.aim if more else s <= task.aim for s in scores))
    digits = 2 if max(map(abs, scores)) < 10 else 1
    figures = [f"{x:.{digits}f}" for x in (np.median(scores), min(scores) if more else max(scores))]
    goal = f"{np.median(goals):g}, {max(goals):g}" if goals else ""
    counted = COUNTED[task.score].format(*window_of(task, episodes))
    return [task.name, counted, aim, agent, episodes, len(scores), *figures, reached, goal, pace, model]


def picture(tasks: Iterable[Task], runs: list[Run], baselines: list[Run], target: Path) -> None:
    """Return by episode: medians, and bands from the worst seed to the best; Stable-Baselines3 beside.

    Of runs with a hundred episodes and more, means of ten at a time.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = {task.name: curves(task, runs, baselines) for task in tasks if any(r["task"] == task.name for r in runs)}
    columns = min(4, len(shown))
    size = -(-len(shown) // columns), columns
    figure, panels = plt.subplots(
        *size, figsize=(3.0 * size[1], 2.3 * size[0]), dpi=120, layout="constrained", squeeze=False
    )
    entries: dict[str, Any] = {}
    for axes, (name, lines) in zip(panels.ravel(), shown.items(), strict=False):
        for agent, returns in lines.items():
            block = BLOCK if returns.shape[1] >= 10 * BLOCK else 1  # single episodes of a long run show only noise
            returns = returns[:, : returns.shape[1] // block * block].reshape(len(returns), -1, block).mean(axis=2)
            episodes = block * np.arange(1, returns.shape[1] + 1)
            style = {"color": COLOURS[agent], "zorder": 3 if agent == "cmerl" else 2}
            axes.fill_between(episodes, returns.min(axis=0), returns.max(axis=0), alpha=0.15, linewidth=0, **style)
            (entries[agent],) = axes.plot(episodes, np.median(returns, axis=0), linewidth=1.4, **style)
        axes.set_title(f"{name} (seeds: {len(lines['cmerl'])})", fontsize=8, loc="left")
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels.ravel()[len(shown) :]:
        axes.axis("off")
    figure.supxlabel("episode", fontsize=8)
    figure.supylabel("return", fontsize=8)
    look = {"ncols": len(entries), "fontsize": 8, "frameon": False}
    figure.legend(entries.values(), entries.keys(), loc="outside upper right", **look)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target)
    plt.close(figure)


def curves(task: Task, runs: list[Run], baselines: list[Run]) -> dict[str, Any]:
    """Returns (seeds, episodes) of each agent on a task, of as many episodes as ours."""
    found = {"cmerl": [r["returns"] for r in runs if r["task"] == task.name]}
    for r in baselines:
        if (r["env"], r["episodes"]) == (task.name, task.episodes):
            found.setdefault(r["algorithm"], []).append(r["returns"])
    shortest = {agent: min(map(len, returns)) for agent, returns in found.items()}
    return {agent: np.array([r[: shortest[agent]] for r in returns]) for agent, returns in found.items()}
