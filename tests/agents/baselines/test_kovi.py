"""KOVI: with a linear kernel it is LSVI-UCB, in its dual form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cmerl.agents.baselines.kovi import KOVI, kovi_radius
from cmerl.agents.baselines.lsvi_ucb import LSVIUCB
from cmerl.envs import RiverSwim
from cmerl.kernels import Linear


@pytest.mark.parametrize("time_homogeneous", [True, False])
def test_with_a_linear_kernel_it_is_lsvi_ucb(time_homogeneous: bool) -> None:
    env = RiverSwim(5, 6, coordinates=True)
    shared = {"lam": 0.3, "width": 0.05, "time_homogeneous": time_homogeneous, "seed": 3}
    kovi = KOVI(env, kernel=Linear(), **shared).learn(10)
    lsvi = LSVIUCB(env, features=lambda obs, a: [obs[0], a], **shared).learn(10)
    assert [r.ret for r in kovi.history] == [r.ret for r in lsvi.history]
    for obs in env.observations:
        for step in range(6):
            np.testing.assert_allclose(kovi.q_values(obs, step), lsvi.q_values(obs, step), atol=1e-8)
            np.testing.assert_allclose(kovi.q_values(obs, step, False), lsvi.q_values(obs, step, False), atol=1e-8)


def test_the_radius_by_hand() -> None:
    assert kovi_radius(2.0, horizon=5, episodes=3, delta=0.1) == pytest.approx(20 * math.sqrt(math.log(600)))
    assert kovi_radius(0.0, horizon=5, episodes=1, delta=0.1) == pytest.approx(5 * math.sqrt(math.log(50)))


def test_the_papers_radius_explores_for_longer() -> None:
    theory, practical = (KOVI(RiverSwim(), theory=theory, seed=0).learn(20) for theory in (True, False))
    np.testing.assert_allclose(theory.q_values(0), 20.0)  # β exceeds all that data could say
    assert practical.q_values(0).max() < 20.0
