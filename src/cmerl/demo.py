"""The demo: CME-RL, greedy and random in three small environments.

    python -m cmerl.demo

is ``cmerl run`` and ``cmerl report`` on the spec below: it prints a table and writes demo/index.html.
"""

from __future__ import annotations

import argparse
import datetime
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

EPISODES, SEEDS = 40, 4
QUICK_EPISODES, QUICK_SEEDS = 20, 2

SPEC: dict[str, Any] = {
    "environments": [
        {"id": "cmerl/RiverSwim-v0", "label": "RiverSwim"},
        {"id": "cmerl/GridWorld-v0", "label": "GridWorld"},
        {"id": "cmerl/PBall2D-v0", "label": "PBall2D"},
    ],
    "agents": [
        {"name": "cme-rl", "label": "CME-RL"},
        {"name": "greedy"},
        {"name": "random"},
    ],
}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        self.exit(2, f"{self.prog}: {message} (--help lists the options)\n")


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = Parser(prog="python -m cmerl.demo", description="CME-RL against greedy and random play in small worlds.")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for results and page (default: demo)")
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


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expects a whole number of at least 1, not {text!r}")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, and write the page; the exit status."""
    from cmerl.cli.session import session
    from cmerl.errors import CmerlError
    from cmerl.experiments.spec import parse as parse_spec
    from cmerl.experiments.store import RunDirectory
    from cmerl.report import html, write_page

    options = parse(argv)
    sizes = {"episodes": options.episodes, "seeds": options.seeds}
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without “–” is no reason to lose the results
    directory = options.out / f"run-{datetime.datetime.now():%Y%m%d-%H%M%S-%f}"
    try:
        html.check_installed()  # before the runs rather than after them
        command = f"python -m cmerl.demo --episodes {options.episodes} --seeds {options.seeds}"
        RunDirectory.create(directory, parse_spec({**SPEC, **sizes, "jobs": options.jobs}), command)
        if status := session(directory, "warning"):
            return status
        print(f"the page with the curves: {write_page(directory, options.out / 'index.html')}")
    except CmerlError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # before the session listens, or after
        print(f"interrupted; go on with: cmerl resume {directory}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
