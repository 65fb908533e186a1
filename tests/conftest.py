"""Fixtures that tests of several rooms share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cmerl.agents.cme_rl.options import Options


@pytest.fixture
def recipe_with(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Agents that are made or loaded from then on have other settings than a user can give, such as a short log."""
    made = Options.recipe

    def change(**settings: Any) -> None:
        monkeypatch.setattr(Options, "recipe", lambda self, *given: replace(made(self, *given), **settings))

    return change
