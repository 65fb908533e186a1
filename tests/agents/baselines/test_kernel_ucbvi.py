"""Kernel-UCBVI: against sums written out, against counts, and with representatives that are all states."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cmerl.agents.baselines.kernel_ucbvi import KernelUCBVI, RepresentativeKernelUCBVI
from cmerl.envs import PBall2D, RandomMDP, RiverSwim


def test_by_brute_force() -> None:
    env = RiverSwim(5, 3, coordinates=True)
    agent = KernelUCBVI(env, bandwidth=0.3, prior_weight=0.2, lipschitz=0.5, width=0.07, seed=2).learn(6)
    data = [
        (e.states[i, 0], int(e.actions[i, 0]), e.rewards[i], e.next_states[i, 0]) for e in agent.log for i in range(3)
    ]
    H = 3

    def value(s: float, h: int) -> float:
        return 0.0 if h == H else max(upper(s, a, h) for a in (0, 1))

    def upper(s: float, a: int, h: int) -> float:
        points = {x for x, b, _, _ in data if b == a}
        return min([H - h, *(at(x, a, h) + 0.5 * (H - h) * abs(s - x) for x in points)])

    cache: dict[tuple[float, int, int], float] = {}

    def at(x: float, a: int, h: int) -> float:
        if (x, a, h) not in cache:
            w = [(math.exp(-((x - y) ** 2) / (2 * 0.09)), r, t) for y, b, r, t in data if b == a]
            C = 0.2 + sum(weight for weight, _, _ in w)
            mean = sum(weight * (r + value(t, h + 1)) for weight, r, t in w) / C
            bonus = (H - h) * (0.07 / math.sqrt(C) + 0.2 / C)
            cache[x, a, h] = min(max(mean + bonus, 0.0), H - h)
        return cache[x, a, h]

    for obs in [*env.observations, np.array([0.33])]:
        for h in range(H):
            want = [upper(obs[0], a, h) for a in (0, 1)]
            np.testing.assert_allclose(agent.q_values(obs, h), want, atol=1e-10)


def test_with_a_narrow_bandwidth_it_counts() -> None:
    agent = KernelUCBVI(RandomMDP(4, 2, seed=0, horizon=4), bandwidth=1e-3, prior_weight=1e-9, seed=1).learn(15)
    N, R, C = np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 2, 4))
    for e in agent.log:
        for s, a, r, t in zip(e.states[:, 0], e.actions[:, 0], e.rewards, e.next_states[:, 0], strict=True):
            N[int(s), int(a)] += 1
            R[int(s), int(a)] += r
            C[int(s), int(a), int(t)] += 1
    V = np.zeros(4)
    for h in reversed(range(4)):
        seen = (R + C @ V) / np.maximum(N, 1) + 0.1 * (4 - h) / np.sqrt(np.maximum(N, 1))
        Q = np.where(N > 0, np.clip(seen, 0, 4 - h), 4 - h)
        np.testing.assert_allclose([agent.q_values(s, h) for s in range(4)], Q, atol=1e-7)
        V = Q.max(axis=1)


def test_with_every_state_a_representative_nothing_is_lost() -> None:
    # With a narrow bandwidth; a representative that comes later has not seen what came before it.
    exact, few = (
        kind(RiverSwim(5, 5), bandwidth=1e-2, seed=3).learn(12) for kind in (KernelUCBVI, RepresentativeKernelUCBVI)
    )
    assert [r.ret for r in exact.history] == [r.ret for r in few.history]


def test_representatives_are_few_and_apart() -> None:
    agent = RepresentativeKernelUCBVI(PBall2D(), radius=0.1, seed=0).learn(4)
    kept = np.asarray(agent.support.points)
    distance = np.linalg.norm(kept[:, None] - kept[None], axis=2) + np.eye(len(kept))
    assert distance.min() > 0.1
    met = np.vstack([e.next_states for e in agent.log])
    assert np.linalg.norm(met[:, None] - kept[None], axis=2).min(axis=1).max() <= 0.1
    assert len(kept) < len(met) / 2


@pytest.mark.parametrize("theory", [False, True])
def test_every_term_of_the_bonus_has_the_scale(theory: bool) -> None:
    one, half = (KernelUCBVI(RiverSwim(), theory=theory, bonus_scale=scale) for scale in (1.0, 0.5))
    weight = np.array([0.01, 1.0, 50.0])
    np.testing.assert_allclose(one.bonus(weight, 3), 2 * half.bonus(weight, 3), rtol=1e-12)
    assert KernelUCBVI(RiverSwim(), bonus_scale=0.0, theory=theory).bonus(weight, 3).max() == 0.0
