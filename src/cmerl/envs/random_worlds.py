"""Random MDPs: no structure to exploit, and as many of them as there are seeds."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cmerl.envs.finite import FiniteMDP
from cmerl.errors import InputError
from cmerl.validation.numbers import check_count


class RandomMDP(FiniteMDP):
    """A finite MDP drawn at random; its episodes start in state 0.

    Each row of P is a symmetric Dirichlet draw and each reward is uniform on [0, 1].

    Args:
        states: Number of states.
        actions: Number of actions.
        seed: Seed of the tables; the episodes' randomness is seeded by ``reset``.
        concentration: Dirichlet parameter: small ones give nearly deterministic transitions, large ones
            nearly uniform.
        horizon: Suggested episode length.
    """

    reward_range: ClassVar[tuple[float, float]] = (0.0, 1.0)  # declared, for certificates

    def __init__(
        self, states: int, actions: int, *, seed: int, concentration: float = 1.0, horizon: int = 10
    ) -> None:
        states = check_count("states", states)
        actions = check_count("actions", actions)
        if not 0 < concentration < np.inf:
            raise InputError(f"concentration must be positive and finite, but is {concentration!r}.")
        rng = np.random.default_rng(check_count("seed", seed, least=0))
        P = rng.dirichlet(np.full(states, concentration), size=(states, actions))
        super().__init__(P, rng.random((states, actions)), horizon=horizon)


def random_mdp(states: int, actions: int, *, seed: int, concentration: float = 1.0, horizon: int = 10) -> FiniteMDP:
    """Draw a :class:`RandomMDP`."""
    return RandomMDP(states, actions, seed=seed, concentration=concentration, horizon=horizon)
