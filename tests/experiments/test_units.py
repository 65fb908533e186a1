from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from cmerl.experiments.spec import parse
from cmerl.experiments.units import make_agent, plain, units_of
from cmerl.kernels import RBF


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (1, 1),
        (True, True),
        (None, None),
        (0.1, 0.1),
        (math.nan, None),
        (np.float64(0.1), 0.1),
        (np.float32(np.inf), None),
        (np.bool_(True), True),
        (np.int64(3), 3),
        (np.array(2.5), 2.5),
        (np.array([[1, 2]]), [[1, 2]]),
        ((1, [np.nan]), [1, [None]]),
        ({"a": {1: np.float64(2)}}, {"a": {"1": 2.0}}),
        (1j, "1j"),
    ],
)
def test_everything_becomes_plain_json(value: Any, wanted: Any) -> None:
    found = plain(value)
    assert found == wanted
    assert type(found) is type(wanted)
    json.dumps(found, allow_nan=False)


def test_units_are_told_apart_by_all_that_decides_them() -> None:
    base = {"environments": ["cmerl/RiverSwim-v0", "cmerl/Chain-v0"], "agents": ["cme-rl", "random"], "seeds": 2}
    units = units_of(parse(base))
    assert len({unit.key for unit in units}) == len({unit.file for unit in units}) == len(units) == 8
    (one, *_), (other, *_) = units, units_of(parse({**base, "horizon": 7}))
    assert one.key == other.key
    assert one.digest != other.digest
    assert one.digest == units_of(parse({**base, "jobs": 5, "engine": "ray"}))[0].digest


def test_labels_that_differ_in_signs_only_have_files_of_their_own() -> None:
    agents = [{"name": "random", "label": label} for label in ("a b", "a/b", "a-b", "../a")]
    files = [unit.file for unit in units_of(parse({"environment": "cmerl/Chain-v0", "agents": agents}))]
    assert len(set(files)) == 4
    assert not any("/" in file or file.startswith(".") for file in files)


def test_kernels_and_modes_are_made_from_tables() -> None:
    options = {
        "kernel": {"type": "RBF", "lengthscale": 0.3},
        "bonus": {"mode": "practical", "sigma_scale": 0.5},
        "reward_range": [0, 2],
    }
    spec = parse({"environment": "CartPole-v1", "agent": {"name": "cme-rl", "options": options}, "horizon": 9})
    agent: Any = make_agent(units_of(spec)[0])
    assert agent.kernel == RBF(0.3)
    assert agent.mode.sigma_scale == 0.5
    assert agent.reward_range == (0.0, 2.0)
    assert agent.horizon == 9
