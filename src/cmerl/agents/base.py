"""What all agents share: the episode loop, seeding, history, exact regret, and the user's habits."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl import notebooks, oracles
from cmerl.agents import door, storage
from cmerl.agents.door import StepLimit
from cmerl.agents.saved import check_any
from cmerl.certificates import Certificate, Ledger
from cmerl.errors import CmerlError, InputError, SharedAgentError
from cmerl.finite import FiniteWorld
from cmerl.growing import nested, part
from cmerl.oracles.bellman import action_probabilities
from cmerl.oracles.checks import is_transformed
from cmerl.validation import check_seed, check_step

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")

REGRET_KINDS = (None, "policy", "gaps", "monte-carlo")  # the last is an experiment's estimate


class Policy(Protocol):
    """A rule for acting: ``policy(obs, step)`` gives an action of the environment."""

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step`` (from 0)."""
        ...


@dataclass(frozen=True)
class EpisodeRecord:
    """One finished episode.

    Attributes:
        episode: its number, from 0.
        ret: undiscounted return in the environment's units.
        length: steps taken.
        regret: V* − V^π at the first state ("policy"), or the sum of gaps if it was replanned inside or the world
            is continuous ("gaps"); None where no model is known.
        regret_kind: "policy", "gaps" or None.
        seconds: time that the agent and the environment took, without the oracle.
        metrics: what else the agent knows of the episode, ready for JSON; "value" is V₁(s₁) of the plan that began
            it, "optimum" is V*₁(s₁) where the world is known, "certified_regret" what all episodes up to this one
            have lost at most, where that can be proven, and "certified_most" what they could have lost at all.
    """

    episode: int
    ret: float
    length: int
    regret: float | None
    regret_kind: str | None
    seconds: float
    metrics: dict[str, Any] = field(default_factory=dict)


@dataclass
class Trajectory:
    """An episode in the making.

    Attributes:
        observations: before each action.
        actions: as the environment got them.
        rewards: for each action.
        replans: steps from which a new plan was followed.
        last: the observation after the last action.
        terminated: whether the environment ended the episode for good.
    """

    observations: list[Any] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    replans: list[int] = field(default_factory=list)
    last: Any = None
    terminated: bool = False


Callback = Callable[["Agent", EpisodeRecord], bool | None]
"""Called after every episode; returning False ends ``learn``."""


