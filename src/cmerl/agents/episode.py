"""Ask and tell: one episode whose loop is the user's."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cmerl import oracles
from cmerl.agents import environment_calls
from cmerl.agents.records import EpisodeRecord, Policy, Trajectory
from cmerl.agents.regret import episode_regret, optimum
from cmerl.errors import CmerlError, InputError

if TYPE_CHECKING:
    from cmerl.agents.base import Agent

log = logging.getLogger("cmerl")


class Episode:
    """One episode of an agent: ``act`` asks for an action, ``observe`` tells what followed.

    The episode is learned when it ends: when it is told that it terminated or was truncated, or at the agent's
    horizon. It can be used as a context manager, which closes it.

    >>> import gymnasium, cmerl
    >>> env = gymnasium.make("cmerl/RiverSwim-v0")
    >>> agent = cmerl.CMERL(env, seed=0)
    >>> with agent.episode() as episode:
    ...     obs, _ = env.reset(seed=0)
    ...     while not episode.done:
    ...         obs, reward, terminated, truncated, _ = env.step(episode.act(obs))
    ...         episode.observe(reward, obs, terminated, truncated)
    >>> len(agent.history), episode.record.length
    (1, 20)

    Attributes:
        record: what is recorded of it, once it has ended.
        step: the number of the next action.
    """

    def __init__(self, agent: Agent) -> None:
        self._started = time.perf_counter()
        self._agent, self._number = agent, len(agent.history)
        self._policies: list[Policy] = [agent.policy(explore=not agent.paused)]
        self._play = agent._begin_playing(self._policies[0])
        self._seen = Trajectory()
        self._asked: tuple[Any, Any] | None = None  # the observation and the action of which nothing was told yet
        self._over = False
        self._at = 0  # the step at which an action was asked for last
        self.step = 0
        self.record: EpisodeRecord | None = None

    # --- for users ---

    @property
    def done(self) -> bool:
        """Whether it has ended, or was closed."""
        return self._over

    def act(self, obs: Any, budget: float | None = None) -> Any:
        """The action for an observation.

        Asking again before anything was told means that the outcome of the last action was lost: that step counts,
        and nothing is learned from it.

        Args:
            obs: the observation.
            budget: seconds that it may take; the best action found by then is played. None takes what it needs.
        """
        deadline = None if budget is None else time.perf_counter() + _check_budget(budget)
        with self._agent._learning(), self._located():
            self._check_open()
            if self._asked is not None:
                self._lose(0.0)
                if self._over:
                    raise InputError(f"the episode is over after {self._agent.horizon} steps: begin another one")
            return self._ask(self._same(obs), deadline)

    def observe(
        self, reward: float, next_obs: Any, terminated: bool = False, truncated: bool = False, info: Any = None
    ) -> None:
        """Tell what followed the last action. What cannot be used is refused, and changes nothing.

        Args:
            reward: the reward.
            next_obs: the observation after it; None if it was lost, then nothing is learned from this step.
            terminated: the environment ended the episode for good.
            truncated: it was cut short, although the environment would have gone on.
            info: what else is known of the step, where the agent's cost is one of its keys.
        """
        with self._agent._learning(), self._located():
            self._check_open()
            if self._asked is None:
                raise InputError("nothing was asked: call act(obs) first, then observe what followed")
            told = environment_calls.told(next_obs, reward, terminated, truncated, info)
            if next_obs is None:
                self._lose(told.reward, told.info, ended=told.terminated or told.truncated)
            else:
                self._tell(told)

    def close(self) -> None:
        """Break it off, if it has not ended: what was seen is learned, and it does not enter the history."""
        if self._over:
            return
        with self._agent._learning():
            if self.step or self._asked is not None:
                self._break_off()
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    # --- for ``Agent.learn``, which gives only what it has copied and checked ---

    def _ask(self, obs: Any, deadline: float | None = None) -> Any:
        within = getattr(self._play, "within", None)
        timed = deadline is not None and within is not None
        self._at = self.step  # a fault in what follows is at this step
        action = within(obs, self.step, deadline) if timed else self._play(obs, self.step)  # type: ignore[misc]
        self._asked = obs, action
        return action

    def _tell(self, told: environment_calls.Step) -> None:
        assert self._asked is not None
        (obs, action), agent = self._asked, self._agent
        price = getattr(self._play, "price", None)
        cost = None if price is None else price(obs, action, told.obs, told.info)
        agent._after_step(self.step, obs, action, told.reward, told.obs, told.terminated)
        if cost is not None:  # only now, as what is refused must change nothing
            self._play.spend(cost)  # type: ignore[attr-defined]
        self._seen.add(self.step, obs, action, told.reward, told.obs, told.terminated)
        self._go_on(told.terminated or told.truncated)
        if self._over:
            return
        replanned = agent._replanned(self.step)
        if replanned is not None:
            self._policies.append(replanned)
            self._play = agent._begin_playing(replanned, self._play)
            self._seen.replans.append(self.step)

    def _fail(self, error: BaseException) -> BaseException:
        """Break off because of a fault; returns what to raise."""
        located = self._with_place(error)
        if not self._over:
            self._break_off(error)
            self._end()
        return located

    # --- inside ---

    def _check_open(self) -> None:
        if self._over:
            raise InputError("this episode is over: begin another one with agent.episode()")

    def _same(self, obs: Any) -> Any:
        """An observation as a copy of its own; where the last transition led to it, that copy."""
        last = self._seen.nexts[-1] if self._seen.nexts and self._seen.steps[-1] == self.step - 1 else None
        return last if last is not None and _equal(last, obs) else environment_calls.own(obs)

    def _lose(self, reward: float, info: Any = None, ended: bool = False) -> None:
        """Count a step whose outcome is not known."""
        if (price := getattr(self._play, "price_unseen", None)) is not None:
            self._play.spend(price(info))  # type: ignore[attr-defined]
        self._seen.lost += 1
        self._seen.unplaced += reward
        self._go_on(ended)

    def _go_on(self, ended: bool) -> None:
        self._asked = None
        self.step += 1
        if ended or self.step == self._agent.horizon:
            self._finish()

    def _finish(self) -> None:
        agent, seen = self._agent, self._seen
        if not seen.steps:  # all was lost
            self._break_off()
            self._end()
            return
        agent._latest = seen
        try:
            agent._end_episode()
            agent._enter_seen(seen)
            metrics = agent._metrics(self._policies[0], seen.observations[0])
            if seen.lost:
                metrics["lost"] = seen.lost
            if interventions := getattr(self._play, "interventions", None):
                metrics["interventions"] = [intervention.entry() for intervention in interventions]
            if (cost := getattr(self._play, "cost", None)) is not None:
                metrics["cost"] = cost
            if (ledger := agent.ledger) is not None and ledger.void is None:
                metrics |= {"certified_regret": ledger.bound, "certified_most": ledger.episodes * ledger.world.cap(0)}
            seconds = time.perf_counter() - self._started
            regret: float | None = None
            kind: str | None = None
            if agent._model is not None:
                if (
                    agent._solution is None
                ):  # a grid takes a second, which an agent that never learns need not wait for
                    agent._solution = oracles.solve(agent._model, agent.horizon)
                regret, kind = episode_regret(agent._model, agent._solution, self._policies, seen, agent.horizon)
                metrics["optimum"] = optimum(agent._model, agent._solution, seen.observations[0])
        except BaseException as error:
            self._break_off(error)
            self._end()
            raise
        self.record = EpisodeRecord(self._number, seen.total, self.step, regret, kind, seconds, metrics)
        agent.history.append(self.record)
        self._end()

    def _break_off(self, error: BaseException | None = None) -> None:
        """Keep what can be kept; whoever interrupts is not made to wait until it is learned."""
        agent = self._agent
        agent._latest = self._seen
        agent.broken_off += 1
        interrupted = error is not None and not isinstance(error, Exception)
        try:
            (agent._set_aside if interrupted else agent._break_off)()
        except Exception as second:  # what ended the episode is what must be told
            log.warning(
                "after a fault in episode %d, what was seen of it could not be learned: %s", self._number, second
            )
        agent._enter_seen(self._seen, finished=False)

    def _end(self) -> None:
        self._over = True
        if self._agent._open is self:
            self._agent._open = None

    @contextmanager
    def _located(self) -> Iterator[None]:
        """Faults inside say where they occurred."""
        try:
            yield
        except CmerlError as error:
            raise self._with_place(error) from error.__cause__

    def _with_place(self, error: BaseException) -> BaseException:
        if not isinstance(error, CmerlError):
            return error
        place = f"episode {self._number}, step {self._at}"
        located = type(error)(f"{place}: {error}").with_traceback(error.__traceback__)
        located.__cause__ = error.__cause__
        return located


def _check_budget(budget: Any) -> float:
    if isinstance(budget, bool) or not isinstance(budget, int | float | np.number) or not 0.0 < budget < math.inf:
        raise InputError(f"budget must be a number of seconds above 0, or None, not {budget!r}")
    return float(budget)


def _equal(one: Any, other: Any) -> bool:
    """True if two observations of any kind are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(_equal(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)
