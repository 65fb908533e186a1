"""Smooth environments: V*, Q* and V^π on a regular grid, with bilinear interpolation between its points.

A smooth environment moves to ``project(mean_next(s, a) + noise·ξ)`` with ξ standard normal and pays ``rewards(s)``.
The expectation over ξ is a Gauss–Hermite sum of interpolated values, hence one sparse matrix per action that all
steps share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cmerl.errors import InputError
from cmerl.oracles.bellman import Floats, Integers, action_probabilities, backward
from cmerl.oracles.wrapping import is_transformed
from cmerl.validation.episodes import check_horizon
from cmerl.validation.numbers import check_index, check_indices

RESOLUTION = 161
MAX_POINTS = 10**6

# Three nodes a coordinate integrate polynomials up to degree five. With the variance matched (see spread), five
# and seven move V* of the ball by 0.001, a tenth of what the grid's own spacing does, at 3 and 7 times the cost.
NODES = 3


@runtime_checkable
class SmoothModel(Protocol):
    """Known dynamics with additive Gaussian noise on a bounded set of R^d.

    Models are cache keys: equal models must have equal dynamics, as frozen dataclasses do.
    """

    def __hash__(self) -> int: ...

    @property
    def low(self) -> tuple[float, ...]:
        """Smallest coordinates (d,)."""
        ...

    @property
    def high(self) -> tuple[float, ...]:
        """Largest coordinates (d,)."""
        ...

    @property
    def actions(self) -> int:
        """Number of actions."""
        ...

    @property
    def noise(self) -> float:
        """Standard deviation of the noise in every coordinate."""
        ...

    def rewards(self, states: Floats) -> Floats:
        """Rewards (n,) of any action in states (n, d)."""
        ...

    def mean_next(self, states: Floats, action: int) -> Floats:
        """Where an action leads from states (n, d), before noise and projection (n, d)."""
        ...

    def project(self, points: Floats) -> Floats:
        """The states (..., d) nearest to points (..., d)."""
        ...


def smooth_model(env: Any) -> SmoothModel | None:
    """Return the model that ``env.unwrapped`` exposes as ``dynamics``, or None.

    Returns None if a wrapper changes observations, actions or rewards, because the dynamics would differ.
    """
    if is_transformed(env):
        return None
    dynamics = getattr(getattr(env, "unwrapped", env), "dynamics", None)
    return dynamics if isinstance(dynamics, SmoothModel) else None


@dataclass(frozen=True)
class Grid:
    """A regular grid over a box.

    Attributes:
        low: Smallest coordinates (d,).
        high: Largest coordinates (d,).
        resolution: Points per coordinate.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    resolution: int

    def points(self) -> Floats:
        """All points (G, d), the last coordinate running fastest."""
        axes = [np.linspace(low, high, self.resolution) for low, high in zip(self.low, self.high, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))

    @property
    def spacing(self) -> Floats:
        """Distance of neighbours in each coordinate (d,)."""
        spacing: Floats = (np.array(self.high) - np.array(self.low)) / (self.resolution - 1)
        return spacing

    def corners(self, points: Floats) -> tuple[Integers, Floats]:
        """Numbers of the grid points around each of (..., d), and their multilinear weights, both (..., 2^d)."""
        scaled = (points - np.array(self.low)) / self.spacing
        cell = np.clip(np.floor(scaled), 0, self.resolution - 2)
        part = scaled - cell
        strides = self.resolution ** np.arange(points.shape[-1])[::-1]
        first = cell.astype(np.int64) @ strides
        numbers, weights = [], []
        for corner in product((0, 1), repeat=points.shape[-1]):
            numbers.append(first + np.array(corner) @ strides)
            weights.append(np.where(corner, part, 1 - part).prod(axis=-1))
        return np.stack(numbers, axis=-1), np.stack(weights, axis=-1)


