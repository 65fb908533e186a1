"""Every check of an agent finds the agent that breaks it, and nothing in a sound one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cmerl
from cmerl.agents.base import EpisodeRecord
from cmerl.agents.baselines.ucbvi import UCBVI


class Good(UCBVI):
    name = "good"


class GlobalDraws(Good):
    """Draws from the global generator."""

    def policy(self, explore: bool = True) -> Any:
        action = int(np.random.randint(2))  # noqa: NPY002
        return lambda obs, step: action if 0 <= step < self.horizon else super(GlobalDraws, self).policy()(obs, step)


class Forgetful(Good):
    """Starts anew at every call of learn."""

    def learn(self, episodes: int, *args: Any, **options: Any) -> Any:
        if isinstance(episodes, int) and episodes > 0:
            self.counts[:] = 0
        return super().learn(episodes, *args, **options)


class SavesHalf(Good):
    """Does not save its rewards."""

    def _state(self) -> Any:
        tensors, meta = super()._state()
        return {**tensors, "counts": 0 * self.counts}, meta


class LearnsWhenAsked(Good):
    """Counts a visit whenever it is asked."""

    def policy(self, explore: bool = True) -> Any:
        self.counts[0, int(self.counts[0, 0, 0] > self.counts[0, 1, 0]), 0] += 1
        return super().policy(explore)


class WrongTable(Good):
    """Its table is not what it plays."""

    def policy(self, explore: bool = True) -> Any:
        policy = super().policy(explore)

        class Liar:
            def __call__(self, obs: Any, step: int) -> int:
                return policy(obs, step)

            def table(self, observations: Any) -> Any:
                return 1 - policy.table(observations)

        return Liar()


class Boastful(Good):
    """Records twice what it earned."""

    def _play_episode(self, env: Any) -> EpisodeRecord:
        record = super()._play_episode(env)
        self.history[-1] = EpisodeRecord(record.episode, 2 * record.ret + 1, *list(vars(record).values())[2:])
        return self.history[-1]


class Trusting(Good):
    """Takes any horizon and any step, and raises what Python raises."""

    def predict(self, obs: Any, step: int = 0, explore: bool = True) -> Any:
        return int(self._table(explore).actions[step, int(obs)])


class FirstOfEquals(Good):
    """Takes the first of equal actions."""

    def _greedy(self, Q: Any) -> Any:
        table = super()._greedy(Q)
        table.actions[:] = Q.argmax(axis=2)
        return table


class Restless(Good):
    """Learns in a place that lessons do not reach."""

    def _play_episode(self, env: Any) -> EpisodeRecord:
        record = super()._play_episode(env)
        self.reward_sums[:, 0] += 5.0
        return record


class NoShortOnes(Good):
    """Cannot plan a single step."""

    def policy(self, explore: bool = True) -> Any:
        if self.horizon == 1:
            raise ZeroDivisionError("H − 1")
        return super().policy(explore)


class NeverEnds(Good):
    """Cannot learn from an episode that ended."""

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        if done:
            raise IndexError("no end is known")
        super()._after_step(step, obs, action, reward, next_obs, done)


class Fragile(Good):
    """Does not survive a fault."""

    def _break_off(self) -> None:
        self.counts = None  # type: ignore[assignment]


class Mute(Good):
    """Says nothing of itself."""

    diagnostics = None  # type: ignore[assignment]

    def learn(self, *args: Any, **options: Any) -> Any:
        super().learn(*args, **options)


@pytest.mark.parametrize(
    ("cls", "check"),
    [
        (GlobalDraws, "seeds"),
        (Forgetful, "parts"),
        (SavesHalf, "saving"),
        (LearnsWhenAsked, "predict"),
        (WrongTable, "tables"),
        (Boastful, "history"),
        (Trusting, "bad input"),
        (FirstOfEquals, "ties"),
        (Restless, "lessons"),
        (NoShortOnes, "horizon 1"),
        (NeverEnds, "ends"),
        (Fragile, "faults"),
        (Mute, "interface"),
    ],
)
def test_a_broken_agent_is_caught(cls: type[Good], check: str) -> None:
    report = cmerl.check_agent(cls, episodes=6)
    assert check in report.names, str(report)
    assert not report.ok
    assert "checked: interface" in str(report)


def test_there_is_a_broken_agent_for_every_check_and_the_unbroken_one_passes() -> None:
    assert cmerl.check_agent(Good).ok
