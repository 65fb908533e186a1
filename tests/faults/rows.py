"""One row of the table of attacks: what was tried, and every way in which it went wrong."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cmerl.errors import CmerlError


@dataclass
class Row:
    """What an attack came to.

    Attributes:
        name: of the attack.
        tried: how often.
        outcomes: how often each ended in which way, such as "refused" or "works".
        bad: a sentence on each that went wrong.
        slowest: seconds that the slowest one took.
    """

    name: str
    tried: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def attempt(self, what: str, call: Callable[[], str]) -> None:
        """One try; a typed error is an answer, any other is bad, and so is what ``call`` says begins with "bad"."""
        self.tried += 1
        started = time.perf_counter()
        try:
            outcome = call()
        except CmerlError as error:
            outcome = "refused" if str(error).strip() and "\n" not in str(error) else "bad: an error of several lines"
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            outcome = (
                f"bad: {type(error).__name__}: {str(error)[:80]} ({where.filename.rpartition('/')[2]}:{where.lineno})"
            )
        self.slowest = max(self.slowest, time.perf_counter() - started)
        self.outcomes[outcome.partition(":")[0]] += 1
        if outcome.startswith("bad"):
            self.bad.append(f"{what}: {outcome[5:]}")

    @property
    def clean(self) -> bool:
        """Whether nothing went wrong, and something was tried."""
        return self.tried > 0 and not self.bad

    def cells(self) -> list[Any]:
        """For the table."""
        ways = ", ".join(f"{count} {way}" for way, count in sorted(self.outcomes.items()) if way != "bad")
        return [self.name, self.tried, len(self.bad), ways, f"{self.slowest:.2f}"]
