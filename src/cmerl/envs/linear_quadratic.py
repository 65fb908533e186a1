"""Linear-quadratic control: hold a stable linear process at zero, with continuous actions and known optimum."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError
from cmerl.linalg import solve_small, spectrum
from cmerl.oracles.riccati import LinearQuadraticModel, solve_linear_quadratic
from cmerl.validation.episodes import check_options
from cmerl.validation.numbers import check_count, check_number, check_numbers

Floats = NDArray[np.float64]


class LinearQuadratic(gymnasium.Env[Floats, Floats]):
    """A linear process s' = A s + B a + w that pays −(sᵀ Q s + aᵀ R a).

    The default is two coupled tanks: only the first can be filled or drained, and the level of the second matters
    most. Noise w is uniform on [−noise, noise] in each coordinate, so with a stable A all states stay in a box, which
    is the observation space. Actions are bounded by ``max_action``. The constructor checks that the optimal action
    never leaves that range, so the Riccati recursion is exact.

    Args:
        A: (d, d), B: (d, m), Q: (d, d), R: (m, m), see above.
        noise: largest noise in a coordinate.
        max_action: largest absolute value of an action's coordinates.
        start: first state (d,), inside the box.
        horizon: suggested episode length, and the one that the check is made for.

    Attributes:
        dynamics: the model, for :func:`cmerl.oracles.solve`.
        horizon: as given.
        bound: (d,), the largest absolute value of each coordinate.
        operator_norm: ‖Θ_P‖_HS with linear kernels on (s, a) and on s, which is ‖(A, B)‖.
    """

    def __init__(
        self,
        A: ArrayLike = ((0.7, 0.1), (0.2, 0.7)),
        B: ArrayLike = ((0.5,), (0.0,)),
        Q: ArrayLike = ((0.1, 0.0), (0.0, 1.0)),
        R: ArrayLike = ((1.0,),),
        noise: float = 0.05,
        max_action: float = 1.0,
        start: ArrayLike = (0.0, 1.0),
        horizon: int = 20,
    ) -> None:
        self.horizon = check_count("horizon", horizon)
        noise, max_action = check_number("noise", noise), check_number("max_action", max_action)
        if not 0 <= noise < np.inf or not 0 < max_action < np.inf:
            raise InputError(f"noise and max_action must be finite and at least 0, but are {noise} and {max_action}.")
        A, B, Q, R = _process(A, B, Q, R)
        d, m = B.shape
        self.noise, self.max_action = noise, max_action
        # the variance of a uniform law on [−noise, noise]
        self.dynamics = LinearQuadraticModel(A, B, Q, R, noise**2 / 3 * np.eye(d))
        self.bound = _reachable(A, B, self.noise, self.max_action)
        self.start = _inside("start", start, self.bound)
        widest = np.abs(solve_linear_quadratic(self.dynamics, self.horizon).K) @ self.bound
        if np.any(widest > max_action):
            raise InputError(
                f"the optimal action may be as large as {widest.max():.3g}, beyond max_action = {max_action:g}, and "
                "then the optimum is not known: make actions more expensive (R), or the process more stable (A)."
            )
        self.observation_space = spaces.Box(-self.bound, self.bound, dtype=np.float64)
        self.action_space = spaces.Box(-self.max_action, self.max_action, shape=(m,), dtype=np.float64)
        self._state: Floats | None = None

    @property
    def operator_norm(self) -> float:
        """‖(A, B)‖."""
        return float(np.linalg.norm(np.hstack([self.dynamics.A, self.dynamics.B])))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Start an episode at ``start`` or in ``options["state"]``."""
        super().reset(seed=seed)
        options = check_options(options)
        given = options.get("state")
        self._state = self.start.copy() if given is None else _inside('options["state"]', given, self.bound)
        return self._state.copy(), {"state": self._state.copy()}

    def step(self, action: ArrayLike) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Take one action (m,); both ending flags are always False."""
        if self._state is None:
            raise InputError("call reset() before the first step().")
        a = _inside("the action", action, np.full(self.action_space.shape or (), self.max_action))
        s, model = self._state, self.dynamics
        reward = -float(s @ model.Q @ s + a @ model.R @ a)
        w = self.np_random.uniform(-self.noise, self.noise, size=len(s))
        # rounding must not carry a state out of the box
        self._state = np.clip(model.A @ s + model.B @ a + w, -self.bound, self.bound)
        return self._state.copy(), reward, False, False, {"state": self._state.copy()}


def _process(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
    """The four matrices, checked."""
    matrices = [check_numbers(name, M) for name, M in zip("ABQR", (A, B, Q, R), strict=True)]
    d, m = len(np.atleast_1d(matrices[0])), matrices[1].shape[-1] if matrices[1].ndim == 2 else 0
    for name, M, shape in zip("ABQR", matrices, [(d, d), (d, m), (d, d), (m, m)], strict=True):
        if M.shape != shape or not np.isfinite(M).all():
            raise InputError(f"{name} must be a finite array of shape {shape}, but has shape {M.shape}.")
    for name, M, least in (("Q", matrices[2], -1e-12), ("R", matrices[3], 1e-12)):
        if not np.allclose(M, M.T) or spectrum(M)[0][-1] < least:
            raise InputError(f"{name} must be symmetric and positive {'semi-' if name == 'Q' else ''}definite.")
    return matrices[0], matrices[1], matrices[2], matrices[3]


def _reachable(A: Floats, B: Floats, noise: float, max_action: float) -> Floats:
    """The smallest symmetric box (d,) that no action and no noise can leave."""
    size = np.abs(A)
    if np.abs(np.linalg.eigvals(size)).max() >= 1:
        raise InputError("A must be stable in every coordinate: the spectral radius of |A| must be below 1.")
    push = np.abs(B).sum(axis=1) * max_action + noise
    return solve_small(np.eye(len(A)) - size, push)


def _inside(name: str, value: ArrayLike, bound: Floats) -> Floats:
    """A vector within ±bound, as a new array."""
    try:
        x = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        x = np.full_like(bound, np.nan)
    if x.shape != bound.shape or not (np.abs(x) <= bound * (1 + 1e-9)).all():  # NaN is refused as well
        raise InputError(f"{name} must have shape {bound.shape} and lie within ±{bound.round(4)}, but is {value!r}.")
    return np.clip(x, -bound, bound)
