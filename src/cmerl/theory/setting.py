"""The constants of a learning problem, and the bounds that follow from them.

Rewards lie in [0, 1] and are known. N = T·H counts steps, γ_N is the largest G = ½ log det(I + K/λ) that any N
state-actions can have, repeats allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

from cmerl.confidence.radii import scalar_radius, second_moment_radius, tight_radius
from cmerl.errors import InputError
from cmerl.theory.gain import Gamma, upper_gain
from cmerl.validation.numbers import check_count, check_inside, check_not_negative, check_positive

Form: TypeAlias = Literal["paper", "tight"]

FORMS: tuple[Form, ...] = ("paper", "tight")
MOST_EPISODES = 2**100  # a search that gets this far has no answer


class SettingOptions(TypedDict, total=False):
    """The fields of `Setting` as keywords; those of its first line are required."""

    horizon: int
    gamma: Gamma
    lam: float
    B_V: float
    B_P: float
    delta: float
    B_phi: float
    zeta: float
    one_norm: float | None
    D: float
    form: Form


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The constants of a learning problem.

    Attributes:
        horizon: H.
        gamma: γ_N for every N considered, or a function of N.
        lam: the ridge λ.
        B_V: bound on ‖V‖_ψ.
        B_P: bound on ‖Θ_P‖_HS.
        delta: failure probability.
        B_phi: bound on √k_φ(z, z).
        zeta: every V lies within this distance of a function of norm B_V.
        one_norm: ‖1‖_ψ. Thm 3 needs it, and holds only where all weights are non-negative; "tight" without it
            uses ‖α‖₁ ≤ √n·λ^{-1/2}σ, which always holds, at the price of a term ζN√γ_N.
        D: bound on ‖ψ(s) − ψ(s')‖, for "tight".
        form: "paper" for the theorems as stated, or "tight" for the ``tight`` mode.
    """

    horizon: int
    gamma: Gamma
    lam: float
    B_V: float
    B_P: float
    delta: float
    B_phi: float = 1.0
    zeta: float = 0.0
    one_norm: float | None = None
    D: float = math.sqrt(2.0)
    form: Form = "paper"

    def __post_init__(self) -> None:
        check_count("horizon", self.horizon, least=1)
        for name in ("lam", "B_V", "B_P", "B_phi", "D"):
            check_positive(name, getattr(self, name))
        check_inside("delta", self.delta)
        check_not_negative("zeta", self.zeta)
        if self.form not in FORMS:
            raise InputError(f"form must be 'paper' or 'tight', not {self.form!r}")
        if self.zeta > 0.0 and self.one_norm is None and self.form == "paper":
            raise InputError("Thm 3 needs one_norm=…, the norm of the constant 1 in the space of k_ψ")

    # --- radii ---

    def radius(self, N: int) -> float:
        """α_{N,δ} of Thm 2, for k_φ ≤ B_φ², or the tight radius at its largest after N steps; both spend δ/2."""
        gain = upper_gain(self.gamma, N)
        if self.form == "paper":
            log_term = math.log(4.0) + 2.0 * math.log(N) - math.log(self.delta)  # N² may be too large for a float
            growth = 256.0 * (1.0 + self.B_phi**2 / self.lam) * gain
            return math.sqrt(2.0 * self.lam * self.B_P**2 + growth * log_term)
        return tight_radius(self._sum_r(N), lam=self.lam, B_P=self.B_P, D=self.D, delta=self.delta / 2.0)

    def radii(self, episodes: int) -> dict[str, float]:
        """The largest possible β of each mode after T = ``episodes`` episodes.

        "paper" and "tight" multiply B_V·σ/√λ; "split" is the part of the noise, which multiplies ‖V − c‖·σ/√λ, and
        "nonnegative" the part of the noise that multiplies the range of V and σ/√λ.
        """
        T = check_count("episodes", episodes, least=1)
        n, H, share = (T - 1) * self.horizon, self.horizon, self.delta / 2.0
        gain = upper_gain(self.gamma, n) if n else 0.0
        log_term = math.log(2.0 * H / share) + 2.0 * math.log(T)
        paper = 2.0 * self.lam * self.B_P**2 + 256.0 * (1.0 + self.B_phi**2 / self.lam) * gain * log_term
        sum_r = self._sum_r(n)
        return {
            "paper": math.sqrt(paper),
            "tight": tight_radius(sum_r, lam=self.lam, B_P=self.B_P, D=self.D, delta=share),
            "split": second_moment_radius(gain, sum_r, D=self.D, delta=share),
            "nonnegative": scalar_radius(gain, span=1.0, delta=share / H),
        }

    def _sum_r(self, n: int) -> float:
        """Σr_i at its largest: at most 2G, and at most one each."""
        return min(2.0 * upper_gain(self.gamma, n), float(n)) if n else 0.0

    # --- regret ---

    def regret_bound(self, episodes: int) -> float:
        """A bound on the regret of the first ``episodes`` episodes that holds with probability 1 − delta.

        "paper" is [CO22, Thm 2], and with ``zeta`` > 0 [CO22, Thm 3], exactly. "tight" has its radius with
        Σr_i ≤ min(2γ_N, N) in place of α_N, and a martingale whose differences are at most H, as values are clipped
        on both sides. Neither is capped at H·T; see `informative_from`.
        """
        N = check_count("episodes", episodes, least=1) * self.horizon
        gain, radius = upper_gain(self.gamma, N), self.radius(N)
        slope, bias = self.B_V * radius, 0.0
        if self.zeta > 0.0 and self.one_norm is not None:
            slope, bias = slope + self.zeta * self.one_norm * radius, 4.0 * self.zeta * N
        elif self.zeta > 0.0:
            slope, bias = slope + self.zeta * math.sqrt(N), 2.0 * self.zeta * N
        martingale = self.horizon * math.sqrt(2.0 * N * math.log(2.0 / self.delta))
        if self.form == "paper":
            martingale *= 2.0
        widths = math.sqrt(2.0 * (1.0 + self.B_phi**2 * self.horizon / self.lam) * N * gain)
        return 2.0 * slope * widths + bias + martingale

    def informative_from(self) -> float:
        """The first T at which `regret_bound` falls below H·T, the regret of doing everything wrong; inf if none."""
        # The bias alone is 4ζ a step in Thm 3, and 2ζ at least in the other form.
        if 2.0 * self.zeta >= 1.0:
            return math.inf
        return first(lambda T: self.regret_bound(T) < self.horizon * T)

    def pac_episodes(self, epsilon: float, failure: float) -> float:
        """Number of episodes after which a randomly drawn policy is epsilon-optimal; inf if no number suffices."""
        check_positive("epsilon", epsilon)
        check_inside("failure", failure)
        if epsilon >= self.horizon:  # no policy loses more
            return 1
        floor = (2.0 if self.one_norm is None else 4.0) * self.zeta * self.horizon / failure
        if epsilon <= floor:
            return math.inf
        return first(lambda T: self.regret_bound(T) <= failure * T * epsilon)

    def least_epsilon(self, failure: float) -> float:
        """The least ε for which `pac_episodes` is finite: at most H, which no policy exceeds.

        Bound(T)/(failure·T) need not fall for ever: with ``zeta`` > 0 and no ``one_norm`` it grows again.
        """
        check_inside("failure", failure)
        least = float(self.horizon)
        for i in range(MOST_EPISODES.bit_length()):
            least = min(least, self.regret_bound(1 << i) / (failure * (1 << i)))
        return least


def first(enough: Callable[[int], bool]) -> float:
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
