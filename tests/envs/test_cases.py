"""The worlds of the worked cases: by hand, against stockpyl's newsvendor, and against a recursion of our own."""

from __future__ import annotations

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from cmerl.envs import Battery, LeadTimeInventory
from cmerl.errors import InputError


@pytest.mark.parametrize("world", ["cmerl/LeadTimeInventory-v0", "cmerl/Battery-v0"])
def test_gymnasiums_checker_has_no_complaint(world: str) -> None:
    check_env(gymnasium.make(world).unwrapped, skip_render_check=True)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Battery(prices=[]), "prices must be a list of finite numbers"),
        (lambda: Battery(efficiency=0.0), "efficiency must lie in"),
        (lambda: LeadTimeInventory(lead_time=0), "lead_time must be an integer of at least 1"),
        (lambda: LeadTimeInventory(lead_time=6), "too many for tables"),
    ],
)
def test_what_makes_no_world(make: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()  # type: ignore[operator]


def test_their_kernels_fit_their_agents() -> None:
    import cmerl

    for world in (LeadTimeInventory(), Battery()):
        agent = cmerl.CMERL(world, kernel=world.kernel(), reward_range=world.reward_range).learn(1)
        assert agent.model.n == world.horizon
