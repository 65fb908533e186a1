"""The horizon: what the user says, or the environment."""

from typing import Any

import gymnasium
import pytest
from gymnasium.wrappers import TimeLimit

from cmerl.agents.horizons import find_horizon, time_limit
from cmerl.errors import InputError


class World(gymnasium.Env[Any, Any]):
    """Has no time limit, and says how long it lasts where it is told to."""

    def __init__(self, **own: int) -> None:
        vars(self).update(own)


def test_the_users_word_comes_first_then_the_time_limit_then_the_world() -> None:
    assert find_horizon(World(horizon=7, max_steps=9), None) == 7
    assert find_horizon(World(max_steps=9), None) == 9
    assert find_horizon(TimeLimit(World(horizon=7), 5), None) == 5
    assert find_horizon(TimeLimit(World(horizon=7), 5), 3) == 3
    assert find_horizon(World(horizon=7), 20) == 20


def test_of_several_time_limits_the_shortest_counts() -> None:
    assert time_limit(TimeLimit(TimeLimit(World(), 5), 8)) == 5
    assert time_limit(TimeLimit(gymnasium.make("CartPole-v1", max_episode_steps=30), 40)) == 30
    assert time_limit(World(horizon=3)) is None


@pytest.mark.parametrize(
    ("env", "horizon", "message"),
    [
        (World(), None, "this environment has no max_episode_steps: pass horizon"),
        (World(), 0, "horizon must be a whole number of at least 1, not 0"),
        (World(), 2.0, "horizon must be a whole number"),
        (World(), True, "horizon must be a whole number"),
        (World(), 10**6 + 1, "at most a million steps"),
        (World(horizon=0), None, "horizon must be a whole number"),
        (TimeLimit(World(), 5), 6, "cuts episodes after 5 steps, before the horizon of 6: pass horizon=5"),
    ],
)
def test_what_is_no_horizon_is_refused(env: Any, horizon: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_horizon(env, horizon)
