"""The errors that cmerl raises on bad input."""

from __future__ import annotations

from typing import Any


class CmerlError(ValueError):
    """The base of all errors caused by the user's input; the message is one sentence with the fix."""


class InputError(CmerlError):
    """An array, an observation or an option has the wrong shape, type or value."""


class KernelError(CmerlError):
    """A kernel is malformed, or its matrix is not positive semi-definite."""


class RewardRangeError(CmerlError):
    """A reward lies outside the declared ``reward_range``."""


class MissingConstantError(CmerlError):
    """A provable bonus needs a constant (B_P, B_V, B_R …) that has no valid automatic value here."""


class EnvironmentFault(CmerlError, RuntimeError):
    """An environment raised an error (the cause of this one) or returned an invalid transition."""


class StepTimeoutError(EnvironmentFault):
    """A step of an environment took longer than ``step_timeout``."""


class SharedAgentError(CmerlError, RuntimeError):
    """An agent was used while it was learning in another thread."""


def shown(value: Any, most: int = 80) -> str:
    """A short one-line form of a value for messages, safe against a failing repr."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 1]}…"
