"""Public methods of CMERL about proofs and certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cmerl.agents.cme_rl.algorithm import Algorithm1

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cmerl.certificates import PacPolicy
    from cmerl.confidence import ConfidenceSet, Interval


class Guarantees(Algorithm1):
    """All answers are those of ``proving``, which is given plans and data."""

    def value_bounds(self, obs: Any, step: int = 0) -> tuple[float, float]:
        """(lower, upper) bounds on V* that hold with probability 1 − delta, in provable modes."""
        return self.proving.value_bounds(obs, step)

    def confidence_set(self) -> ConfidenceSet:
        """C_t for the next episode, on finite state spaces, in the modes that have one radius."""
        return self.proving.confidence_set()

    def estimate_constants(self, delta: float | None = None) -> dict[str, Interval]:
        """Estimated bounds on B_P and B_V; those on B_P hold with probability 1 − delta."""
        return self.proving.estimate_constants(delta)

    def pac_policy(self, epsilon: float, delta: float = 0.5) -> PacPolicy:
        """The policy of an episode drawn uniformly from those played, with the statement that holds for it.

        The draw is part of the agent's tree of seeds, and the plan is rebuilt from the data of that time. All
        episodes must have begun in one state.

        Args:
            epsilon: what the policy may lose.
            delta: failure probability in all, the agent's own included.
        """
        if not self.options.mode.from_counts:
            return self.proving.pac_policy(epsilon, delta)
        policy = self.policy()
        return self.proving.last_policy(policy, self.certificate(policy).policy_loss_bound, epsilon, delta)

    def _reward_claim(self) -> tuple[tuple[float, float] | None, NDArray[np.float64] | None]:
        return self.planner.reward_claim()

    @property
    def _steps_differ(self) -> bool:
        return not self.options.time_homogeneous

    @property
    def _bookkeeping(self) -> dict[str, Any]:
        return self.options.bookkeeping

    def _gap(self, start: int) -> float | None:
        return None if self.planner.counting is None else self.planner.counting.gap(start)
