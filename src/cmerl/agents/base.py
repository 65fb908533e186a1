"""The base class of agents: episode loop, seeding, history and exact regret."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import gymnasium
import numpy as np

from cmerl import blas, notebooks, oracles
from cmerl.agents import environment_calls
from cmerl.agents.callbacks import Callbacks, Given, StepRecord
from cmerl.agents.certified import declared_range
from cmerl.agents.environment_calls import StepLimit
from cmerl.agents.episode import Episode
from cmerl.agents.evaluation.values import Returns, play
from cmerl.agents.from_logs import FitsLogs
from cmerl.agents.history import History
from cmerl.agents.horizons import find_horizon
from cmerl.agents.records import REGRET_KINDS, EpisodeRecord, Policy, Trajectory, begin, go_on
from cmerl.agents.saving.persistent import Persistent
from cmerl.errors import InputError, SharedAgentError
from cmerl.safety import Intervention
from cmerl.validation import check_seed, check_step

__all__ = [
    "REGRET_KINDS",
    "Agent",
    "Episode",
    "EpisodeRecord",
    "Policy",
    "begin",
    "declared_range",
    "find_horizon",
]


class Agent(FitsLogs, Persistent):
    """The base class of all agents.

    Args:
        env: a Gymnasium environment.
        horizon: steps per episode; defaults to the environment's own.
        seed: root of all randomness: equal seeds give equal runs, bit for bit.
    """

    name: ClassVar[str]
    not_turned_back: ClassVar[tuple[str, ...]] = (
        "env",
        "history",
        "_latest",
        "_model",
        "_solution",
        "_learner",
        "_open",
    )
    _learner: int | None = None  # the thread that lets it learn
    _consulted: Policy | None = None  # by ``predict``
    _open: Episode | None = None  # the episode that has begun and not ended

    def __init__(self, env: gymnasium.Env[Any, Any], *, horizon: int | None = None, seed: int = 0) -> None:
        if not isinstance(env, gymnasium.Env):
            example = f"{env.__name__}()" if isinstance(env, type) else f"gymnasium.make({env!r})"
            raise InputError(f"env must be a Gymnasium environment, such as {example}, not {env!r}")
        self._set_env(env, horizon)
        self.broken_off = 0  # episodes begun but not finished
        self.seed = check_seed(seed)
        self.history = History()
        self._latest = Trajectory()  # the last episode
        self._books = None

    def _set_env(self, env: gymnasium.Env[Any, Any], horizon: int | None) -> None:
        self.env: gymnasium.Env[Any, Any] | None = env
        self.horizon = find_horizon(env, horizon)
        self._model = oracles.known_model(env)
        self._solution: oracles.AnySolution | None = None
        if isinstance(self._model, oracles.FiniteModel):
            self._solution = oracles.solve(self._model, self.horizon)

    @property
    def _may_end(self) -> bool:
        """Whether an episode may end early, as far as is known beforehand."""
        return self._model is None or (isinstance(self._model, oracles.FiniteModel) and self._model.terminates)

    # --- for users ---

    def learn(
        self,
        episodes: int,
        progress_bar: bool = False,
        callback: Given = None,
        *,
        step_timeout: float | StepLimit | None = None,
    ) -> Self:
        """Play episodes and learn from them. ``learn(a)`` then ``learn(b)`` equals ``learn(a + b)``.

        Args:
            episodes: how many.
            progress_bar: show a bar with the return, the best so far and the time left.
            callback: called as callback(agent, record) after every episode; returning False ends learning. Or a
                ``cmerl.agents.callbacks.Callback`` with more hooks, or a list of both.
            step_timeout: seconds that the environment may take over a step; None lets it take any time.
        """
        if isinstance(episodes, bool) or not isinstance(episodes, int | np.integer) or episodes < 0:
            raise InputError(f"episodes must be a whole number of at least 0, not {episodes!r}")
        if self.env is None:
            raise InputError("this agent has no environment to learn in: load it with CMERL.load(path, env=env)")
        from cmerl.agents.progress import progress

        limit, callbacks = StepLimit.of(step_timeout), Callbacks(callback)
        with self._learning(), progress(int(episodes), self.name, enabled=progress_bar) as tick:
            callbacks.start(self)
            try:
                for _ in range(episodes):
                    record = self._play_episode(self.env, limit, callbacks)
                    tick(record)
                    if not callbacks.episode(self, record):
                        break
            finally:
                callbacks.end(self)
        return self

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """While this thread lets the agent learn, no other may use it."""
        self._check_thread()
        outer, self._learner = self._learner, threading.get_ident()
        try:
            with blas.one_thread():
                yield
        finally:
            self._learner = outer

    def _check_thread(self) -> None:
        """Refuse other threads while the agent learns: what they would read is half changed."""
        if self._learner is not None and self._learner != threading.get_ident():
            raise SharedAgentError(
                "this agent learns in another thread: take policy = agent.policy() before, which is safe to share"
            )

    def episode(self) -> Episode:
        """Begin an episode for ask and tell; an open episode is closed."""
        self._check_thread()
        if self._open is not None:
            self._open.close()
        self._open = Episode(self)
        return self._open

    def evaluate(self, env: gymnasium.Env[Any, Any] | None = None, episodes: int = 10, seed: int = 0) -> Returns:
        """Play the plan without exploration and without learning.

        Args:
            env: the environment; by default the agent's own.
            episodes: how many.
            seed: of first states and noise.
        """
        self._check_thread()
        if env is None and self.env is None:
            raise InputError("this agent has no environment to be evaluated in: pass env=…")
        if self._open is not None and self._open.step > 0 and env is None:
            raise InputError("an episode is open in the agent's environment: close it first, or pass env=…")
        there = self.env if env is None else env
        assert there is not None
        with blas.one_thread():
            return play(there, self.policy(explore=False), self.horizon, episodes, seed)

    paused: bool = False  # whether it acts greedily until ``resume``

    def pause(self) -> Self:
        """Act greedily from the next episode on, without any optimism. Learning continues."""
        self.paused = True
        return self

    def resume(self) -> Self:
        """Explore again."""
        self.paused = False
        return self

    @property
    def interventions(self) -> list[Intervention]:
        """The rejected actions of all finished episodes, with reasons."""
        return [
            Intervention(record.episode, **entry)
            for record in self.history
            for entry in record.metrics.get("interventions", ())
        ]

    def reset_seed(self, episode: int) -> int:
        """The seed that ``env.reset`` gets in an episode."""
        return int(self._rng(0, episode).integers(2**31))

    def lesson(self) -> dict[str, Any]:
        """The last episode as arrays and plain values, for ``relearn``.

        This is the episode as it was seen. It suits every agent that changes by ``_after_step``, ``_absorb`` and
        ``_end_episode`` alone, and draws all randomness from ``_rng``; others must override ``_relearn`` too.
        """
        seen = self._latest
        runs = seen.runs()
        if len(runs) > 1 or not seen.complete:
            raise InputError("the last episode has gaps, and cannot be learned again from its observations")
        return {
            "observations": seen.states(slice(None)),
            "actions": seen.actions,
            "rewards": seen.rewards,
            "replans": seen.replans,
            "terminated": seen.terminated,
        }

    def relearn(self, record: EpisodeRecord, lesson: dict[str, Any]) -> None:
        """Learn a recorded episode without playing it; the agent's state is the same bit for bit."""
        if record.episode != len(self.history):
            raise InputError(f"episode {record.episode} cannot be learned after {len(self.history)} others")
        with blas.one_thread():
            self._relearn(lesson)
        self._enter(lesson["observations"], lesson["actions"], lesson["rewards"], terminated=lesson["terminated"])
        if (ledger := self.ledger) is not None and "certified_regret" in record.metrics:
            ledger.bound = record.metrics["certified_regret"]  # it may rest on the plan, which is not made again
        self.history.append(record)

    def _repr_html_(self) -> str:
        """For notebooks: how it has done, and what it says of itself."""
        returns = self.history.returns()
        regrets = [record.regret for record in self.history if record.regret is not None]
        about: dict[str, Any] = {"horizon": self.horizon, "seed": self.seed, "episodes": len(returns)}
        if returns:
            about |= {"last return": returns[-1], "best return": max(returns)}
        if regrets:
            about["cumulative regret"] = float(sum(regrets))
        diagnostics: Callable[[], dict[str, Any]] = getattr(self, "diagnostics", dict)
        return notebooks.facts(self.name, {**about, **diagnostics()}, notebooks.curve(returns, "return by episode"))

    @abstractmethod
    def policy(self, explore: bool = True) -> Policy:
        """The policy of the next episode; without exploration if ``explore`` is False."""

    def predict(self, obs: Any, step: int = 0, explore: bool = True) -> Any:
        """The action for an observation; the agent does not change.

        Asked for one step after another, it goes on with its search where there is one.
        """
        self._check_thread()
        check_step(step, self.horizon)
        policy, kept = self.policy(explore and not self.paused), self._consulted
        plan = getattr(policy, "plan", None)
        if plan is not None and kept is not None and getattr(kept, "plan", None) is plan:
            policy = kept
        self._consulted = policy
        return policy(obs, step)

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        """Look at one transition; raise a CmerlError if it cannot be used."""

    def _metrics(self, policy: Policy, start: Any) -> dict[str, Any]:
        """Metrics of an episode that has just been learned, ready for JSON.

        Args:
            policy: the one that the episode began with.
            start: its first observation.
        """
        return {}

    def _replanned(self, step: int) -> Policy | None:
        """A new policy for the steps from ``step`` on, or None to go on with the old one."""
        return None

    def _absorb(self) -> None:
        """Update the agent before ``_replanned`` makes a new plan."""

    def _relearn(self, lesson: dict[str, Any]) -> None:
        observations = lesson["observations"]
        steps = len(lesson["actions"])
        for step, (action, reward) in enumerate(zip(lesson["actions"], lesson["rewards"], strict=True)):
            if step in lesson["replans"]:
                self._absorb()
            done = lesson["terminated"] and step == steps - 1
            self._after_step(step, observations[step], action, reward, observations[step + 1], done)
        self._end_episode()

    def _end_episode(self) -> None:
        """Learn from what was seen since the last call."""

    def _break_off(self) -> None:
        """End an unfinished episode and keep its transitions."""

    def _set_aside(self) -> None:
        """End an interrupted episode quickly; slow work may wait for the next episode."""
        self._break_off()

    def _begin_playing(self, policy: Policy, before: Policy | None = None) -> Policy:
        """The policy of an episode from its beginning, or from a new plan on; ``before`` is the former policy."""
        return begin(policy) if before is None else go_on(before, policy)

    def _rng(self, *key: int) -> np.random.Generator:
        """A generator for one purpose: a leaf of this agent's tree of seeds."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def _play_episode(
        self, env: gymnasium.Env[Any, Any], limit: StepLimit | None = None, callbacks: Callbacks | None = None
    ) -> EpisodeRecord:
        """One turn of the loop over episodes [CO22, Alg. 1, line 2]; `planning.make_plan` has lines 3-6 in full."""
        episode, number = self.episode(), len(self.history)  # lines 3-6: plan backwards
        try:
            obs = environment_calls.reset(env, self.reset_seed(number), limit)  # line 3: s_1
            while not episode.done:  # line 7: h = 1, …, H
                step, action = episode.step, episode._ask(obs)  # line 8: a_h = argmax_a Q_h(s_h, a)
                found = environment_calls.step(env, action, limit)  # line 8: s_{h+1} ~ P(·|s_h, a_h)
                episode._tell(found)  # line 9: one more transition; all are learned when the episode ends
                if callbacks is not None and callbacks.watch_steps:
                    seen = (obs, action, found.reward, found.obs, found.terminated, found.truncated)
                    callbacks.step(self, StepRecord(number, step, *seen))
                obs = found.obs
        except BaseException as error:
            raised = episode._fail(error)
            raise raised from raised.__cause__
        assert episode.record is not None  # nothing was lost
        return episode.record
