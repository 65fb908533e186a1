"""Bounds on ‖Θ_P‖ from data, and a radius for random walks: against explicit features and simulation."""

import math

import numpy as np
import pytest

from cmerl.confidence import mixture_radius, noise_radius, operator_norm
from cmerl.kernels import RBF, Delta, StateAction


class World:
    """A random finite world with explicit features, and n transitions from state-actions drawn unevenly."""

    def __init__(self, seed, *, kernel, value_kernel, n, S=4, A=2, lam=0.3):
        rng = np.random.default_rng(seed)
        states = rng.random((S, 1)) * 3
        Z = np.array([[*s, a] for s in states for a in range(A)])
        P = rng.dirichlet(np.full(S, 0.4), size=S * A)
        self.K_phi, self.K_psi = kernel(Z), value_kernel(states)
        Phi, Psi = np.linalg.cholesky(self.K_phi), np.linalg.cholesky(self.K_psi)
        self.norm = math.sqrt(np.trace(np.linalg.solve(self.K_phi, P @ self.K_psi @ P.T)))
        visits = rng.multinomial(n, rng.dirichlet(np.full(S * A, 0.5)))
        self.counts = np.array([rng.multinomial(k, p) for k, p in zip(visits, P, strict=True)], dtype=float)
        N = self.counts.sum(axis=1)
        M = Phi.T @ (N[:, None] * Phi) + lam * np.eye(S * A)
        W = Psi.T @ (self.counts - N[:, None] * P).T @ Phi
        self.noise = math.sqrt(np.trace(W @ np.linalg.solve(M, W.T)))  # ‖W M^{-1/2}‖_HS
        self.lam, self.B_psi = lam, value_kernel.bound

    def interval(self, radius, exhaustive=True):
        options = {"lam": self.lam, "noise_radius": radius, "B_psi": self.B_psi, "exhaustive": exhaustive}
        return operator_norm(self.K_phi, self.K_psi, self.counts, **options)


KERNELS = [(StateAction(Delta(), Delta()), Delta()), (StateAction(RBF(0.8), RBF(1.0)), RBF(0.5))]


@pytest.mark.parametrize("kernels", KERNELS, ids=["delta", "rbf"])
@pytest.mark.parametrize("n", [0, 3, 40, 2000])
def test_the_interval_holds_the_norm_when_the_noise_is_as_large_as_stated(kernels, n):
    for seed in range(30):
        world = World(seed, kernel=kernels[0], value_kernel=kernels[1], n=n)
        found = world.interval(world.noise)
        assert found.lower <= world.norm * (1 + 1e-9)
        assert world.norm <= found.upper * (1 + 1e-9)
        assert world.interval(world.noise, exhaustive=False).upper == math.inf


def test_with_half_the_noise_it_does_not():
    worlds = [World(s, kernel=KERNELS[0][0], value_kernel=Delta(), n=40) for s in range(60)]
    assert any(w.interval(0.0).lower > w.norm for w in worlds)


def test_much_data_close_the_interval_and_none_leave_the_widest():
    world = World(0, kernel=StateAction(Delta(), Delta()), value_kernel=Delta(), n=0)
    assert world.interval(1.0)[:2] == pytest.approx((0.0, math.sqrt(8)))  # √(SA)
    world = World(0, kernel=StateAction(Delta(), Delta()), value_kernel=Delta(), n=400_000)
    found = world.interval(noise_radius(30.0, D=math.sqrt(2), delta=0.1))
    assert found.lower > 0.8 * world.norm
    assert found.upper < 1.2 * world.norm


def test_a_random_walk_stays_below_the_mixture_radius_at_all_times():
    rng, T = np.random.default_rng(0), 1500
    for delta in (0.5, 0.1):
        radius = np.array([mixture_radius(t, start=10.0, delta=delta) for t in range(1, T + 1)])
        walks = np.cumsum(rng.choice([-1.0, 1.0], size=(600, T)), axis=1)
        assert np.mean((walks > radius).any(axis=1)) <= delta
        assert np.mean((walks > 0.4 * radius).any(axis=1)) > delta
