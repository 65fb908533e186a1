"""The table and the picture of control.py."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from control_suite import Run, Task

COLUMNS = (
    "task",
    "split",
    "what is counted",
    "aim",
    "agent",
    "episodes",
    "seeds",
    "median",
    "worst",
    "seeds at the aim",
    "collapses",
    "first goal: median, worst",
    "s per episode",
    "model",
)
COUNTED = {
    "return": "mean return of {} – {}",
    "best": "best return of {} – {}",
    "regret": "regret",
    "shortfall": "% below V\\*",
}
BLOCK = 10  # episodes whose mean return is drawn where there are many
COLOURS = {
    "cmerl": "#0072B2",
    "first version": "#999999",
    "PPO": "#E69F00",
    "DQN": "#D55E00",
    "SAC": "#009E73",
    "TD3": "#CC79A7",
}
Others = dict[str, list[Run]]


def of_task(task: Task, runs: list[Run]) -> list[Run]:
    return [r for r in runs if r["task"] == task.name]


def rivals(task: Task, baselines: list[Run]) -> dict[tuple[int, str], list[Run]]:
    """Runs of Stable-Baselines3 on a task, by how many episodes they had and by algorithm."""
    found: dict[tuple[int, str], list[Run]] = {}
    for r in baselines:
        if r["env"] == task.name:
            found.setdefault((r["episodes"], r["algorithm"]), []).append(r)
    return dict(sorted(found.items()))


def table(tasks: Iterable[Task], runs: list[Run], others: Others, baselines: list[Run]) -> str:
    """Medians and worst seeds of each task; the first version and Stable-Baselines3 beside."""
    rows: list[Iterable[Any]] = [COLUMNS, ["---"] * len(COLUMNS)]
    for task in tasks:
        for agent, found in ({"cmerl": runs} | others).items():
            if own := of_task(task, found):
                rows.append(row(task, agent, own))
        for (episodes, algorithm), found in rivals(task, baselines).items():
            rows.append(baseline_row(task, algorithm, episodes, found))
    return "\n".join("| " + " | ".join(str(cell) for cell in cells) + " |" for cells in rows)


def row(task: Task, agent: str, own: list[Run]) -> list[Any]:
    """The cells of one line of ours."""
    scores = [task.value(r) for r in own]
    goals = [r["ends"][0] if r["ends"] else np.inf for r in own] if task.goal else []
    counted = COUNTED[task.score].format(*task.window)
    reached = f"{sum(map(task.reached, scores))} of {len(own)}"
    pace = f"{np.mean([r['seconds'] for r in own]):.2f}"
    goal = f"{np.median(goals):g}, {max(goals):g}" if goals else ""
    models = ", ".join(sorted({r["model"] for r in own}))
    cells = [task.name, task.split, counted, aim(task), agent, task.episodes, len(own), *figures(task, scores)]
    return [*cells, reached, collapse_share(task, own), goal, pace, models]


def baseline_row(task: Task, algorithm: str, episodes: int, group: list[Run]) -> list[Any]:
    """The cells of one line of Stable-Baselines3: the task's window, or the last five episodes of longer runs."""
    window = task.window if episodes == task.episodes else (episodes - 4, episodes)
    scores = [float(np.mean(r["returns"][window[0] - 1 : window[1]] or r["returns"][-5:])) for r in group]
    pace = f"{np.median([r['seconds'] / len(r['returns']) for r in group]):.2f}"
    reached = f"{sum(map(task.reached, scores))} of {len(group)}"
    counted = COUNTED["return"].format(*window)
    cells = [task.name, task.split, counted, aim(task), f"SB3 {algorithm}", episodes, len(group)]
    return [*cells, *figures(task, scores), reached, "", "", pace, ""]


def aim(task: Task) -> str:
    return f"{'≥' if task.of_returns else '≤'} {task.aim:g}"


def figures(task: Task, scores: list[float]) -> list[str]:
    """The median and the worst."""
    digits = 2 if max(map(abs, scores)) < 10 else 1
    return [f"{x:.{digits}f}" for x in (np.median(scores), min(scores) if task.of_returns else max(scores))]


