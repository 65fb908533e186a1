"""A regression in coordinates: its moments, and its values at states × actions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.compressed.dictionary import FrozenDictionary
from cmerl.embedding.compressed.features import Features, FrozenFeatures
from cmerl.embedding.compressed.landmarks import Landmarks
from cmerl.embedding.exact.grids import Layout, by_action
from cmerl.errors import InputError
from cmerl.growing import Arrays, GrowingMatrix, nested, part
from cmerl.linalg import Cholesky, pivots
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class Moments:
    """One regression in the coordinates of its features: all that is remembered of its data."""

    def __init__(self, features: Features, landmarks: Landmarks, lam: float) -> None:
        self.features, self._landmarks, self.lam = features, landmarks, lam
        self.clear()
        if len(features):
            self._make_room(len(features))

    def clear(self) -> None:
        """Forget the data, but not the features."""
        self.n = 0
        self.residual_sum = 0.0  # R_φ = Σ ρ²(z_i)
        self.sum_r = 0.0  # Σ r̃_i; infinite after a choice, which does not keep to the order of arrival
        self.factor = Cholesky()  # of M̃
        self._gram = GrowingMatrix()  # M̃ − λI (m, m)
        self._cross = GrowingMatrix()  # Σ w(s')φ̃ᵀ over transitions that went on (m_next, m)
        self._linear = GrowingMatrix(3, 0)  # Σ φ̃·(reward, 1, terminated) (3, m)

    def undo(self) -> Callable[[], None]:
        """Turns back the sums, which change in place."""
        kept = [(matrix.view, matrix.view.copy()) for matrix in (self._gram, self._cross, self._linear)]

        def undo() -> None:
            for view, content in kept:
                view[...] = content

        return undo

    def _make_room(self, m: int) -> None:
        """For features that are there before any data, as random ones are."""
        self._linear.resize(3, m)
        self.factor = Cholesky.of(self._gram.resize(m, m), self.lam)

    def arrays(self) -> Arrays:
        """The features and all that is remembered."""
        matrices = {"gram": self._gram, "cross": self._cross, "linear": self._linear}
        parts = {"features": self.features.arrays(), **{name: m.arrays() for name, m in matrices.items()}}
        return {"sums": np.array([self.n, self.residual_sum, self.sum_r]), **nested(parts)}

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        self.features.restore(part(arrays, "features"))
        n, self.residual_sum, self.sum_r = arrays["sums"].tolist()
        self.n = int(n)
        self._gram, self._cross, self._linear = (
            GrowingMatrix.from_arrays(part(arrays, name)) for name in ("gram", "cross", "linear")
        )
        self.factor = Cholesky.of(self._gram.view, self.lam)

    def add(self, X: Points, codes: Any, columns: IntArray, rewards: FloatArray, *, choose: bool) -> None:
        """Add transitions: inputs X (k, d), the column of each next state's code or -1 if terminated, rewards."""
        phi, residual = self.features.choose(X) if choose else self._absorb(X)
        m, old, alive = len(phi), self.factor.n, columns >= 0
        if choose:
            self.sum_r = math.inf
        if math.isfinite(self.sum_r):
            # 1 + w_i = det(M̃_i)/det(M̃_{i-1}): all at once from the Schur complement I + φ̃ᵀM̃⁻¹φ̃.
            half = self.factor.half_solve(phi[:old])
            inner = half.T @ half + phi[old:].T @ phi[old:] / self.lam
            self.sum_r += float(np.sum(1.0 - 1.0 / pivots(inner + np.eye(len(inner)))))
        self.residual_sum += float(np.sum(residual))
        self.n += len(rewards)
        self._landmarks.accumulate(self._cross, codes, columns[alive], phi[:, alive])
        self._gram.resize(m, m)[...] += phi @ phi.T
        self._linear.resize(3, m)[...] += np.stack([rewards, np.ones(len(rewards)), ~alive]) @ phi.T
        self.factor = Cholesky.of(self._gram.view, self.lam)

    def _absorb(self, X: Points) -> tuple[FloatArray, FloatArray]:
        """Coordinates (m, k) and residuals (k,) of inputs; the moments follow where coordinates change."""
        before = self.features.freeze()
        phi, residual = self.features.absorb(X)
        change = self.features.settle(before, X)
        if change is None:
            return phi, residual
        gram, cross, linear = (
            change @ self._gram.view @ change.T,
            self._cross.view @ change.T,
            self._linear.view @ change.T,
        )
        m = len(change)
        self._gram, self._cross, self._linear = GrowingMatrix(), GrowingMatrix(), GrowingMatrix()
        self._gram.resize(m, m)[...] = gram
        self._cross.resize(len(cross), m)[...] = cross
        self._linear.resize(3, m)[...] = linear
        self.factor = Cholesky.of(gram, self.lam)
        return self.features.coordinates(X)

    @property
    def log_det(self) -> float:
        """The logarithm of det(M̃/λ)."""
        return self.factor.log_det - self.factor.n * math.log(self.lam)

    @property
    def information_gain(self) -> float:
        """An upper bound on G of all the data, and G itself where nothing was left over."""
        return 0.5 * (self.log_det + self.residual_sum / self.lam)

    def solve(self, v: FloatArray, reward: float, offset: float, terminal: float) -> FloatArray:
        """M̃⁻¹Σφ̃_i y_i (m,), y_i = reward·r_i + offset + (terminal if terminated, else w(s'_i)ᵀv)."""
        target = np.array([reward, offset, terminal]) @ self._linear.view
        cross = self._cross.view
        if len(cross):
            target += v[: len(cross)] @ cross  # landmarks newer than this regression's data have no weight yet
        return self.factor.solve(target)

    def landmark_weights(self, C: FloatArray) -> FloatArray:
        """Weights on V(landmarks) (q, m_next) of queries with coordinates C (m, q)."""
        weights = np.zeros((C.shape[1], len(self._landmarks)))
        cross = self._cross.view
        if len(cross):
            weights[:, : len(cross)] = (cross @ self.factor.solve(C)).T
        return weights

    def value_weights(self, *, keep: bool) -> ValueWeights:
        """Weights on V at the landmarks and at termination; ``keep`` protects them from later data."""
        cross, ended = self._cross.view, self._linear.view[2]
        return ValueWeights(cross.copy() if keep else cross, ended.copy() if keep else ended, self.factor)


