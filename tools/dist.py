"""Build the sdist and the wheel twice, compare the bytes, and check what an index would show.

    python tools/dist.py
    python tools/dist.py --address https://… [--branch v1.0.0]

Equal commits give equal files: what is committed is built, with the time stamp of the commit. An address, that of
the repository on the web, makes links of the README absolute and goes into project.urls and CITATION.cff. cmerl has
no public address yet; without one links stay relative, and an index page cannot follow them.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURES = (".png", ".gif", ".svg")


def absolute(text: str, address: str, branch: str) -> str:
    """Markdown whose links into the repository are addresses; pictures are linked to as files, not as pages."""

    def whole(found: re.Match[str]) -> str:
        target = found[2]
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        kind = "raw" if target.partition("#")[0].endswith(PICTURES) else "blob"
        return f"{found[1]}({address}/{kind}/{branch}/{target})"

    return re.sub(r"(\])\(([^)\s]+)\)", whole, text)


def urls(address: str, branch: str) -> str:
    """The table project.urls of pyproject.toml."""
    entries = {
        "Repository": address,
        "Issues": f"{address}/issues",
        "Documentation": f"{address}/blob/{branch}/docs/index.md",
        "Changelog": f"{address}/blob/{branch}/CHANGELOG.md",
    }
    return "\n[project.urls]\n" + "".join(f'{name} = "{target}"\n' for name, target in entries.items())


def citation(address: str) -> str:
    """The line of CITATION.cff that names the repository."""
    return f'repository-code: "{address}"\n'


def export(place: Path, address: str | None, branch: str) -> Path:
    """The last commit as a tree of its own, with addresses where there is one."""
    place.mkdir()
    archive = subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", place], check=True, stdin=archive.stdout)
    if archive.wait():
        raise SystemExit("git cannot export the last commit: build from a clone")
    if address is not None:
        page = place / "README.md"
        page.write_text(absolute(page.read_text(encoding="utf-8"), address, branch), encoding="utf-8")
        for name, lines in (("pyproject.toml", urls(address, branch)), ("CITATION.cff", citation(address))):
            with open(place / name, "a", encoding="utf-8") as file:
                file.write(lines)
    return place


def build(tree: Path, place: Path, epoch: str) -> dict[str, str]:
    """Build into an empty folder; the digest of each file."""
    command = [sys.executable, "-m", "build", "--outdir", str(place), str(tree)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(place.iterdir())}


def main() -> int:
    """Build, compare, check; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", help="of the repository on the web")
    parser.add_argument("--branch", default="main", help="or tag, that links lead to")
    given = parser.parse_args()
    address = given.address.rstrip("/") if given.address else None
    epoch = subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True).strip()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        trees = [export(place / f"tree-{i}", address, given.branch) for i in range(2)]
        first, second = (build(tree, place / f"dist-{i}", epoch) for i, tree in enumerate(trees))
        if first != second:
            print("two builds differ:", sorted(name for name in first if first[name] != second.get(name)))
            return 1
        shutil.rmtree(ROOT / "dist", ignore_errors=True)
        shutil.copytree(place / "dist-0", ROOT / "dist")
    made = [str(ROOT / "dist" / name) for name in first]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *made], check=True)
    for name, digest in first.items():
        print(f"{digest}  dist/{name}")
    if address is None:
        print("no --address: links of the README stay relative, and there are no project.urls")
    return 0


if __name__ == "__main__":
    sys.exit(main())
