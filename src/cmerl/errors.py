"""Everything cmerl raises on bad input, so that callers can catch exactly what they mean to handle."""

from __future__ import annotations

from typing import Any


class CmerlError(ValueError):
    """Base of all errors caused by what the user passed in; the message is one sentence with the fix."""


class InputError(CmerlError):
    """An array, an observation or an option has the wrong shape, type or value."""


class KernelError(CmerlError):
    """A kernel is malformed, or its matrix is not positive semi-definite."""


class RewardRangeError(CmerlError):
    """A reward lies outside the declared ``reward_range``."""


class MissingConstantError(CmerlError):
    """A provable bonus needs a constant (B_P, B_V, B_R …) that has no valid automatic value here."""


class EnvironmentFault(CmerlError, RuntimeError):
    """An environment raised an error, which is the cause of this one, or returned what is no transition."""


class StepTimeoutError(EnvironmentFault):
    """An environment took longer over one step than ``step_timeout`` allows."""


class SharedAgentError(CmerlError, RuntimeError):
    """An agent was used while another thread lets it learn."""


def shown(value: Any, most: int = 80) -> str:
    """A value inside a sentence: short, on one line, and whatever its repr does."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 1]}…"
