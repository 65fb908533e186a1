"""The file of an agent: where it may lie, and formats of other versions."""

from __future__ import annotations

import os
from pathlib import Path

import gymnasium
import pytest

import cmerl
from cmerl import CMERL, agents
from cmerl.agents import make
from cmerl.agents.saving import container
from cmerl.envs import RiverSwim
from cmerl.errors import InputError


def test_save_and_load_want_regular_files(tmp_path: Path) -> None:
    agent = make("random", gymnasium.make("cmerl/RiverSwim-v0"))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    for name in ("pipe", "link"):
        with pytest.raises(InputError, match="not replaced"):
            agent.save(tmp_path / name)
    with pytest.raises(InputError, match="is a pipe"):
        type(agent).load(tmp_path / "pipe")
    assert not (tmp_path / "victim").exists()


def test_saving_into_a_directory_that_is_not_there_is_refused_and_nothing_is_lost(tmp_path):
    agent = CMERL(RiverSwim(), seed=0).learn(1)
    with pytest.raises(InputError, match=r"there is no directory .*nowhere' to save to"):
        agent.save(tmp_path / "nowhere" / "agent")
    agent.save(tmp_path / "agent")
    assert len(CMERL.load(tmp_path / "agent", env=RiverSwim()).history) == 1


def test_a_later_format_is_refused_in_a_sentence(tmp_path: Path) -> None:
    agent = agents.make("random", gymnasium.make("cmerl/RiverSwim-v0"))
    agent.save(tmp_path / "now")
    tensors, meta = container.read(tmp_path / "now")
    (tmp_path / "later").write_bytes(container.to_bytes(tensors, {**meta, "format": 3}))
    with pytest.raises(InputError, match="has format 3, this version of cmerl reads 2"):
        type(agent).load(tmp_path / "later")
    assert cmerl.__version__
