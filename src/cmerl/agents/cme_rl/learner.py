"""The learner: when transitions are given to the model, and when to replan."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC
from cmerl.agents.cme_rl.planner import Planner
from cmerl.agents.cme_rl.update_buffer import Seen, UpdateBuffer
from cmerl.agents.evaluation import practical
from cmerl.agents.from_logs import check_length, naming
from cmerl.errors import CmerlError, InputError
from cmerl.logs import LoggedEpisode
from cmerl.rollback import all_or_nothing

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")


class Learner:
    """Collects what one agent sees, and learns it when that is due.

    Args:
        planner: whose model learns, and whose plans are then of the past.

    Attributes:
        pending: transitions not yet learned.
        replans: plans recomputed inside the present episode.
    """

    def __init__(self, planner: Planner) -> None:
        self._planner, self.updates = planner, planner.options.settings.updates
        self.pending, self.replans = UpdateBuffer(), 0
        self._contradictions = 0  # states since the last plan where the model has an end, and there was none
        self._planned_for = planner.stakes()

    def observe(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        """One transition. Everything is checked before anything changes: a refused one must leave no trace."""
        planner = self._planner
        state, next_state = planner.states.encode(obs), planner.states.encode(next_obs)
        z = np.hstack([state, planner.actions.encode(action)])
        nats = float(planner.model.at(step).information(z)[0]) if self._replans_inside else 0.0
        reward = planner.reward_of(z, next_state, reward)
        planner.rewards.see(reward, step if done else None)
        self.pending.add(Seen(step, z, next_state, reward, done), nats)
        displacement = planner.model.displacement
        self._contradictions += displacement is not None and not done and displacement.ends_at(next_state)

    @property
    def _replans_inside(self) -> bool:
        """Whether the agent replans inside episodes; a search also does well with one, and takes time."""
        actor = self._planner.parts.actor or self._planner.model.actor
        return self._planner.options.replan and not isinstance(actor, MPC)

    def replan_due(self) -> bool:
        """Whether what was seen since the last plan calls for a new one inside the episode.

        An end that the model has and the world has not would be waited for until the horizon, so it is learned at
        once; were there many, half as often every time.
        """
        if self._planner.options.replan and self._contradictions >= 2**self.replans:
            return True
        model = self._planner.model
        costly = self._planner.now().episode == 0 or model.displacement is not None
        return self._replans_inside and self.updates.replan_due(
            self.pending.surprise, model.information_gain if costly else 0.0, costly=costly
        )

    def absorb(self) -> None:
        """Learn inside an episode."""
        self.learn(end=False)
        self.replans += 1

    def ingest(self, episodes: Sequence[LoggedEpisode], *, at_a_time: int = 500) -> None:
        """Learn what others have played.

        Args:
            episodes: as they were logged.
            at_a_time: transitions that are learned in one go: an exact model hands over before it is slow.
        """
        self.learn()  # what has waited came first
        transitions: list[Seen] = []
        for episode in episodes:
            with naming(episode):
                encoded = self._encoded(episode)
                for seen in encoded:
                    self._planner.rewards.see(seen.reward, seen.step if seen.done else None)
                transitions += encoded
        for start in range(0, len(transitions), at_a_time):
            self.pending = UpdateBuffer(transitions[start : start + at_a_time])
            self.learn(end=start + at_a_time >= len(transitions))

    def _encoded(self, episode: LoggedEpisode) -> list[Seen]:
        """A logged episode as transitions."""
        planner, last = self._planner, len(episode) - 1
        if not planner.options.time_homogeneous:
            check_length(episode, planner.horizon)  # a later step has no law to learn
        rows = planner.states.encode_many(episode.observations)
        actions = np.vstack([planner.actions.encode(action) for action in episode.actions])
        Z, ends = np.hstack([rows[:-1], actions]), planner.horizon - 1
        found = []
        for t, r in enumerate(episode.rewards):
            z, later = Z[t : t + 1], rows[t + 1 : t + 2]
            reward = planner.reward_of(z, later, float(r))
            found.append(Seen(min(t, ends), z, later, reward, episode.terminated and t == last))
        return found

    def transitions(self) -> tuple[FloatArray, FloatArray]:
        """All transitions, also those that wait: state-actions (n, d + e) and next states (n, d)."""
        planner = self._planner
        parts = [batch for _, batch in planner.model.batches or ()]
        if self.pending:
            parts.append(self.pending.batch()[1])
        d, e = planner.states.dims, planner.actions.rows.shape[1]
        return (
            np.concatenate([np.empty((0, d + e)), *(np.asarray(batch.Z) for batch in parts)]),
            np.concatenate([np.empty((0, d)), *(np.asarray(batch.next_states) for batch in parts)]),
        )

    def seen(self) -> practical.Transitions:
        """All transitions, also those that wait, in the environment's language."""
        planner = self._planner
        if planner.model.batches is None:
            raise InputError(
                f"{planner.model.n} transitions are too many to keep beside a model: pass the episodes themselves"
            )
        parts = list(planner.model.batches) + ([self.pending.batch()] if self.pending else [])
        if not parts:
            return practical.Transitions([], [], np.empty(0), [], np.empty(0, dtype=bool), [])
        steps, d = np.concatenate([steps for steps, _ in parts]), planner.states.dims
        Z, nexts = (np.concatenate([np.asarray(getattr(b, name)) for _, b in parts]) for name in ("Z", "next_states"))
        observations = planner.states.decode(Z[:, :d])
        return practical.Transitions(
            observations,
            [planner.actions.decode(row) for row in Z[:, d:]],
            np.concatenate([batch.rewards for _, batch in parts]),
            planner.states.decode(nexts),
            np.concatenate([batch.terminated for _, batch in parts]),
            [observations[i] for i in np.flatnonzero(steps == 0)],
        )

    def may_wait(self) -> bool:
        """Whether the next episode may go on with the last plan, as what is pending would hardly change it."""
        model = self._planner.model
        lazy = self._planner.options.replan and model.displacement is None and not model.due
        little = self.updates.may_wait(self.pending.surprise, len(self.pending), model.n)
        return lazy and little and self.stakes_are_as_planned

    @property
    def stakes_are_as_planned(self) -> bool:
        """Whether all that a plan depends on besides the data is as it was when the data were learned."""
        return self._planner.stakes() == self._planned_for

    def learn(self, *, end: bool = True) -> None:
        """Give the pending transitions to the model; when this raises, nothing has changed."""
        planner = self._planner
        with all_or_nothing(self):
            planner.forget()
            self._contradictions = 0
            pending, self.pending = self.pending, UpdateBuffer()
            if pending:
                steps, batch = pending.batch()
                rewards = planner.rewards.counted(batch.rewards, batch.terminated)
                planner.model.update(steps, replace(batch, rewards=rewards), end=end)
            self._planned_for = planner.stakes()

    def end_episode(self) -> None:
        """Learn the episode, unless it may wait."""
        self.replans = 0
        if not self.may_wait():
            self.learn()

    def set_aside(self) -> None:
        """Keep the transitions of an interrupted episode in the buffer, and replan."""
        self.replans = 0
        self._planner.forget()

    def break_off(self) -> None:
        """Learn the transitions before a fault; only an episode that the kernel refuses is lost."""
        for seen in self.pending.split():
            self.pending = seen
            try:
                self.learn()
            except CmerlError as error:
                log.warning("the last transitions cannot be learned and are left out: %s", error)
        self.pending = UpdateBuffer()