@dataclass(frozen=True, eq=False)
class GridEvaluation:
    """The values of a policy in a smooth world.

    Attributes:
        model: Its dynamics.
        grid: G points; those outside the environment stand for the states that they are projected to.
        V: (H+1, G) expected rewards-to-go before each step; ``V[H]`` is zero.
    """

    model: SmoothModel
    grid: Grid
    V: Floats

    @property
    def horizon(self) -> int:
        """Number of steps H."""
        return len(self.V) - 1

    def value(self, state: ArrayLike, step: int = 0) -> float:
        """Return the value of a state (d,) before ``step`` (0 … H)."""
        corners, weights = self._corners(np.asarray(state)[None])
        return float(self.V[check_index("step", step, len(self.V)), corners[0]] @ weights[0])

    def _corners(self, states: NDArray[Any]) -> tuple[Integers, Floats]:
        d = len(self.grid.low)
        if states.ndim != 2 or states.shape[1] != d or not np.isfinite(states).all():
            raise InputError(f"states need {d} finite coordinates each, but are {states!r}.")
        return self.grid.corners(self.model.project(states.astype(np.float64)))


@dataclass(frozen=True, eq=False)
class GridSolution(GridEvaluation):
    """The values of an optimal policy in a smooth world, and those of every action.

    Between grid points Q* is interpolated and V* is its maximum, so the best action has gap zero.

    Attributes:
        V: (H+1, G) optimal values.
        Q: (H, G, A) optimal action values; ``V[h] = Q[h].max(axis=1)`` exactly.
    """

    Q: Floats

    @property
    def policy(self) -> Integers:
        """An optimal policy on the grid (H, G): the first of the best actions."""
        best: Integers = np.argmax(self.Q, axis=2)
        return best

    def value(self, state: ArrayLike, step: int = 0) -> float:
        """Return the optimal value of a state (d,) before ``step`` (0 … H)."""
        last = check_index("step", step, len(self.V)) == self.horizon
        return 0.0 if last else float(self.q(state, step).max())

    def q(self, state: ArrayLike, step: int = 0) -> Floats:
        """Return the optimal action values (A,) of a state (d,) at ``step``."""
        values: Floats = self.q_values(np.asarray(state)[None], np.asarray(step)[None])[0]
        return values

    def gap(self, state: ArrayLike, action: int, step: int = 0) -> float:
        """Return the gap V*(s) − Q*(s, a) ≥ 0 of an action in a state (d,)."""
        return self.gaps(np.asarray(state)[None], np.asarray(action)[None], np.asarray(step)[None]).item()

    def q_values(self, states: NDArray[Any], steps: NDArray[Any]) -> Floats:
        """Return the optimal action values (n, A) of states (n, d) at steps (n,)."""
        corners, weights = self._corners(states)
        h = check_indices("steps", steps, self.horizon)
        values: Floats = np.einsum("nk,nka->na", weights, self.Q[h[:, None], corners])
        return values

    def gaps(self, states: NDArray[Any], actions: NDArray[Any], steps: NDArray[Any]) -> Floats:
        """Return V*_h(s) − Q*_h(s, a) (n,) for states (n, d), actions (n,) and steps (n,)."""
        taken = check_indices("actions", actions, self.Q.shape[2])
        q = self.q_values(states, steps)
        gaps: Floats = q.max(axis=1) - q[np.arange(len(q)), taken]
        return gaps


@lru_cache(maxsize=8)
def solve_smooth(model: SmoothModel, horizon: int, resolution: int = RESOLUTION) -> GridSolution:
    """Solve a smooth world on a grid of ``resolution`` points a coordinate; equal problems are solved once."""
    grid, R, expect = _discretise(model, resolution)
    V, Q = backward(R, expect, check_horizon(horizon), lambda h, Qh: Qh.max(axis=1))
    V.setflags(write=False)  # everybody who asks shares them
    Q.setflags(write=False)
    return GridSolution(model=model, grid=grid, V=V, Q=Q)