class Agent(ABC):
    """Base of all agents.

    Args:
        env: a Gymnasium environment.
        horizon: steps per episode; defaults to the environment's own.
        seed: root of all randomness: equal seeds give equal runs, bit for bit.
    """

    name: ClassVar[str]
    not_turned_back: ClassVar[tuple[str, ...]] = ("env", "history", "_latest", "_model", "_solution", "_learner")
    _learner: int | None = None  # the thread that lets it learn

    def __init__(self, env: gymnasium.Env[Any, Any], *, horizon: int | None = None, seed: int = 0) -> None:
        if not isinstance(env, gymnasium.Env):
            raise InputError(f"env must be a Gymnasium environment, such as gymnasium.make({env!r}), not {env!r}")
        self._set_env(env, horizon)
        self.broken_off = 0  # episodes begun but not finished
        self.seed = check_seed(seed)
        self.history: list[EpisodeRecord] = []
        self._latest = Trajectory()  # the last episode
        self._books: Ledger | str | None = None  # what proves a certificate, or why there is none

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
        callback: Callback | None = None,
        *,
        step_timeout: float | StepLimit | None = None,
    ) -> Self:
        """Play and learn for some episodes. ``learn(a)`` then ``learn(b)`` equals ``learn(a + b)``.

        Args:
            episodes: how many.
            progress_bar: show a bar with the return, the best so far and the time left.
            callback: called as callback(agent, record) after every episode; returning False ends learning.
            step_timeout: seconds that the environment may take over a step; None lets it take any time.
        """
        if isinstance(episodes, bool) or not isinstance(episodes, int | np.integer) or episodes < 0:
            raise InputError(f"episodes must be a whole number from 0 on, not {episodes!r}")
        if self.env is None:
            raise InputError("this agent has no environment to learn in: load it with CMERL.load(path, env=env)")
        from cmerl.agents.progress import progress

        limit = StepLimit.of(step_timeout)
        with self._learning(), progress(int(episodes), self.name, enabled=progress_bar) as tick:
            for _ in range(episodes):
                record = self._play_episode(self.env, limit)
                self.history.append(record)
                tick(record)
                if callback is not None and callback(self, record) is False:
                    break
        return self

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """While this thread lets the agent learn, no other may use it."""
        self._check_thread()
        outer, self._learner = self._learner, threading.get_ident()
        try:
            yield
        finally:
            self._learner = outer

    def _check_thread(self) -> None:
        """Refuse other threads while the agent learns: what they would read is half changed."""
        if self._learner is not None and self._learner != threading.get_ident():
            raise SharedAgentError(
                "this agent learns in another thread: take policy = agent.policy() before, which is safe to share"
            )

    def lesson(self) -> dict[str, Any]:
        """What the last episode taught, as arrays and plain values, from which ``relearn`` makes the same agent.

        This is the episode as it was seen. It suits every agent that changes by ``_after_step``, ``_absorb`` and
        ``_end_episode`` alone, and draws all randomness from ``_rng``; others must override ``_relearn`` too.
        """
        seen = self._latest
        return {
            "observations": [*seen.observations, seen.last],
            "actions": seen.actions,
            "rewards": seen.rewards,
            "replans": seen.replans,
            "terminated": seen.terminated,
        }

    def relearn(self, record: EpisodeRecord, lesson: dict[str, Any]) -> None:
        """Learn an episode again without playing it: the agent is then what it was after it, bit for bit."""
        if record.episode != len(self.history):
            raise InputError(f"episode {record.episode} cannot be learned after {len(self.history)} others")
        self._relearn(lesson)
        self._enter(lesson["observations"], lesson["actions"], lesson["rewards"], terminated=lesson["terminated"])
        if (ledger := self._ledger) is not None and "certified_regret" in record.metrics:
            ledger.bound = record.metrics["certified_regret"]  # it may rest on the plan, which is not made again
        self.history.append(record)

    def _repr_html_(self) -> str:
        """For notebooks: how it has done, and what it says of itself."""
        returns = [record.ret for record in self.history]
        regrets = [record.regret for record in self.history if record.regret is not None]
        about: dict[str, Any] = {"horizon": self.horizon, "seed": self.seed, "episodes": len(returns)}
        if returns:
            about |= {"last return": returns[-1], "best return": max(returns)}
        if regrets:
            about["cumulative regret"] = float(sum(regrets))
        diagnostics: Callable[[], dict[str, Any]] = getattr(self, "diagnostics", dict)
        return notebooks.facts(self.name, {**about, **diagnostics()}, notebooks.curve(returns, "return by episode"))

    def certificate(self, policy: Any = None) -> Certificate:
        """What is proven of this run, whatever the agent: bounds on its regret, and on the loss of a policy.

        It needs Discrete observations and actions, and rewards in a range that was declared: by ``reward_range``, by
        a reward function that was given, or by the world as ``env.unwrapped.reward_range``.

        Args:
            policy: whose loss is bounded; by default what the next episode would play.
        """
        ledger = self._ledger
        if ledger is None:
            raise InputError(f"there is no certificate for this run: {self._books}")
        if policy is None:
            policy = self.policy()
        H, S, A = ledger.world.horizon, ledger.world.states, ledger.world.actions
        first_state, first_action = self._first_numbers
        observations = np.arange(S) + first_state
        if callable(getattr(policy, "probabilities", None)):
            return ledger.certificate(policy.probabilities(observations))
        table = policy.table(observations) if callable(getattr(policy, "table", None)) else policy
        if isinstance(table, np.ndarray) and table.ndim == 2:
            table = table - first_action
        elif callable(table):
            table = _numbered(table, first_state, first_action)
        return ledger.certificate(action_probabilities(table, np.arange(S), A, H))

    @abstractmethod
    def policy(self, explore: bool = True) -> Policy:
        """What the next episode would play; without exploration if ``explore`` is False."""

    def predict(self, obs: Any, step: int = 0, explore: bool = True) -> Any:
        """The action alone; nothing is drawn and nothing changes."""
        self._check_thread()
        check_step(step, self.horizon)
        return self.policy(explore)(obs, step)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything learned to one file; ``load`` continues exactly where this stopped."""
        storage.write(path, *self._everything())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as it is saved, with its environment; what cannot be saved is refused with what to do instead."""
        return unpickled, (type(self), storage.to_bytes(*self._everything()), self.env, self._unsaved())

    def _everything(self) -> tuple[storage.Tensors, dict[str, Any]]:
        """What ``save`` writes."""
        self._check_thread()
        tensors, meta = self._state()
        fields = ("ret", "length", "seconds")
        for name in fields:
            tensors[f"history.{name}"] = np.array([getattr(r, name) for r in self.history], dtype=np.float64)
        regrets = [np.nan if r.regret is None else r.regret for r in self.history]
        tensors["history.regret"] = np.array(regrets, dtype=np.float64)
        kinds = [REGRET_KINDS.index(r.regret_kind) for r in self.history]
        tensors["history.regret_kind"] = np.array(kinds, dtype=np.int64)
        about = {"agent": self.name, "horizon": self.horizon, "seed": self.seed, "broken_off": self.broken_off}
        about["metrics"] = [r.metrics for r in self.history]
        if (ledger := self._ledger) is not None:
            about["ledger"] = {**ledger.spec(), "first": list(self._first_numbers)}
            tensors |= nested({"ledger": ledger.arrays()})
        return tensors, {**about, **meta}

    @classmethod
    def load(cls, path: str | os.PathLike[str], env: gymnasium.Env[Any, Any] | None = None, **given: Any) -> Self:
        """A saved agent; without an environment it can predict but not learn.

        Args:
            path: what ``save`` wrote.
            env: the environment to go on in.
            given: what cannot be saved, such as ``reward`` if it was a function.
        """
        return cls._from(*storage.read(path), repr(os.fspath(path)), env, given)

    @classmethod
    def _from(
        cls,
        tensors: storage.Tensors,
        meta: dict[str, Any],
        name: str,
        env: gymnasium.Env[Any, Any] | None,
        given: dict[str, Any],
    ) -> Self:
        """An agent from what a file holds, all of it checked first; ``name`` is what messages call the file."""
        if meta.get("agent") != cls.name:
            raise InputError(f"{name} holds an agent {str(meta.get('agent'))[:60]!r}, not {cls.name!r}")
        try:
            cls._check_saved(tensors, meta)
        except InputError as error:
            raise InputError(f"{name} is damaged: {error}") from None
        try:
            with np.errstate(all="ignore"):
                return cls._built(tensors, meta, env, given)
        except CmerlError:
            raise
        except (Exception, RecursionError) as error:
            kind = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            raise InputError(f"{name} is damaged: no agent can be made from it ({kind})") from error

    @classmethod
    def _built(
        cls,
        tensors: storage.Tensors,
        meta: dict[str, Any],
        env: gymnasium.Env[Any, Any] | None,
        given: dict[str, Any],
    ) -> Self:
        agent = cls.__new__(cls)
        agent.seed, agent.horizon, agent.broken_off = meta["seed"], meta["horizon"], meta["broken_off"]
        agent.env, agent._model, agent._solution = None, None, None
        agent._latest = Trajectory()
        agent._books = "it was saved without one"
        if "ledger" in meta:
            about = dict(meta["ledger"])
            agent._first_numbers = tuple(about.pop("first"))
            agent._books = Ledger.restore(about, part(tensors, "ledger"))
        if env is not None:
            agent._set_env(env, agent.horizon)
        columns = [
            tensors[f"history.{name}"].tolist() for name in ("ret", "length", "regret", "regret_kind", "seconds")
        ]
        agent.history = [
            EpisodeRecord(i, ret, int(length), None if np.isnan(regret) else regret, REGRET_KINDS[kind], sec, metrics)
            for i, (ret, length, regret, kind, sec, metrics) in enumerate(zip(*columns, meta["metrics"], strict=True))
        ]
        agent._restore(tensors, meta, given)
        return agent

    # --- the certificate ---

    _first_numbers: tuple[int, int] = (0, 0)  # the smallest observation and action, where both are Discrete

    @property
    def _ledger(self) -> Ledger | None:
        """What proves the certificate, made once; None where there can be none, and ``_books`` says why."""
        if self._books is None:
            world = self._finite_world()
            self._books = (
                world if isinstance(world, str) else Ledger(world, self._certified_delta, **self._bookkeeping)
            )
        return self._books if isinstance(self._books, Ledger) else None

    @property
    def _certified_delta(self) -> float:
        """The failure probability of a certificate."""
        return float(getattr(self, "delta", 0.1))

    @property
    def _bookkeeping(self) -> dict[str, Any]:
        """Options of the ledger."""
        return {}

    def _reward_claim(self) -> tuple[tuple[float, float] | None, FloatArray | None]:
        """The range of rewards that was declared, and mean rewards (S, A) that are known; None for what is not."""
        return None, None

    @property
    def _steps_differ(self) -> bool:
        """Whether each step has a transition law of its own."""
        return False

    def _finite_world(self) -> FiniteWorld | str:
        """What a certificate is about, or why there is none."""
        if self.env is None:
            return "it has no environment"
        spaces = self.env.observation_space, self.env.action_space
        for space in spaces:
            if not isinstance(space, gymnasium.spaces.Discrete):
                return f"it counts visits, and {space} is not Discrete"
        (S, first_state), (A, first_action) = ((int(space.n), int(space.start)) for space in spaces)  # type: ignore[attr-defined]
        self._first_numbers = first_state, first_action
        declared, known = self._reward_claim()
        if declared is None and known is not None:
            declared = float(known.min()), float(known.max())
        if declared is None:
            declared = declared_range(self.env)
        if declared is None:
            return "the range of its rewards was not declared: pass reward_range=(lo, hi)"
        lo, hi = declared
        if self._may_end:
            lo, hi = min(lo, 0.0), max(hi, 0.0)
        if known is not None and known.shape != (S, A):
            return "its reward function was given for some of the actions only"
        return FiniteWorld(
            states=S,
            actions=A,
            horizon=self.horizon,
            r_min=lo,
            width=hi - lo,
            ends=self._may_end,
            per_step=self._steps_differ,
            rewards=None if known is None else known - lo,
        )

    def _enter(
        self, observations: Any, actions: Any, rewards: Any, *, terminated: bool, finished: bool = True
    ) -> None:
        """Enter an episode into the ledger, if there is one."""
        if (ledger := self._ledger) is None or len(actions) == 0:
            return
        first_state, first_action = self._first_numbers
        states = [int(obs) - first_state for obs in observations]
        played = [int(a) - first_action for a in actions]
        gap = self._gap(states[0]) if finished else None
        ledger.enter(
            states, played, [float(r) for r in rewards], terminated=bool(terminated), finished=finished, gap=gap
        )

    def _gap(self, start: int) -> float | None:
        """What the episode just played from state number ``start`` lost at most, if that was known before it."""
        return None

    # --- for subclasses ---

    @classmethod
    def _check_saved(cls, tensors: storage.Tensors, meta: dict[str, Any]) -> None:
        """Raise an InputError unless a file's arrays and description are what ``_state`` could have written."""
        check_any(tensors, meta)

    def _unsaved(self) -> dict[str, Any]:
        """What ``load`` must be given, since a file cannot hold it."""
        return {}

    def _state(self) -> tuple[storage.Tensors, dict[str, Any]]:
        """Arrays and a JSON-able description of what this agent has learned and was told."""
        return {}, {}

    def _restore(self, tensors: storage.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        """Undo ``_state``."""

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        """Look at one transition; raise a CmerlError if it cannot be used."""

    def _metrics(self, policy: Policy, start: Any) -> dict[str, Any]:
        """What is worth recording of an episode that has just been learned from, ready for JSON.

        Args:
            policy: the one that the episode began with.
            start: its first observation.
        """
        return {}

    def _replanned(self, step: int) -> Policy | None:
        """A new policy for the steps from ``step`` on, or None to go on with the old one."""
        return None

    def _absorb(self) -> None:
        """What ``_replanned`` changes in the agent before it makes a new plan."""

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
        """The same for an episode that was not finished: keep what can be kept."""

    def _begin(self, policy: Policy) -> Policy:
        """What an episode plays by, from its beginning or from a new plan on."""
        return begin(policy)

    def _rng(self, *key: int) -> np.random.Generator:
        """A generator for one purpose: a leaf of this agent's tree of seeds."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def _play_episode(self, env: gymnasium.Env[Any, Any], limit: StepLimit | None = None) -> EpisodeRecord:
        started = time.perf_counter()
        episode = len(self.history)
        policies = [self.policy()]
        play = self._begin(policies[0])
        seen = self._latest = Trajectory()
        step = 0
        try:
            obs = door.reset(env, int(self._rng(0, episode).integers(2**31)), limit)
            for step in range(self.horizon):
                action = play(obs, step)
                found = door.step(env, action, limit)
                self._after_step(step, obs, action, found.reward, found.obs, found.terminated)
                seen.observations.append(obs)
                seen.actions.append(action)
                seen.rewards.append(found.reward)
                seen.last, seen.terminated = found.obs, found.terminated
                if found.terminated or found.truncated:
                    break
                replanned = self._replanned(step + 1) if step + 1 < self.horizon else None
                if replanned is not None:
                    policies.append(replanned)
                    play = self._begin(replanned)
                    seen.replans.append(step + 1)
                obs = found.obs
            self._end_episode()
            self._enter_seen(seen)
            metrics = self._metrics(policies[0], seen.observations[0])
            if (ledger := self._ledger) is not None and ledger.void is None:
                metrics |= {"certified_regret": ledger.bound, "certified_most": ledger.episodes * ledger.world.cap(0)}
            seconds = time.perf_counter() - started
            regret, kind = self._regret(policies, seen)
            if self._solution is not None:
                metrics["optimum"] = self._optimum(seen.observations[0])
        except BaseException as error:
            self.broken_off += 1
            if isinstance(error, CmerlError):
                error = type(error)(f"episode {episode}, step {step}: {error}").with_traceback(error.__traceback__)
                error.__cause__ = sys.exception().__cause__  # type: ignore[union-attr]
            try:
                self._break_off()
            except Exception as second:  # what ended the episode is what must be told
                log.warning(
                    "after a fault in episode %d, what was seen of it could not be learned: %s", episode, second
                )
            self._enter_seen(seen, finished=False)
            raise error from error.__cause__
        return EpisodeRecord(episode, float(sum(seen.rewards)), len(seen.rewards), regret, kind, seconds, metrics)

    def _enter_seen(self, seen: Trajectory, *, finished: bool = True) -> None:
        observations = [*seen.observations, seen.last]
        self._enter(observations, seen.actions, seen.rewards, terminated=seen.terminated, finished=finished)

    def _optimum(self, start: Any) -> float:
        """V*₁ at the first observation, where the model is known and solved."""
        assert self._solution is not None
        if isinstance(self._model, oracles.FiniteModel | oracles.TableModel):
            start = self._model.index(start)
        return float(self._solution.value(start))

    def _regret(self, policies: list[Policy], seen: Trajectory) -> tuple[float | None, str | None]:
        if self._model is None:
            return None, None
        if self._solution is None:  # a grid takes a second, which an agent that never learns need not wait for
            self._solution = oracles.solve(self._model, self.horizon)
        if isinstance(self._model, oracles.TableModel):  # deterministic: what the gaps sum to is the policy's regret
            numbers = [self._model.index(obs) for obs in seen.observations]
            return oracles.gap_regret(self._solution, numbers, [int(a) for a in seen.actions]), "gaps"
        if not isinstance(self._model, oracles.FiniteModel):
            # The expectation of the gaps' sum is V* − V^π. That itself would need the policy on the whole grid
            # after every episode, which costs far more than the agent does.
            return oracles.gap_regret(self._solution, seen.observations, seen.actions), "gaps"
        # A policy that changed on the way, or that looks ahead from the states it meets, has no table to evaluate.
        if len(policies) > 1 or getattr(policies[0], "searches", False):
            states = [self._model.index(obs) for obs in seen.observations]
            return oracles.gap_regret(self._solution, states, [int(a) for a in seen.actions]), "gaps"
        assert isinstance(self._solution, oracles.Solution)
        played: Any = policies[0]
        if hasattr(played, "probabilities"):  # a random policy is evaluated as such, not as what it drew
            played = played.probabilities(self._model.observations)
        value = oracles.evaluate(self._model, played, self.horizon)
        start = self._model.index(seen.observations[0])
        return oracles.policy_regret(self._solution, value, start), "policy"


def declared_range(env: gymnasium.Env[Any, Any]) -> tuple[float, float] | None:
    """The range of rewards that a world declares as ``reward_range``; None where there is none that holds."""
    claimed = None if is_transformed(env) else getattr(env.unwrapped, "reward_range", None)
    if claimed is None or not np.isfinite(np.asarray(claimed, dtype=np.float64)).all():
        return None
    lo, hi = (float(end) for end in claimed)
    return lo, hi


def _numbered(policy: Policy, first_state: int, first_action: int) -> Callable[[Any, int], int]:
    """The same policy on numbers from 0 on."""
    return lambda state, step: int(policy(int(state) + first_state, step)) - first_action


def unpickled(cls: type[Agent], content: bytes, env: gymnasium.Env[Any, Any] | None, given: dict[str, Any]) -> Agent:
    """The agent that was pickled."""
    return cls._from(*storage.from_bytes(content, "the pickled agent"), "the pickled agent", env, given)


def find_horizon(env: gymnasium.Env[Any, Any], horizon: int | None) -> int:
    """The horizon: given, or the environment's ``max_episode_steps``, ``horizon`` or ``max_steps``."""
    limit = time_limit(env)
    if horizon is None:
        own = (getattr(env.unwrapped, name, None) for name in ("horizon", "max_steps"))
        horizon = limit or next((steps for steps in own if steps is not None), None)
        if horizon is None:
            raise InputError("this environment has no max_episode_steps: pass horizon=…, the steps per episode")
    if isinstance(horizon, bool) or not isinstance(horizon, int | np.integer) or horizon < 1:
        raise InputError(f"horizon must be a whole number of at least 1, not {horizon!r}")
    if horizon > 10**6:
        raise InputError(f"horizon must be at most a million steps, not {horizon}: pass a smaller horizon=…")
    if limit is not None and limit < horizon:
        raise InputError(
            f"the environment cuts episodes after {limit} steps, before the horizon of {horizon}: "
            f"pass horizon={limit} or make the environment with max_episode_steps={horizon}"
        )
    return int(horizon)


def time_limit(env: gymnasium.Env[Any, Any]) -> int | None:
    """The steps after which a wrapper or the registration cuts episodes, if any."""
    limits = [getattr(env.spec, "max_episode_steps", None)]
    layer: Any = env
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, gymnasium.wrappers.TimeLimit):
            limits.append(layer._max_episode_steps)
        layer = layer.env
    return min((int(limit) for limit in limits if limit is not None), default=None)


def begin(policy: Policy) -> Policy:
    """A policy for one episode: one that searches remembers on the way what it has found."""
    start: Callable[[], Policy] | None = getattr(policy, "begin_episode", None)
    return policy if start is None else start()
