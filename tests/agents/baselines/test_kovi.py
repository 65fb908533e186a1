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


@pytest.mark.parametrize("delta", [0.2, 0.1, 1e-3])
@pytest.mark.parametrize("horizon", [1, 20, 200])
def test_with_delta_kernels_the_papers_radius_is_enough(horizon: int, delta: float) -> None:
    """Q ≥ Q* needs the bonus at V* alone, as the weights of delta kernels are not negative.

    A mean of N targets in [0, H], shrunk by N/(N + 1), is short of its own by H/(N + 1) + H√(N·L/2)/(N + 1) at most
    [Hoeffding], L = log(SA·H·T/δ) for all state-actions, steps and counts together; and never by more than H, at
    which Q is clipped. At the start of episode T a step has seen T − 1 targets, so its information gain is at least
    ½ log T, that of one state-action alone. δ is 0.2 at most: with more, the first two rounds
    of a bandit have too little.
    """
    for T in (1, 2, 3, 5, 10, 100, 1000, 10**5, 10**7):
        N = np.unique(np.linspace(0, T - 1, 200).astype(int))
        for pairs in (1, 10, 10**6):
            L = math.log(pairs * horizon * T / delta)
            short = np.minimum(horizon, horizon * (1.0 + np.sqrt(N * L / 2.0)) / (N + 1.0))
            beta = kovi_radius(0.5 * math.log(T), horizon=horizon, episodes=T, delta=delta)
            assert (beta / np.sqrt(N + 1.0) >= short).all()
