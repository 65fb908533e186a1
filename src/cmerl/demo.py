"""The demonstration: CME-RL learns two small worlds from little data, against two agents that do not explore well.

    python -m cmerl.demo

prints a table and writes demo/index.html.
"""

from __future__ import annotations

import argparse
import io
import platform
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cmerl import agents, oracles
from cmerl.errors import CmerlError
from cmerl.kernels import RBF, Delta, Kernel, StateAction
from cmerl.report import page
from cmerl.report.results import AgentRuns, WorldRuns

if TYPE_CHECKING:
    import gymnasium
    from rich.console import Console

FloatArray = NDArray[np.float64]

EPISODES, SEEDS = 80, 5
QUICK_EPISODES, QUICK_SEEDS = 30, 3
INTERRUPTED = 130  # what shells expect of a program ended by Ctrl-C

NOTES = (
    "CME-RL learns the transition law by one kernel regression, and plans as if all that it has not seen were as "
    "good as can be. With the delta kernel it takes every state for itself; with the RBF kernel it sees "
    "coordinates and lets neighbouring states learn from each other. “Greedy” is the same model without the "
    "optimism, and “random” plays uniformly.",
)


@dataclass(frozen=True)
class World:
    """A world of the demonstration."""

    name: str
    id: str

    def make(self, coordinates: bool = False) -> gymnasium.Env[Any, Any]:
        """The environment, showing states as numbers or as points in space."""
        import gymnasium

        return gymnasium.make(self.id, coordinates=coordinates)


@dataclass(frozen=True)
class Contender:
    """An agent of the demonstration; with a kernel on states it sees coordinates."""

    name: str
    agent: str
    state_kernel: Kernel | None = None

    def make(self, world: World, seed: int) -> agents.Agent:
        """The agent in its world, before its first episode."""
        if self.state_kernel is None:
            return agents.make(self.agent, world.make(), seed=seed)
        kernel = StateAction(self.state_kernel, Delta())
        return agents.make(self.agent, world.make(coordinates=True), seed=seed, kernel=kernel)


WORLDS = (World("RiverSwim-6", "cmerl/RiverSwim-v0"), World("GridWorld-5x5", "cmerl/GridWorld-v0"))
CONTENDERS = (
    Contender("CME-RL (delta)", "cme-rl"),
    Contender("CME-RL (RBF)", "cme-rl", RBF(0.2)),
    Contender("greedy", "greedy"),
    Contender("random", "random"),
)


@dataclass(frozen=True)
class Unit:
    """One run: an agent in a world with a seed."""

    world: World
    contender: Contender
    seed: int


@dataclass(frozen=True, eq=False)
class Run:
    """A finished unit: regret of each episode (episodes,), and the mean time that one took."""

    unit: Unit
    regrets: FloatArray
    seconds: float


