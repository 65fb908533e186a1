"""Episodes that are played to be compared: where they differ, and that they leave no trace."""

from __future__ import annotations

import random

import numpy as np
from drifting import Sound
from gymnasium import spaces

from cmerl.checking import check_env
from cmerl.checking.episodes import Episode, Step, same


def test_global_generators_are_left_as_they_were():
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    expected = random.random(), np.random.random()  # noqa: NPY002
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    check_env(Sound())
    assert (random.random(), np.random.random()) == expected  # noqa: NPY002


def test_an_episode_that_takes_too_long_is_left(monkeypatch):
    monkeypatch.setattr("cmerl.checking.check.PATIENCE", -1.0)
    assert check_env(Sound()).steps == 4  # a step of each


def test_the_action_space_draws_afterwards_as_it_would_have():
    env = Sound()
    env.action_space = spaces.Discrete(1000)
    env.action_space.seed(3)
    expected = [env.action_space.sample() for _ in range(3)]
    env.action_space.seed(3)
    check_env(env)
    assert [env.action_space.sample() for _ in range(3)] == expected


def episode(*steps):
    return Episode([Step(None, *step) for step in steps])


def test_the_first_difference_is_that_of_anything_returned_or_of_length():
    one = episode((0.0,), (1.0, 0.5), (2.0, 0.5))
    assert one.first_difference(episode((0.0,), (1.0, 0.5), (2.0, 0.5))) is None
    assert one.first_difference(episode((0.0,), (1.5, 0.5), (2.0, 0.5))) == 1
    assert one.first_difference(episode((0.0,), (1.0, 0.5), (2.0, 0.6))) == 2
    assert one.first_difference(episode((0.0,), (1.0, 0.5), (2.0, 0.5, True))) == 2
    assert one.first_difference(episode((0.0,), (1.0, 0.5), (2.0, 0.5, False, True))) == 2
    assert one.first_difference(episode((0.0,), (1.0, 0.5))) == 2


def test_nested_values_are_the_same_if_all_their_parts_are():
    nan = float("nan")
    assert same({"a": (1, [np.array([nan, 1.0])])}, {"a": (1, [np.array([nan, 1.0])])})
    assert same(nan, nan)
    for a, b in [
        ({"a": 1}, {"a": 1, "b": 2}),
        ((1,), (1, 2)),
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), 0.0),
        ({}, 1),
    ]:
        assert not same(a, b)
        assert not same(b, a)
