"""ε-greedy: CME-RL's model without optimism, with random actions."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.agents.base import Policy
from cmerl.agents.baselines.controls import GreedyAgent
from cmerl.agents.baselines.tabular import check_number
from cmerl.agents.saving import container
from cmerl.agents.saving.contents import check_cme_rl
from cmerl.errors import InputError
from cmerl.validation.schema import number


@dataclass(frozen=True)
class DitheredPolicy:
    """A policy that plays an action at random with probability ε, drawn once for each step of an episode.

    Attributes:
        base: what it plays otherwise.
        space: of the actions.
        epsilon: ε.
        seed: of all draws, and the episode they are for.
        horizon: steps of an episode.
    """

    base: Any
    space: gymnasium.Space[Any]
    epsilon: float
    seed: tuple[int, int]
    horizon: int

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step``."""
        planned = self.base(obs, step)
        branch = (5, self.seed[1], int(step))  # of the tree of seeds
        rng = np.random.default_rng(np.random.SeedSequence(self.seed[0], spawn_key=branch))
        if rng.random() >= self.epsilon:
            return planned
        space = copy.deepcopy(self.space)
        space.seed(int(rng.integers(2**31)))
        action = space.sample()
        return int(action) if isinstance(space, gymnasium.spaces.Discrete) else action

    @property
    def ahead(self) -> Any:
        """What the base looks ahead with, if it does: then it has no table."""
        return getattr(self.base, "ahead", None)

    def probabilities(self, observations: NDArray[Any]) -> NDArray[np.float64]:
        """The law that actions are drawn from (H, S, A), for exact evaluation."""
        assert isinstance(self.space, gymnasium.spaces.Discrete)
        A = int(self.space.n)
        chosen = self.base.table(observations) - int(self.space.start)
        law: NDArray[np.float64] = (1 - self.epsilon) * np.eye(A)[chosen] + self.epsilon / A
        return law


class EpsilonGreedyAgent(GreedyAgent):
    """The greedy control with a random action in a share ε of the steps.

    Args:
        env: a Gymnasium environment.
        epsilon: ε of the first episode.
        decay: episode t, from 0, has ε/(1 + decay·t).
        options: those of the greedy control.
    """

    name: ClassVar[str] = "epsilon-greedy"

    def __init__(
        self, env: gymnasium.Env[Any, Any], *, epsilon: float = 0.1, decay: float = 0.0, **options: Any
    ) -> None:
        super().__init__(env, **options)
        self.epsilon = check_number("epsilon", epsilon)
        if self.epsilon > 1:
            raise InputError(f"epsilon must be a probability, not {epsilon!r}")
        self.decay = check_number("decay", decay)

    def policy(self, explore: bool = True) -> Policy:  # type: ignore[override]  # its plans are played with dithering
        """The greedy plan of the next episode, with its random actions; without them if ``explore`` is False."""
        planned = super().policy(explore)
        return self._dithered(planned) if explore else planned

    def _dithered(self, planned: Policy) -> DitheredPolicy:
        if self.env is None:
            raise InputError("an ε-greedy agent needs its environment to draw actions: load it with env=…")
        episode = len(self.history)
        epsilon = self.epsilon / (1 + self.decay * episode)
        return DitheredPolicy(planned, self.env.action_space, epsilon, (self.seed, episode), self.horizon)

    def _replanned(self, step: int) -> Policy | None:  # type: ignore[override]
        planned = super()._replanned(step)
        return None if planned is None else self._dithered(planned)

    def _metrics(self, policy: Policy, start: Any) -> dict[str, Any]:
        return super()._metrics(policy.base if isinstance(policy, DitheredPolicy) else policy, start)

    def diagnostics(self) -> dict[str, Any]:
        """Diagnostics of the greedy control, and the present ε."""
        return {**super().diagnostics(), "epsilon": self.epsilon, "decay": self.decay}

    def _state(self) -> tuple[container.Tensors, dict[str, Any]]:
        tensors, meta = super()._state()
        return tensors, {**meta, "epsilon": self.epsilon, "decay": self.decay}

    @classmethod
    def _check_saved(cls, tensors: container.Tensors, meta: dict[str, Any]) -> None:
        check_cme_rl(tensors, meta, epsilon=number(0.0, 1.0), decay=number(0.0))

    def _restore(self, tensors: container.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        self.epsilon, self.decay = meta["epsilon"], meta["decay"]
        super()._restore(tensors, meta, given)
