"""The options of an agent, checked and with automatic choices resolved."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from numpy.typing import ArrayLike

from cmerl.acting import Actor
from cmerl.agents.cme_rl.default_kernels import choose_kernel, choose_value_kernel
from cmerl.agents.cme_rl.parts import Backward
from cmerl.agents.cme_rl.recipe import BACKENDS, Recipe
from cmerl.agents.cme_rl.settings import Settings
from cmerl.confidence import KL, Balanced, FailureBudget, Mode, Paper, as_mode, mode_from_spec, mode_spec
from cmerl.errors import InputError
from cmerl.kernels import Kernel, from_spec
from cmerl.model_selection import MODELS
from cmerl.optimism import Optimism
from cmerl.rewards import RewardFunction
from cmerl.spaces import Angles, StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.spaces.resolution import rebind
from cmerl.validation.numbers import check_constant, check_finite

Auto = Literal["auto"]

log = logging.getLogger("cmerl")


@dataclass(frozen=True, kw_only=True)
class Given:
    """The options as given to ``CMERL``."""

    kernel: Any
    value_kernel: Any
    lam: float | Auto
    bonus: str | Mode
    reward: RewardFunction | Literal["learned"]
    backend: str
    model: str
    delta: float
    reward_range: tuple[float, float] | Auto
    max_return: float | None
    constants: dict[str, float | Auto]
    misspecification: float
    replan: bool | Auto
    time_homogeneous: bool
    certify: bool
    actions: Sequence[Any] | None
    states: ArrayLike | None
    angles: Angles
    optimism: Optimism | None
    planner: Backward | None
    actor: Actor | None
    settings: Settings | None


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
    def of(cls, given: Given, states: StateSpace, actions: ActionSet) -> Self:
        """Check the given options and resolve automatic ones."""
        mode, settings = as_mode(given.bonus, zeta=given.misspecification), given.settings or Settings()
        check_given(given, mode)
        kernel = choose_kernel(given.kernel, states, actions, settings.kernels, provable=mode.provable)
        value_kernel = choose_value_kernel(
            given.value_kernel, states, kernel, settings.kernels, provable=mode.provable
        )
        lam = mode.default_lam if given.lam == "auto" else check_constant("lam", given.lam)
        if mode.provable and kernel is not None:
            check_stable(lam, kernel, mode)
        learned = given.reward == "learned"
        return cls(
            kernel=kernel,
            value_kernel=value_kernel,
            lam=lam,
            mode=mode,
            reward=given.reward,
            backend=given.backend,
            model=choose_model(given, states, mode, settings.most_dimensions),
            delta=FailureBudget(check_constant("delta", given.delta), learned_reward=learned).delta,
            max_return=None if given.max_return is None else check_finite("max_return", given.max_return),
            constants={
                name: None if value == "auto" else check_constant(name, value)
                for name, value in given.constants.items()
            },
            replan=not settled(mode) if given.replan == "auto" else bool(given.replan),
            time_homogeneous=given.time_homogeneous,
            certify=given.certify,
            settings=settings,
        )

    @property
    def claims(self) -> bool:
        """Whether every episode is compared with what its plan claims: in modes that prove, and that balance."""
        return settled(self.mode)

    @property
    def label(self) -> str:
        """The bonus mode as it should be reported: Alg. 1 with a learned reward is "paper+reward"."""
        extra = "+reward" if isinstance(self.mode, Paper) and self.reward == "learned" else ""
        return self.mode.name + extra

    @property
    def bookkeeping(self) -> dict[str, Any]:
        """The settings of the certificate's ledger; modes that plan from it need it after every episode."""
        return {"growth": self.mode.growth, "eager": True} if isinstance(self.mode, KL) else {}

    def recipe(self, states: StateSpace, actions: ActionSet, horizon: int, seed: int) -> Recipe:
        """The recipe of embeddings."""
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


def settled(mode: Mode) -> bool:
    """Whether a mode plays one plan an episode, since what it claims is about that plan."""
    return mode.provable or isinstance(mode, Balanced)


def check_given(given: Given, mode: Mode) -> None:
    """Refuse what makes no sense, alone or together."""
    if given.reward != "learned" and not callable(given.reward):
        raise InputError(
            f"reward must be 'learned' or a callable (observation, action[, next]), not {given.reward!r}"
        )
    if given.replan not in (True, False, "auto"):
        raise InputError(f"replan must be True, False or 'auto', not {given.replan!r}")
    for name in ("time_homogeneous", "certify"):
        if (flag := getattr(given, name)) not in (True, False):
            raise InputError(f"{name} must be True or False, not {flag!r}")
    if given.replan is True and settled(mode):
        raise InputError(f"bonus {mode.name!r} never replans inside an episode: drop replan=True")
    provable_on = ("auto", "exact", "compressed", "nystrom") if mode.survives_projection else ("auto", "exact")
    if mode.provable and given.backend in BACKENDS and given.backend not in provable_on:
        raise InputError(f"bonus {mode.name!r} proves nothing on backend {given.backend!r}: use 'exact'")


def choose_model(given: Given, states: StateSpace, mode: Mode, most_dimensions: int) -> str:
    """Whether the data may choose a displacement: only where states are numbers, and nothing else was asked for."""
    if given.model not in MODELS:
        raise InputError(f"model {given.model!r} is unknown: use one of {', '.join(MODELS)}")
    numeric = not states.categories.any() and states.dims <= most_dimensions
    plain = mode.optimism == 1.0 and not (mode.provable or mode.uses_sigma)
    possible = numeric and plain and not states.integer and given.time_homogeneous
    if given.model == "displacement" and not possible:
        raise InputError(
            "model='displacement' needs observations that are real numbers, bonus='practical' and time_homogeneous"
        )
    named = [name for name in ("kernel", "value_kernel") if not isinstance(getattr(given, name), str)]
    if given.model == "displacement" and named:
        log.warning(
            "model='displacement' plans with kernels of its own, fitted to the data: %s shapes agent.embedding alone",
            " and ".join(named),
        )
    automatic = not named and given.backend == "auto"
    return given.model if given.model != "auto" or (possible and automatic) else "direct"


def check_stable(lam: float, kernel: Kernel, mode: Mode, *, relative: float = 1e-6) -> None:
    """Refuse a ridge so small that σ² = k − kᵀ(K + λI)⁻¹k would be all round-off, and with it every bonus.

    Args:
        lam: the ridge λ.
        kernel: k_φ.
        mode: of the bonus.
        relative: the least ridge over B_φ²: after a million visits σ is then still right to 1e-4.
    """
    least = relative * (kernel.bound**2 if math.isfinite(kernel.bound) else 1.0)
    if lam < least:
        raise InputError(
            f"lam = {lam:g} is lost in rounding, and bonus {mode.name!r} rests on it: use {least:g} or more"
        )
