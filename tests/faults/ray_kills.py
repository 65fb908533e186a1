"""Kill workers and nodes of a Ray cluster at random moments: the results are those of one quiet machine."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from unittest import mock

import clusters
from rows import Row
from run_directories import timeless

from cmerl import experiments
from cmerl.errors import CmerlError
from cmerl.experiments.engines import ray as engine

SPEC = {"environments": ["cmerl/RiverSwim-v0"], "agents": ["cme-rl"], "episodes": 120, "seeds": 2}
A_RUN = 4  # kills


def attack(count: int, seed: int, where: Path, *, broken: bool = False) -> Row:
    """So many kills of workers and of nodes. ``broken``: the driver loses a message in twenty."""
    rng, row = random.Random(seed), Row("kills with Ray")
    wanted = timeless(experiments.run(SPEC, out=where / "quiet", jobs=2).directory)
    receive = engine._ThroughDriver.receive

    def lossy(self: Any, records: list[bytes]) -> None:
        receive(self, records if rng.random() > 0.05 else records[1:])

    with clusters.token(), clusters.cluster() as cluster:
        while row.tried < count and not row.bad:
            victims = [rng.choice(["worker", "node"]) for _ in range(min(count - row.tried, A_RUN))]
            shared = rng.random() < 0.3 and not broken
            with mock.patch.object(engine._ThroughDriver, "receive", lossy if broken else receive):
                try:
                    _torment(cluster, victims, rng, where, row, wanted, journals="shared" if shared else "driver")
                except CmerlError as error:
                    row.bad.append(f"{victims}: {error}")
    return row


def _torment(
    cluster: Any, victims: list[str], rng: random.Random, where: Path, row: Row, wanted: Any, journals: str
) -> None:
    """One run during which these are killed, one after the other."""
    nodes = [cluster.add_node(num_cpus=1)]
    killed: list[str] = []

    def strike(victim: str) -> bool:
        if victim == "worker":
            done = any(clusters.kill_one(node) for node in rng.sample([cluster.head_node, *nodes], len(nodes) + 1))
        else:
            done = clusters.kill_busy_node(cluster, nodes[0])
            if done:
                nodes[:] = [cluster.add_node(num_cpus=1)]
        killed.extend([victim] * done)
        return done

    moments = sorted(rng.sample(range(1, 150), len(victims)))
    run = where / f"run-{sum(1 for _ in where.iterdir())}"
    results = experiments.run(
        SPEC,
        engine="ray",
        address=cluster.address,
        jobs=2,
        journals=journals,
        out=run,
        callbacks=[clusters.from_episode(at, lambda v=v: strike(v)) for at, v in zip(moments, victims, strict=True)],
    )
    row.tried += len(killed)
    row.outcomes.update(f"{victim} killed" for victim in killed)
    if all("3 times in one episode" in failure["message"] for failure in results.failures):  # enough, until resumed
        results = experiments.resume(run, address=cluster.address) if results.failures else results
    if results.failures or not results.finished:
        row.bad.append(f"{victims} at {moments}: {results.failures[:1]}")
    elif timeless(run) != wanted:
        row.bad.append(f"{victims} at {moments}: other results than in quiet")
    for node in nodes:
        cluster.remove_node(node)