@dataclass(frozen=True)
class ValueWeights:
    """Weights of V at the landmarks and at the end of an episode.

    Attributes:
        cross: Σ w(s')φ̃ᵀ over transitions that went on (m_next, m).
        ended: Σ φ̃ over those that did not (m,).
        factor: of M̃.
    """

    cross: FloatArray
    ended: FloatArray
    factor: Cholesky

    def norm1(self, C: FloatArray) -> FloatArray:
        """Sum of their absolute values (q,) at queries with coordinates C (m, q)."""
        solved = self.factor.solve(C)
        return np.asarray(np.abs(self.cross @ solved).sum(axis=0) + np.abs(self.ended @ solved))


@dataclass(frozen=True)
class CompressedGrid:
    """Coordinates of q states × A actions: one matrix (m, q) an action if split, else one (m, q·A).

    With ``single``, means are products in single precision: a plan asks for them at every step, each time all
    coordinates are read, and they are far less accurate than that already.
    """

    layout: Layout
    lam: float
    n: int
    coordinates: Sequence[FloatArray]
    residuals: Sequence[FloatArray]
    factors: Sequence[Cholesky]  # of M̃
    single: bool = False
    weights: Sequence[ValueWeights] = ()

    def expectation(self, coef: Sequence[FloatArray]) -> FloatArray:
        """α(z)ᵀy (q, A)."""
        pairs = zip(coef, self._operands, strict=True)
        means = [np.asarray(c.astype(C.dtype, copy=False) @ C, dtype=np.float64) for c, C in pairs]
        return by_action(means, self.layout)

    @cached_property
    def _operands(self) -> Sequence[NDArray[Any]]:
        return [C.astype(np.float32) for C in self.coordinates] if self.single else self.coordinates

    def std(self) -> FloatArray:
        """σ(z) (q, A): with the residual, or uncertainty would collapse away from the dictionary."""
        residual = by_action(list(self.residuals), self.layout)
        return np.sqrt(np.maximum(residual + self.lam * self._leverage(), 0.0))

    def shrinkage(self) -> FloatArray:
        """σ(z) (q, A), never smaller than what the ridge takes."""
        return self.std()

    def weight_norm1(self) -> FloatArray:
        """Σ|weights| on V at the landmarks and at the end (q, A): what V errs by there is magnified by it.

        Interpolation between landmarks can make it larger than ‖α(z)‖₁.
        """
        if not self.weights:
            raise InputError("weights on landmarks are kept only where V is interpolated as it is: use centre=False")
        pairs = zip(self.coordinates, self.weights, strict=True)
        return by_action([weights.norm1(C) for C, weights in pairs], self.layout)

    def _leverage(self) -> FloatArray:
        """‖φ̃(z)‖² in M̃⁻¹ (q, A)."""
        pairs = zip(self.coordinates, self.factors, strict=True)
        return by_action([factor.quadratic(C) for C, factor in pairs], self.layout)


