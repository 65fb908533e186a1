"""γ_N, the largest information gain of N state-actions: exact values and bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.exact.grids import Layout
from cmerl.errors import InputError
from cmerl.kernels import Delta, Kernel, Linear, Points, Product, Scaled, StateAction
from cmerl.transitions import PointSet, as_points
from cmerl.validation.numbers import check_count, check_positive

FloatArray = NDArray[np.float64]
Kind: TypeAlias = Literal["exact", "upper bound", "interval", "lower bound"]

GREEDY_SHARE = 1.0 - 1.0 / math.e  # what greedy attains at least of a monotone submodular maximum
PLAIN_PICKS = 1000  # greedy takes n // PLAIN_PICKS copies at once: one by one for the first 2000


@dataclass(frozen=True)
class InformationGain:
    """Bounds on γ_N: lower ≤ γ_N ≤ upper.

    Attributes:
        lower: attained by some N points.
        upper: a proven upper bound; infinite if the kernel is unbounded.
        kind: "exact"; "upper bound" without points; "interval" for a finite set of points; "lower bound" if the
            points only sample the domain and ``upper`` is trivial.
    """

    lower: float
    upper: float
    kind: Kind


Gamma: TypeAlias = float | InformationGain | Callable[[int], float | InformationGain]
"""γ_N: a number that holds for every N considered, or a function of N; of an interval, the upper end is used."""


def information_gain(
    kernel: Kernel,
    N: int,
    *,
    lam: float,
    candidates: Points | int | None = None,
    states: Points | None = None,
    actions: Points | None = None,
    exhaustive: bool = True,
    dimension: int | None = None,
) -> InformationGain:
    """Bounds on γ_N = max ½ log det(I + K/λ) over multisets of N state-actions.

    Give the state-actions as ``candidates``, or as ``states`` and ``actions`` to be combined. Delta kernels have
    a closed form. Otherwise points are picked greedily, which is within a factor 1 − 1/e of the best; concavity
    in the counts and the number of features often say more, and the least upper bound is returned. The cost is
    O(m²) a pick for m candidates; beyond 2000 picks several copies are taken at once, so that N can be huge.

    Args:
        kernel: k_φ on state-actions.
        N: number of points.
        lam: the ridge λ.
        candidates: all state-actions (m, d), or a list of objects, or just their number for a delta kernel.
        states: all states (S, d).
        actions: all actions (A, d_a).
        exhaustive: False if the points are a grid in a larger domain: greedy then gives a lower bound only.
        dimension: number of features of the kernel, if finite. `Linear` has one a column.
    """
    N = check_count("N", N, least=0)
    check_positive("lam", lam)
    if dimension is not None:
        check_count("dimension", dimension, least=1)
    if N == 0:
        return InformationGain(0.0, 0.0, "exact")
    scale = _delta_scale(kernel)
    if isinstance(candidates, int | np.integer):
        if scale is None:
            raise InputError(f"a number of candidates is enough for delta kernels only: list them for {kernel!r}")
        return _exact(_delta_gain(N, check_count("candidates", candidates, least=1), scale, lam))
    points = _candidates(kernel, candidates, states, actions)
    if points is None:
        if dimension is None:
            raise InputError("γ_N needs candidates=…, or states=… and actions=…, or dimension=… (of the features)")
        return InformationGain(0.0, _rank_bound(N, dimension, kernel.bound**2, lam), "upper bound")
    if scale is not None and exhaustive:
        return _exact(_delta_gain(N, len(points), scale, lam))
    if dimension is None and isinstance(kernel, Linear) and isinstance(points, np.ndarray):
        dimension = points.shape[1]
    K = kernel(points)
    lower, tangent = _greedy(K, N, lam)
    rank = min(N, dimension or N)
    if not exhaustive:
        return InformationGain(lower, _rank_bound(N, rank, kernel.bound**2, lam), "lower bound")
    upper = min(tangent, _rank_bound(N, min(rank, len(K)), float(np.max(np.diag(K))), lam))
    if N <= 2 * PLAIN_PICKS:
        upper = min(upper, lower / GREEDY_SHARE)
    if upper <= lower * (1.0 + 1e-9):
        return _exact(lower)
    return InformationGain(lower, upper, "interval")


def _exact(value: float) -> InformationGain:
    return InformationGain(value, value, "exact")


def _candidates(
    kernel: Kernel, candidates: Points | None, states: Points | None, actions: Points | None
) -> Points | None:
    """The distinct state-actions, or None if none were given."""
    if candidates is not None and (states is not None or actions is not None):
        raise InputError("pass candidates=…, or states=… and actions=…, not both")
    if (states is None) != (actions is None):
        raise InputError("states and actions go together: pass both, or candidates=…")
    if states is not None and actions is not None:
        layout = Layout(kernel, as_points(actions, "actions"))
        candidates = layout.state_actions(as_points(states, "states"))
    if candidates is None:
        return None
    if len(candidates) == 0:
        raise InputError("γ_N needs at least one candidate")
    distinct = PointSet()
    distinct.add(as_points(candidates, "candidates"))
    return distinct.points


def _delta_scale(kernel: Kernel) -> float | None:
    """The c of a kernel that is c on equal points and 0 on others, or None for any other kernel."""
    if isinstance(kernel, Delta):
        return 1.0
    if isinstance(kernel, Scaled):
        inner = _delta_scale(kernel.kernel)
        return None if inner is None else kernel.c * inner
    parts: tuple[Kernel, ...] = ()
    if isinstance(kernel, StateAction):
        parts = (kernel.state_kernel, kernel.action_kernel)
    if isinstance(kernel, Product):
        parts = kernel.kernels
    scales = [s for s in map(_delta_scale, parts) if s is not None]
    return math.prod(scales) if parts and len(scales) == len(parts) else None


def _delta_gain(N: int, m: int, scale: float, lam: float) -> float:
    """N = qm + j spread evenly over m independent points: j of them are seen q + 1 times, the others q."""
    q, j = divmod(N, m)
    return 0.5 * ((m - j) * math.log1p(scale * q / lam) + j * math.log1p(scale * (q + 1) / lam))


def _rank_bound(N: int, rank: int, k_max: float, lam: float) -> float:
    """(r/2) log(1 + N·k_max/(rλ)): the trace of K shared equally by its r ≤ N non-zero eigenvalues."""
    rank = min(rank, N)
    return 0.5 * rank * math.log1p(k_max / lam * (N / rank))


def _greedy(K: FloatArray, N: int, lam: float) -> tuple[float, float]:
    """The gain of N greedy picks from candidates with kernel matrix K (m, m), and an upper bound on γ_N.

    The gain F(c) = ½ log det(I + λ⁻¹Σ c_z φ_zφ_zᵀ) is concave in the counts c, with slope σ²(z)/(2λ) in c_z. No
    counts with the same sum exceed its tangent at the counts that were picked, and the tangent is largest with
    all N at the point of the largest σ².
    """
    C = np.array(K)  # posterior covariance of the candidates
    counts = np.zeros(len(C))
    gain, n = 0.0, 0
    while n < N:
        z = int(np.argmax(np.diagonal(C)))
        copies = min(max(1, n // PLAIN_PICKS), N - n)
        variance = max(float(C[z, z]), 0.0)
        gain += 0.5 * math.log1p(copies / lam * variance)
        column = C[:, z].copy()
        C -= np.multiply.outer(column / (variance + lam / copies), column)
        counts[z] += copies
        n += copies
    var = np.maximum(np.diagonal(C), 0.0)
    return gain, gain + 0.5 / lam * (N * float(var.max()) - float(counts @ var))


def upper_gain(gamma: Gamma, N: int) -> float:
    """γ_N as a number that can stand in a bound."""
    value = gamma(N) if callable(gamma) else gamma
    number = value.upper if isinstance(value, InformationGain) else float(value)
    if not 0.0 <= number < math.inf:
        raise InputError(f"gamma must be a finite number of at least 0, but is {number} for N = {N}")
    return number
