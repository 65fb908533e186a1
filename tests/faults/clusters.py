"""A real Ray cluster on this machine, and how to hurt it."""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from ray._raylet import Config
from ray.cluster_utils import Cluster

from cmerl.experiments.engines import ray as engine
from cmerl.experiments.engines.base import EpisodeFinished

TOKEN = secrets.token_hex(32)


@contextmanager
def alone() -> Iterator[None]:
    """Wait for other processes of the tests that have a cluster."""
    with open(Path(tempfile.gettempdir()) / f"cmerl-cluster-{os.getuid()}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # also for children that have it open


@contextmanager
def token() -> Iterator[None]:
    """One token for every cluster of this process, in the environment: none is written to the home directory.

    Only one process of the tests has it at a time: a cluster takes a machine for itself.
    """
    settings = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": TOKEN, "RAY_AUTH_MODE": "token"}
    with alone(), mock.patch.dict(os.environ, settings):
        Config.initialize("")  # Ray has read its environment when it was imported
        yield


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A head node with one processor, on loopback."""
    with engine.loopback():
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        try:
            yield found
        finally:
            found.shutdown()


def busy_workers(node: Any) -> list[int]:
    """Processes of a node that are playing a unit; one that only starts has another title, and no unit to lose."""
    raylet = node.all_processes["raylet"][0].process.pid
    children = (Path("/proc") / str(raylet) / "task" / str(raylet) / "children").read_text().split()
    return [int(pid) for pid in children if _command(pid).startswith(b"ray::play_in_worker\0")]


def _command(pid: str) -> bytes:
    try:
        return (Path("/proc") / pid / "cmdline").read_bytes()
    except OSError:
        return b""


def from_episode(number: int, act: Callable[[], bool]) -> Callable[..., None]:
    """A callback that tries to act at every episode from a number on, until it could."""
    seen, done = [], []

    def callback(event: Any, ledger: Any) -> None:
        if isinstance(event, EpisodeFinished):
            seen.append(event)
            if len(seen) >= number and not done and act():
                done.append(True)

    return callback


def kill_one(node: Any) -> bool:
    """Kill −9 a worker of a node that plays; whether there was one."""
    for pid in busy_workers(node)[:1]:
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def kill_busy_node(cluster: Cluster, node: Any) -> bool:
    """Take a node away with everything on it, if it plays; whether it did."""
    busy = bool(busy_workers(node))
    if busy:
        cluster.remove_node(node, allow_graceful=False)
    return busy
