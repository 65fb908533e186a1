"""What an agent was told: checked, and with the automatic choices made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from cmerl.agents.cme_rl.default_kernels import automatic_kernel, automatic_state_kernel, automatic_value_kernel
from cmerl.agents.cme_rl.settings import KernelSettings, Settings
from cmerl.agents.cme_rl.transition_store import BACKENDS, MODELS, Recipe
from cmerl.confidence import Auto as AutoMode
from cmerl.confidence import FailureBudget, Mode, as_mode, mode_from_spec, mode_spec
from cmerl.errors import InputError
from cmerl.kernels import Delta, Kernel, StateAction, as_kernel, from_spec
from cmerl.rewards import RewardFunction
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.spaces.resolution import rebind, resolve_kernel, resolve_state_kernel

STABLE_RIDGE = 1e-6  # relative to B_φ²: after a million visits σ is then still right to 1e-4

Auto = Literal["auto"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of CME-RL, as ``CMERL`` explains them.

    Attributes:
        kernel: k_φ, or None to let the memory choose it from the data; likewise ``value_kernel``, k_ψ.
        constants: B_P, B_V, B_R by name; None where automatic.
    """

    kernel: Kernel | None
    value_kernel: Kernel | None
    lam: float
    mode: Mode
    reward: RewardFunction | Literal["learned"]
    backend: str
    model: str
    delta: float
    max_return: float | None
    constants: dict[str, float | None]
    replan: bool
    time_homogeneous: bool
    certify: bool
    settings: Settings

    @classmethod
    def of(
        cls,
        states: StateSpace,
        actions: ActionSet,
        *,
        kernel: Any,
        value_kernel: Any,
        lam: float | Auto,
        bonus: str | Mode,
        reward: RewardFunction | Literal["learned"],
        backend: str,
        model: str,
        delta: float,
        max_return: float | None,
        constants: dict[str, Any],
        replan: bool | Auto,
        time_homogeneous: bool,
        certify: bool,
        zeta: float,
        settings: Settings,
    ) -> Self:
        """Options as a user gives them, checked; what was left to us is chosen."""
        mode = as_mode(bonus, zeta=zeta)
        if reward != "learned" and not callable(reward):
            raise InputError(f"reward must be 'learned' or a callable (observation, action[, next]), not {reward!r}")
        if replan not in (True, False, "auto"):
            raise InputError(f"replan must be True, False or 'auto', not {replan!r}")
        for name, flag in (("time_homogeneous", time_homogeneous), ("certify", certify)):
            if flag not in (True, False):
                raise InputError(f"{name} must be True or False, not {flag!r}")
        settled = mode.provable or isinstance(mode, AutoMode)  # one plan an episode
        if replan is True and settled:
            raise InputError(f"bonus {mode.name!r} never replans inside an episode: drop replan=True")
        provable_on = ("auto", "exact", "compressed", "nystrom") if mode.survives_projection else ("auto", "exact")
        if mode.provable and backend in BACKENDS and backend not in provable_on:
            raise InputError(f"bonus {mode.name!r} proves nothing on backend {backend!r}: use 'exact'")
        automatic = (
            isinstance(kernel, str) and isinstance(value_kernel, str) and reward == "learned" and backend == "auto"
        )
        model = choose_model(
            model,
            states,
            mode,
            automatic=automatic,
            time_homogeneous=time_homogeneous,
            most_dimensions=settings.most_dimensions,
        )
        chosen = choose_kernel(kernel, states, actions, settings.kernels, provable=mode.provable)
        ridge = mode.default_lam if lam == "auto" else check_constant("lam", lam)
        if mode.provable and chosen is not None:
            check_stable(ridge, chosen, mode)
        return cls(
            kernel=chosen,
            value_kernel=choose_value_kernel(value_kernel, states, chosen, settings.kernels, provable=mode.provable),
            lam=ridge,
            mode=mode,
            reward=reward,
            backend=backend,
            model=model,
            delta=FailureBudget(check_constant("delta", delta), learned_reward=reward == "learned").delta,
            max_return=None if max_return is None else check_finite("max_return", max_return),
            constants={
                name: None if value == "auto" else check_constant(name, value) for name, value in constants.items()
            },
            replan=not settled if replan == "auto" else bool(replan),
            time_homogeneous=time_homogeneous,
            certify=certify,
            settings=settings,
        )

    def recipe(self, states: StateSpace, actions: ActionSet, horizon: int, seed: int) -> Recipe:
        """How embeddings are made."""
        return Recipe(
            kernel=self.kernel,
            value_kernel=self.value_kernel,
            lam=self.lam,
            states=states,
            actions=actions.rows,
            action_kernel=actions.kernel,
            backend=self.backend,
            model=self.model,
            horizon=horizon,
            track_std=self.mode.uses_sigma,
            provable=self.mode.provable,
            seed=seed,
            settings=self.settings,
            action_objects=actions.objects,
        )

    def spec(self) -> dict[str, Any]:
        """A JSON-able description; a reward function is left out."""
        return {
            **{name: getattr(self, name) for name in PLAIN_OPTIONS},
            "kernel": "auto" if self.kernel is None else self.kernel.spec(),
            "value_kernel": "auto" if self.value_kernel is None else self.value_kernel.spec(),
            "mode": mode_spec(self.mode),
            "settings": self.settings.spec(),
            "reward": self.reward if self.reward == "learned" else None,
        }

    @classmethod
    def from_spec(
        cls, spec: dict[str, Any], reward: RewardFunction | Literal["learned"], states: StateSpace, actions: ActionSet
    ) -> Self:
        """The inverse of ``spec``, for states and actions that were loaded before."""
        kernel, value_kernel = (
            None if spec[name] == "auto" else rebind(from_spec(spec[name]), states, actions.objects)
            for name in ("kernel", "value_kernel")
        )
        return cls(
            **{name: spec[name] for name in PLAIN_OPTIONS},
            kernel=kernel,
            value_kernel=value_kernel,
            mode=mode_from_spec(spec["mode"]),
            settings=Settings.from_spec(spec.get("settings", {})),
            reward=reward,
        )


