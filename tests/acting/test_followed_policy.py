"""The policy that was followed: against the law that actions were drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.acting.followed_policy import PolicySettings, followed_policy
from cmerl.acting.terminal_value import TerminalSettings, terminal_value
from cmerl.embedding import DisplacementEmbedding
from cmerl.searching.icem import Channels, Search
from cmerl.transitions import Transitions

ACTIONS = np.linspace(-1.0, 1.0, 5)[:, None]
CONTINUOUS = Channels(continuous=1)


def learned(law, n: int = 400, *, actions: np.ndarray = ACTIONS, categorical: bool = False) -> DisplacementEmbedding:
    """A point in the square whose actions follow a law of where it is, (n, 2) → (n, 1)."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (n, 2))
    a = law(x, rng)
    found = DisplacementEmbedding(actions, categorical=categorical)
    found.update(Transitions.of(np.hstack([x, a]), x + 0.1 * a, x[:, 0]))
    return found


def asked(model: DisplacementEmbedding, states: np.ndarray, channels: Channels = CONTINUOUS) -> np.ndarray:
    policy = followed_policy(model.dynamics, channels, PolicySettings())
    return channels.decode(policy(model.units.scaled(states).astype(np.float32)))


STATES = np.random.default_rng(7).uniform(-0.9, 0.9, (200, 2))


def test_noisy_actions_are_averaged_to_the_law_that_they_follow() -> None:
    def law(x, rng):
        return (0.5 * x[:, :1] - 0.3 * np.sin(3 * x[:, 1:]) + 0.2 * rng.normal(size=(len(x), 1))).clip(-1, 1)

    found = asked(learned(law), STATES)
    expected = 0.5 * STATES[:, :1] - 0.3 * np.sin(3 * STATES[:, 1:])
    assert np.sqrt(np.mean(np.square(found - expected))) < 0.05  # a quarter of the noise


def test_what_was_done_long_ago_does_not_count() -> None:
    """Of 2000 transitions the first 1600 follow the opposite law."""

    def law(x, rng):
        return np.where(np.arange(len(x))[:, None] < len(x) - 400, -0.5, 0.5) * x[:, :1]

    np.testing.assert_allclose(asked(learned(law, 2000), STATES), 0.5 * STATES[:, :1], atol=0.02)


def test_rows_are_spread_over_three_episodes_as_long_as_the_latest() -> None:
    """Each of three episodes of 500 steps has a law of its own, and the policy is their average."""
    laws = np.repeat([-0.6, 0.0, 0.9], 500)[:, None]
    model = learned(lambda x, rng: laws * x[:, :1], 1500)  # no row follows from another: each is an episode
    np.testing.assert_allclose(asked(model, STATES), 0.9 * STATES[:, :1], atol=0.05)
    model.dynamics.followed = None
    model.dynamics.__dict__["last_of_episode"] = np.repeat([499, 999, 1499], 500)
    np.testing.assert_allclose(asked(model, STATES), 0.1 * STATES[:, :1], atol=0.15)


def test_an_action_that_never_varies_is_what_is_proposed() -> None:
    model = learned(lambda x, rng: np.full((len(x), 1), 0.25))
    np.testing.assert_allclose(asked(model, STATES), 0.25, atol=1e-6)


def test_of_names_the_one_that_was_chosen_nearby_is_proposed() -> None:
    names = np.array([[0.0], [1.0], [2.0]])
    model = learned(lambda x, rng: np.sign(x[:, :1]) + 1.0, actions=names, categorical=True)
    channels = Channels(choices=(np.eye(3, dtype=np.float32),))
    clear = STATES[np.abs(STATES[:, 0]) > 0.15]
    np.testing.assert_array_equal(asked(model, clear, channels).argmax(axis=1), np.sign(clear[:, 0]) + 1.0)


def test_it_is_made_once_for_a_model() -> None:
    model = learned(lambda x, rng: 0.1 * x[:, :1])
    settings = PolicySettings()
    assert followed_policy(model.dynamics, CONTINUOUS, settings) is followed_policy(
        model.dynamics, CONTINUOUS, settings
    )


@pytest.mark.parametrize("seed", range(2))
def test_v_knows_what_a_policy_can_hold(seed: int) -> None:
    """x' = 1.6x + 0.4a ends beyond 1: whoever answers stays at 0 for good, and actions that do not answer fall."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (400, 1))
    a = (-3.5 * x + 0.3 * rng.normal(size=x.shape)).clip(-1, 1)
    y = 1.6 * x + 0.4 * a
    model = DisplacementEmbedding(ACTIONS, categorical=False)
    over = np.abs(y[:, 0]) > 1.0
    model.update(Transitions.of(np.hstack([x, a]), y, np.where(over, 0.0, 1.0 - 0.01 * x[:, 0] ** 2), over))
    settings = TerminalSettings()
    centre = model.units.scaled(np.zeros((1, 1))).astype(np.float32)
    held = 1.0 / (1.0 - settings.discount(100))  # 1 a step, for good

    def v(following: int) -> float:
        model.dynamics.terminal_values.clear()
        sizes = TerminalSettings(own=0, following=following, length=12), Search(), PolicySettings()
        return float(terminal_value(model.dynamics, CONTINUOUS, 100, *sizes)(centre)[0])

    assert 0.9 * held < v(12) <= held
    assert v(0) < v(12)
