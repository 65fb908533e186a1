"""The Ray engine on a real cluster of two nodes on this machine, whose workers and nodes are killed."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import clusters
import processes
import pytest
import ray
from clusters import busy_workers, from_episode, kill_busy_node, kill_one
from ray.cluster_utils import Cluster

from cmerl import experiments
from cmerl.errors import InputError
from cmerl.experiments.engines.base import EpisodeFinished, Task
from cmerl.experiments.engines.ray import RayEngine
from cmerl.experiments.journal import FileJournal
from cmerl.experiments.packing import unpack
from cmerl.experiments.spec import parse
from cmerl.experiments.units import Unit, units_of

# long enough to be killed in the middle
SPEC = {"environments": ["cmerl/RiverSwim-v0"], "agents": ["cme-rl"], "episodes": 300, "seeds": 2}


@pytest.fixture(scope="module", autouse=True)
def token() -> Iterator[None]:
    with clusters.token():
        yield


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with clusters.cluster() as found:
        yield found


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> experiments.Results:
    return experiments.run(SPEC, out=tmp_path_factory.mktemp("local") / "run", jobs=2)


def bytes_of(results: experiments.Results) -> list[dict[str, Any]]:
    """Everything but timings."""
    return [{key: value for key, value in line.items() if key != "seconds"} for line in results.episodes]


def test_killing_a_worker_and_a_node_changes_nothing_in_the_results(cluster, local, tmp_path, caplog) -> None:
    caplog.set_level(logging.INFO, logger="cmerl")
    second = cluster.add_node(num_cpus=1)
    results = experiments.run(
        SPEC,
        engine="ray",
        address=cluster.address,
        jobs=2,
        out=tmp_path / "run",
        callbacks=[
            from_episode(5, lambda: kill_one(cluster.head_node)),
            from_episode(10, lambda: kill_busy_node(cluster, second)),
        ],
    )
    assert caplog.text.count("its worker died") >= 2
    assert results.finished
    assert bytes_of(results) == bytes_of(local)


def test_journals_on_a_shared_disk_are_written_by_workers_and_survive_them(cluster, local, tmp_path, caplog) -> None:
    caplog.set_level(logging.INFO, logger="cmerl")
    results = experiments.run(
        SPEC,
        engine="ray",
        address=cluster.address,
        journals="shared",
        out=tmp_path / "run",
        callbacks=[from_episode(20, lambda: kill_one(cluster.head_node))],
    )
    assert caplog.text.count("its worker died") == 1
    assert bytes_of(results) == bytes_of(local)


FATAL = """
import os, signal
import gymnasium

class Fatal(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)
    horizon = 2
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}
    def step(self, action):
        os.kill(os.getpid(), signal.SIGKILL)

gymnasium.register("Fatal-v0", Fatal)
"""


def descendants(pid: int) -> set[int]:
    try:
        children = (Path("/proc") / str(pid) / "task" / str(pid) / "children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return set()
    return {pid}.union(*(descendants(int(child)) for child in children))


def open_files(pid: int) -> list[str]:
    found = []
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
        for fd in (Path("/proc") / str(pid) / "fd").iterdir():
            with suppress(FileNotFoundError):  # or closed the file
                found.append(os.readlink(fd))
    return found


def listening_addresses(pids: set[int]) -> set[str]:
    """Local addresses, as the kernel writes them, on which any of the processes accepts connections."""
    links = [link for pid in pids for link in open_files(pid)]
    tables = [Path("/proc/net/tcp").read_text(), Path("/proc/net/tcp6").read_text()]
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in links}


LOOPBACK_ADDRESSES = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}


def test_a_cluster_started_here_is_private_outlives_fatal_units_and_ends_with_the_run(tmp_path, monkeypatch) -> None:
    (tmp_path / "fatal_env.py").write_text(FATAL)
    monkeypatch.syspath_prepend(tmp_path)
    before = descendants(os.getpid())
    started: set[int] = set()
    listening: set[str] = set()

    def look() -> bool:
        started.update(descendants(os.getpid()) - before)
        listening.update(listening_addresses(started | {os.getpid()}))
        return True

    results = experiments.run(
        environments=["Fatal-v0", "cmerl/RiverSwim-v0"],
        agents=["random"],
        episodes=3,
        allow_env_modules=["fatal_env"],
        engine="ray",
        jobs=1,
        out=tmp_path / "run",
        callbacks=[from_episode(1, look)],
    )
    assert [failure["env"] for failure in results.failures] == ["Fatal-v0"]
    assert "its worker died 3 times in one episode" in results.failures[0]["message"]
    assert [line["env"] for line in results.episodes] == ["cmerl/RiverSwim-v0"] * 3

    assert listening
    assert listening <= LOOPBACK_ADDRESSES
    assert len(started) > 3
    processes.wait_until(lambda: not started & descendants(os.getpid()))


def test_closing_the_engine_ends_its_workers_and_keeps_the_journal(cluster, tmp_path) -> None:
    (unit, *_) = units_of(parse({**SPEC, "episodes": 5000}))
    path = tmp_path / "run" / "journals" / "one.journal"
    path.parent.mkdir(parents=True)
    events = RayEngine(address=cluster.address).run([Task(unit, path, 0)])
    first = next(events)
    assert isinstance(first, EpisodeFinished)
    assert busy_workers(cluster.head_node)
    events.close()
    processes.wait_until(lambda: not busy_workers(cluster.head_node))
    assert not ray.is_initialized()
    with FileJournal(path) as journal:
        assert unpack(journal.records()[1])["line"] == first.line


# --- without a cluster ---


@pytest.fixture
def unit() -> Unit:
    return units_of(parse({**SPEC, "episodes": 5}))[0]


def test_addresses_that_cannot_work_are_refused_in_a_sentence(unit, tmp_path) -> None:
    with pytest.raises(InputError, match="start the run on a machine of the cluster"):
        RayEngine(address="ray://localhost:10001")
    for address in ("nonsense", "127.0.0.1:1"):
        with pytest.raises(InputError, match=f"a Ray cluster does not answer at '{address}'"):
            next(RayEngine(address=address).run([Task(unit, tmp_path / "one.journal", 0)]))


def test_nothing_to_play_starts_no_cluster() -> None:
    assert list(RayEngine().run([])) == []
    assert not ray.is_initialized()
