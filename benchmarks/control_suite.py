"""The tasks of suites/control.toml, and what a run of one is worth."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import gymnasium
import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from cmerl.experiments.environments import make_environment
from cmerl.experiments.spec import EnvironmentSpec

SUITE = Path(__file__).parent.parent / "suites" / "control.toml"
STREAK = 3  # episodes in a row at the aim, after which a bad one is a collapse

Run = dict[str, Any]


class Task(BaseModel):
    """An environment, how long to learn in it, and what counts; suites/control.toml explains the fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    split: Literal["choosing", "confirming"]
    environment: Annotated[EnvironmentSpec, BeforeValidator(EnvironmentSpec.model_validate)]
    episodes: int
    score: Literal["return", "best", "regret", "shortfall"] = "return"
    window: tuple[int, int] = (0, 0)
    aim: float
    floor: float = 0.0
    alike: bool = True
    goal: bool = False
    reward: Literal["learned", "given"] = "learned"
    options: dict[str, Any] = {}

    @model_validator(mode="after")
    def _sensible(self) -> Task:
        first, last = self.window
        if self.of_returns and not 1 <= first <= last <= self.episodes:
            raise ValueError(f"{self.name}: window must lie within 1 … {self.episodes}, not {first} … {last}")
        if self.of_returns and not self.floor < self.aim:
            raise ValueError(f"{self.name}: the floor must lie below the aim")
        return self

    @property
    def of_returns(self) -> bool:
        """Whether more is better."""
        return self.score in ("return", "best")

    def make(self) -> gymnasium.Env[Any, Any]:
        """The environment."""
        return make_environment(self.environment)

    def agent_options(self, env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
        """What the task tells the agent."""
        told = {key: tuple(value) if isinstance(value, list) else value for key, value in self.options.items()}
        return told | ({"reward": env.unwrapped.reward} if self.reward == "given" else {})

    def reached(self, value: float) -> bool:
        """Whether a score is at the aim."""
        return value >= self.aim if self.of_returns else value <= self.aim

    def value(self, run: Run) -> float:
        """The score of a run."""
        if not self.of_returns:
            return float(run[self.score])
        counted = run["returns"][self.window[0] - 1 : self.window[1]]
        return float(np.mean(counted) if self.score == "return" else np.max(counted))

    def collapses(self, run: Run) -> tuple[int, int]:
        """How many episodes after the first three in a row at the aim fell below half of it, and of how many."""
        at_aim = [r >= self.aim for r in run["returns"]]
        starts = [i + STREAK for i in range(len(at_aim) - STREAK + 1) if all(at_aim[i : i + STREAK])]
        later = run["returns"][starts[0] :] if starts else []
        return sum(r < (self.aim + self.floor) / 2 for r in later), len(later)


def tasks(suite: Path = SUITE) -> list[Task]:
    """All tasks of the suite."""
    found = [Task.model_validate(task) for task in tomllib.loads(suite.read_text())["tasks"]]
    names = [task.name for task in found]
    assert len(set(names)) == len(names), f"two tasks of {suite} have one name"
    return found
