"""What the runner adds to an agent: 1000 episodes of RiverSwim, written down and not, in turns in one process.

Two equal agents learn in turns, a few episodes at a time, so that both meet the same noise; one writes a journal as a
worker does. The driver, which reads journals and writes the other files, is another process in a run; its time is
divided by the agent's likewise.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from cmerl.experiments.engines.base import EpisodeFinished
from cmerl.experiments.journal import FileJournal, Tail
from cmerl.experiments.packing import unpack
from cmerl.experiments.runner import load_spec
from cmerl.experiments.store import Ledger, RunDirectory
from cmerl.experiments.units import keeper, make_agent, units_of

EPISODES, TURN = 1000, 5


def measure(name: str, where: Path) -> None:
    spec = load_spec("cmerl/RiverSwim-v0", {"episodes": EPISODES, "agents": [name]})
    (unit,) = units_of(spec)
    run = RunDirectory.create(where / name, spec, "")
    ledger, tail = Ledger(run), Tail(run.journal_file(unit))
    bare, kept = make_agent(unit), make_agent(unit)
    alone = worker = driver = 0.0
    with FileJournal(run.journal_file(unit)) as journal:
        keep = keeper(unit, kept, journal)
        for _ in range(EPISODES // TURN):
            start = time.process_time()
            bare.learn(TURN)
            middle = time.process_time()
            kept.learn(TURN, callback=keep)
            end = time.process_time()
            for payload in tail():
                ledger.note(EpisodeFinished(unit, unpack(payload)["line"]))
            alone, worker, driver = alone + middle - start, worker + end - middle, driver + time.process_time() - end
    print(
        f"{name:8s} {1000 * alone / EPISODES:6.2f} ms an episode alone; "
        f"the worker adds {100 * (worker / alone - 1):+.1f} %, the driver takes {100 * driver / alone:.1f} % of it"
    )


if __name__ == "__main__":
    print(f"RiverSwim, {EPISODES} episodes, CPU time")
    with tempfile.TemporaryDirectory() as directory, threadpool_limits(1):
        for agent in ("cme-rl", "random"):
            measure(agent, Path(directory))
