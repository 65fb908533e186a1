"""Template of an agent. Copy, rename, replace the rule, and run: python agent.py."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import cmerl
from cmerl.agents import Agent


class StepwiseBandit(Agent):
    """Monte-Carlo averages of the return to go by step and action, played ε-greedily; it does not look at states."""

    name: ClassVar[str] = "stepwise-bandit"

    def __init__(self, env: Any, *, epsilon: float = 0.1, **options: Any) -> None:
        super().__init__(env, **options)  # horizon and seed
        self.epsilon = epsilon
        self.sums, self.counts = np.zeros((2, self.horizon, int(env.action_space.n)))
        self._seen: list[tuple[int, float]] = []  # (action, reward) of this episode

    def policy(self, explore: bool = True) -> Any:
        """What the next episode plays, a function (obs, step) → action; asked twice, it answers the same."""
        plan = np.argmax(self.sums / np.maximum(self.counts, 1), axis=1)
        if explore:
            rng = self._rng(1, len(self.history))  # all randomness hangs on the agent's seed
            stray = rng.random(len(plan)) < self.epsilon
            plan = np.where(stray, rng.integers(self.sums.shape[1], size=len(plan)), plan)
        return lambda obs, step: int(plan[step])

    def diagnostics(self) -> dict[str, Any]:
        """What was learned, for people to read."""
        return {"visits": self.counts.sum(axis=0).tolist()}

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        self._seen.append((int(action), reward))

    def _end_episode(self) -> None:
        at = np.arange(len(self._seen)), [action for action, _ in self._seen]
        self.sums[at] += np.cumsum([reward for _, reward in reversed(self._seen)])[::-1]  # the return to go
        self.counts[at] += 1
        self._break_off()

    def _break_off(self) -> None:
        self._seen = []

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"sums": self.sums.copy(), "counts": self.counts.copy()}, {"epsilon": self.epsilon}

    def _restore(self, tensors: dict[str, Any], meta: dict[str, Any], given: dict[str, Any]) -> None:
        self.sums, self.counts, self.epsilon, self._seen = tensors["sums"], tensors["counts"], meta["epsilon"], []


if __name__ == "__main__":
    report = cmerl.check_agent(StepwiseBandit)
    print(report)
    raise SystemExit(not report.ok)
