"""Public queries of CMERL: options, values, explanations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cmerl.agents.cme_rl import diagnostics
from cmerl.agents.cme_rl.algorithm import Algorithm1

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cmerl.agents.explanation import Explanation
    from cmerl.confidence import Mode
    from cmerl.embedding import ConditionalMeanEmbedding
    from cmerl.kernels import Kernel


class Queries(Algorithm1):
    """Answers in the environment's units."""

    @property
    def mode(self) -> Mode:
        """The rule for bonuses."""
        return self.options.mode

    @property
    def label(self) -> str:
        """The bonus mode as it should be reported: Alg. 1 with a learned reward is "paper+reward"."""
        return self.options.label

    @property
    def lam(self) -> float:
        """The ridge λ."""
        return self.options.lam

    @property
    def delta(self) -> float:
        """The failure probability of everything that a provable mode claims, together."""
        return self.options.delta

    @property
    def kernel(self) -> Kernel:
        """The kernel k_φ on encoded state-actions; an automatic one may change as data arrive."""
        return self.model.kernel

    @property
    def value_kernel(self) -> Kernel:
        """The kernel k_ψ on encoded states; an automatic one may change as data arrive."""
        return self.model.value_kernel

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and largest reward per step; 0 is included once an episode has terminated."""
        return self.rewards.bounds

    @property
    def embedding(self) -> ConditionalMeanEmbedding:
        """The embedding (of the first step, if each step has its own), on encoded states and actions."""
        return self.model.embedding

    def q_values(self, obs: Any, step: int = 0) -> NDArray[np.float64]:
        """Optimistic Q (A,) in the environment's units."""
        self._check_thread()
        return self.planner.q_values(obs, step)

    def diagnostics(self) -> dict[str, Any]:
        """The agent's choices, what it has learned, and numerical health."""
        proving = self.proving if self.mode.provable else None
        return diagnostics.report(self.planner, self.history, self.ingested, proving) | self.explorer.report()

    def explain(self, obs: Any, step: int = 0, *, explore: bool = True, evidence: int = 10) -> Explanation:
        """Why the plan prefers an action here: expected reward and value of each, their evidence, and the optimism.

        Args:
            obs: an observation.
            step: of the episode.
            explore: whether the plan is the optimistic one that the next episode would play.
            evidence: past transitions an action that are listed, the heaviest first.
        """
        self._check_thread()
        return diagnostics.explain(self.planner, obs, step, explore=explore, evidence=evidence)

    def plot(
        self,
        columns: Sequence[int] | None = None,
        *,
        at: Any = None,
        step: int = 0,
        explore: bool = False,
        names: list[str] | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Value, uncertainty, policy and model error over one or two columns of the observation.

        Args:
            columns: those that vary; by default the first two.
            at: an observation that the others are held at; by default the median of what was seen.
            step: of the episode.
            explore: whether the plan is the optimistic one.
            names: of all columns; by default those that the environment declares as ``columns``.
            path: also write the figure there, as PNG, PDF or SVG.

        Returns:
            A figure of matplotlib.
        """
        self._check_thread()
        return diagnostics.plot(self, columns, at=at, step=step, explore=explore, names=names, path=path)
