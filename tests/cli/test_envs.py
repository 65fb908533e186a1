"""`cmerl envs`: the environments that can be made here."""

from __future__ import annotations

from typing import Any

import cmerl


def test_worlds_come_first_among_environments(call: Any) -> None:
    code, out, _ = call("envs")
    assert code == 0
    head, *rows = (line.split() for line in out.splitlines())
    assert head == ["environment", "horizon", "module"]
    assert rows[0][0].startswith("cmerl/")
    horizons = {id: horizon for id, horizon, _ in rows}
    assert horizons["cmerl/RiverSwim-v0"] == "20"
    assert horizons["cmerl/DeepSea-v0"] == str(cmerl.envs.DeepSea().horizon)
    assert horizons["CartPole-v1"] == "500"
    (cliff,) = (horizon for id, horizon in horizons.items() if id.startswith("CliffWalking-v"))  # v0 or v1
    assert cliff == "–"
    assert "GymV21Environment-v0" not in horizons  # needs a package that is not there
    assert "Ant-v2" not in horizons  # was withdrawn
    code, out, _ = call("envs", "mountain")
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["MountainCar-v0", "MountainCarContinuous-v0"]
    code, out, _ = call("envs", "Taxi")  # shorter than the head of its column
    head, *rows = out.splitlines()
    assert {row.index("gymnasium") for row in rows} == {head.index("module")}
