"""Values over KL balls around the counts: optimistic values, and bounds on the value of a policy.

Rewards are shifted to start at 0, so a value with k steps to go lies in [0, k·width]. Proofs: docs/method/proofs.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence.kl import CountingBudget, kl_radius, law_radius, least_mean
from cmerl.finite.counts import Atoms, Counts, FiniteWorld

FloatArray = NDArray[np.float64]
Sign = Literal[1, -1]


@dataclass(frozen=True, eq=False)
class Balls:
    """The KL balls around all laws of a finite MDP, at one moment.

    Attributes:
        counts: what was seen; it must not change any more.
        budget: the failure probability and its shares.
    """

    counts: Counts
    budget: CountingBudget

    @property
    def world(self) -> FiniteWorld:
        """What is known without data."""
        return self.counts.world

    # --- optimism for V*, which is one fixed function a step ---

    @cached_property
    def _optimism(self) -> FloatArray:
        """n·ε for V*_{h+1}, or for the reward and V*_{h+1} together where rewards are learned (Z,)."""
        world = self.world
        steps = world.horizon if world.rewards is None else max(world.horizon - 1, 1)
        union = float(world.states * world.actions * steps)
        return kl_radius(self.counts.visits, union=union, delta=self.budget.optimism)

    def optimistic(self, most: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Q (H, S, A) and V (H+1, S) that are at least Q* and V*, whenever ``most`` (H+1, S) is at least V*."""
        world, atoms = self.world, self.counts.joint or self.counts.outcomes
        H, S = world.horizon, world.states
        p, eps = _law(atoms, self._optimism)
        outcome = _outcome(atoms, world, joint=self.counts.joint is not None)
        Q, V = np.empty((H, S, world.actions)), np.zeros((H + 1, S))
        start = None
        for step in reversed(range(H)):
            rows = self._rows(step)
            W = self._with_end(V[step + 1], step + 1)
            if world.rewards is None:
                worth, best = atoms.high[rows] + W[outcome[rows]], world.width + W.max()
            else:
                worth, best = W[outcome[rows]], W.max()
            if best > 0.0:
                gap, start = least_mean(p[rows], np.maximum(best - worth, 0.0), eps[rows], start=start)
            else:
                gap = np.zeros(S * world.actions)
            Q[step] = (best - gap).reshape(S, world.actions) + (0.0 if world.rewards is None else world.rewards)
            V[step] = np.minimum(np.minimum(Q[step].max(axis=1), world.cap(step)), most[step])
        return Q, V

    # --- both ends of a policy's values, for functions that depend on the data ---

    @cached_property
    def _uniform(self) -> tuple[FloatArray, FloatArray]:
        """Empirical laws of what follows (Z, K), and ε of the balls that contain the true ones (Z,)."""
        world, atoms = self.world, self.counts.outcomes
        union = float(world.rows)
        radius = law_radius(atoms.n, outcomes=world.outcomes, union=union, delta=self.budget.laws)
        return _law(atoms, np.maximum(radius, self._optimism))  # so that it contains the optimistic balls as well

    @cached_property
    def rewards(self) -> tuple[FloatArray, FloatArray]:
        """Bounds below and above mean rewards (Z,); rewards that are known are both."""
        world, paid = self.world, self.counts.paid
        if paid is None:
            assert world.rewards is not None
            known = np.tile(world.rewards.ravel(), world.rows // world.rewards.size)
            return known, known
        radius = kl_radius(self.counts.visits, union=2.0 * world.rows, delta=self.budget.rewards)
        p, eps = _law(paid, np.maximum(radius, self._optimism))
        below, above = least_mean(p, paid.low, eps)[0], least_mean(p, world.width - paid.high, eps)[0]
        return below, world.width - above

    def evaluate(self, policy: FloatArray | None, sign: Sign) -> tuple[FloatArray, FloatArray]:
        """Q (H, S, A) and V (H+1, S) of a policy at the upper (+1) or lower (−1) end of all balls at once.

        Args:
            policy: its probabilities (H, S, A); None for the best one at that end.
            sign: which end.
        """
        world, (p, eps) = self.world, self._uniform
        H, S, A = world.horizon, world.states, world.actions
        outcome = _outcome(self.counts.outcomes, world, joint=False)
        reward = self.rewards[0 if sign < 0 else 1]
        Q, V = np.empty((H, S, A)), np.zeros((H + 1, S))
        start = None
        for step in reversed(range(H)):
            rows = self._rows(step)
            W = self._with_end(V[step + 1], step + 1)
            end = float(W.max() if sign > 0 else W.min())
            away = np.maximum(sign * (end - W), 0.0)
            gap = np.zeros(S * A)
            if away.any():
                gap, start = least_mean(p[rows], away[outcome[rows]], eps[rows], start=start)
            Q[step] = (reward[rows] + end - sign * gap).reshape(S, A)
            best = Q[step].max(axis=1) if policy is None else (policy[step] * Q[step]).sum(axis=1)
            V[step] = np.clip(best, 0.0, world.cap(step))
        return Q, V

    def interval(self, table: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """Bounds below and above V (H+1, S) of a policy (H, S), as by ``evaluate`` but both at once and faster."""
        world, (p, eps) = self.world, self._uniform
        H, S, A = world.horizon, world.states, world.actions
        outcome = _outcome(self.counts.outcomes, world, joint=False)
        V = np.zeros((2, H + 1, S))
        sign = np.array([[-1.0], [1.0]])
        start = None
        for step in reversed(range(H)):
            rows = np.arange(S) * A + table[step] + self._rows(step).start
            W = np.stack([self._with_end(v, step + 1) for v in V[:, step + 1]])
            end = np.array([[W[0].min()], [W[1].max()]])
            away = np.maximum(sign * (end - W), 0.0)
            gap, start = least_mean(
                np.broadcast_to(p[rows], (2, *p[rows].shape)),
                away[:, outcome[rows]],
                np.broadcast_to(eps[rows], (2, S)),
                start=start,
            )
            reward = np.stack([self.rewards[0][rows], self.rewards[1][rows]])
            V[:, step] = np.clip(reward + end - sign * gap, 0.0, world.cap(step))
        return V[0], V[1]

    def contain(self, P: FloatArray) -> bool:
        """Whether all true laws (S, A, outcomes) lie in their uniform balls; only where all steps have the same."""
        world, (p, eps) = self.world, self._uniform
        outcome = _outcome(self.counts.outcomes, world, joint=False)
        true = np.take_along_axis(P.reshape(-1, world.outcomes), outcome[: world.states * world.actions], axis=1)
        if world.per_step:
            true = np.tile(P.reshape(-1, world.outcomes), (world.horizon, 1))
            true = np.take_along_axis(true, outcome, axis=1)
        on = p > 0
        with np.errstate(divide="ignore"):
            divergence = np.where(on, p * np.log(np.where(on, p, 1.0) / np.where(on, true, 1.0)), 0.0).sum(axis=1)
        return bool((divergence <= eps + 1e-12).all())

    @cached_property
    def mean_rewards(self) -> FloatArray:
        """Means of what was paid (Z,), 0 where nothing was; rewards that are known as they are."""
        paid, n = self.counts.paid, np.maximum(self.counts.visits, 1.0)
        if paid is None:
            return self.rewards[0]
        return np.asarray((paid.n * 0.5 * (paid.low + paid.high)).sum(axis=1) / n)

    def expected(self, V: FloatArray) -> FloatArray:
        """Mean reward and mean V_{h+1} of what followed (H, S, A), with V (H+1, S); 0 where nothing did."""
        world, atoms, reward = self.world, self.counts.outcomes, self.mean_rewards
        n = np.maximum(self.counts.visits, 1.0)
        p, outcome = atoms.n / n[:, None], _outcome(atoms, world, joint=False)
        found = np.empty((world.horizon, world.states, world.actions))
        for step in range(world.horizon):
            rows = self._rows(step)
            after = (p[rows] * self._with_end(V[step + 1], step + 1)[outcome[rows]]).sum(axis=1)
            found[step] = (reward[rows] + after).reshape(world.states, world.actions)
        return found

    def _rows(self, step: int) -> slice:
        size = self.world.states * self.world.actions
        first = step * size if self.world.per_step else 0
        return slice(first, first + size)

    def _with_end(self, V: FloatArray, step: int) -> FloatArray:
        """V at all outcomes: states, and an end, after which 0 is earned a step."""
        if not self.world.ends:
            return V
        return np.append(V, -self.world.r_min * (self.world.horizon - step))


def _law(atoms: Atoms, radius: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Empirical laws (Z, K), all 0 where nothing was seen, and ε = radius/n (Z,)."""
    n = np.maximum(atoms.n.sum(axis=1), 1.0)
    return atoms.n / n[:, None], radius / n


def _outcome(atoms: Atoms, world: FiniteWorld, *, joint: bool) -> NDArray[np.int64]:
    """The outcome that each atom stands for (Z, K); any where there is no atom."""
    return np.maximum(atoms.key // (world.reward_bins + 1) if joint else atoms.key, 0)