@dataclass(frozen=True)
class CompressedView:
    """A compressed embedding at one moment: features only append or are replaced, so references stay valid."""

    layout: Layout
    lam: float
    n: int
    features: Sequence[FrozenFeatures]
    factors: Sequence[Cholesky]
    weights: Sequence[ValueWeights] = ()

    def grid(self, states: Points) -> CompressedGrid:
        """The embedding of that moment at states × actions."""
        queries = states if self.layout.split else self.layout.state_actions(states)
        pairs = [features.coordinates(queries) for features in self.features]
        coordinates, residuals = [C for C, _ in pairs], [residual for _, residual in pairs]
        return CompressedGrid(
            self.layout, self.lam, self.n, coordinates, residuals, self.factors, weights=self.weights
        )

    def with_actions(self, actions: FloatArray) -> CompressedView | None:
        """The same at other actions; None if the kernel separates actions."""
        return None if self.layout.split else replace(self, layout=Layout(self.layout.kernel, actions))

    def mean_slope(self, coef: Sequence[FloatArray], z: FloatArray) -> FloatArray:
        """∂(α(z)ᵀy)/∂a (d_a,)."""
        return np.asarray(coef[0] @ self.features[0].slopes(z, self.layout.action_dims))

    @property
    def centres(self) -> list[FloatArray]:
        """The points at whose kernels means are sums, in one array or in one for each action; none for a sketch."""
        return [np.asarray(known.points) for known in self._dictionaries]

    def weights_at_centres(self, coef: Sequence[FloatArray]) -> FloatArray:
        """The mean of a target as weights (m,) on the kernel at ``centres``."""
        pairs = zip(self._dictionaries, coef, strict=True)
        return np.concatenate([known.factor.back_solve(np.asarray(c)) for known, c in pairs])

    @property
    def _dictionaries(self) -> list[FrozenDictionary]:
        return [known for known in self.features if isinstance(known, FrozenDictionary)]

    def variance_slope(self, z: FloatArray) -> FloatArray:
        """∂σ²(z)/∂a (d_a,), of σ² = k(z, z) − ‖φ̃‖² + λφ̃ᵀM̃⁻¹φ̃."""
        C = self.features[0].coordinates(z[None])[0][:, 0]
        change = self.features[0].slopes(z, self.layout.action_dims)
        return self.layout.own_slope(z) + 2.0 * (self.lam * self.factors[0].solve(C) - C) @ change
