"""The base of agents that sample from a kernel posterior: covariances and a dictionary."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import gymnasium
import numpy as np

from cmerl.agents.baselines.encoded import EpisodeData, FloatArray, whole
from cmerl.agents.baselines.gaussian_draws import GaussianDraw, PosteriorCovariance, spread_states
from cmerl.agents.baselines.kernel_agent import KernelAgent


class SamplingAgent(KernelAgent):
    """Base of agents that draw a function or a model for each episode.

    Args:
        env: with finitely many actions, or candidates of them.
        dictionary: states, at most, on which a draw is joint; all of them where they are fewer.
        options: as for every agent with a kernel.
    """

    _own: ClassVar[tuple[str, ...]] = (*KernelAgent._own, "dictionary")

    def __init__(self, env: gymnasium.Env[Any, Any], *, dictionary: int = 150, **options: Any) -> None:
        self.dictionary = whole("dictionary", dictionary)
        super().__init__(env, **options)

    def _begin(self) -> None:
        super()._begin()
        self._covariances = [PosteriorCovariance(self.kernel, self.lam) for _ in self._embeddings]

    def _learn(self, data: EpisodeData) -> None:
        super()._learn(data)
        Z = data.transitions.Z
        assert isinstance(Z, np.ndarray)
        if self.time_homogeneous:
            self._covariances[0].update(Z)
            return
        for step in range(len(data)):
            self._covariances[step].update(Z[step : step + 1])

    def _landmarks(self) -> FloatArray:
        """States of the dictionary (m, d): all of them in discrete environments, else some that were seen."""
        every = self.states.all_states
        if every is not None and len(every) <= self.dictionary:
            return every
        seen = [E.support for E in self._embeddings if len(E.support)]
        if not seen:
            return np.empty((0, self.states.dims))
        support = np.unique(np.concatenate([np.asarray(states) for states in seen]), axis=0)
        return spread_states(self.kernel, support, self.actions.rows, self.dictionary)

    def _draws(self, dictionary: FloatArray, count: int) -> list[GaussianDraw]:
        """One draw of ``count`` functions for each embedding, the next episode's own."""
        return [
            GaussianDraw(
                c.freeze(), dictionary, self.actions.rows, count, partial(self._rng, 5, len(self.history), g)
            )
            for g, c in enumerate(self._covariances)
        ]
