"""A problem before any data: sizes, kernels, the user's constants and the failure budget."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cmerl.errors import InputError, MissingConstantError
from cmerl.kernels import Kernel


@dataclass(frozen=True)
class FailureBudget:
    """The division of δ: transitions, the martingale of the regret proof, and a learned reward."""

    delta: float
    learned_reward: bool

    def __post_init__(self) -> None:
        if not 0.0 < self.delta < 1.0:
            raise InputError(f"delta must lie strictly between 0 and 1, not {self.delta!r}")

    @property
    def share(self) -> float:
        """The share of each part."""
        return self.delta / (3 if self.learned_reward else 2)


@dataclass(frozen=True)
class Problem:
    """A problem before any data: sizes, kernels and the user's constants.

    Attributes:
        horizon: H.
        width: r_max − r_min.
        kernel: k_φ on state-actions.
        value_kernel: k_ψ on states.
        tabular: (S, A) if both kernels are delta kernels on Discrete spaces, else None.
        budget: the failure probability and its shares.
        embeddings: 1, or H when each step has its own transition distribution.
        terminations: True if episodes can terminate, which adds a state.
        B_P: bound on ‖Θ_P‖_HS, or None for the automatic value; likewise B_V on ‖V‖_ψ, B_R on ‖R‖_φ. With
            ``terminations`` the terminal state is a unit vector orthogonal to all others, and both must include it:
            ‖Θ_P‖² the squared norm of P(end | ·), ‖V‖² the squared value of the end.
    """

    horizon: int
    width: float
    kernel: Kernel
    value_kernel: Kernel
    tabular: tuple[int, int] | None
    budget: FailureBudget
    embeddings: int = 1
    terminations: bool = False
    B_P: float | None = None
    B_V: float | None = None
    B_R: float | None = None

    @property
    def delta_transition(self) -> float:
        """The failure probability of one embedding."""
        return self.budget.share / self.embeddings

    @property
    def delta_reward(self) -> float:
        """The failure probability of one embedding's learned reward."""
        return self.budget.share / self.embeddings

    @property
    def diameter(self) -> float:
        """D of the states, including the terminal state if episodes can terminate."""
        D = self.value_kernel.diameter
        return max(D, math.hypot(self.value_kernel.bound, 1.0)) if self.terminations else D

    def require(self, mode: str, *names: str) -> None:
        """Raise one error that names every missing constant, or an infinite diameter."""
        if self.budget.learned_reward:
            names = (*names, "B_R")
        missing = [name for name in names if getattr(self, name) is None]
        if missing and self.tabular is None:
            raise MissingConstantError(
                f"bonus {mode!r} needs {' and '.join(missing)}, which have no valid automatic value for "
                f"{self.kernel!r}: pass {', '.join(f'{name}=…' for name in missing)}, "
                "or use delta kernels on Discrete spaces"
            )
        if not math.isfinite(self.value_kernel.diameter):
            raise MissingConstantError(
                f"bonus {mode!r} needs a bounded value kernel, and {self.value_kernel!r} is not known to be: "
                "use another, or give it a radius"
            )

    def constant(self, name: str, mode: str) -> float:
        """B_P or B_R: the user's, or the value that always holds for delta kernels; otherwise raises."""
        given: float | None = getattr(self, name)
        if given is not None:
            return given
        if self.tabular is not None:
            S, A = self.tabular
            return math.sqrt(S * A) * (self.width if name == "B_R" else 1.0)
        raise MissingConstantError(
            f"bonus {mode!r} needs {name}, which has no valid automatic value for {self.kernel!r}: "
            f"pass {name}=…, or use delta kernels on Discrete spaces"
        )

    def value_norm(self, left: int, mode: str) -> float:
        """B_V for a value function with ``left`` steps to go."""
        if self.B_V is not None:
            return self.B_V
        if self.tabular is not None:
            return left * self.width * math.sqrt(self.tabular[0] + self.terminations)
        raise MissingConstantError(
            f"bonus {mode!r} needs B_V, a bound on the RKHS norm of value functions, which has no valid automatic "
            f"value for {self.value_kernel!r}: pass B_V=…, or use delta kernels on Discrete spaces"
        )
