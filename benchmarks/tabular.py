"""CME-RL with delta kernels as counts, many runs at a time: what takes agents hours takes this minutes.

With delta kernels α(z)ᵀy is a sum over the visits to z divided by N(z) + λ, σ² = λ/(N(z) + λ), and G and Σr are sums
over visits. `tests/confidence/test_coverage.py` holds its Q against the agent's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Runs:
    """Independent runs, each on a finite world of its own, as arrays over runs (B, …).

    Attributes:
        P: transitions (B, S, A, S).
        R: rewards (B, S, A) in [0, 1].
        H: horizon.
        start: first state.
        lam: the ridge λ.
        rng: all randomness.
    """

    P: np.ndarray
    R: np.ndarray
    H: int
    start: int
    lam: float
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.size, S, A = self.R.shape
        self.after = np.zeros((self.size, S, A, S))  # transitions seen
        self.visits = np.zeros((self.size, S, A))
        self.sum_r = np.zeros(self.size)
        self._cumulative = np.cumsum(self.P, axis=3)
        self._run = np.arange(self.size)
        self.V_star, self.Q_star = np.zeros((self.size, self.H + 1, S)), np.zeros((self.size, self.H, S, A))
        for h in reversed(range(self.H)):
            self.Q_star[:, h] = self.R + np.einsum("bsat,bt->bsa", self.P, self.V_star[:, h + 1])
            self.V_star[:, h] = self.Q_star[:, h].max(axis=2)

    @property
    def sigma(self) -> np.ndarray:
        """σ (B, S, A)."""
        return np.sqrt(self.lam / (self.visits + self.lam))

    @property
    def gain(self) -> np.ndarray:
        """G (B,)."""
        return 0.5 * np.log1p(self.visits / self.lam).sum(axis=(1, 2))

    def plan(
        self, bonus, *, known: bool, prior: np.ndarray | float = 0.0, letter: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Q (B, H, S, A), actions (B, H, S) and bonuses (B, H, S, A) of one plan a run.

        Args:
            bonus: bonus(step, v) → (B, S, A) for v = V_{h+1} (B, S).
            known: whether the reward is given, or learned with the rest.
            prior: an optimistic prior mean in units of what can be left (B,).
            letter: clip V at H from above and nowhere else, as Alg. 1 does.
        """
        (B, S, A), H = self.R.shape, self.H
        orders = np.argsort(self.rng.random((H, B, A)), axis=2)
        prior = np.broadcast_to(prior, (B,))[:, None, None]
        Q, best, bonuses = np.empty((B, H, S, A)), np.empty((B, H, S), dtype=np.intp), np.empty((B, H, S, A))
        shrunk, v = 1.0 / (self.visits + self.lam), np.zeros((B, S))
        for h in reversed(range(H)):
            most = prior * (H - h)
            targets = (self.after.reshape(B, S * A, S) @ v[:, :, None]).reshape(B, S, A) - most * self.visits
            if not known:
                targets += self.visits * self.R
            bonuses[:, h] = bonus(h, v)
            Q[:, h] = most + targets * shrunk + bonuses[:, h] + (self.R if known else 0.0)
            order = orders[h]
            ordered = np.take_along_axis(Q[:, h], order[:, None, :], 2)
            top = ordered.max(axis=2, keepdims=True)
            first = np.argmax(ordered >= top - 1e-10 * H, axis=2)
            best[:, h] = np.take_along_axis(order, first, 1)
            v = np.minimum(top[..., 0], H) if letter else np.clip(top[..., 0], 0.0, H - h)
        return Q, best, bonuses

    def regret(self, best: np.ndarray) -> np.ndarray:
        """V* − V^π at the first state (B,)."""
        S, b = self.R.shape[1], self._run[:, None]
        states, v = np.arange(S), np.zeros((self.size, S))
        for h in reversed(range(self.H)):
            a = best[:, h]
            v = self.R[b, states, a] + np.einsum("bst,bt->bs", self.P[b, states, a], v)
        return self.V_star[:, 0, self.start] - v[:, self.start]

    def play(self, best: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """One episode in every run, learned from: states (H, B), actions (H, B) and returns (B,)."""
        b, s = self._run, np.full(self.size, self.start)
        shape = (self.H, self.size)
        states, actions, ret = np.empty(shape, np.intp), np.empty(shape, np.intp), np.zeros(self.size)
        steps = []
        for h in range(self.H):
            a = best[b, h, s]
            beyond = self.rng.random(self.size)[:, None] >= self._cumulative[b, s, a]
            t = np.minimum(beyond.sum(axis=1), self.R.shape[1] - 1)
            states[h], actions[h] = s, a
            ret += self.R[b, s, a]
            steps.append((s, a, t))
            s = t
        for s, a, t in steps:
            self.sum_r += 1.0 / (self.visits[b, s, a] + 1.0 + self.lam)  # w/(1+w) with w = 1/(N + λ)
            self.visits[b, s, a] += 1
            self.after[b, s, a, t] += 1
        return states, actions, ret


def of_worlds(worlds: list, *, lam: float, seed: int) -> Runs:
    """One run on each of some finite worlds of cmerl, which have the same sizes, horizon and first state."""
    cores = [world.unwrapped for world in worlds]
    start = int(np.argmax(cores[0].start)) if np.ndim(cores[0].start) else int(cores[0].start)
    P, R = np.stack([core.P for core in cores]), np.stack([core.R for core in cores])
    return Runs(P, R, cores[0].horizon, start, lam, np.random.default_rng(seed))
