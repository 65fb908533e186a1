"""What was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes:
        severity: an "error" makes learning fail or learn something false; a "warning" makes learning worse or not
            reproducible; a "note" is information.
        name: short name, for scripts.
        what: what happened and where, in one sentence.
        fix: what to do.
        replay: Python code that reproduces it in a new ``env``; "" if it did not occur at a step.
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
class Findings:
    """Findings, the most severe first.

    Attributes:
        findings: what was found.
    """

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """True if there is neither an error nor a warning."""
        return all(f.severity == "note" for f in self.findings)

    @property
    def names(self) -> list[str]:
        """Names of the findings, in order."""
        return [f.name for f in self.findings]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)


@dataclass(frozen=True)
class Report(Findings):
    """Findings about an environment, the most severe first.

    Attributes:
        findings: what was found.
        choices: cmerl's automatic choices for this environment, in words.
        steps: number of steps played.
        seconds_per_step: mean time of a step.
        seconds_per_reset: time of a reset.
    """

    choices: dict[str, str]
    steps: int
    seconds_per_step: float
    seconds_per_reset: float

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        lines = [str(f) for f in self.findings] or ["no problems found"]
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
