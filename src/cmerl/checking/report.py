"""What was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing about an environment.

    Attributes:
        severity: an "error" makes learning fail or learn what is not so; a "warning" makes it worse or results not
            reproducible; a "note" is good to know.
        name: short, for scripts.
        what: what was seen, and where, in one sentence.
        fix: what to do.
        replay: Python that shows it again in a new ``env``, where it was seen at a step; else "".
    """

    severity: Severity
    name: str
    what: str
    fix: str
    replay: str = ""

    def __str__(self) -> str:
        lines = [f"{self.severity}: {self.what}", self.fix, *(f"  {line}" for line in self.replay.splitlines())]
        return "\n    ".join(lines)


@dataclass(frozen=True)
class Report:
    """Everything that was found, the gravest first.

    Attributes:
        findings: what was found.
        choices: what cmerl would do here by itself, in words.
        steps: steps that were played to find out.
        seconds_per_step: what a step took, on average.
        seconds_per_reset: what a reset took.
    """

    findings: tuple[Finding, ...]
    choices: dict[str, str]
    steps: int
    seconds_per_step: float
    seconds_per_reset: float

    @property
    def ok(self) -> bool:
        """Whether there was neither an error nor a warning."""
        return all(f.severity == "note" for f in self.findings)

    @property
    def names(self) -> list[str]:
        """Names of the findings, in order."""
        return [f.name for f in self.findings]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        lines = [str(f) for f in self.findings] or ["nothing to complain about"]
        return "\n".join([*lines, *(f"{name}: {choice}" for name, choice in self.choices.items())])

    def as_dict(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        return {
            "ok": self.ok,
            "findings": [vars(f) for f in self.findings],
            "choices": self.choices,
            "steps": self.steps,
            "seconds_per_step": self.seconds_per_step,
            "seconds_per_reset": self.seconds_per_reset,
        }
