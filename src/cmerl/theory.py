"""What the theorems promise, as numbers: maximal information gain, regret bounds and episodes for a PAC policy.

Rewards lie in [0, 1] and are known. N = T·H counts steps, γ_N is the largest G = ½ log det(I + K/λ) that any N
state-actions can have, repeats allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.grids import Layout
from cmerl.errors import InputError
from cmerl.kernels import Delta, Kernel, Linear, Points, Product, Scaled, StateAction
from cmerl.transitions import PointSet, as_points

FloatArray = NDArray[np.float64]
Kind: TypeAlias = Literal["exact", "upper bound", "interval", "lower bound"]
Form: TypeAlias = Literal["paper", "tight"]

GREEDY_SHARE = 1.0 - 1.0 / math.e  # what greedy attains at least of a monotone submodular maximum
PLAIN_PICKS = 1000  # greedy takes n // PLAIN_PICKS copies at once: one by one for the first 2000
MOST_EPISODES = 2**100  # a search that gets this far has no answer


@dataclass(frozen=True)
class InformationGain:
    """What is known about γ_N: lower ≤ γ_N ≤ upper.

    Attributes:
        lower: attained by some N points.
        upper: exceeded by none; infinite where the kernel is unbounded.
        kind: "exact"; "upper bound" where no points were given; "interval" for a finite set of points;
            "lower bound" where the points only sample the domain, and ``upper`` is the trivial one.
    """

    lower: float
    upper: float
    kind: Kind


Gamma: TypeAlias = float | InformationGain | Callable[[int], float | InformationGain]
"""γ_N: a number that holds for every N considered, or a function of N; of an interval, the upper end is used."""


# --- maximal information gain ---


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
    """γ_N = max ½ log det(I + K/λ) over multisets of N state-actions, as far as it can be known.

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
    N = _whole("N", N, least=0)
    _positive("lam", lam)
    if dimension is not None:
        _whole("dimension", dimension, least=1)
    if N == 0:
        return InformationGain(0.0, 0.0, "exact")
    scale = _delta_scale(kernel)
    if isinstance(candidates, int | np.integer):
        if scale is None:
            raise InputError(f"a number of candidates is enough for delta kernels only: list them for {kernel!r}")
        return _exact(_delta_gain(N, _whole("candidates", candidates, least=1), scale, lam))
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


# --- regret ---


def regret_bound(
    *,
    episodes: int,
    horizon: int,
    gamma: Gamma,
    lam: float,
    B_V: float,
    B_P: float,
    delta: float,
    B_phi: float = 1.0,
    zeta: float = 0.0,
    one_norm: float | None = None,
    D: float = math.sqrt(2.0),
    form: Form = "paper",
) -> float:
    """A bound on the regret of the first ``episodes`` episodes that holds with probability 1 − delta.

    "paper" is [CO22, Thm 2], and with ``zeta`` > 0 [CO22, Thm 3], to the letter. "tight" is the same argument for
    the ``tight`` mode: its radius with Σr_i ≤ min(2γ_N, N) in place of α_N, and a martingale whose differences
    are at most H, as values are clipped on both sides. Neither is capped at H·T; see `informative_from`.

    Args:
        episodes: T.
        horizon: H.
        gamma: γ_N for N = T·H, or a function of N.
        lam: the ridge λ.
        B_V: bound on ‖V‖_ψ.
        B_P: bound on ‖Θ_P‖_HS.
        delta: failure probability.
        B_phi: bound on √k_φ(z, z).
        zeta: every V lies within this distance of a function of norm B_V.
        one_norm: ‖1‖_ψ. Thm 3 needs it, and holds only where all weights are non-negative; "tight" without it
            uses ‖α‖₁ ≤ √n·λ^{-1/2}σ, which always holds, at the price of a term ζN√γ_N.
        D: bound on ‖ψ(s) − ψ(s')‖, for "tight".
        form: "paper" or "tight".
    """
    T, H = _whole("episodes", episodes, least=1), _whole("horizon", horizon, least=1)
    for name, value in (("lam", lam), ("B_V", B_V), ("B_P", B_P), ("B_phi", B_phi), ("D", D)):
        _positive(name, value)
    _probability("delta", delta)
    if not 0.0 <= zeta < math.inf:
        raise InputError(f"zeta must be a number from 0 on, not {zeta!r}")
    N = T * H
    gain = _gamma_at(gamma, N)
    radius = _radius(form, N, gain, lam=lam, B_P=B_P, D=D, delta=delta)
    slope = B_V * radius
    bias = 0.0
    if zeta > 0.0:
        if one_norm is not None:
            slope, bias = slope + zeta * one_norm * radius, 4.0 * zeta * N
        elif form == "tight":
            slope, bias = slope + zeta * math.sqrt(N), 2.0 * zeta * N
        else:
            raise InputError("Thm 3 needs one_norm=…, the norm of the constant 1 in the space of k_ψ")
    martingale = (2.0 if form == "paper" else 1.0) * H * math.sqrt(2.0 * N * math.log(2.0 / delta))
    return 2.0 * slope * math.sqrt(2.0 * (1.0 + B_phi**2 * H / lam) * N * gain) + bias + martingale


