"""The command line called in this process, and the constants of a world for its calculators."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cmerl.cli import main
from cmerl.kernels import Delta
from cmerl.theory import information_gain


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Call a command: its exit code, what it said and what it complained about."""

    def command(*arguments: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert isinstance(end.value.code, int)
        return end.value.code, out, err

    return command


@pytest.fixture
def riverswim() -> dict[str, Any]:
    """The setting of cmerl/RiverSwim-v0, by hand."""
    return {
        "horizon": 20,
        "gamma": lambda N: information_gain(Delta(), N, lam=1.0, candidates=12),
        "lam": 1.0,
        "B_V": 20 * math.sqrt(6),
        "B_P": math.sqrt(12),
        "delta": 0.1,
    }