def play(unit: Unit, episodes: int) -> Run:
    """Run one unit, with one BLAS thread: more are slower on matrices this small, and change bits."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        history = unit.contender.make(unit.world, unit.seed).learn(episodes).history
    return Run(
        unit,
        np.array([record.regret for record in history]),
        float(np.mean([record.seconds for record in history])),
    )


def run_all(
    *, episodes: int, seeds: int, jobs: int, tick: Callable[[], None] = lambda: None
) -> tuple[WorldRuns, ...]:
    """Every contender in every world, seeds 0 … seeds−1, on ``jobs`` processes.

    Args:
        episodes: of each run.
        seeds: runs of each contender in each world.
        jobs: processes.
        tick: called whenever a run has finished.
    """
    units = [Unit(world, contender, seed) for world in WORLDS for contender in CONTENDERS for seed in range(seeds)]
    found: dict[Unit, Run] = {}
    with closing(_in_parallel(units, episodes, jobs)) as runs:  # an interrupt ends the workers too
        for run in runs:
            found[run.unit] = run
            tick()
    return tuple(_collect(world, found, seeds) for world in WORLDS)


def unit_count(seeds: int) -> int:
    """How often ``run_all`` ticks."""
    return len(WORLDS) * len(CONTENDERS) * seeds


def _in_parallel(units: Sequence[Unit], episodes: int, jobs: int) -> Generator[Run, None, None]:
    """Finished runs, in any order."""
    if jobs == 1:
        yield from (play(unit, episodes) for unit in units)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
        # One unit at a time to each worker: an interrupted run then stops soon.
        pool = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
        with _no_interrupts():  # workers start here and inherit it: Ctrl-C is the parent's business alone
            runs = pool(delayed(play)(unit, episodes) for unit in units)
        yield from runs


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C inside the block; signals are the main thread's, so elsewhere there is nothing to do."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _collect(world: World, found: dict[Unit, Run], seeds: int) -> WorldRuns:
    model = oracles.finite_model(env := world.make())
    assert model is not None
    horizon: int = env.get_wrapper_attr("horizon")
    states, actions = model.R.shape
    uniform = np.full((horizon, states, actions), 1 / actions)
    optimum = float(model.start @ oracles.solve(model, horizon).V[0])
    at_random = float(model.start @ oracles.evaluate(model, uniform, horizon).V[0])
    return WorldRuns(
        name=world.name,
        horizon=horizon,
        optimum=optimum,
        random_loss=optimum - at_random,
        agents=tuple(
            _merge(contender.name, [found[Unit(world, contender, seed)] for seed in range(seeds)])
            for contender in CONTENDERS
        ),
    )


def _merge(name: str, runs: Sequence[Run]) -> AgentRuns:
    seconds = float(np.mean([run.seconds for run in runs]))
    return AgentRuns(name, np.array([run.regrets for run in runs]), seconds)


# --- what people see ---


def show(console: Console, world: WorldRuns) -> None:
    """Print one world's table."""
    from rich.table import Table

    console.print(
        f"\n[bold]{world.name}[/bold]: V* = {world.optimum:.4g} per episode of {world.horizon} steps; "
        f"random play loses {world.random_loss:.4g}"
    )
    table = Table()
    table.add_column("agent")
    for heading in ("regret", "95 % interval", "stuck seeds", "ms/episode"):
        table.add_column(heading, justify="right")
    for runs, summary in zip(world.agents, world.summaries, strict=True):
        table.add_row(
            runs.name,
            page.format_number(summary.mean),
            page.format_interval(summary),
            page.format_stuck(summary, runs.seeds),
            f"{1000 * runs.seconds:.1f}",
        )
    console.print(table)


@contextmanager
def progress(console: Console, units: int) -> Iterator[Callable[[], None]]:
    """Yield what to call after every unit; without a terminal nothing is drawn."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("learning"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=units)
        yield lambda: bar.advance(task)


def versions() -> dict[str, str]:
    """What the numbers depend on."""
    packages = ("cmerl", "numpy", "scipy", "gymnasium")
    return {
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        **{name: version(name) for name in packages},
    }


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        self.exit(2, f"{self.prog}: {message} (--help lists the options)\n")


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expects a whole number of at least 1, not {text!r}")
    return value


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = Parser(
        prog="python -m cmerl.demo", description="CME-RL against random and greedy play in two small worlds."
    )
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the page (default: demo)")
    parser.add_argument("--episodes", type=_count, help=f"episodes of each run (default: {EPISODES})")
    parser.add_argument("--seeds", type=_count, help=f"runs of each agent in each world (default: {SEEDS})")
    parser.add_argument("--jobs", type=_count, default=2, help="processes (default: 2)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_EPISODES} episodes and {QUICK_SEEDS} seeds")
    options = parser.parse_args(argv)
    options.episodes = options.episodes or (QUICK_EPISODES if options.quick else EPISODES)
    options.seeds = options.seeds or (QUICK_SEEDS if options.quick else SEEDS)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"cannot write to the folder {str(options.out)!r}: {error.strerror}")
    return options


def demonstrate(options: argparse.Namespace) -> None:
    """Run, print, and write the page."""
    from rich.console import Console

    page.check_installed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without “–” is no reason to lose the results
    console = Console(highlight=False)
    with progress(console, unit_count(options.seeds)) as tick:
        worlds = run_all(episodes=options.episodes, seeds=options.seeds, jobs=options.jobs, tick=tick)
    console.print(
        f"Regret: what was lost against the best player in {options.episodes} episodes; mean and 95 % bootstrap "
        "interval over seeds.\nStuck: a seed that still loses over a fifth of V* in the last tenth of its episodes."
    )
    for world in worlds:
        show(console, world)
    text = page.render(
        worlds,
        title="CME-RL: learning two small worlds from little data",
        command=f"python -m cmerl.demo --episodes {options.episodes} --seeds {options.seeds}",
        versions=versions(),
        notes=NOTES,
    )
    path = page.write(options.out / "index.html", text)
    console.print(f"\nThe page with the curves: {path}", soft_wrap=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit status."""
    try:
        demonstrate(parse(argv))
    except KeyboardInterrupt:
        print("Interrupted: no page was written.", file=sys.stderr)
        return INTERRUPTED
    except CmerlError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