PLAIN_OPTIONS = (
    "lam",
    "backend",
    "model",
    "delta",
    "max_return",
    "constants",
    "replan",
    "time_homogeneous",
    "certify",
)  # JSON as is


def choose_model(
    model: str,
    states: StateSpace,
    mode: Mode,
    *,
    automatic: bool,
    time_homogeneous: bool,
    most_dimensions: int,
) -> str:
    """Whether the data may choose a displacement: only where states are numbers, and nothing else was asked for."""
    if model not in MODELS:
        raise InputError(f"model {model!r} is unknown: use one of {', '.join(MODELS)}")
    numeric = not states.categories.any() and states.dims <= most_dimensions
    plain = mode.optimism == 1.0 and not (mode.provable or mode.uses_sigma)
    possible = numeric and plain and not states.integer and time_homogeneous
    if model == "displacement" and not possible:
        raise InputError(
            "model='displacement' needs observations that are real numbers, bonus='practical' and time_homogeneous"
        )
    return model if model != "auto" or (possible and automatic) else "direct"


def choose_kernel(
    kernel: Any, states: StateSpace, actions: ActionSet, settings: KernelSettings, *, provable: bool
) -> Kernel | None:
    """The kernel on state-actions, or None to let the memory choose it from the data."""
    if not isinstance(kernel, str):
        return resolve_kernel(as_kernel(kernel), states, actions)
    if kernel != "auto":
        raise InputError(f"kernel must be a kernel or 'auto', not {kernel!r}")
    if states.integer:
        return StateAction(Delta(), actions.kernel, actions.rows.shape[1])
    if states.categories.all():  # objects, and nothing whose width the data could tell
        return StateAction(automatic_state_kernel(states, settings), actions.kernel, actions.rows.shape[1])
    # A proof is about one kernel, fixed before the data.
    if not provable:
        return None
    dims = actions.rows.shape[1]
    return automatic_kernel(0.5, states, np.ones(states.dims), actions.kernel, dims, settings)


def choose_value_kernel(
    value_kernel: Any, states: StateSpace, kernel: Kernel | None, settings: KernelSettings, *, provable: bool
) -> Kernel | None:
    """The kernel on states, or None to let the memory choose it from the data."""
    if not isinstance(value_kernel, str):
        return resolve_state_kernel(as_kernel(value_kernel), states)
    if states.objects and isinstance(kernel, StateAction):
        return kernel.state_kernel
    if states.integer:
        return kernel.state_kernel if isinstance(kernel, StateAction) else Delta()
    return automatic_value_kernel(states, np.ones(states.dims), settings) if provable else None


def check_stable(lam: float, kernel: Kernel, mode: Mode) -> None:
    """Refuse a ridge so small that σ² = k − kᵀ(K + λI)⁻¹k would be all round-off, and with it every bonus."""
    least = STABLE_RIDGE * (kernel.bound**2 if math.isfinite(kernel.bound) else 1.0)
    if lam < least:
        raise InputError(
            f"lam = {lam:g} is lost in rounding, and bonus {mode.name!r} rests on it: use {least:g} or more"
        )


def check_finite(name: str, value: Any) -> float:
    """A user's number as a finite float."""
    number = _as_float(value)
    if not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, not {value!r}")
    return number


def check_constant(name: str, value: Any) -> float:
    """A user's constant as a positive float."""
    number = _as_float(value)
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"{name} must be a positive number or 'auto', not {value!r}")
    return number


def _as_float(value: Any) -> float:
    """A float, or NaN for what is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
