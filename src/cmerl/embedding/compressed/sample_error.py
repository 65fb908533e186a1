"""The difference between a sketch and the exact embedding on a sample of transitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.compressed.features import FrozenFeatures
from cmerl.embedding.compressed.landmarks import Landmarks
from cmerl.embedding.compressed.moments import Moments
from cmerl.embedding.exact.embedding import ExactEmbedding
from cmerl.embedding.per_action import Router
from cmerl.growing import Arrays
from cmerl.kernels import Kernel
from cmerl.transitions import Points, Transitions, concatenate, saveable, take

FloatArray = NDArray[np.float64]


class StridedSample:
    """Every k-th transition, k doubled whenever the sample is full: spread evenly over all that was seen.

    Args:
        size: transitions kept at least, once there are as many; at most twice as many.
    """

    def __init__(self, size: int = 256) -> None:
        self.size = size
        self.stride, self.seen = 1, 0
        self.kept: Transitions | None = None

    def add(self, batch: Transitions) -> None:
        """Continue with a batch."""
        rows = np.arange(-self.seen % self.stride, len(batch), self.stride)
        self.seen += len(batch)
        if not rows.size:
            return
        self.kept = _rows(batch, rows) if self.kept is None else concatenate([self.kept, _rows(batch, rows)])
        while len(self.kept) > 2 * self.size:
            self.stride *= 2
            self.kept = _rows(self.kept, np.arange(0, len(self.kept), 2))

    def arrays(self) -> Arrays:
        """The sample, nothing where there is none."""
        counts = {"counts": np.array([self.stride, self.seen])}
        return counts if self.kept is None else {**counts, **transition_arrays(self.kept)}

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        self.stride, self.seen = arrays["counts"].tolist()
        self.kept = transitions_of(arrays) if "Z" in arrays else None


@dataclass(frozen=True)
class SampleError:
    """Largest differences from the exact embedding at the state-actions of the sample.

    Attributes:
        mean: of E[f | z] over functions f of height 1.
        std: of σ(z).
    """

    mean: float
    std: float


class _Fixed:
    """Features that take what comes as it is."""

    def __init__(self, features: FrozenFeatures) -> None:
        self.coordinates = self.absorb = features.coordinates

    def __len__(self) -> int:
        """None until points come."""
        return 0

    def freeze(self) -> None:
        """Nothing changes."""

    def settle(self, before: None, X: Points) -> None:
        """Nothing changes."""


def sample_error(
    sample: Transitions,
    kernel: Kernel,
    lam: float,
    router: Router,
    features: Sequence[FrozenFeatures],
    landmarks: Landmarks,
    functions: int = 8,
) -> SampleError:
    """Both embeddings learn the sample alone, the sketch in the coordinates that it has now.

    Means are compared for functions k_ψ(·, s') around some next states, where V is interpolated, and for targets of
    alternating sign, the roughest there are.
    """
    sample = _rows(sample, np.flatnonzero(~sample.terminated))
    if not len(sample):
        return SampleError(0.0, 0.0)
    exact = ExactEmbedding(kernel, lam)
    exact.update(Transitions(sample.Z, sample.next_states, _signs(len(sample)), sample.terminated))
    codes = landmarks.codes(sample.next_states)
    tried = np.linspace(0, len(sample) - 1, functions).astype(np.intp)
    values = landmarks.kernel_functions(take(sample.next_states, tried))
    v_exact, v_landmarks = values(exact.support), values(landmarks.points.points)
    nothing = np.zeros(len(exact.support))
    mean = std = 0.0
    groups, X = router.assign(sample.Z)
    for g in np.unique(groups):
        rows = np.flatnonzero(groups == g)
        Zg, Xg = take(sample.Z, rows), take(X, rows)
        moments = Moments(_Fixed(features[g]), landmarks, lam)  # type: ignore[arg-type]
        moments.add(Xg, codes, rows, _signs(len(sample))[rows], choose=False)
        C, residual = features[g].coordinates(Xg)
        truth = [exact.expectation(exact.backup(nothing), Zg)]
        ours = [moments.solve(np.zeros(len(landmarks)), 1.0, 0.0, 0.0) @ C]
        for v, w in zip(v_exact, v_landmarks, strict=True):
            truth.append(exact.expectation(exact.backup(v, reward=0.0), Zg))
            ours.append(moments.solve(w, 0.0, 0.0, 0.0) @ C)
        mean = max(mean, float(np.max(np.abs(np.stack(truth) - np.stack(ours)))))
        sigma = np.sqrt(np.maximum(residual + lam * moments.factor.quadratic(C), 0.0))
        std = max(std, float(np.max(np.abs(exact.std(Zg) - sigma))))
    return SampleError(mean, std)


def transition_arrays(data: Transitions) -> Arrays:
    """Transitions as arrays, for saving."""
    points = {"Z": saveable(data.Z), "next_states": saveable(data.next_states)}
    return {**points, "rewards": data.rewards, "terminated": data.terminated}


def transitions_of(arrays: Arrays) -> Transitions:
    """Transitions that were saved."""
    return Transitions(arrays["Z"], arrays["next_states"], arrays["rewards"], arrays["terminated"])


def _signs(n: int) -> FloatArray:
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def _rows(batch: Transitions, rows: NDArray[np.intp]) -> Transitions:
    return Transitions(
        take(batch.Z, rows), take(batch.next_states, rows), batch.rewards[rows], batch.terminated[rows]
    )
