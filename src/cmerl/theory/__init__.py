"""The theorems as numbers: maximal information gain, radii, regret bounds, episodes for a PAC policy.

>>> from cmerl.kernels import Delta
>>> from cmerl.theory import Setting, information_gain
>>> gamma = lambda N: information_gain(Delta(), N, lam=1.0, candidates=12)
>>> tight = Setting(horizon=20, gamma=gamma, lam=1.0, B_V=49.0, B_P=3.5, delta=0.1, form="tight")
>>> tight.informative_from() < 1e10
True
"""

from __future__ import annotations

import math
from typing import Unpack

from cmerl.theory.gain import Gamma, InformationGain, information_gain
from cmerl.theory.setting import Form, Setting, SettingOptions
from cmerl.validation.numbers import check_count, check_positive

__all__ = [
    "Form",
    "Gamma",
    "InformationGain",
    "Setting",
    "information_gain",
    "informative_from",
    "pac_episodes",
    "paper_pac_episodes",
    "radii",
    "regret_bound",
]


def regret_bound(*, episodes: int, **setting: Unpack[SettingOptions]) -> float:
    """A bound on the regret of the first ``episodes`` episodes that holds with probability 1 − delta.

    The other keywords are those of `Setting`, which says what its two forms are.
    """
    return Setting(**setting).regret_bound(episodes)


def radii(*, episodes: int, **setting: Unpack[SettingOptions]) -> dict[str, float]:
    """The largest that β can be in each mode when ``episodes`` episodes were begun; see `Setting.radii`."""
    return Setting(**setting).radii(episodes)


def informative_from(**setting: Unpack[SettingOptions]) -> float:
    """The first T at which `regret_bound` falls below H·T, the regret of doing everything wrong; inf if none."""
    return Setting(**setting).informative_from()


def pac_episodes(*, epsilon: float, failure: float, **setting: Unpack[SettingOptions]) -> float:
    """Number of episodes after which a randomly drawn policy is epsilon-optimal; inf if no number suffices.

    Play T episodes from a fixed first state and return the policy of an episode drawn uniformly. Its expected
    regret is R(T·H)/T, so by Markov's inequality it exceeds ``epsilon`` with probability at most ``failure`` once
    the bound on R is at most failure·T·epsilon: in all, 1 − failure − delta. With ``zeta`` > 0 the bound of
    Thm 3 never falls below 4ζH/failure.

    T is found by doubling and bisection: T episodes suffice, T − 1 do not.
    """
    return Setting(**setting).pac_episodes(epsilon, failure)


def paper_pac_episodes(*, epsilon: float, horizon: int, d_eff: float) -> int:
    """d_eff²H²/ε², the count of [CO22] with the hidden constant taken as 1; it is too small, see `pac_episodes`.

    Args:
        epsilon: wanted accuracy.
        horizon: H.
        d_eff: upper bound on γ_N.
    """
    for name, value in (("epsilon", epsilon), ("d_eff", d_eff)):
        check_positive(name, value)
    return math.ceil((d_eff * check_count("horizon", horizon, least=1) / epsilon) ** 2)
