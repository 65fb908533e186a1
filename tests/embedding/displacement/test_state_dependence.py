"""Whether rewards are known to depend on the state."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.motion import Motion
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.embedding.displacement.state_dependence import depends_on_state
from cmerl.transitions import Transitions


def walk(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States, actions in [−1, 1] and next states of a walk with momentum in the plane."""
    rng = np.random.default_rng(seed)
    a = np.clip(np.cumsum(rng.normal(size=n)) % 4.0 - 2.0, -1.0, 1.0)[:, None]
    path = np.zeros((n + 1, 2))
    for i in range(n):
        speed = 0.9 * path[i, 1] + 0.1 * a[i, 0]
        path[i + 1] = [np.clip(path[i, 0] + speed, -3.0, 3.0), speed]
    path = (path - path.mean(axis=0)) / path.std(axis=0)
    return path[:-1], a, path[1:]


def motion(seed: int, kind: str) -> Motion:
    (x, a, y), rng = walk(seed), np.random.default_rng(seed + 100)
    noise = rng.normal(size=len(x))
    rewards = {
        "alike": np.full(len(x), -1.0),
        "effort": -0.1 * a[:, 0] ** 2,
        "effort in the wind": -0.1 * (a[:, 0] + 0.5 * noise) ** 2,
        "noise": noise,
        "a place": np.exp(-np.square(x).sum(axis=1)) - 0.1 * a[:, 0] ** 2,
        "a place beside large costs": -0.05 * np.sqrt(np.square(x).sum(axis=1)) - 2.0 * a[:, 0] ** 2,
        "a place in the wind": x[:, 0] - (a[:, 0] + 0.5 * noise) ** 2,
        "a spot": 1.0 * (np.abs(x).max(axis=1) < 0.4) - 0.1 * a[:, 0] ** 2,
    }[kind]
    return Motion(x, a, y, rewards, np.zeros(len(x), dtype=bool))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["alike", "effort", "effort in the wind", "noise"])
def test_what_actions_explain_and_what_nothing_explains_says_nothing_of_states(kind: str, seed: int) -> None:
    assert not depends_on_state(motion(seed, kind), DisplacementSettings())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["a place", "a place beside large costs", "a place in the wind", "a spot"])
def test_a_place_that_pays_is_noticed_beside_the_cost_of_actions(kind: str, seed: int) -> None:
    assert depends_on_state(motion(seed, kind), DisplacementSettings())


def test_an_end_depends_on_the_state() -> None:
    data = motion(0, "effort")
    ended = np.arange(len(data)) == 50
    assert depends_on_state(Motion(data.x, data.a, data.y, data.r, ended), DisplacementSettings())


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("kind", ["effort", "effort in the wind", "a place", "a spot"])
def test_units_of_rewards_do_not_matter(kind: str, unit: float) -> None:
    data = motion(1, kind)
    scaled = Motion(data.x, data.a, data.y, unit * data.r, data.ended)
    assert depends_on_state(scaled, DisplacementSettings()) == kind.startswith("a ")


def test_an_action_that_nobody_else_took_is_no_place_that_pays() -> None:
    data = motion(0, "effort")
    a = 0.1 * data.a
    a[::60] = [[-1.0], [0.7], [0.9], [-0.6], [0.5]]
    assert not depends_on_state(Motion(data.x, a, data.y, -100.0 * a[:, 0] ** 2, data.ended), DisplacementSettings())


def learned(rewards: np.ndarray, **options: object) -> DisplacementEmbedding:
    x, a, y = walk(0)
    found = DisplacementEmbedding(np.linspace(-1, 1, 5)[:, None], categorical=False, **options)  # type: ignore[arg-type]
    found.update(Transitions.of(np.hstack([x, a]), y, rewards))
    return found


def test_without_the_rule_any_difference_counts() -> None:
    _, a, _ = walk(0)
    effort = -0.1 * a[:, 0] ** 2
    assert learned(effort, settings=DisplacementSettings(state_dependence=False)).places_pay
    assert learned(effort, reward=lambda x, a, y: -0.1 * a[:, 0] ** 2).places_pay  # it says all that there is
