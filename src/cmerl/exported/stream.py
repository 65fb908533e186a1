"""A policy as a filter: lines of JSON in, lines of JSON out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cmerl.errors import InputError
from cmerl.exported.policies import ExportedPolicy


def act(policy: ExportedPolicy, lines: Iterable[str]) -> Iterator[str]:
    """For every observation the action; an empty line begins another episode.

    Args:
        policy: the policy.
        lines: an observation each, or an object with ``observation`` and ``step``.
    """
    step = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            step = 0
            continue
        obs, given = _read(line, number)
        step = step if given is None else given
        if step == policy.horizon and given is None:
            raise InputError(
                f"line {number}: the episode is over after {policy.horizon} steps: an empty line begins another one"
            )
        try:
            action = policy(obs, step)
        except InputError as error:
            raise InputError(f"line {number}: {error}") from None
        yield json.dumps(np.asarray(action).tolist())
        step += 1


def _read(line: str, number: int) -> tuple[Any, int | None]:
    try:
        found = json.loads(line)
    except ValueError:
        raise InputError(f"line {number} is not JSON: {line.strip()[:60]!r}") from None
    if isinstance(found, dict) and "observation" in found:
        return found["observation"], found.get("step")
    return found, None
