"""The recipe of embeddings: given kernels stay, automatic ones follow the data, and numbers reach every model."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl.agents.cme_rl.recipe import Recipe
from cmerl.agents.cme_rl.settings import KernelSettings, Settings
from cmerl.embedding import CompressedEmbedding, ExactEmbedding
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.kernels import RBF, Delta, Kernel, Matern
from cmerl.spaces import StateSpace
from cmerl.transitions import Transitions

LINE = StateSpace.of(gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float64))
ACTIONS = np.arange(2.0)[:, None]


def recipe(**changes: Any) -> Recipe:
    about: dict[str, Any] = {
        "kernel": None,
        "value_kernel": None,
        "lam": 0.7,
        "states": LINE,
        "actions": ACTIONS,
        "action_kernel": Delta(),
        "backend": "auto",
        "track_std": False,
        "provable": False,
        "seed": 0,
    }
    return Recipe(**{**about, **changes})


def walk(spread: float, step: float, n: int = 200) -> Transitions:
    rng = np.random.default_rng(0)
    x, a = rng.uniform(0.0, spread, (n, 1)), rng.integers(2, size=(n, 1))
    return Transitions.of(np.hstack([x, a]), x + step * (2 * a - 1), np.zeros(n))


def similarity(kernel: Kernel, gap: float, *, other_action: bool) -> float:
    z = np.array([[0.0, 0.0]]), np.array([[gap, float(other_action)]])
    return float(kernel(*z)[0, 0])


def test_kernels_that_were_given_stay_whatever_the_data() -> None:
    given = RBF(0.2), Matern(1.5, 0.3)
    held = recipe(kernel=given[0], value_kernel=given[1])
    assert held.fixed
    assert held.kernels() == held.kernels(walk(9.0, 0.1)) == given
    half = recipe(kernel=given[0])
    assert not half.fixed
    assert half.kernels(walk(9.0, 0.1))[0] == given[0]


@pytest.mark.parametrize("spread", [0.5, 8.0, 128.0])
def test_automatic_kernels_are_as_wide_as_the_data(spread: float) -> None:
    """The same walk in other units has the same similarities, but for rounding to powers of √2."""
    _, value_kernel = recipe().kernels(walk(spread, 0.01 * spread))
    here = value_kernel(np.zeros((1, 1)), np.array([[0.1 * spread]])).item()
    wide, narrow = (
        Matern(1.5, 0.1 * factor)(np.zeros((1, 1)), np.full((1, 1), 0.1)).item() for factor in (1.3, 0.75)
    )
    assert narrow < here < wide


def test_actions_share_more_the_less_a_step_moves() -> None:
    settings = Settings(kernels=KernelSettings(shared=(0.1, 0.9)))
    shared = [
        similarity(recipe(settings=settings).kernels(walk(1.0, step))[0], 0.0, other_action=True)
        for step in (1e-4, 0.1, 3.0)
    ]
    assert shared[0] == pytest.approx(0.9)  # the most that the settings allow
    assert shared[0] > shared[1] > shared[2]
    assert shared[2] == pytest.approx(0.1)


def test_before_any_data_half_is_shared() -> None:
    assert similarity(recipe().kernels()[0], 0.0, other_action=True) == pytest.approx(0.5)
    assert similarity(recipe().kernels()[0], 0.0, other_action=False) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("backend", "kind"),
    [("exact", ExactEmbedding), ("compressed", CompressedEmbedding), ("nystrom", CompressedEmbedding)],
)
def test_the_ridge_and_the_actions_reach_every_model(backend: str, kind: type) -> None:
    held = recipe()
    made = held.make(*held.kernels(), backend)
    assert isinstance(made, kind)
    assert made.lam == 0.7
    made.update(walk(1.0, 0.1, 20))
    assert made.grid(np.zeros((3, 1))).expectation(made.ones()).shape == (3, 2)


def test_the_ridge_and_the_settings_reach_a_displacement() -> None:
    settings = DisplacementSettings(centres=7)
    made = recipe(settings=Settings(displacement=settings)).displacement()
    assert made.lam == 0.7
    assert made.settings == settings


def test_a_saved_kernel_comes_back() -> None:
    held = recipe()
    kernel, _ = held.kernels(walk(4.0, 0.1))
    assert held.loaded(kernel.spec()) == kernel
