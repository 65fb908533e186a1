"""Callbacks for ``agent.learn``: the interface, and some ready-made callbacks."""

from __future__ import annotations

import csv
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cmerl.agents.records import EpisodeRecord, begin
from cmerl.errors import InputError, shown
from cmerl.files import check_replaceable, saying_why

if TYPE_CHECKING:
    import gymnasium

    from cmerl.agents.base import Agent

OnEpisode = Callable[["Agent", EpisodeRecord], bool | None]
"""Called after every episode; returning False ends ``learn``."""


class StepRecord(NamedTuple):
    """One step, as the environment took it."""

    episode: int
    step: int
    observation: Any
    action: Any
    reward: float
    next_observation: Any
    terminated: bool
    truncated: bool


class Callback:
    """Derive from this and override what you need; a hook that returns False ends ``learn`` after the episode."""

    def on_start(self, agent: Agent) -> None:
        """Before the first episode; raise an InputError here if something is missing."""

    def on_step(self, agent: Agent, step: StepRecord) -> bool | None:
        """After every step."""
        return None

    def on_episode(self, agent: Agent, record: EpisodeRecord) -> bool | None:
        """After every episode, which is in ``agent.history`` by then."""
        return None

    def on_end(self, agent: Agent) -> None:
        """After the last episode, also if an error ended it."""


Given = OnEpisode | Callback | Iterable[OnEpisode | Callback] | None
"""Values that ``learn(callback=…)`` accepts."""


class _Function(Callback):
    """A plain function as a callback."""

    def __init__(self, function: OnEpisode) -> None:
        self._function = function

    def on_episode(self, agent: Agent, record: EpisodeRecord) -> bool | None:
        """Call it."""
        return self._function(agent, record)


class Callbacks:
    """Several callbacks as one, each checked before an episode is played."""

    def __init__(self, given: Given) -> None:
        listed = [] if given is None else [given] if callable(given) or isinstance(given, Callback) else given
        if not isinstance(listed, Iterable):
            raise InputError(f"callback must be a function, a Callback or a list of them, not {shown(given)}")
        self._each: Sequence[Callback] = [_checked(one, i) for i, one in enumerate(listed)]
        steps = [one for one in self._each if type(one).on_step is not Callback.on_step]
        self._steps: Sequence[Callback] = steps
        self._stop = False

    def start(self, agent: Agent) -> None:
        """Let each get ready; what was begun is ended if one cannot."""
        ready: list[Callback] = []
        try:
            for one in self._each:
                one.on_start(agent)
                ready.append(one)
        except BaseException:
            for one in ready:
                one.on_end(agent)
            raise

    @property
    def watch_steps(self) -> bool:
        """Whether any of them looks at steps."""
        return bool(self._steps)

    def step(self, agent: Agent, step: StepRecord) -> None:
        """After a step."""
        for one in self._steps:
            self._stop |= one.on_step(agent, step) is False

    def episode(self, agent: Agent, record: EpisodeRecord) -> bool:
        """After an episode; whether to go on."""
        for one in self._each:
            self._stop |= one.on_episode(agent, record) is False
        return not self._stop

    def end(self, agent: Agent) -> None:
        """At the end."""
        for one in self._each:
            one.on_end(agent)


def _checked(one: Any, number: int) -> Callback:
    """A callback, or one sentence on why it is none."""
    if isinstance(one, Callback):
        hooks = {"on_start": 1, "on_step": 2, "on_episode": 2, "on_end": 1}
        for name, count in hooks.items():
            _check_takes(getattr(one, name), count, f"{type(one).__name__}.{name}")
        return one
    if isinstance(one, type) and issubclass(one, Callback):
        raise InputError(f"callback {number} is the class {one.__name__}: pass an object, {one.__name__}(…)")
    if not callable(one):
        raise InputError(f"callback {number} must be a function (agent, record) or a Callback, not {shown(one)}")
    _check_takes(one, 2, f"callback {number}, {getattr(one, '__name__', type(one).__name__)},")
    return _Function(one)


def _check_takes(function: Callable[..., Any], count: int, name: str) -> None:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        wanted = "(agent, record)" if count == 2 else "(agent)"
        raise InputError(f"{name} must take {wanted}") from None
    except ValueError:  # a builtin without a signature
        return


# --- ready ones ---


class Checkpoint(Callback):
    """Saves the agent every so many episodes, and at the end.

    Args:
        path: of the file; ``{episode}`` in it is replaced, so that all are kept.
        every: episodes.
    """

    def __init__(self, path: str | os.PathLike[str], every: int = 10) -> None:
        self._path, self._every = os.fspath(path), _every(every)
        _check_place(self._name(0))

    def _name(self, episode: int) -> Path:
        return Path(self._path.replace("{episode}", str(episode)))

    def on_start(self, agent: Agent) -> None:
        """Raise now if the agent cannot be saved."""
        agent._everything()

    def on_episode(self, agent: Agent, record: EpisodeRecord) -> None:
        """Save, if it is time."""
        if (record.episode + 1) % self._every == 0:
            agent.save(self._name(record.episode + 1))

    def on_end(self, agent: Agent) -> None:
        """Save what came since."""
        if agent._open is None:
            agent.save(self._name(len(agent.history)))


