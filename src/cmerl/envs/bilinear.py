"""Bilinear MDPs: P(s' | s, a) = φ(s, a)ᵀMψ(s') with known features and an unknown core."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.envs.finite import FiniteMDP
from cmerl.errors import InputError
from cmerl.validation.numbers import check_count

Floats = NDArray[np.float64]


class Bilinear(FiniteMDP):
    """A finite MDP whose transitions and rewards are linear in few features.

    Every state is a mixture x(s) of ``anchors`` states, which are its first states and mix nothing. An action takes
    anchor i to topic j with probability M[(a, i), j], and topic j draws the next state from ψ_j. So φ(s, a) = x(s) in
    the block of action a, R(s, a) = φ(s, a)ᵀρ, and with ``coordinates`` the kernel ``StateAction(Linear(), Delta())``
    has exactly these features.

    Args:
        states: Number of states.
        actions: Number of actions.
        anchors: Number of states that the others mix.
        topics: Number of distributions of the next state.
        seed: Seed of the random tables.
        horizon: Suggested episode length.
        coordinates: Observe x(s) instead of the state's number.

    Attributes:
        phi: Features of state-actions (S, A, A·anchors), read-only, and ``psi`` those of next states (S, topics).
        core: M (A·anchors, topics), read-only.
        reward_weights: ρ (A·anchors,), read-only.
        operator_norm: ‖Θ_P‖_HS with the kernel of ``phi`` on state-actions and the delta kernel on states.
        reward_norm: ‖ρ‖, the norm of the reward with that kernel.
    """

    def __init__(
        self,
        states: int = 12,
        actions: int = 2,
        anchors: int = 3,
        topics: int = 3,
        *,
        seed: int = 0,
        horizon: int = 8,
        coordinates: bool = False,
    ) -> None:
        states, actions = check_count("states", states), check_count("actions", actions)
        anchors, topics = check_count("anchors", anchors, least=2), check_count("topics", topics)
        if anchors > states or topics > states:
            raise InputError(f"{states} states cannot have {anchors} anchors and {topics} topics: have more states.")
        rng = np.random.default_rng(check_count("seed", seed, least=0))
        mix = np.vstack([np.eye(anchors), rng.dirichlet(np.ones(anchors), size=states - anchors)])
        self.phi: Floats = np.einsum("ab,si->sabi", np.eye(actions), mix).reshape(states, actions, -1)
        self.psi: Floats = np.ascontiguousarray(rng.dirichlet(np.full(states, 0.3), size=topics).T)
        self.core: Floats = rng.dirichlet(np.full(topics, 0.3), size=actions * anchors)
        self.reward_weights: Floats = rng.random(actions * anchors) ** 2
        P = self.phi @ self.core @ self.psi.T
        super().__init__(
            P / P.sum(axis=2, keepdims=True),  # rounding alone
            self.phi @ self.reward_weights,
            horizon=horizon,
            coordinates=mix if coordinates else None,
        )
        for array in (self.phi, self.psi, self.core, self.reward_weights):
            array.setflags(write=False)

    @property
    def operator_norm(self) -> float:
        """‖MΨᵀ‖: the features are orthonormal directions of the kernel's space, and so are the states'."""
        return float(np.linalg.norm(self.core @ self.psi.T))

    @property
    def reward_norm(self) -> float:
        """‖ρ‖."""
        return float(np.linalg.norm(self.reward_weights))
