"""Embeddings in coordinates: a cost per episode that depends on their number, not on the data.

Coordinates φ̃ of state-actions come from a dictionary (compressed, Nyström) or from random features. Only moments are
kept, M̃ = Σφ̃φ̃ᵀ + λI and C̃ = Σwφ̃ᵀ, w the weights of V(s') on V at the landmarks, where alone V must be known.

Dictionaries kept in the order of arrival can make the backup expansive, so they are selected again by greatest
residual when the data have doubled and they have grown by more than a quarter since, and once more at ``keep``
transitions; from then on the raw data are dropped, the dictionaries only grow up to their cap, and memory is flat.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.compressed.features import Features, Tracker
from cmerl.embedding.compressed.landmarks import Landmarks
from cmerl.embedding.compressed.moments import CompressedGrid, CompressedView, Moments, ValueWeights
from cmerl.embedding.compressed.sample_error import (
    SampleError,
    StridedSample,
    sample_error,
    transition_arrays,
    transitions_of,
)
from cmerl.embedding.exact.grids import Layout
from cmerl.embedding.exact.regression import check_ridge
from cmerl.embedding.per_action import Router
from cmerl.errors import InputError
from cmerl.growing import Arrays, doubled, nested, part
from cmerl.kernels import Kernel
from cmerl.rollback import all_or_nothing
from cmerl.transitions import Points, Transitions, concatenate, saveable, take

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class CompressedEmbedding:
    """A conditional mean embedding in finite coordinates; make one with ``compressed``, ``nystrom`` or ``fourier``.

    Args:
        name: its name in ``diagnostics``.
        kernel: k_φ on state-actions.
        features: makes the coordinates of a kernel; called once per independent regression.
        landmarks: the states at which V is known.
        lam: the ridge λ > 0.
        actions: the finite action set (A, d_a) of ``grid``.
        keep: number of transitions kept for selecting coordinates; beyond it the raw data are dropped.
        rebuild: select coordinates and landmarks again when the data have doubled and they have grown noticeably.
        centre: interpolate V around its mean. This is more accurate, but constants need not lie in the space of k_ψ,
            so bounds on projected values hold only without it.
        single: compute means at the landmarks in single precision.
    """

    repeat = 1

    def __init__(
        self,
        name: str,
        kernel: Kernel,
        features: Callable[[Kernel], Features],
        landmarks: Landmarks,
        lam: float,
        actions: Points | None,
        *,
        keep: int,
        rebuild: bool,
        centre: bool = True,
        single: bool = False,
    ) -> None:
        self._centre, self._single = centre, single
        if keep < 0:
            raise InputError(f"keep must be 0 or more transitions, not {keep!r}")
        self.name = name
        self.kernel = kernel
        self.lam = check_ridge(lam)
        self.layout = Layout(kernel, np.empty((0, 1)) if actions is None else actions)
        self.keep = keep
        self._make_features = features
        self._landmarks = landmarks
        self._router = Router(self.layout)
        self.moments: list[Moments] = []
        self._trackers: list[Tracker] | None = None
        self._ensure_moments()
        self._raw: list[Transitions] | None = [] if rebuild else None
        self._rebuilt_at = 0
        self.chosen: tuple[int, ...] = ()  # landmarks and coordinates when they were last chosen
        self.choices = 0  # how often coordinates were chosen anew
        self.n = 0
        self.next_residual_sum = 0.0  # R_ψ
        self.sample = StridedSample()

    def _ensure_moments(self) -> None:
        while len(self.moments) < self._router.count:
            features = self._make_features(self._router.kernel)
            self.moments.append(Moments(features, self._landmarks, self.lam))
            self._trackers = None

    @property
    def support(self) -> Points:
        """The landmarks (m, d): states at which V must be known."""
        return self._landmarks.points.points

    @property
    def information_gain(self) -> float:
        """An upper bound on G = ½ log det(I + K/λ), equal to it at tolerance 0."""
        return sum(m.information_gain for m in self.moments)

    @property
    def sum_r(self) -> float:
        """Σ r̃_i while dictionaries only grew; after a rebuild log det(M̃/λ) + R_φ/λ, which needs no order."""
        if self.choices == 0:
            return sum(m.sum_r for m in self.moments)
        return sum(m.log_det + m.residual_sum / self.lam for m in self.moments)

    @property
    def projection_loss(self) -> tuple[float, float]:
        """(R_φ, R_ψ): squared residuals of all state-actions and of all next states, summed."""
        return sum(m.residual_sum for m in self.moments), self.next_residual_sum

    @property
    def jitter(self) -> float:
        """The largest jitter that any factorisation needed."""
        return max(m.factor.jitter for m in self.moments)

    def update(self, batch: Transitions) -> None:
        """Learn from transitions, and reselect the dictionaries at times; unchanged if this raises."""
        if len(batch) == 0:
            return
        self._landmarks.points.check(batch.next_states, "next states")
        with all_or_nothing(self):
            self._learn(batch)

    def _learn(self, batch: Transitions) -> None:
        self.n += len(batch)
        if self._raw is not None:
            self._raw.append(batch)
        due = self._raw is not None and (self.choices == 0 or self.n >= self.keep)
        if not due:
            self._add(batch, choose=False)
            due = doubled(self.n, self._rebuilt_at) and self._grown()
        if due and self._raw is not None:
            self._choose_anew(self._raw)
        if self.n >= self.keep:
            self._raw = None
        self.sample.add(batch)
        self._refresh()

    def _choose_anew(self, raw: list[Transitions]) -> None:
        self._rebuilt_at = self.n
        self.choices += 1
        self.next_residual_sum = 0.0
        self._trackers = None
        for moments in self.moments:
            moments.clear()
        self._add(concatenate(raw), choose=True)
        self.chosen = self._sizes()

    def _sizes(self) -> tuple[int, ...]:
        """Landmarks, then the coordinates of each regression."""
        return (len(self._landmarks), *(len(m.features) for m in self.moments))

    @property
    def _full(self) -> bool:
        return self._landmarks.full or any(m.features.full for m in self.moments)

    def _grown(self, arrived: float = 0.25) -> bool:
        """Whether a share of points came by arrival since the last choice, or could not come at all."""
        if self._full:
            return True
        pairs = itertools.zip_longest(self._sizes(), self.chosen, fillvalue=0)
        return any(size > (1.0 + arrived) * chosen for size, chosen in pairs)

    def _add(self, batch: Transitions, *, choose: bool) -> None:
        alive = np.flatnonzero(~batch.terminated)
        columns = np.full(len(batch), -1, dtype=np.intp)
        columns[alive] = np.arange(len(alive))
        codes, residual = self._landmarks.encode(take(batch.next_states, alive), choose=choose)
        self.next_residual_sum += residual
        groups, X = self._router.assign(batch.Z)
        self._ensure_moments()
        for g in np.unique(groups):
            rows = np.flatnonzero(groups == g)
            self.moments[g].add(take(X, rows), codes, columns[rows], batch.rewards[rows], choose=choose)

    def _refresh(self) -> None:
        """Extend the coordinates of landmarks × actions."""
        if not len(self.layout.actions) or not len(self._landmarks):
            return
        if self._trackers is None:
            self._trackers = [m.features.tracker() for m in self.moments]
        queries = self.support if self.layout.split else self.layout.state_actions(self.support)
        for tracker in self._trackers:
            tracker.refresh(queries)

    def arrays(self) -> Arrays:
        """All arrays for saving; an embedding made the same way continues from them bit for bit."""
        counts = np.array([self.n, self.choices, self._rebuilt_at, len(self.moments)])
        own = {"counts": counts, "next_residual_sum": np.array(self.next_residual_sum)}
        own["chosen"] = np.array(self.chosen, dtype=np.intp)
        parts = {"landmarks": self._landmarks.arrays(), "sample": self.sample.arrays()}
        parts |= {f"moments.{g}": moments.arrays() for g, moments in enumerate(self.moments)}
        parts |= {f"tracker.{g}": tracker.arrays() for g, tracker in enumerate(self._trackers or [])}
        if self._raw:
            parts["raw"] = transition_arrays(concatenate(self._raw))
        if self.layout.split:
            own["actions"] = saveable(self._router.actions.points)
        return {**own, **nested(parts)}

    def restore(self, arrays: Arrays) -> None:
        """Restore saved arrays; this embedding must be empty and made the same way."""
        if self.n:
            raise InputError("only an embedding without data can go on from a saved one")
        self.n, self.choices, self._rebuilt_at, count = arrays["counts"].tolist()
        self.chosen = tuple(arrays["chosen"].tolist())
        self.next_residual_sum = float(arrays["next_residual_sum"].item())
        if self.layout.split:
            self._router.actions.add(arrays["actions"])
        self._ensure_moments()
        if len(self.moments) != count:
            raise InputError(f"the saved embedding has {count} regressions, this one {len(self.moments)}")
        self._landmarks.restore(part(arrays, "landmarks"))
        self.sample.restore(part(arrays, "sample"))
        for g, moments in enumerate(self.moments):
            moments.restore(part(arrays, f"moments.{g}"))
        if "raw.Z" in arrays:
            self._raw = [transitions_of(part(arrays, "raw"))]
        elif self.n >= self.keep:
            self._raw = None
        if any(name.startswith("tracker.") for name in arrays):
            self._trackers = [m.features.tracker() for m in self.moments]
            for g, tracker in enumerate(self._trackers):
                tracker.restore(part(arrays, f"tracker.{g}"))

    def backup(self, v: FloatArray, *, reward: float = 1.0, terminal: float = 0.0) -> Sequence[FloatArray]:
        """M̃⁻¹Σφ̃_i y_i, one vector per regression."""
        centre = float(v.sum()) / len(v) if self._centre and len(v) else 0.0
        return [m.solve(v - centre, reward, centre, terminal - centre) for m in self.moments]

    def ones(self) -> Sequence[FloatArray]:
        """The constant 1, one vector per regression; nothing is interpolated."""
        return [m.solve(np.zeros(len(self._landmarks)), 0.0, 1.0, 0.0) for m in self.moments]

    def grid(self, states: Points | None = None) -> CompressedGrid:
        """The embedding at states × actions; at its landmarks by default."""
        if states is not None:
            return self.freeze().grid(states)
        if self._trackers is None:
            raise InputError("this embedding was made without actions: pass the states that you ask about")
        coordinates = [tracker.W for tracker in self._trackers]
        residuals = [tracker.variance for tracker in self._trackers]
        factors = [m.factor for m in self.moments]
        weights = self._value_weights(keep=False)
        return CompressedGrid(self.layout, self.lam, self.n, coordinates, residuals, factors, self._single, weights)

    def freeze(self) -> CompressedView:
        """An immutable view, for plans that outlive later updates."""
        features = [m.features.freeze() for m in self.moments]
        factors, weights = [m.factor for m in self.moments], self._value_weights(keep=True)
        return CompressedView(self.layout, self.lam, self.n, features, factors, weights)

    def _value_weights(self, *, keep: bool) -> list[ValueWeights]:
        """Copied only where bounds may ask for them: the matrices are as large as the dictionaries."""
        return [] if self._centre else [m.value_weights(keep=keep) for m in self.moments]

    def expectation(self, coef: Sequence[FloatArray], Zq: Points) -> FloatArray:
        """α(z)ᵀy at the state-actions (q,)."""
        out = np.zeros(len(Zq))
        for g, rows, X in self._parts(Zq):
            C, _ = self.moments[g].features.coordinates(X)
            out[rows] = coef[g] @ C[: len(coef[g])]
        return out

    def std(self, Zq: Points) -> FloatArray:
        """σ(z) at the state-actions (q,)."""
        variance = self.kernel.diag(Zq)
        for g, rows, X in self._parts(Zq):
            C, residual = self.moments[g].features.coordinates(X)
            variance[rows] = residual + self.lam * self.moments[g].factor.quadratic(C)
        return np.sqrt(np.maximum(variance, 0.0))

    def information(self, Zq: Points) -> FloatArray:
        """½log(1 + σ²/λ) at the state-actions (q,)."""
        return 0.5 * np.log1p(np.square(self.std(Zq)) / self.lam)

    def shrinkage(self, Zq: Points) -> FloatArray:
        """σ(z) (q,), an upper bound on the shrinkage."""
        return self.std(Zq)

    def weight_norm1(self, Zq: Points) -> FloatArray:
        """Σ|weights| on V at the landmarks and at termination (q,), before V is centred."""
        out = np.zeros(len(Zq))
        for g, rows, X in self._parts(Zq):
            C, _ = self.moments[g].features.coordinates(X)
            out[rows] = self.moments[g].value_weights(keep=False).norm1(C)
        return out

    def weights(self, Zq: Points) -> FloatArray:
        """Signed weights on V(landmarks) (q, m)."""
        out = np.zeros((len(Zq), len(self._landmarks)))
        for g, rows, X in self._parts(Zq):
            C, _ = self.moments[g].features.coordinates(X)
            out[rows] = self.moments[g].landmark_weights(C)
        return out

    def weights_of(self, Zq: Points, Z: Points) -> FloatArray:
        """Weights of the learned state-actions Z at Zq: φ̃(z)ᵀM̃⁻¹φ̃(z_i) (q, n)."""
        out = np.zeros((len(Zq), len(Z)))
        learned = {g: (rows, X) for g, rows, X in self._parts(Z)}
        for g, rows, X in self._parts(Zq):
            mine, points = learned[g]
            features, factor = self.moments[g].features, self.moments[g].factor
            out[np.ix_(rows, mine)] = features.coordinates(X)[0].T @ factor.solve(features.coordinates(points)[0])
        return out

    def _parts(self, Zq: Points) -> list[tuple[int, IntArray, Points]]:
        """Queries by the regression that answers them; those without data are left out."""
        return [part for part in self._router.parts(Zq) if self.moments[part[0]].n]

    def sample_error(self) -> SampleError:
        """Differences from the exact embedding on the same sample of transitions."""
        if self.sample.kept is None:
            return SampleError(0.0, 0.0)
        features = [m.features for m in self.moments]
        return sample_error(self.sample.kept, self.kernel, self.lam, self._router, features, self._landmarks)

    def diagnostics(self) -> dict[str, Any]:
        """Sizes, residuals, information gain, numerical health, and errors against exact on a sample."""
        R_phi, R_psi = self.projection_loss
        error = self.sample_error()
        return {
            "backend": self.name,
            "transitions": self.n,
            "coordinates of state-actions": sum(len(m.features) for m in self.moments),
            "landmarks": len(self._landmarks),
            "regressions": len(self.moments),
            "full": self._full,
            "rebuilds": self.choices,
            "raw transitions kept": 0 if self._raw is None else self.n,
            "residual of state-actions": R_phi,
            "residual of next states": R_psi,
            "information gain": self.information_gain,
            "jitter": self.jitter,
            "error of means on a sample": error.mean,
            "error of sigma on a sample": error.std,
        }
