"""Distillation of a displacement policy: preferences between actions at landmarks.

The student learns the teacher's preferences at visited states and at states that the student reaches in the model.
The round with the best simulated return is kept. A decision is a single sum over landmarks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC
from cmerl.acting.mpc import MPCEpisode
from cmerl.embedding.displacement.dynamics import Dynamics
from cmerl.embedding.displacement.grid import DisplacementView
from cmerl.kernels import RBF
from cmerl.kernels.fitting import fit
from cmerl.linalg import Cholesky
from cmerl.planning import Plan

FloatArray = NDArray[np.float64]
Preferences = Callable[[FloatArray], FloatArray]
"""What actions are worth (T, q, A) at states (q, d) in the units of the model, T times of an episode."""


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """Sizes.

    Args:
        rounds: number of rounds; in each the teacher labels states that the student visited.
        states: that it is asked at in a round.
        times: of an episode that have preferences of their own, where the plan depends on the step.
        starts: simulated episodes of a round.
        width: of the kernel, in standard deviations of the states.
        ridge: by which preferences are smoothed.
        fit_rows: states that the kernel of a search's value is fitted to.
        least_ridge: of that: what a search is worth is known no better.
    """

    rounds: int = 3
    states: int = 300
    times: int = 20
    starts: int = 32
    width: float = 0.5
    ridge: float = 1e-2
    fit_rows: int = 200
    least_ridge: float = 1e-3


class Landmarks(NamedTuple):
    """A policy: the action with the largest Σ_i k(x, x_i) w_i.

    Attributes:
        states: x_i (m, d), in the units of the model.
        width: of the RBF kernel.
        weights: (T, m, A): row t·T // H is for step t.
        simulated: its mean return in the model.
    """

    states: FloatArray
    width: float
    weights: FloatArray
    simulated: float = -np.inf

    def scores(self, x: FloatArray, row: int) -> FloatArray:
        """Preferences (q, A) at states (q, d)."""
        return np.asarray(RBF(self.width)(x, self.states) @ self.weights[row])


def distil(
    plan: Plan, actor: object, rows: FloatArray, seed: tuple[int, ...], sizes: Distillation | None = None
) -> Landmarks:
    """A policy on a displacement as landmarks.

    Args:
        plan: without exploration.
        actor: how it becomes actions.
        rows: of the candidate actions (A, e).
        seed: of what is drawn.
        sizes: all other numbers.
    """
    sizes = sizes or Distillation()
    (view,) = plan.views
    assert isinstance(view, DisplacementView)
    dynamics, horizon, rng = view.dynamics, plan.task.problem.horizon, np.random.default_rng(seed)
    teacher = SearchTeacher(actor, plan, rows, seed, sizes, rng) if isinstance(actor, MPC) else None
    seen = np.linspace(0, len(dynamics.data) - 1, min(sizes.states, len(dynamics.data))).astype(np.intp)
    X, starts = dynamics.data.x[seen], _starts(dynamics, sizes.starts, rng)
    found: Landmarks | None = None
    for _ in range(sizes.rounds):
        met = []
        ways = [_planned(plan, view, sizes.times), *(() if teacher is None else teacher.learn(X))]
        for preferences in ways:
            student = fitted(X, preferences(X), sizes)
            simulated, visited = simulate(dynamics, student, view.actions, starts, horizon)
            met.append(visited)
            if found is None or simulated > found.simulated:
                found = student._replace(simulated=simulated)
        visited = np.vstack(met)
        X = np.vstack([X, visited[rng.choice(len(visited), min(sizes.states, len(visited)), replace=False)]])
    assert found is not None
    return found


def fitted(X: FloatArray, preferences: FloatArray, sizes: Distillation) -> Landmarks:
    """Ridge regressions of preferences (T, m, A) at states (m, d), each state's of about the same size."""
    P = preferences - preferences.mean(axis=2, keepdims=True)
    size = np.ptp(P, axis=2, keepdims=True)
    P = P / np.maximum(size + 0.1 * np.median(size), 1e-300)
    factor = Cholesky.of(RBF(sizes.width)(X, X), sizes.ridge)
    T, m, A = P.shape
    weights = factor.solve(P.transpose(1, 0, 2).reshape(m, T * A)).reshape(m, T, A).transpose(1, 0, 2)
    return Landmarks(X, sizes.width, np.ascontiguousarray(weights))


