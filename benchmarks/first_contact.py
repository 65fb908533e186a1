"""What a new user waits for and stores: the core install, the import, the help, and ``make demo`` in a fresh clone.

python benchmarks/first_contact.py [--only core|demo]

The last commit is cloned and installed into empty environments, nothing from pip's cache. A size is that of the files
in an environment, in units of 10⁶ bytes, byte code included; of the core, of what ``pip install cmerl`` adds to an
empty environment, so without pip itself. Space on disk is a few per cent more: the table says both. A time is the
median of several on this machine, as busy as it is. Exit status 1 if a limit is passed.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
REPEATS = 15
IMPORT = "import time; start = time.perf_counter(); import cmerl; print(time.perf_counter() - start)"
ALONE = {**os.environ, "PIP_NO_CACHE_DIR": "1", "PYTHONPATH": "", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure and the limit it must keep, if it has one."""

    what: str
    value: float
    unit: str
    limit: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the figure is within its limit."""
        return self.limit is None or self.value <= self.limit

    def __str__(self) -> str:
        limit = "" if self.limit is None else f"{self.limit:g} {self.unit}"
        verdict = "" if self.limit is None else "kept" if self.kept else "PASSED"
        return f"{self.what:<42}{self.value:>9.3g} {self.unit:<3}{limit:>9}  {verdict}".rstrip()


def sizes(folder: Path) -> tuple[float, float]:
    """Bytes of all files in a folder and their space on disk, both in 10⁶."""
    found = [path.stat() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return sum(f.st_size for f in found) / 1e6, sum(512 * f.st_blocks for f in found) / 1e6


def seconds(command: list[str | Path], where: Path = ROOT) -> float:
    """How long a command takes that must succeed."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=where, env=ALONE, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stderr}")
    return time.perf_counter() - start


def processor_seconds() -> float:
    """Of all commands so far: what does not depend on who else is busy here."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def core(clone: Path, place: Path) -> list[Row]:
    """``pip install cmerl``, ``import cmerl`` and ``cmerl --help``."""
    seconds([sys.executable, "-m", "venv", place])
    python, before = place / "bin" / "python", sizes(place)
    took = seconds([python, "-m", "pip", "install", "--quiet", clone])
    added, space = (after - was for after, was in zip(sizes(place), before, strict=True))
    imports = [float(subprocess.check_output([python, "-c", IMPORT], env=ALONE)) for _ in range(REPEATS)]
    before_help = processor_seconds()
    helps = [seconds([place / "bin" / "cmerl", "--help"]) for _ in range(REPEATS)]
    used = (processor_seconds() - before_help) / REPEATS
    return [
        Row("pip install cmerl: size", added, "MB", 250),
        Row("pip install cmerl: space on disk", space, "MB"),
        Row("pip install cmerl: time", took, "s"),
        Row("import cmerl", statistics.median(imports), "s", 0.1),
        Row("cmerl --help", statistics.median(helps), "s", 0.3),
        Row("cmerl --help: processor time", used, "s"),
    ]


def demo(clone: Path) -> list[Row]:
    """``make demo`` in a fresh clone; its environment counts whole, pip included."""
    before = processor_seconds()
    took = seconds(["make", "demo", f"PYTHON={sys.executable}"], clone)
    used = processor_seconds() - before
    size, space = sizes(clone)
    return [
        Row("make demo, fresh clone, no cache: size", size, "MB", 500),
        Row("make demo: space on disk", space, "MB"),
        Row("make demo, fresh clone, no cache: time", took, "s", 90),
        Row("make demo: processor time, all cores", used, "s"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("core", "demo"))
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "cmerl"
        seconds(["git", "clone", "--quiet", "--no-hardlinks", "--depth=1", ROOT.as_uri(), clone])
        rows = [] if only == "demo" else core(clone, Path(folder) / "core")
        rows += [] if only == "core" else demo(clone)
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'':<42}{'':>13}{'limit':>9}")
    print(*rows, sep="\n")
    return 0 if all(row.kept for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
