"""Gives transitions to the model: when they are learned, and when that calls for a new plan."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from cmerl.acting import Shooting
from cmerl.agents.cme_rl.planner import Planner
from cmerl.agents.cme_rl.update_buffer import Seen, UpdateBuffer
from cmerl.errors import CmerlError
from cmerl.rollback import all_or_nothing

log = logging.getLogger("cmerl")


class Learner:
    """Collects what one agent sees, and learns it when that is due.

    Args:
        planner: whose model learns, and whose plans are then of the past.

    Attributes:
        pending: transitions not yet learned.
        replans: plans made anew inside the present episode.
    """

    def __init__(self, planner: Planner) -> None:
        self._planner, self.updates = planner, planner.options.settings.updates
        self.pending, self.replans = UpdateBuffer(), 0
        self._planned_for = planner.stakes()

    def observe(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        """One transition. Everything is checked before anything changes: a refused one must leave no trace."""
        planner = self._planner
        state, next_state = planner.states.encode(obs), planner.states.encode(next_obs)
        z = np.hstack([state, planner.actions.encode(action)])
        nats = float(planner.model.at(step).information(z)[0]) if self._replans_inside else 0.0
        planner.rewards.see(reward, step if done else None)
        self.pending.add(Seen(step, z, next_state, reward, done), nats)

    @property
    def _replans_inside(self) -> bool:
        """Whether plans are made anew inside episodes; a search also does well with one, and takes time."""
        return self._planner.options.replan and not isinstance(self._planner.model.actor, Shooting)

    def replan_due(self) -> bool:
        """Whether what was seen since the last plan calls for a new one inside the episode."""
        model = self._planner.model
        costly = self._planner.now().episode == 0 or model.displacement is not None
        return self._replans_inside and self.updates.replan_due(
            self.pending.surprise, model.information_gain if costly else 0.0, costly=costly
        )

    def absorb(self) -> None:
        """Learn inside an episode."""
        self.learn(end=False)
        self.replans += 1

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

    def break_off(self) -> None:
        """What was seen before a fault is true all the same; only an episode that the kernel refuses is lost."""
        for seen in self.pending.split():
            self.pending = seen
            try:
                self.learn()
            except CmerlError as error:
                log.warning("what was seen last cannot be learned, and is left out: %s", error)
        self.pending = UpdateBuffer()