def evaluate_smooth(model: SmoothModel, policy: Any, horizon: int, resolution: int = RESOLUTION) -> GridEvaluation:
    """Evaluate a policy on a grid; ``oracles.evaluate`` lists the forms of a policy."""
    horizon = check_horizon(horizon)
    grid, R, expect = _discretise(model, resolution)
    probabilities = action_probabilities(policy, model.project(grid.points()), model.actions, horizon)
    V, _ = backward(R, expect, horizon, lambda h, Qh: (probabilities[h] * Qh).sum(axis=1))
    return GridEvaluation(model=model, grid=grid, V=V)


@lru_cache(maxsize=4)
def _discretise(model: SmoothModel, resolution: int) -> tuple[Grid, Floats, Callable[[Floats], Floats]]:
    """The grid, its rewards (G, A), and the map from values (G,) to expectations after one step (G, A)."""
    grid = Grid(tuple(model.low), tuple(model.high), resolution)
    if resolution < 2 or resolution ** len(grid.low) > MAX_POINTS:
        raise InputError(
            f"a grid needs at least 2 points a coordinate and at most {MAX_POINTS} in all, "
            f"not {resolution} in each of {len(grid.low)} coordinates."
        )
    # Interpolation near the border needs grid points beyond it: they stand for the states they are projected to.
    points = grid.points()
    states = model.project(points)
    inside = abs(states - points).max(axis=1) < 1e-9
    operators = [_operator(model, grid, states, inside, action) for action in range(model.actions)]
    R = np.repeat(model.rewards(states)[:, None], model.actions, axis=1)
    return grid, R, lambda V: np.stack([P @ V for P in operators], axis=1)


def _operator(model: SmoothModel, grid: Grid, states: Floats, inside: NDArray[np.bool], action: int) -> Any:
    """The sparse matrix (G, G) whose product with values is their expectation after ``action``."""
    mean = model.mean_next(states, action)
    nodes, node_weights = np.polynomial.hermite_e.hermegauss(NODES)
    node_weights /= node_weights.sum()
    offsets = spread(mean[inside], model.noise, grid, nodes, node_weights) * model.noise * nodes
    d = mean.shape[1]
    xi = np.array(list(product(offsets, repeat=d)))
    xi_weights = np.array(list(product(node_weights, repeat=d))).prod(axis=1)

    corners, weights = grid.corners(model.project(mean[:, None, :] + xi))  # (G, NODES^d, 2^d)
    weights *= xi_weights[:, None]
    G, per_row = len(states), xi_weights.size * 2**d
    starts = np.arange(0, G * per_row + 1, per_row, dtype=np.int32)
    P = sparse.csr_array((weights.ravel(), corners.ravel().astype(np.int32), starts), shape=(G, G))
    P.sum_duplicates()
    return P


def spread(mean: Floats, noise: float, grid: Grid, nodes: Floats, node_weights: Floats) -> float:
    """Return the factor c ≤ 1 on the noise for which the grid's variance is right.

    Interpolating at a point that lies a part f between neighbours at distance δ is a lottery between them, with
    variance f(1 − f)δ². Added to the noise at every step, it makes the environment more random than it is: at the
    default resolution V* of the ball would lose three times as much. So c solves, on average over ``mean`` (n, d),
    c²·noise² + E[f(1 − f)]δ² = noise².
    """

    def excess(c: float) -> float:
        scaled = (mean[:, :, None] - np.array(grid.low)[:, None] + c * noise * nodes) / grid.spacing[:, None]
        part = scaled - np.floor(scaled)
        added = (part * (1 - part)) @ node_weights * grid.spacing**2
        return float(added.mean()) + (c * c - 1) * noise**2

    below, above = 0.0, 1.0
    if noise == 0 or excess(below) >= 0:
        return below
    for _ in range(12):  # bisection: the excess at 1 is never negative
        middle = (below + above) / 2
        below, above = (middle, above) if excess(middle) < 0 else (below, middle)
    return above
