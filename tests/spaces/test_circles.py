"""Numbers that are angles, by jumps and by likelihood, and numbers that only look like some."""

import gymnasium
import numpy as np
import pytest

from cmerl.spaces import StateSpace
from cmerl.spaces.circles import turns, wraps

TURN = 2.0 * np.pi


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def walk(rng, n=600, step=0.25, inertia=0.9):
    """A number that goes on in one direction for a while, as a rotor does."""
    speed = np.zeros(n)
    for t in range(1, n):
        speed[t] = inertia * speed[t - 1] + np.sqrt(1.0 - inertia**2) * step * rng.normal()
    return np.cumsum(speed)


def transitions(path):
    return path[:-1], path[1:], np.arange(len(path) - 1) > 0


@pytest.mark.parametrize(("period", "origin"), [(TURN, -np.pi), (TURN, 0.0), (360.0, 0.0), (7.3, 1.5)])
def test_a_rotor_that_wraps_is_seen_with_its_period_and_its_origin(rng, period, origin):
    path = walk(rng) * period / TURN
    found = wraps(*transitions(origin + np.mod(path, period)))
    assert found is not None
    assert found.period == pytest.approx(period, rel=1e-12 if period in (TURN, 360.0) else 0.02)
    assert found.origin == pytest.approx(origin, abs=0.02 * period)


def test_a_path_in_pieces_is_judged_within_them(rng):
    path = np.mod(walk(rng, 1200), TURN)
    before, after, follows = transitions(path)
    follows[::50] = False
    assert wraps(before, after, follows) is not None
    assert wraps(before, after, np.zeros_like(follows)) is None  # nothing goes on from anything


def switch(rng):
    return np.repeat(rng.integers(0, 2, 100), 6) + 0.02 * rng.normal(size=600)


def stock(rng):
    """Sold down and filled up at random, or as soon as it is low."""
    levels = [10.0]
    for demand in rng.uniform(0.0, 1.0, 599):
        levels.append(10.0 if levels[-1] < 1.0 else levels[-1] - demand)
    return np.array(levels)


def bouncing(rng):
    return np.abs(np.mod(walk(rng), 4.0) - 2.0)


def sensor(rng):
    return rng.normal(size=600)


@pytest.mark.parametrize("path", [switch, stock, bouncing, sensor, walk, lambda rng: np.ones(50)])
def test_what_does_not_wrap_is_no_circle(rng, path):
    assert wraps(*transitions(path(rng))) is None


def motion(rng, number, effect):
    """Two columns and a push: the number moves at the other's rate, which changes by ``effect`` of the number."""
    other, push = rng.normal(size=(2, len(number)))
    outputs = np.column_stack([0.1 * other, effect(number) + 0.5 * push])
    return np.column_stack([number, other, push]), outputs


@pytest.mark.parametrize("unit", [TURN, 360.0])
def test_a_number_whose_turns_make_no_difference_is_an_angle(rng, unit):
    inputs, outputs = motion(rng, unit * rng.uniform(-1.5, 1.5, 150), lambda x: np.sin(TURN * x / unit))
    found = turns(inputs, 0, outputs)
    assert found is not None
    assert found.period == unit
    assert turns(inputs, 1, outputs) is None


@pytest.mark.parametrize(
    "effect", [lambda x: 0.1 * x, lambda x: 0.0 * x, lambda x: np.tanh(x), lambda x: np.sin(0.7 * x)]
)
def test_a_number_whose_turns_matter_or_that_does_not_matter_is_none(rng, effect):
    inputs, outputs = motion(rng, TURN * rng.uniform(-1.5, 1.5, 150), effect)
    assert turns(inputs, 0, outputs) is None


def test_less_than_a_turn_and_a_bit_says_nothing(rng):
    inputs, outputs = motion(rng, rng.uniform(-np.pi, np.pi, 150), np.sin)
    assert turns(inputs, 0, outputs) is None


def test_recoded_rows_are_those_of_the_new_encoding(rng):
    box = gymnasium.spaces.Box(np.array([-5.0, -np.inf, 0.0]), np.array([5.0, np.inf, 7.0]), dtype=np.float64)
    before = StateSpace.of(box, [2])
    after = before.with_angles(np.array([0.0, TURN, 0.0]), np.array([0.0, 1.0, 0.0]))
    observations = rng.uniform([-5.0, 1.0, -np.pi], [5.0, 1.0 + TURN, np.pi], (40, 3))
    rows = before.encode_many(observations)
    recoded = before.columns.recoded(rows, after.columns)
    np.testing.assert_allclose(recoded, after.encode_many(observations), atol=1e-12)
    np.testing.assert_array_equal(recoded[:, 0], rows[:, 0])
    np.testing.assert_allclose(np.array(after.decode(recoded)), observations, atol=1e-9)
    again = StateSpace.from_spec(after.spec())
    np.testing.assert_array_equal(again.decode_array(recoded), after.decode_array(recoded))
