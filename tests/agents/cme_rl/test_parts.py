"""Parts of a user's own: which were passed in, and that they are what plays."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from cmerl import CMERL
from cmerl.acting import Greedy
from cmerl.agents.cme_rl.parts import Parts
from cmerl.optimism import Ceilings, RangeCeiling, Situation
from cmerl.planning import Plan, make_plan


def test_what_was_passed_in_is_named_and_the_rest_is_ours() -> None:
    assert Parts().own == []
    assert Parts().backward is make_plan
    assert Parts(optimism=RangeCeiling(), actor=Greedy()).own == ["optimism", "actor"]


class Halved:
    """Half of what the range allows."""

    def ceilings(self, now: Situation) -> Ceilings:
        full = RangeCeiling().ceilings(now)
        return Ceilings(full.cap, 0.5 * full.prior)


def test_an_optimism_of_ones_own_is_the_value_where_there_are_no_data() -> None:
    env = gymnasium.make("cmerl/RiverSwim-v0")
    agent, own = CMERL(env, seed=0), CMERL(env, seed=0, optimism=Halved())
    np.testing.assert_allclose(own.q_values(0), 0.5 * agent.q_values(0))


def test_a_planner_of_ones_own_makes_every_plan() -> None:
    made: list[int] = []

    def counting(*arguments: Any, **options: Any) -> Plan:
        made.append(options["episode"])
        return make_plan(*arguments, **options)

    env = gymnasium.make("cmerl/RiverSwim-v0")
    agent = CMERL(env, seed=0, planner=counting).learn(3)
    assert set(made) == {1, 2, 3}
    assert [r.ret for r in agent.history] == [r.ret for r in CMERL(env, seed=0).learn(3).history]