def simulate(
    dynamics: Dynamics, student: Landmarks, actions: FloatArray, starts: FloatArray, horizon: int
) -> tuple[float, FloatArray]:
    """Play in the model from some states: the mean return, and the states that were met (n, d)."""
    x, total, alive, met = starts, np.zeros(len(starts)), np.ones(len(starts), dtype=bool), []
    for step in range(horizon):
        met.append(x)
        chosen = student.scores(x, step * len(student.weights) // horizon).argmax(axis=1)
        x, rewards, ended = dynamics.step(x, actions[chosen])
        total[alive] += rewards
        alive[alive] = ~ended
        x = x[~ended]
        if not len(x):
            break
    return float(total.mean()), np.vstack(met)


def _starts(dynamics: Dynamics, count: int, rng: np.random.Generator) -> FloatArray:
    """States that episodes began with, as many as are wanted."""
    last = dynamics.last_of_episode
    first = np.flatnonzero(np.append(True, last[1:] != last[:-1]))
    return np.asarray(dynamics.data.x[first[rng.permutation(np.arange(count) % len(first))]])


def _planned(plan: Plan, view: DisplacementView, times: int) -> Preferences:
    """Q of a plan, at some steps of the episode."""
    horizon = plan.task.problem.horizon
    count = min(times, horizon)
    steps = [t * horizon // count for t in range(count)]

    def preferences(x: FloatArray) -> FloatArray:
        site = plan.site(x * view.scale + view.centre, 0)
        return np.stack([site.q(plan.stages[step]) for step in steps])

    return preferences


class SearchTeacher:
    """What a search is worth at states, regressed, and from that what each action held for a few steps is worth.

    Searches draw at random, and which action comes out best is noisy where several are good; their worth is not.
    """

    def __init__(
        self,
        actor: MPC,
        plan: Plan,
        rows: FloatArray,
        seed: tuple[int, ...],
        sizes: Distillation,
        rng: np.random.Generator,
    ) -> None:
        self._actor, self._plan, self._rows, self._seed, self._sizes = actor, plan, rows, seed, sizes
        (view,) = plan.views
        assert isinstance(view, DisplacementView)
        self._view, self._rng = view, rng
        self._worth = np.empty(0)

    def learn(self, X: FloatArray) -> Iterator[Preferences]:
        """Search from the states (m, d) that are new, and then for each time that an action may be held."""
        for start in range(len(self._worth), len(X), 50):  # so many at once
            episode = self._actor.begin_episode(self._plan, self._rows, (*self._seed, start))
            assert isinstance(episode, MPCEpisode)
            episode.features(X[start : start + 50], 0)
            self._worth = np.append(self._worth, episode.promise)
        mean, spread = float(self._worth.mean()), float(self._worth.std()) or 1.0
        some = self._rng.permutation(len(X))[: self._sizes.fit_rows]
        shape = fit(X[some], ((self._worth[some] - mean) / spread)[:, None])
        kernel = RBF(shape.lengthscales.tolist())
        coef = Cholesky.of(kernel(X, X), max(shape.ridge, self._sizes.least_ridge)).solve(self._worth - mean)

        def value(y: FloatArray) -> FloatArray:
            return np.asarray(mean + kernel(y, X) @ coef)

        for hold in (self._actor.every, 2 * self._actor.every):
            yield partial(self._held, hold=hold, value=value)

    def _held(self, x: FloatArray, *, hold: int, value: Callable[[FloatArray], FloatArray]) -> FloatArray:
        dynamics, actions = self._view.dynamics, self._view.actions
        discount = self._actor.terminal.discount(self._plan.task.problem.horizon)
        found = np.empty((1, len(x), len(actions)))
        for i, action in enumerate(actions):
            y, total, alive = x, np.zeros(len(x)), np.ones(len(x))
            for k in range(hold):
                y, rewards, ended = dynamics.step(y, np.repeat(action[None], len(y), axis=0))
                total += discount**k * alive * rewards
                alive = alive * ~ended
            found[0, :, i] = total + discount**hold * alive * value(y)
        return found
