"""Exported policies against the policies that they were made from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from exports import BALL, DIRECT, learned, observations

import cmerl
from cmerl.kernels import RBF, Columns, Constant, Delta, Matern, StateAction

KERNELS = [
    ("cmerl/RiverSwim-v0", {}),
    ("cmerl/RiverSwim-v0", {"bonus": "kl"}),
    ("cmerl/RiverSwim-v0", {"bonus": "split"}),
    (BALL, DIRECT),
    (BALL, {"backend": "compressed", "replan": False}),
    (BALL, {**DIRECT, "kernel": StateAction(Matern(1.5, 0.3), Delta())}),
    (BALL, {**DIRECT, "kernel": StateAction(RBF([0.3, 0.2]), RBF(2.0) + 0.5 * Constant(1.0))}),
    (BALL, {**DIRECT, "kernel": StateAction(Columns(Matern(2.5, 0.3), (1,)) * RBF(1.0), Matern(0.5, 2.0))}),
    (BALL, {**DIRECT, "angles": [0]}),
]


@pytest.mark.parametrize(("world", "options"), KERNELS)
@pytest.mark.parametrize("explore", [False, True])
def test_the_exported_policy_is_the_policy(
    world: str, options: dict[str, Any], explore: bool, tmp_path: Path
) -> None:
    agent = learned(world, **options)
    policy = agent.policy(explore)
    policy.export(tmp_path / "a.policy")
    loaded = cmerl.load_policy(tmp_path / "a.policy")
    assert loaded.horizon == agent.horizon
    for obs in observations(agent, 60):
        for step in (0, agent.horizon // 2, agent.horizon - 1):
            assert loaded(obs, step) == policy(obs, step)
    if world == BALL:
        obs = observations(agent, 1)[0]
        expected = policy.plan.q(agent.states.encode(obs), 4)[0]
        assert loaded.q_values(obs, 4) == pytest.approx(expected, rel=1e-9)


def test_nothing_but_numpy_is_imported(ball: tuple[cmerl.CMERL, Path]) -> None:
    agent, path = ball
    obs = observations(agent, 1)[0]
    code = (
        "import sys, cmerl\n"
        f"action = cmerl.load_policy({str(path)!r})({obs.tolist()!r}, 0)\n"
        "theirs = {name.partition('.')[0] for name in sys.modules}\n"
        "needs = ('gymnasium', 'joblib', 'pydantic', 'rich', 'safetensors', 'scipy', 'threadpoolctl', 'typer')\n"
        "print(action, sorted(set(needs) & theirs), 'numpy' in theirs)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split(" ", 1) == [str(agent.policy(False)(obs, 0)), "[] True\n"]
