"""Every attack in full, as one table; and each once more against a variant that was broken on purpose.

    python tests/faults/table.py              # all of it: half an hour
    python tests/faults/table.py --share 0.1  # a tenth of it

Exit code 1 if anything went wrong, or if a broken variant was not found out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import agent_files
import agent_interrupts
import disks
import grams
import kills
import memory
import ray_kills
import run_directories
import specs
import worlds
from rows import Row

Attack = Callable[..., Row]

# The attack, how often in full, how often in a test, and how often against its broken variant.
ATTACKS: dict[str, tuple[Attack, int, int, int]] = {
    "agent files": (agent_files.attack, 10_000, 160, 200),
    "run directories": (run_directories.attack, 2000, 40, 60),
    "specs": (specs.attack, 1000, 60, 30),
    "misbehaving worlds": (worlds.attack, 500, 16, 76),
    "degenerate Grams": (grams.attack, 10_000, 300, 90),
    "interrupts": (agent_interrupts.attack, 500, 8, 40),
    "disks, two resumes": (disks.attack, 200, 8, 8),
    "memory limits": (memory.attack, 60, 2, 4),
    "kills with Ray": (ray_kills.attack, 20, 2, 4),
}


def kill(count: int, seed: int, where: Path, *, broken: bool = False) -> Row:
    """Kill drivers and workers. ``broken``: an episode is torn out of a journal after every kill."""
    row = Row("kills", tried=count)
    try:
        toll = kills.survive(count, episodes=400 if count > 20 else 60, seed=seed, where=where, lossy=broken)
        row.outcomes["survived"] = toll.kills
    except AssertionError as error:
        row.bad.append(f"kills of seed {seed}: {str(error)[:100]}")
    return row


def show(rows: list[tuple[str, Row, bool]]) -> str:
    """The table."""
    head = ["attack", "tried", "bad", "outcomes", "slowest, s", "broken variant"]
    cells = [[*map(str, row.cells()), "found out" if red else "NOT FOUND OUT"] for _, row, red in rows]
    widths = [max(len(line[i]) for line in [head, *cells]) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) for line in [head, *cells]
    )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--share", type=float, default=1.0, help="of the full number of tries")
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--only", nargs="*", default=[*ATTACKS, "kills"])
    chosen = options.parse_args()
    rows = []
    for name in chosen.only:
        attack, full, _, few = ATTACKS.get(name, (kill, 100, 0, 6))
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            started = time.perf_counter()
            row = attack(max(int(chosen.share * full), 1), chosen.seed, Path(one))
            red = not attack(few, chosen.seed, Path(two), broken=True).clean
        rows.append((name, row, red))
        print(f"{name}: {row.tried} tried, {len(row.bad)} bad, {time.perf_counter() - started:.0f} s", flush=True)
        for sentence in row.bad[:20]:
            print(f"    {sentence}", flush=True)
    print(f"\n{show(rows)}\n(seed {chosen.seed})")
    return 0 if all(row.clean and red for _, row, red in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
