"""The value that ends searches: exact where it can be, never more than is possible, careful where ends are costly."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.acting.followed_policy import PolicySettings
from cmerl.acting.terminal_value import TerminalSettings, ends_cost, terminal_value
from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.motion import Motion
from cmerl.searching.icem import Channels, Search
from cmerl.searching.simulator import roll
from cmerl.transitions import Transitions

ACTIONS = np.linspace(-1.0, 1.0, 5)[:, None]
CONTINUOUS = Channels(continuous=1)


def learned(reward, ended=None, n: int = 300, seed: int = 0) -> DisplacementEmbedding:
    """A point on a line that an action moves by up to 0.1, seen within [0, 1]."""
    rng = np.random.default_rng(seed)
    x, a = rng.random((n, 1)), rng.uniform(-1, 1, (n, 1))
    y = x + 0.1 * a
    found = DisplacementEmbedding(ACTIONS, categorical=False)
    over = None if ended is None else ended(y[:, 0])
    found.update(Transitions.of(np.hstack([x, a]), y, reward(x[:, 0]), over))
    return found


def value(model: DisplacementEmbedding, horizon: int = 100):
    return terminal_value(model.view.dynamics, CONTINUOUS, horizon, TerminalSettings(), Search(), PolicySettings())


def test_rolling_out_is_stepping() -> None:
    dynamics = learned(lambda x: x, lambda y: y > 1.0).view.dynamics
    rng = np.random.default_rng(1)
    y, sequences = rng.normal(size=(6, 1)).astype(np.float32), rng.uniform(-1, 1, (6, 5, 1)).astype(np.float32)
    total, there, over = roll(dynamics.quick_step, y, sequences, 0.9)
    at, expected, ended = y.astype(float), np.zeros(6), np.zeros(6, dtype=bool)
    for t in range(5):
        at, r, e = dynamics.step(at, sequences[:, t].astype(float))
        expected += np.where(ended, 0.0, 0.9**t * r)
        ended |= e
    np.testing.assert_allclose(total, expected, atol=1e-3)
    np.testing.assert_allclose(there, at, atol=1e-3)
    assert over is not None
    np.testing.assert_array_equal(over, ended)


def test_a_constant_reward_is_worth_its_sum_and_no_more() -> None:
    model = learned(lambda x: np.where(x > 2.0, 0.0, 0.7) + 1e-6 * np.sin(x))  # varies, but hardly
    V, discount = value(model), TerminalSettings().discount(100)
    at = np.random.default_rng(0).normal(size=(200, 1), scale=3.0).astype(np.float32)  # far outside, too
    np.testing.assert_allclose(V(at), 0.7 / (1.0 - discount), rtol=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_v_never_exceeds_what_rewards_allow(seed: int) -> None:
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0, 6, 3)
    model = learned(lambda x: np.sin(9 * x + phases[0]) - 1.0 + 0.3 * rng.normal(size=len(x)).clip(-1, 0), seed=seed)
    V, most = value(model), float(model.data.rewards.max())
    at = rng.normal(size=(500, 1), scale=2.0).astype(np.float32)
    assert V(at).max() <= most / (1.0 - TerminalSettings().discount(100)) + 1e-3


def test_v_follows_the_optimum_of_a_world_with_a_known_one_from_below() -> None:
    """Reward −(x − 0.5)²: from anywhere, move there as fast as 0.1 a step, and stay."""
    model, discount = learned(lambda x: -np.square(x - 0.5)), TerminalSettings().discount(100)
    V, starts = value(model), np.array([0.05, 0.3, 0.5, 0.8])
    expected = []
    for x in starts:
        gaps = np.maximum(np.abs(x - 0.5) - 0.1 * np.arange(40), 0.0)
        expected.append(-np.sum(discount ** np.arange(40) * gaps**2))
    found = V(model.view.scaled(starts[:, None]).astype(np.float32))
    spread = max(expected) - min(expected)
    assert np.all(found <= np.array(expected) + 0.05 * spread)  # a few smooth sequences reach less than the best do
    assert np.corrcoef(found, expected)[0, 1] > 0.95
    assert found.argmax() == 2


def test_where_ends_are_costly_the_unknown_is_feared_and_elsewhere_not() -> None:
    far = np.float32([[30.0]])
    ending = value(learned(lambda x: 1.0 + 0.1 * np.sin(5 * x), lambda y: y > 1.0))
    lasting = value(learned(lambda x: 1.0 + 0.1 * np.sin(5 * x)))
    assert ending.pessimism == 1.0
    assert ending(far)[0] == pytest.approx(ending.values.min(), rel=1e-3)
    assert 0.0 < lasting.pessimism < ending.pessimism
    left = lasting.mean - lasting.pessimism * (lasting.mean - lasting.values.min())
    assert lasting(far)[0] == pytest.approx(left, rel=1e-3)


@pytest.mark.parametrize(
    ("step", "end", "cost"),
    [(-1.0, -1.0, False), (1.0, 0.0, True), (0.0, 1.0, False), (1.0, 99.0, True), (1.0, 101.0, False)],
)
def test_an_end_costs_if_going_on_pays_as_much(step: float, end: float, cost: bool) -> None:
    ended = np.arange(60) % 20 == 19
    x = np.zeros((60, 1))
    assert ends_cost(Motion(x, x, x, np.where(ended, end, step), ended), 100) is cost
    assert not ends_cost(Motion(x, x, x, np.full(60, step), np.zeros(60, dtype=bool)), 100)


def test_it_is_made_once_for_a_model_and_is_a_function_of_the_data() -> None:
    one, other = learned(np.sin), learned(np.sin)
    assert value(one) is value(one)
    at = np.linspace(-2, 2, 20, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(value(one)(at), value(other)(at))
