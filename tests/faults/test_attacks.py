"""The attacks of ``make faults`` in short, and that each would notice if something were broken."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import agent_interrupts
import worlds
from table import ATTACKS


@pytest.fixture(autouse=True)
def same_level() -> Iterator[None]:
    log = logging.getLogger("cmerl")
    level = log.level
    yield
    log.setLevel(level)


SHORT = [name for name in ATTACKS if name != "kills with Ray"]  # which tests/experiments/test_ray.py does


@pytest.mark.parametrize("name", SHORT)
def test_an_attack_finds_nothing(name: str, tmp_path: Path) -> None:
    attack, _, few, _ = ATTACKS[name]
    row = attack(few, 0, tmp_path)
    assert row.tried >= few
    assert row.bad == []


@pytest.mark.parametrize("name", [name for name in SHORT if name not in ("misbehaving worlds", "interrupts")])
def test_an_attack_finds_what_was_broken_on_purpose(name: str, tmp_path: Path) -> None:
    attack, _, _, enough = ATTACKS[name]
    assert attack(enough, 0, tmp_path, broken=True).bad


def test_worlds_and_interrupts_find_what_was_broken(tmp_path: Path) -> None:
    with mock.patch.object(worlds, "HARMLESS", ("one array",)), mock.patch.object(worlds, "FATAL", ()):
        assert worlds.attack(1, 0, tmp_path, broken=True).bad
    assert agent_interrupts.attack(28, 0, tmp_path, broken=True).bad
