"""Wrappers that change the task leave no model to measure regret with."""

from __future__ import annotations

import gymnasium

from cmerl.oracles import known_model
from cmerl.oracles.wrapping import is_transformed
from cmerl.wrappers import (
    ActionRepeat,
    GoalReward,
)


def test_wrappers_that_change_the_task_leave_no_model_to_measure_regret_with():
    for wrapper, options in ((GoalReward, {}), (ActionRepeat, {"times": 2})):
        assert known_model(wrapper(gymnasium.make("cmerl/RiverSwim-v0"), **options)) is None


def test_what_changes_what_is_seen_done_or_paid_is_found_at_any_depth():
    env = gymnasium.make("CartPole-v1")  # wrapped by Gymnasium itself, which changes nothing
    assert not is_transformed(env)
    assert not is_transformed(gymnasium.wrappers.TimeLimit(env, 3))
    for changed in (
        gymnasium.wrappers.TransformReward(env, lambda r: 2 * r),
        gymnasium.wrappers.FlattenObservation(env),
        gymnasium.wrappers.ClipAction(gymnasium.make("Pendulum-v1")),
    ):
        assert is_transformed(changed)
        assert is_transformed(gymnasium.wrappers.TimeLimit(changed, 3))
    assert not is_transformed(env.unwrapped)
