"""Reports of a tuning directory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cmerl.errors import InputError
from cmerl.experiments.files import read_json

RESULT, BEGUN = "tuned.json", "tune.json"


@dataclass(frozen=True)
class Search:
    """A finished search.

    Attributes:
        run: the final comparison; the default's run where nothing beat it.
        verdicts: sentences.
        trials: (number, options, improvement) of each trial, the best first.
    """

    run: Path
    verdicts: list[str]
    trials: list[tuple[str, str, str]]


def search_in(directory: Path) -> Search | None:
    """The search in a directory, or None if it holds none; one that goes on is refused."""
    if not (directory / BEGUN).exists():
        return None
    if not (directory / RESULT).exists():
        raise InputError(f"the search in {str(directory)!r} is not finished: run cmerl tune again to continue")
    found = read_json(directory / RESULT)
    try:
        run = directory / Path(str(found["run"])).name  # inside the directory, whatever the file says
        tried = sorted(found["tried"], key=lambda t: -(t["improvement"] if t["improvement"] is not None else -1e300))
        rows = [(str(t["trial"] + 1), json.dumps(t["options"]), _share(t["improvement"])) for t in tried]
        best = f"Best options: {json.dumps(found['options'])}." if found["trial"] is not None else ""
        verdicts = [*map(str, found["verdicts"]), *([best] if best else ["Nothing beat the default."])]
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{directory / RESULT} is damaged: run cmerl tune again to rewrite it") from None
    return Search(run, verdicts, rows)


def _share(improvement: Any) -> str:
    return "failed" if improvement is None else f"{improvement:+.1%}".replace("-", "−")
