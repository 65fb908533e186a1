"""The risk of leaving a set of states of a finite MDP, by backward induction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def known_laws(counts: FloatArray, lam: float) -> FloatArray:
    """The transition weights of an embedding with a delta kernel: n(s, a, s') / (N(s, a) + λ).

    The mass that is missing, λ / (N + λ), is what it does not know.

    Args:
        counts: transitions seen (S, A, S).
        lam: λ.
    """
    laws: FloatArray = counts / (counts.sum(axis=2, keepdims=True) + lam)
    return laws


def finite_risk(laws: FloatArray, outside: NDArray[np.bool_], follow: NDArray[np.intp]) -> FloatArray:
    """The probability (S, A) of leaving within k steps: by an action now, and then by those of a fallback.

    Mass that a law lacks counts as leaving under the action itself. Under the fallback, which is trusted, only what
    is known to leave counts.

    Args:
        laws: known laws (S, A, S), each summing to at most 1.
        outside: states that count as left (S,).
        follow: actions of the fallback at the k − 1 steps after this one (k − 1, S).
    """
    later = outside.astype(np.float64)
    states = np.arange(len(outside))
    for actions in follow[::-1]:
        later = np.where(outside, 1.0, laws[states, actions] @ later)
    unknown = 1.0 - laws.sum(axis=2)
    return np.asarray(laws @ later + unknown)
