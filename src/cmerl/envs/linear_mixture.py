"""Linear-mixture MDPs: a transition distribution that mixes known ones with unknown weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.envs.finite import FiniteMDP
from cmerl.errors import InputError
from cmerl.validation.numbers import check_count, check_numbers

Floats = NDArray[np.float64]


class LinearMixture(FiniteMDP):
    """A finite MDP with P(s' | s, a) = Σ_j θ_j P_j(s' | s, a), with known P_j.

    The P_j are nearly deterministic Dirichlet samples. Rewards are uniform on [0, 1]; one state in three pays.

    Args:
        states: Number of states.
        actions: Number of actions.
        theta: The weights (d,): non-negative, with sum 1.
        seed: Seed of the P_j and the rewards.
        concentration: Dirichlet parameter of the P_j.
        horizon: Suggested episode length.

    Attributes:
        basis: The known P_j (d, S, A, S), read-only.
        theta: As given, read-only.
        operator_norm: ‖Θ_P‖_HS with delta kernels on states and actions.
    """

    def __init__(
        self,
        states: int = 8,
        actions: int = 3,
        theta: ArrayLike = (0.6, 0.3, 0.1),
        *,
        seed: int = 0,
        concentration: float = 0.1,
        horizon: int = 10,
    ) -> None:
        states, actions = check_count("states", states), check_count("actions", actions)
        self.theta = check_numbers("theta", theta)
        if self.theta.ndim != 1 or (self.theta < 0).any() or abs(self.theta.sum() - 1.0) > 1e-8:
            raise InputError(f"theta must be non-negative weights with sum 1, but is {theta!r}.")
        if not 0 < concentration < np.inf:
            raise InputError(f"concentration must be positive and finite, but is {concentration!r}.")
        rng = np.random.default_rng(check_count("seed", seed, least=0))
        alpha = np.full(states, concentration)
        self.basis = rng.dirichlet(alpha, size=(len(self.theta), states, actions))
        rewards = rng.random((states, actions)) * (rng.permutation(states) % 3 == 0)[:, None]
        super().__init__(np.tensordot(self.theta, self.basis, axes=1), rewards, horizon=horizon)
        for array in (self.basis, self.theta):
            array.setflags(write=False)

    @property
    def operator_norm(self) -> float:
        """√ΣP(s' | s, a)²: with delta kernels the operator is the table itself."""
        return math.sqrt(float((self.P**2).sum()))
