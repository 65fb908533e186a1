"""What can be exported, and that continuous actions climb to the same place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from exports import BALL, DIRECT, learned, observations

import cmerl
from cmerl.acting.refine import QSurface
from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, Linear, StateAction


def test_continuous_actions_climb_to_the_same_place(tmp_path: Path) -> None:
    agent = learned("cmerl/LinearQuadratic-v0", 3, model="direct")
    policy = agent.policy(explore=False)
    policy.export(tmp_path / "a.policy")
    loaded = cmerl.load_policy(tmp_path / "a.policy")
    same = []
    for obs in observations(agent, 60):
        mine, theirs = policy(obs, 3), loaded(obs, 3)
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        q = QSurface(policy.plan, agent.states.encode(obs), 3)
        heights = q(np.vstack([agent.actions.encode(mine), agent.actions.encode(theirs)]))
        assert heights[0] == pytest.approx(heights[1], rel=1e-12, abs=1e-12)  # where Q is flat, rounding decides
        same.append(np.array_equal(mine, theirs))
    assert np.mean(same) > 0.8


@pytest.mark.parametrize(
    ("world", "options", "explore", "sentence"),
    [
        (BALL, {**DIRECT, "kernel": StateAction(Linear() + 1.0, Delta())}, False, "the kernel Linear cannot be"),
        (BALL, {**DIRECT, "kernel": RBF(0.3), "reward": lambda s, a: 0.0}, False, "asks a reward function"),
        (BALL, {**DIRECT, "backend": "fourier", "kernel": RBF(0.3)}, False, "cannot be exported"),
    ],
)
def test_what_cannot_be_exported(
    world: str, options: dict[str, Any], explore: bool, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=sentence):
        learned(world, 1, **options).policy(explore).export(tmp_path / "a.policy")
    assert not (tmp_path / "a.policy").exists()


def test_a_policy_that_knows_nothing_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="knows nothing yet"):
        cmerl.CMERL(gymnasium.make(BALL)).policy().export(tmp_path / "a.policy")