class Evaluate(Callback):
    """Plays the policy without exploration in another environment, every so many episodes.

    Args:
        env: to play in; not the one that is learned in.
        every: episodes between evaluations.
        episodes: to play each time, from the same first states.
        seed: of those.

    Attributes:
        results: (episodes learned, mean return, returns) of each evaluation.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], every: int = 10, episodes: int = 5, seed: int = 0) -> None:
        self._env, self._every, self._episodes, self._seed = env, _every(every), _every(episodes), seed
        self.results: list[tuple[int, float, list[float]]] = []

    def on_start(self, agent: Agent) -> None:
        """Refuse the environment that is learned in."""
        if agent.env is self._env:
            raise InputError("Evaluate needs an environment of its own: make another one like it")

    def on_episode(self, agent: Agent, record: EpisodeRecord) -> None:
        """Evaluate, if it is time."""
        if (record.episode + 1) % self._every:
            return
        policy = agent.policy(explore=False)
        returns = [self._play(policy, agent.horizon, self._seed + i) for i in range(self._episodes)]
        self.results.append((record.episode + 1, float(np.mean(returns)), returns))

    def _play(self, policy: Any, horizon: int, seed: int) -> float:
        obs, _ = self._env.reset(seed=seed)
        play, total = begin(policy), 0.0
        for step in range(horizon):
            obs, reward, terminated, truncated, _ = self._env.step(play(obs, step))
            total += float(reward)
            if terminated or truncated:
                break
        return total


class StopOnThreshold(Callback):
    """Ends learning once the mean return of the latest episodes is good enough.

    Args:
        threshold: the mean return to reach.
        episodes: that the mean is over.
    """

    def __init__(self, threshold: float, episodes: int = 10) -> None:
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not np.isfinite(threshold):
            raise InputError(f"threshold must be a finite number, not {threshold!r}")
        self._threshold, self._episodes = float(threshold), _every(episodes)

    def on_episode(self, agent: Agent, record: EpisodeRecord) -> bool:
        """False once it is reached."""
        latest = [r.ret for r in agent.history[-self._episodes :]]
        return len(latest) < self._episodes or float(np.mean(latest)) < self._threshold


class CSVLog(Callback):
    """Writes a line for every episode: episode, return, length, regret, seconds."""

    COLUMNS = ("episode", "return", "length", "regret", "seconds")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        _check_place(self._path)
        self._file: Any = None

    def on_start(self, agent: Agent) -> None:
        """Open the file, and write the head if it is new."""
        new = not self._path.exists() or not self._path.stat().st_size
        with saying_why(self._path):
            self._file = open(self._path, "a", newline="", encoding="utf-8")  # noqa: SIM115 - closed at the end
        if new:
            csv.writer(self._file).writerow(self.COLUMNS)

    def on_episode(self, agent: Agent, record: EpisodeRecord) -> None:
        """Write a line."""
        regret = "" if record.regret is None else record.regret
        csv.writer(self._file).writerow([record.episode, record.ret, record.length, regret, round(record.seconds, 6)])
        self._file.flush()

    def on_end(self, agent: Agent) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class Tracker(Protocol):
    """A destination for metrics of episodes."""

    def __call__(self, metrics: dict[str, float], step: int) -> Any:
        """Take note of them."""
        ...


class Track(Callback):
    """Hands return, length, regret and numeric metrics of every episode to an experiment tracker.

    Args:
        tracker: called with a dictionary and the number of the episode, such as ``mlflow.log_metrics``.
    """

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker

    def on_episode(self, agent: Agent, record: EpisodeRecord) -> None:
        """Send them."""
        found: dict[str, float] = {"return": record.ret, "length": float(record.length)}
        if record.regret is not None:
            found["regret"] = record.regret
        found |= {
            name: float(value)
            for name, value in record.metrics.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        self._tracker(found, record.episode)


def mlflow_callback() -> Track:
    """Metrics of every episode go to MLflow's active run."""
    try:
        import mlflow
    except ImportError:
        raise InputError("MLflow is not installed: pip install 'cmerl[tracking]'") from None
    return Track(mlflow.log_metrics)


def wandb_callback() -> Track:
    """Metrics of every episode go to the active run of Weights & Biases."""
    try:
        import wandb
    except ImportError:
        raise InputError("wandb is not installed: pip install 'cmerl[tracking]'") from None
    return Track(wandb.log)


def _every(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"a number of episodes must be a whole number of at least 1, not {count!r}")
    return int(count)


def _check_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(f"there is no directory {str(path.parent)!r} for {path.name!r}: make it first")
    check_replaceable(path)
