"""Install the lowest versions that pyproject.toml allows into a new environment, and try the package with them.

    python tools/lowest.py            # the core and the report, as make lowest does
    python tools/lowest.py --latest   # the newest versions instead

A lower bound that does not work shows here, and nowhere else: everybody who develops has newer versions.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("report", "tuning")
TESTS = ("tests/test_linalg.py", "tests/test_public.py", "tests/cli/test_commands.py", "tests/cli/test_run.py")


def requirements() -> list[str]:
    """What the core and the extras ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [name for extra in EXTRAS for name in project["optional-dependencies"][extra]]
    return [*project["dependencies"], *extras]


def lowest(requirement: str) -> str:
    """``name==1.2`` from ``name>=1.2,<3``."""
    match = re.match(r"([A-Za-z0-9._-]+)>=([0-9.]+)", requirement)
    if match is None:
        raise SystemExit(f"{requirement!r} in pyproject.toml has no lower bound")
    return f"{match[1]}=={match[2]}"


def main() -> int:
    """Install, then run commands and a few tests; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latest", action="store_true", help="the newest versions instead of the lowest")
    newest = parser.parse_args().latest
    with tempfile.TemporaryDirectory() as place:
        venv.create(place, with_pip=True)
        python = Path(place) / "bin" / "python"
        pinned = Path(place) / "lowest.txt"
        pinned.write_text("\n".join(map(lowest, requirements())))
        pins = [] if newest else ["--constraint", str(pinned)]
        wanted = [f"{ROOT}[{','.join(EXTRAS)}]", "pytest>=8.3", "hypothesis>=6.100", *pins]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
        subprocess.run([python, "-m", "pip", "list"], check=True)
        run, cmerl = Path(place) / "run", [python, "-m", "cmerl"]
        small = ["--episodes", "5", "--seeds", "2", "--out"]
        quiet = {**os.environ, "PYTHONPATH": "", "OPENBLAS_NUM_THREADS": "1"}
        for command in (
            [*cmerl, "--help"],
            [*cmerl, "run", "cmerl/RiverSwim-v0", "--agent", "cme-rl", "--agent", "random", *small, str(run)],
            [*cmerl, "report", str(run), "--figures", str(run / "figures")],
            [*cmerl, "check", "MountainCar-v0"],
            [*cmerl, "theory", "regret", "--env", "cmerl/RiverSwim-v0"],
            # what old versions say of their own deprecations is none of our business
            [python, "-m", "pytest", "-p", "no:cacheprovider", "-W", "default", *TESTS],
        ):
            print("::", *command[2:], flush=True)
            done = subprocess.run(command, cwd=ROOT, env=quiet)
            if done.returncode:
                return done.returncode
    print(f"works with Python {sys.version.split()[0]} and the {'newest' if newest else 'lowest'} versions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