def _radius(form: Form, N: int, gain: float, *, lam: float, B_P: float, D: float, delta: float) -> float:
    """α_{N,δ} of Thm 2, or the tight radius at its largest; both spend δ/2."""
    if form == "paper":
        log_term = math.log(4.0) + 2.0 * math.log(N) - math.log(delta)  # N² may be too large for a float
        return math.sqrt(2.0 * lam * B_P**2 + 256.0 * (1.0 + 1.0 / lam) * gain * log_term)
    if form == "tight":
        noise = D * math.sqrt(min(2.0 * gain, float(N)) + 0.5 * math.log(2.0 / delta))
        return math.hypot(math.sqrt(lam) * B_P, noise)
    raise InputError(f"form must be 'paper' or 'tight', not {form!r}")


def informative_from(
    *,
    horizon: int,
    gamma: Gamma,
    lam: float,
    B_V: float,
    B_P: float,
    delta: float,
    B_phi: float = 1.0,
    zeta: float = 0.0,
    one_norm: float | None = None,
    D: float = math.sqrt(2.0),
    form: Form = "paper",
) -> float:
    """The first T at which `regret_bound` falls below H·T, the regret of doing everything wrong; inf if none."""

    def informative(T: int) -> bool:
        bound = regret_bound(
            episodes=T,
            horizon=horizon,
            gamma=gamma,
            lam=lam,
            B_V=B_V,
            B_P=B_P,
            delta=delta,
            B_phi=B_phi,
            zeta=zeta,
            one_norm=one_norm,
            D=D,
            form=form,
        )
        return bound < horizon * T

    # The bias alone is 4ζ a step in Thm 3, and 2ζ at least in the other form.
    return math.inf if 2.0 * zeta >= 1.0 else _first(informative)


# --- PAC ---


def pac_episodes(
    *,
    epsilon: float,
    failure: float,
    horizon: int,
    gamma: Gamma,
    lam: float,
    B_V: float,
    B_P: float,
    delta: float,
    B_phi: float = 1.0,
    zeta: float = 0.0,
    one_norm: float | None = None,
    D: float = math.sqrt(2.0),
    form: Form = "paper",
) -> float:
    """Episodes after which the policy of a random one of them is epsilon-optimal; inf if no number suffices.

    Play T episodes from a fixed first state and return the policy of an episode drawn uniformly. Its expected
    regret is R(T·H)/T, so by Markov's inequality it exceeds ``epsilon`` with probability at most ``failure`` once
    the bound on R is at most failure·T·epsilon: in all, 1 − failure − delta. With ``zeta`` > 0 the bound of
    Thm 3 never falls below 4ζH/failure.

    T is found by doubling and bisection: T episodes suffice, T − 1 do not. The arguments from ``horizon`` on are
    those of `regret_bound`.
    """
    _positive("epsilon", epsilon)
    _probability("failure", failure)

    def enough(T: int) -> bool:
        bound = regret_bound(
            episodes=T,
            horizon=horizon,
            gamma=gamma,
            lam=lam,
            B_V=B_V,
            B_P=B_P,
            delta=delta,
            B_phi=B_phi,
            zeta=zeta,
            one_norm=one_norm,
            D=D,
            form=form,
        )
        return bound <= failure * T * epsilon

    floor = (2.0 if one_norm is None else 4.0) * zeta * horizon / failure
    return math.inf if epsilon <= floor else _first(enough)


def paper_pac_episodes(*, epsilon: float, horizon: int, d_eff: float) -> int:
    """d_eff²H²/ε², the count of [CO22] with the hidden constant taken as 1; it is too small, see `pac_episodes`.

    Args:
        epsilon: wanted accuracy.
        horizon: H.
        d_eff: upper bound on γ_N.
    """
    for name, value in (("epsilon", epsilon), ("d_eff", d_eff)):
        _positive(name, value)
    return math.ceil((d_eff * _whole("horizon", horizon, least=1) / epsilon) ** 2)


def _first(enough: Callable[[int], bool]) -> float:
    """A T ≥ 1 with enough(T) and not enough(T − 1), the first one where enough never turns false again."""
    high = 1
    while not enough(high):
        high *= 2
        if high > MOST_EPISODES:
            return math.inf
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _gamma_at(gamma: Gamma, N: int) -> float:
    value = gamma(N) if callable(gamma) else gamma
    number = value.upper if isinstance(value, InformationGain) else float(value)
    if not 0.0 <= number < math.inf:
        raise InputError(f"gamma must be a finite number from 0 on, but is {number} for N = {N}")
    return number


def _positive(name: str, value: float) -> None:
    if not 0.0 < value < math.inf:
        raise InputError(f"{name} must be a positive number, not {value!r}")


def _probability(name: str, value: float) -> None:
    if not 0.0 < value < 1.0:
        raise InputError(f"{name} must lie strictly between 0 and 1, not {value!r}")


def _whole(name: str, value: int, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)