def collapse_share(task: Task, own: list[Run]) -> str:
    """Of the episodes after three in a row at the aim, how many fell below half of it."""
    if not (task.of_returns and task.alike):
        return ""
    fallen, later = np.sum([task.collapses(r) for r in own], axis=0)
    return f"{fallen} of {later}" + (f" ({100 * fallen / later:.1f} %)" if later else "")


def summary(tasks: Iterable[Task], runs: list[Run]) -> str:
    """How many tasks of either half are solved: the median of the seeds is at the aim."""
    lines = []
    for split in ("choosing", "confirming"):
        played = {t.name: [t.value(r) for r in of_task(t, runs)] for t in tasks if t.split == split}
        aims = {t.name: t for t in tasks}
        solved = [name for name, scores in played.items() if scores and aims[name].reached(float(np.median(scores)))]
        count = sum(bool(scores) for scores in played.values())
        if count:
            lines.append(f"{split}: the median is at the aim in {len(solved)} of {count} tasks")
    return "\n".join(lines)


def picture(tasks: Iterable[Task], runs: list[Run], others: Others, baselines: list[Run], target: Path) -> None:
    """Return by episode: every seed, and the median of each agent. Means of ten where episodes are many."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = {task.name: (task, curves(task, runs, others, baselines)) for task in tasks if of_task(task, runs)}
    columns = min(4, len(shown))
    size = -(-len(shown) // columns), columns
    figure, panels = plt.subplots(
        *size, figsize=(3.0 * size[1], 2.2 * size[0]), dpi=120, layout="constrained", squeeze=False
    )
    entries: dict[str, Any] = {}
    for axes, (task, lines) in zip(panels.ravel(), shown.values(), strict=False):
        for agent, returns in lines.items():
            entries[agent] = draw(axes, agent, returns)
        if task.of_returns:
            axes.axhline(task.aim, color="black", linewidth=0.7, linestyle=":")
        axes.set_title(f"{task.name} ({task.split})", fontsize=7, loc="left")
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels.ravel()[len(shown) :]:
        axes.axis("off")
    figure.supxlabel("episode (thin: single seeds; thick: median; dotted: aim)", fontsize=8)
    figure.supylabel("return", fontsize=8)
    order = [agent for agent in COLOURS if agent in entries]
    figure.legend(
        [entries[a] for a in order], order, loc="outside upper right", ncols=len(order), fontsize=8, frameon=False
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target)
    plt.close(figure)


def draw(axes: Any, agent: str, returns: np.ndarray) -> Any:
    """The seeds (s, episodes) of one agent, and their median."""
    block = BLOCK if returns.shape[1] >= 10 * BLOCK else 1  # single episodes of a long run show only noise
    returns = returns[:, : returns.shape[1] // block * block].reshape(len(returns), -1, block).mean(axis=2)
    episodes = block * np.arange(1, returns.shape[1] + 1)
    style = {"color": COLOURS[agent], "zorder": 3 if agent == "cmerl" else 2}
    axes.plot(episodes, returns.T, linewidth=0.5, alpha=0.35, **style)
    (line,) = axes.plot(episodes, np.median(returns, axis=0), linewidth=1.5, **style)
    return line


def curves(task: Task, runs: list[Run], others: Others, baselines: list[Run]) -> dict[str, np.ndarray]:
    """Returns (seeds, episodes) of each agent on a task, of as many episodes as ours."""
    found = {agent: [r["returns"] for r in of_task(task, own)] for agent, own in ({"cmerl": runs} | others).items()}
    for (episodes, algorithm), group in rivals(task, baselines).items():
        if episodes == task.episodes:
            found[algorithm] = [r["returns"] for r in group]
    shortest = {agent: min(map(len, returns)) for agent, returns in found.items() if returns}
    return {agent: np.array([r[:length] for r in found[agent]]) for agent, length in shortest.items()}
