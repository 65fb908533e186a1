"""Tables of the theorems' numbers, ready for CSV or JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, Kernel, Linear, Matern
from cmerl.theory.gain import InformationGain, information_gain
from cmerl.theory.setting import FORMS, Form, Setting
from cmerl.validation.numbers import check_count

Row = dict[str, Any]

KERNELS = ("delta", "linear", "rbf", "matern")


def finite_setting(
    states: int, actions: int, horizon: int, *, lam: float = 1.0, delta: float = 0.1, zeta: float = 0.0
) -> Setting:
    """A finite MDP with delta kernels and the constants that always hold there."""
    S, A = check_count("states", states, least=1), check_count("actions", actions, least=1)
    return Setting(
        horizon=horizon,
        gamma=lambda N: information_gain(Delta(), N, lam=lam, candidates=S * A),
        lam=lam,
        B_V=horizon * math.sqrt(S),
        B_P=math.sqrt(S * A),
        delta=delta,
        zeta=zeta,
        one_norm=math.sqrt(S),
    )


def linear_setting(
    features: int, horizon: int, *, B_V: float, B_P: float, lam: float = 1.0, delta: float = 0.1, zeta: float = 0.0
) -> Setting:
    """An environment with a linear kernel of so many features bounded by 1; B_V and B_P are the user's to know."""
    return Setting(
        horizon=horizon,
        gamma=lambda N: information_gain(Linear(1.0), N, lam=lam, dimension=features),
        lam=lam,
        B_V=B_V,
        B_P=B_P,
        delta=delta,
        D=2.0,
        zeta=zeta,
        form="tight" if zeta > 0 else "paper",
    )


def gain_rows(
    kernel: str, Ns: Sequence[int], *, lam: float, points: int, dimension: int, lengthscale: float
) -> list[Row]:
    """γ_N as far as it is known: on ``points`` points (delta), for features (linear), or on a grid of [0, 1]^d."""
    return [{"N": N, **_gain_row(_gain(kernel, N, lam, points, dimension, lengthscale))} for N in Ns]


def _gain_row(found: InformationGain) -> Row:
    return {"at least": found.lower, "at most": found.upper, "what it is": found.kind}


def _gain(kernel: str, N: int, lam: float, points: int, dimension: int, lengthscale: float) -> InformationGain:
    if kernel == "delta":
        return information_gain(Delta(), N, lam=lam, candidates=points)
    if kernel == "linear":
        return information_gain(Linear(1.0), N, lam=lam, dimension=dimension)
    if kernel not in KERNELS:
        raise InputError(f"kernel must be one of {', '.join(KERNELS)}, not {kernel!r}")
    k: Kernel = RBF(lengthscale) if kernel == "rbf" else Matern(1.5, lengthscale)
    side = max(round(points ** (1.0 / dimension)), 1)
    axes = np.meshgrid(*[np.linspace(0.0, 1.0, side)] * dimension)
    grid = np.column_stack([axis.ravel() for axis in axes])
    return information_gain(k, N, lam=lam, candidates=grid, exhaustive=False)


def radius_rows(setting: Setting, episodes: Sequence[int]) -> list[Row]:
    """β of every mode when so many episodes were begun, at its largest."""
    return [{"episode": T, **setting.radii(T)} for T in episodes]


def forms(setting: Setting) -> list[Setting]:
    """The setting in the paper's form, where it has one, and in the tight form."""
    usable: list[Form] = [
        form for form in FORMS if form == "tight" or setting.zeta == 0.0 or setting.one_norm is not None
    ]
    return [dataclasses.replace(setting, form=form) for form in usable]


def regret_rows(setting: Setting, episodes: Sequence[int]) -> list[Row]:
    """Bounds on regret after so many episodes, and the trivial one; the last row says from when on it is larger."""
    found = forms(setting)
    rows: list[Row] = [
        {
            "episodes": T,
            **{f"{s.form}": s.regret_bound(T) for s in found},
            "trivial": float(setting.horizon * T),
        }
        for T in episodes
    ]
    return [*rows, {"episodes": "informative from", **{s.form: s.informative_from() for s in found}, "trivial": None}]


def pac_rows(setting: Setting, epsilons: Sequence[float], failure: float) -> list[Row]:
    """Episodes until a policy drawn from those played is ε-optimal; inf where no number suffices.

    "least epsilon" is the smallest one for which either form has a finite number.
    """
    found = forms(setting)
    least = min(s.least_epsilon(failure) for s in found)
    return [
        {"epsilon": epsilon, **{s.form: s.pac_episodes(epsilon, failure) for s in found}, "least epsilon": least}
        for epsilon in epsilons
    ]
