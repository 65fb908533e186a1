"""Displacement: regress s' − s, read V at the predicted next state.

If a step moves the state only a little, regressing V(s') on (s, a) blurs the difference between actions; regressing
the displacement does not. The planner sees a mean at every state-action that shrinks by 1 − u where data are missing,
so Q reverts to its ceiling there. There is no proof.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl import blas
from cmerl.embedding.displacement.diagnostics import explained, kernels_in_words, rounded
from cmerl.embedding.displacement.evidence import smoother_weights
from cmerl.embedding.displacement.given_reward import TransitionReward
from cmerl.embedding.displacement.grid import DisplacementGrid, DisplacementView, Target
from cmerl.embedding.displacement.landmarks import choose_landmarks
from cmerl.embedding.displacement.learner import Learner
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.embedding.displacement.units import nearest_actions
from cmerl.errors import InputError
from cmerl.growing import Arrays
from cmerl.rollback import all_or_nothing
from cmerl.transitions import Points, Transitions

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class DisplacementEmbedding(Learner):
    """A displacement model: regression of s' − s, for smooth, nearly deterministic dynamics.

    It is its learner, with the view that plans read.

    Args:
        actions: the finite action set (A, d_a).
        categorical: True if actions are categories, not quantities.
        lam: λ of the novelty regression: after N visits a share λ/(N + λ) of the ceiling is left.
        settings: all other numbers.
        reward: the reward function of encoded states, actions and next states (n,), or None to learn it.

    Attributes:
        repeat: steps for which a backup holds the action.
    """

    def __init__(
        self,
        actions: FloatArray,
        *,
        categorical: bool,
        lam: float = 0.1,
        settings: DisplacementSettings | None = None,
        reward: TransitionReward | None = None,
    ) -> None:
        super().__init__(
            actions, categorical=categorical, lam=lam, settings=settings or DisplacementSettings(), reward=reward
        )
        self.repeat = 1
        self._view: DisplacementView | None = None
        self._grid: DisplacementGrid | None = None

    # --- learning ---

    def update(self, batch: Transitions) -> None:
        """Learn from transitions, and refit kernels when that is due; unchanged if this raises."""
        if not len(batch):
            return
        if not (isinstance(batch.Z, np.ndarray) and isinstance(batch.next_states, np.ndarray)):
            raise InputError("a displacement needs states that are rows of numbers")
        with all_or_nothing(self):
            self.absorb(batch)
            self._view = self._grid = None

    def end_episode(self) -> None:
        """Choose the kernel of rewards if the episode has shown the first that depend on the state."""
        if self.rewards_wait:
            with all_or_nothing(self):
                self.fit_rewards()
                self._view = self._grid = None

    # --- on disk ---

    def arrays(self) -> Arrays:
        """All arrays for saving; an embedding made the same way continues from them bit for bit."""
        learned = super().arrays()
        return {**learned, "counts": np.insert(learned["counts"], 3, self.repeat)}  # files hold it between the others

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        self.repeat = int(arrays["counts"][3])
        super().restore({**arrays, "counts": np.delete(arrays["counts"], 3)})
        self._view = self._grid = None

    # --- the model of the moment ---

    @property
    def view(self) -> DisplacementView:
        """The model of the present data; computed on first use."""
        if self._view is None:
            self._view = self._make_view()
        return self._view

    def with_repeat(self, repeat: int, *, sure: bool = False) -> DisplacementEmbedding:
        """The same model with another action repeat; shares everything else until the next update.

        One that is ``sure`` takes what it has never seen for known.
        """
        other = copy.copy(self)
        other._view, other._grid = replace(self.view, repeat=repeat, sure=sure), None
        other.repeat = repeat
        return other

    @blas.one_thread()
    def _make_view(self) -> DisplacementView:
        units = self.units
        return DisplacementView(
            units.centre,
            units.scale,
            units.action_features,
            self.dynamics,
            *choose_landmarks(self.dynamics, len(units.actions), self.settings),
            self.repeat,
            categorical=units.categorical,
        )

    def step(self, states: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """Simulate one step from encoded states with numbered actions: next states, rewards, terminations."""
        view = self.view
        y, rewards, ended = view.dynamics.step(view.scaled(states), view.actions[which])
        return self.units.encoded(y), rewards, ended

    def ends_at(self, state: FloatArray) -> bool:
        """Whether the episode ends at an encoded state (1, d), as far as is known."""
        ends = self.dynamics.terminations
        return ends is not None and bool(ends(self.units.scaled(state))[0][0])

    @property
    def left_out_residuals(self) -> FloatArray:
        """Leave-one-out residuals of the next states of the kept data (n, d), encoded."""
        return np.asarray(self.view.dynamics.residuals * self.units.scale)

    def residuals(self, data: Transitions) -> FloatArray:
        """Observed minus predicted next states (n, d), encoded."""
        motion = self.units.motion(data)
        return np.asarray((motion.y - self.view.dynamics.step(motion.x, motion.a)[0]) * self.units.scale)

    @property
    def motion_variance(self) -> FloatArray:
        """Variance of s' − s in each column (d,), encoded."""
        return np.asarray(np.square(self.view.dynamics.spread * self.units.scale))

    # --- the waist ---

    @property
    def information_gain(self) -> float:
        """Information gain of the novelty regression, in nats."""
        return self.view.dynamics.novelty.information_gain

    @property
    def support(self) -> FloatArray:
        """The landmarks (m, d), as encoded states."""
        return self.units.encoded(self.view.landmarks)

    def backup(self, v: FloatArray, *, reward: float = 1.0, terminal: float = 0.0) -> Target:
        """Coefficients with which ``expectation`` gives reward·(sum of rewards) + V(s').

        Far from all landmarks V is the least for plans that take the model for the environment, as rewards are: were
        it the mean, going where nothing is known would be the way out of every bad place.
        """
        mean = 0.0 if not len(v) else float(v.min() if self.view.sure else v.mean())
        return Target(self.view.factor.solve(v - mean), mean, reward, terminal)

    def ones(self) -> Target:
        """The constant 1."""
        return Target(np.zeros(len(self.view.landmarks)), 1.0, 0.0, 1.0)

    def grid(self, states: Points | None = None) -> DisplacementGrid:
        """At states × actions; at the landmarks by default."""
        if states is not None:
            return self.view.grid(states)
        if self._grid is None:
            self._grid = DisplacementGrid(self.view, self.view.landmarks)
        return self._grid

    def freeze(self) -> DisplacementView:
        """An immutable view of the present model."""
        return self.view

    def std(self, Zq: Points) -> FloatArray:
        """σ at state-actions (q,)."""
        return self.view.std_at(*nearest_actions(Zq, self.actions))

    def information(self, Zq: Points) -> FloatArray:
        """½log(1 + σ²/λ) at state-actions (q,)."""
        return 0.5 * np.log1p(np.square(self.std(Zq)) / self.lam)

    def weights(self, Zq: Points) -> FloatArray:
        """Signed weights on V(landmarks) (q, m)."""
        return self.view.weights_at(*nearest_actions(Zq, self.actions))

    def transition_weights(self, Zq: Points) -> FloatArray:
        """Weight of each kept transition in the predicted displacement, averaged over columns (q, n)."""
        X, z = self.units.motion(self.data).z, self.units.state_actions(Zq)
        each = [smoother_weights(X, z, fit, self.settings.centres) for fit in self.view.dynamics.fits]
        return np.asarray(np.mean(each, axis=0))

    def diagnostics(self) -> dict[str, Any]:
        """The choices of the model, and how well it predicts."""
        view = self.view
        return {
            "backend": "displacement",
            "transitions": self.n,
            "raw transitions kept": len(self.data),
            "landmarks": len(view.landmarks),
            **kernels_in_words(view.dynamics.fits, self.shape.reward),
            "collisions left out": int(view.dynamics.dropped),
            "scale of states": rounded(self.units.scale),
            "action repeat": self.repeat,
            "displacement explained": explained(view.dynamics),
            "information gain": self.information_gain,
        }
