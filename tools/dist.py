"""Build the sdist and the wheel twice, compare the bytes, and check what an index would show.

    python tools/dist.py

Equal sources give equal files: the time stamp is that of the last commit.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def build(place: Path, epoch: str) -> dict[str, str]:
    """Build into a folder; the digest of each file."""
    command = [sys.executable, "-m", "build", "--outdir", str(place), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(place.iterdir())}


def main() -> int:
    """Build, compare, check; the exit status."""
    asked = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    epoch = asked.stdout.strip() or "315532800"
    with tempfile.TemporaryDirectory() as place:
        first, second = build(ROOT / "dist", epoch), build(Path(place), epoch)
    second_of_first = {name: first.get(name) for name in second}
    if second_of_first != second:
        print("two builds differ:", {name for name in second if first.get(name) != second[name]})
        return 1
    made = [str(ROOT / "dist" / name) for name in second]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *made], check=True)
    for name, digest in second.items():
        print(f"{digest}  dist/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
