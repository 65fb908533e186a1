"""Adapters: a plain function such as a PID controller, or any algorithm of Stable-Baselines3, as an agent.

Both use the episode loop of all agents, so they have records, regret, journals and a place in reports.
"""

from __future__ import annotations

import copy
import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from queue import SimpleQueue
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np

from cmerl.agents.base import Agent
from cmerl.agents.episode import Episode
from cmerl.agents.records import Policy
from cmerl.errors import InputError, shown
from cmerl.logs import LoggedEpisode
from cmerl.validation import check_step
from cmerl.validation.functions import count_arguments

Controller = Callable[..., Any]
"""``controller(obs)`` or ``controller(obs, step)`` gives an action; one with a memory has ``reset()``."""


# --- a plain function ---


class FunctionAgent(Agent):
    """Plays a given function and does not learn.

    Args:
        env: a Gymnasium environment.
        function: of the observation, or of the observation and the step. An object with ``reset()`` is copied and
            reset for every episode, so that a PID controller may keep its integral.
        horizon: steps per episode; defaults to the environment's own.
        seed: of the environment's first states.
    """

    name: ClassVar[str] = "function"

    def __init__(
        self, env: gymnasium.Env[Any, Any], *, function: Controller, horizon: int | None = None, seed: int = 0
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
        if not callable(function):
            raise InputError(f"function must be callable, not {shown(function)}")
        self._policy = FunctionPolicy(function, self.horizon, _arguments(function))

    def policy(self, explore: bool = True) -> FunctionPolicy:
        """The function."""
        return self._policy

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        raise InputError("a function cannot be saved: keep its source")


@dataclass(frozen=True)
class FunctionPolicy:
    """A function as a policy."""

    function: Controller
    horizon: int
    arguments: int

    @property
    def searches(self) -> bool:
        """Whether it remembers what came before, so that there is no table of its actions."""
        return hasattr(self.function, "reset")

    def begin_episode(self) -> FunctionPolicy:
        """A controller with a memory starts again."""
        if not self.searches:
            return self
        fresh = copy.deepcopy(self.function)
        fresh.reset()  # type: ignore[attr-defined]
        return FunctionPolicy(fresh, self.horizon, self.arguments)

    def __call__(self, obs: Any, step: int) -> Any:
        """The action of the function."""
        check_step(step, self.horizon)
        return self.function(obs, step) if self.arguments == 2 else self.function(obs)


def _arguments(function: Controller) -> int:
    """With how many arguments a controller is called."""
    return count_arguments(function, getattr(function, "__name__", "the function"), "(obs, step)", "(obs)")


def from_function(function: Controller, name: str | None = None) -> Callable[..., FunctionAgent]:
    """A factory of agents that play a function, for ``register`` and ``experiments.run(agents=[…])``."""
    _arguments(function)

    def factory(env: gymnasium.Env[Any, Any], *, horizon: int | None = None, seed: int = 0) -> FunctionAgent:
        return FunctionAgent(env, function=function, horizon=horizon, seed=seed)

    factory.__name__ = factory.__qualname__ = str(name or getattr(function, "__name__", type(function).__name__))
    factory.__doc__ = inspect.getdoc(function)
    return factory


# --- Stable-Baselines3 ---


class StableBaselines(Agent):
    """An algorithm of Stable-Baselines3, or one with the same interface.

    The algorithm trains in its own thread, in an environment that hands over to the episode loop at every step; only
    one of the two runs at a time.

    Args:
        env: a Gymnasium environment.
        algorithm: its name, such as "PPO" or "DQN", or its class.
        network: the first argument of the algorithm, such as "MlpPolicy".
        settings: its other arguments.
        total_timesteps: length of its schedules; by default the most steps that the first ``learn`` can take.
        horizon: steps per episode; defaults to the environment's own.
        seed: of the algorithm, and of the environment's first states.
    """

    name: ClassVar[str] = "stable-baselines3"
    not_turned_back: ClassVar[tuple[str, ...]] = (*Agent.not_turned_back, "model", "_training")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        algorithm: str | type[Any] = "PPO",
        network: str = "MlpPolicy",
        settings: dict[str, Any] | None = None,
        total_timesteps: int | None = None,
        horizon: int | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
        self._puppet, self._total = Puppet(env), total_timesteps
        maker = _algorithm(algorithm)
        try:
            self.model = maker(network, self._puppet, seed=self.seed % 2**32, **(settings or {}))
        except (TypeError, ValueError, AssertionError) as error:
            why = " ".join(str(error).split())[:200]
            raise InputError(f"{maker.__name__} cannot be made for this environment: {why}") from error
        self._training: Training | None = None
        self._in_episode = False
        self._waiting: Outcome | None = None  # what followed the last action, until it is known whether more follows

    def learn(self, episodes: int, *arguments: Any, **options: Any) -> Any:
        """See ``Agent.learn``."""
        if self._total is None:
            self._total = (len(self.history) + max(int(episodes), 1)) * self.horizon
        return super().learn(episodes, *arguments, **options)

    def policy(self, explore: bool = True) -> Policy:
        """The current policy; without exploration the most likely action."""
        return Trainee(self) if self._in_episode else NetworkPolicy(self.model, explore, self.horizon)

    def episode(self) -> Episode:
        """An episode that the algorithm learns from."""
        self._in_episode = True
        try:
            return super().episode()
        finally:
            self._in_episode = False

    def _ask(self, obs: Any) -> Any:
        """Tell the algorithm where the last action has led, and take its next one."""
        if self._training is None:
            self._training = Training(self.model, self._puppet, self._total or 10**9)
        outcome, self._waiting = self._waiting, None
        return self._training.exchange(Outcome(obs, 0.0, False, False) if outcome is None else outcome)

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        self._waiting = Outcome(next_obs, reward, done, False)

    def _end_episode(self) -> None:
        outcome, self._waiting = self._waiting, None
        if self._training is not None and outcome is not None:
            self._training.tell(outcome._replace(truncated=not outcome.terminated))

    def _break_off(self) -> None:
        self._end_episode()

    def _relearn(self, lesson: dict[str, Any]) -> None:
        for step, (obs, action) in enumerate(zip(lesson["observations"], lesson["actions"], strict=False)):
            if not np.array_equal(self._ask(obs), action):
                raise InputError(f"step {step}: the algorithm chose another action than the one recorded")
            done = lesson["terminated"] and step == len(lesson["actions"]) - 1
            self._after_step(step, obs, action, lesson["rewards"][step], lesson["observations"][step + 1], done)
        self._end_episode()

    def _ingest(self, episodes: Sequence[LoggedEpisode]) -> None:
        raise InputError("Stable-Baselines3 learns from what it plays, not from logs")

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        raise InputError("an agent of Stable-Baselines3 is saved by agent.model.save(path)")


def _algorithm(algorithm: str | type[Any]) -> type[Any]:
    if isinstance(algorithm, type):
        return algorithm
    try:
        library = import_module("stable_baselines3")
    except ImportError:
        raise InputError("this needs Stable-Baselines3: pip install 'cmerl[baselines]'") from None
    found = getattr(library, str(algorithm), None)
    if not isinstance(found, type) or not hasattr(found, "learn"):
        raise InputError(f"Stable-Baselines3 has no algorithm {algorithm!r}: it has A2C, DDPG, DQN, PPO, SAC, TD3")
    return found


class Outcome(NamedTuple):
    """The outcome of an action; the first of an episode holds the first observation only."""

    obs: Any
    reward: float
    terminated: bool
    truncated: bool


@dataclass(frozen=True, eq=False)
class Trainee:
    """The algorithm in training, as the policy of one episode."""

    agent: StableBaselines
    searches: ClassVar[bool] = True  # it changes on the way, and has no table

    def __call__(self, obs: Any, step: int) -> Any:
        """Its next action."""
        return self.agent._ask(obs)


@dataclass(frozen=True, eq=False)
class NetworkPolicy:
    """The policy of a trained network."""

    model: Any
    explore: bool
    horizon: int
    searches: ClassVar[bool] = True  # its actions may be random, and are not tabulated

    def __call__(self, obs: Any, step: int) -> Any:
        """The action."""
        check_step(step, self.horizon)
        action, _ = self.model.predict(obs, deterministic=not self.explore)
        return action.item() if np.ndim(action) == 0 and hasattr(action, "item") else action


class _Ended(BaseException):
    """Nobody plays any more."""


class Puppet(gymnasium.Env[Any, Any]):
    """The environment that an algorithm trains in: actions go out, and what they led to comes in."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.actions: SimpleQueue[Any] = SimpleQueue()
        self.outcomes: SimpleQueue[Outcome | None] = SimpleQueue()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Wait for an episode to begin."""
        return self._wait().obs, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Hand an action over, and wait for what follows."""
        self.actions.put(("action", action))
        return (*self._wait(), {})

    def _wait(self) -> Outcome:
        found = self.outcomes.get()
        if found is None:
            raise _Ended
        return found


class Training:
    """An algorithm's own loop, in a thread that waits whenever it is not asked."""

    def __init__(self, model: Any, puppet: Puppet, total: int) -> None:
        self._puppet, self._algorithm = puppet, type(model).__name__
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(model, puppet, total), daemon=True)
        self._thread.start()

    @staticmethod
    def _run(model: Any, puppet: Puppet, total: int) -> None:
        first = True
        try:
            while True:
                model.learn(total, reset_num_timesteps=first)
                first = False
        except _Ended:
            pass
        except BaseException as error:
            puppet.actions.put(("failed", error))

    def exchange(self, outcome: Outcome) -> Any:
        """Tell an outcome, and wait for the action that follows."""
        self.tell(outcome)
        kind, found = self._puppet.actions.get()
        if kind == "failed":
            self._failed = found
            self._check()
        return found.item() if isinstance(found, np.generic) else found

    def tell(self, outcome: Outcome) -> None:
        """Tell an outcome."""
        self._check()
        self._puppet.outcomes.put(outcome)

    def _check(self) -> None:
        if self._failed is not None:
            raise InputError(f"{self._algorithm} failed: {type(self._failed).__name__}: {self._failed}")
