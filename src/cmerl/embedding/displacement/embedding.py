"""Displacement: regress s' − s, read V at the predicted next state.

If a step moves the state only a little, regressing V(s') on (s, a) blurs the difference between actions; regressing
the displacement does not. The planner sees a mean at every state-action that shrinks by 1 − u where data are missing,
so Q reverts to its ceiling there. There is no proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.compressed.sample_error import transition_arrays, transitions_of
from cmerl.embedding.displacement.dynamics import Dynamics, Motion, Shape, fit_reward, fit_shape, varies
from cmerl.embedding.displacement.evidence import smoother_weights
from cmerl.embedding.displacement.given_reward import GivenRewardDynamics, TransitionReward
from cmerl.embedding.displacement.grid import DisplacementGrid, DisplacementView, Target
from cmerl.embedding.displacement.open_loop import open_loop_depth
from cmerl.embedding.displacement.regression import farthest_points
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.embedding.displacement.state_dependence import depends_on_state, differ
from cmerl.errors import InputError
from cmerl.growing import Arrays, doubled, nested, part
from cmerl.kernels import Matern
from cmerl.kernels.fitting import Fit
from cmerl.linalg import Cholesky
from cmerl.rollback import all_or_nothing
from cmerl.transitions import Points, Transitions, concatenate

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class DisplacementEmbedding:
    """A displacement model: regression of s' − s, for smooth, nearly deterministic dynamics.

    Args:
        actions: the finite action set (A, d_a).
        categorical: True if actions are categories, not quantities.
        lam: λ of the novelty regression: after N visits a share λ/(N + λ) of the ceiling is left.
        settings: all other numbers.
        reward: the reward function of encoded states, actions and next states (n,), or None to learn it.

    Attributes:
        repeat: steps for which a backup holds the action.
        fits: how often kernels and scales were chosen; they are chosen whenever the data have doubled. The kernel of
            rewards is chosen at once where it misjudges new ones.
        places_pay: whether a reward is known to depend on the state; asked again whenever kernels are chosen.
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
        self.actions, self._categorical, self.lam = actions, categorical, lam
        self._reward = reward
        self.settings = settings or DisplacementSettings()
        self.repeat = 1
        self.fits = 0
        self.places_pay = False
        self.n = 0
        self._fitted_at = 0
        self._data: Transitions | None = None
        self._shape: Shape | None = None
        self._depths: list[int] = []  # steps for which the latest batches were foreseen
        self._dynamics: Dynamics | None = None
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
            self._absorb(batch)

    def _absorb(self, batch: Transitions) -> None:
        if self._shape is not None:
            trusted = open_loop_depth(
                self.dynamics,
                self._motion(batch),
                most=self.settings.depths[1],
                tolerance=self.settings.open_loop_error,
            )
            self._depths = [*self._depths, trusted][-3:]
        self.n += len(batch)
        misjudged = self._misjudges_rewards(batch)
        self._data = batch if self._data is None else concatenate([self._data, batch])
        if len(self._data) > self.settings.keep:
            if not self._fitted_at:
                self._choose_scales(self._data)
            self._data = self._thin(self._data)
        if doubled(self.n, self._fitted_at):
            self._fitted_at = self.n
            self.fits += 1
            self._choose_scales(self._data)
            self._shape = fit_shape(
                self._motion(self._data),
                self.settings.fit_rows,
                self._shape,
                reward=self._reward is None,
                starts=self.settings.starts,
            )
        elif misjudged:
            self._fit_rewards()
        known = self.places_pay and self._fitted_at < self.n  # little data may deceive: it is asked again
        self.places_pay = known or self._rewards_differ()
        self._dynamics = self._view = self._grid = None

    def end_episode(self) -> None:
        """Choose the kernel of rewards if the episode has shown the first that depend on the state.

        Inside the episode they may be the tail of more: were they fitted at once, exploring would end there. After it
        they must be fitted: a model without them would search for nothing until the data have doubled.
        """
        if self._shape is None or self._shape.reward is not None or self._reward is not None or not self.places_pay:
            return
        with all_or_nothing(self):
            self._fit_rewards()
            self._dynamics = self._view = self._grid = None

    def _fit_rewards(self) -> None:
        found = fit_reward(self._motion(self.data), self.settings.fit_rows, self.settings.starts)
        self._shape = replace(self.shape, reward=found[0], reward_at_next=found[1])

    def _rewards_differ(self) -> bool:
        """Whether rewards differ between states, as far as is known; a function that is given knows all states."""
        if self._reward is not None or not self.settings.state_dependence:
            return differ(np.array(self.reward_range))
        return depends_on_state(self._motion(self.data), self.settings.fit_rows, self.settings.starts)

    def _misjudges_rewards(self, batch: Transitions) -> bool:
        """Whether rewards that are yet to be learned are predicted far worse than by the mean of all before.

        The first that differ may be the tail of more: were they fitted at once, the search would end there.
        """
        if self._shape is None or self._shape.reward is None:
            return False
        motion = self._motion(batch)
        missed = (motion.r - self.dynamics.step(motion.x, motion.a)[1])[~motion.ended]
        most = self.settings.reward_surprise * float(np.var(self.data.rewards))
        return len(missed) > 0 and float(np.square(missed).mean()) > most

    def _thin(self, data: Transitions) -> Transitions:
        """Half of the data, spread as widely as they were."""
        rows = np.sort(farthest_points(self._motion(data).z, self.settings.keep // 2)[0])
        assert isinstance(data.Z, np.ndarray)
        assert isinstance(data.next_states, np.ndarray)
        return Transitions(data.Z[rows], data.next_states[rows], data.rewards[rows], data.terminated[rows])

    def _choose_scales(self, data: Transitions) -> None:
        states = np.vstack([self._split(data)[0], data.next_states])
        self._centre = states.mean(axis=0)
        spread = states.std(axis=0)
        moves = [varies(s, max(abs(c), 1e-3)) for s, c in zip(spread, self._centre, strict=True)]
        self._scale = np.where(moves, spread, 1.0)  # a column that was constant may move one day

    def _split(self, data: Transitions) -> tuple[FloatArray, FloatArray]:
        Z = np.asarray(data.Z)
        d = Z.shape[1] - self.actions.shape[1]
        return Z[:, :d], Z[:, d:]

    def _motion(self, data: Transitions) -> Motion:
        states, actions = self._split(data)
        x = (states - self._centre) / self._scale
        y = (np.asarray(data.next_states) - self._centre) / self._scale
        return Motion(x, self._features(actions), y, data.rewards, data.terminated)

    def _features(self, actions: FloatArray) -> FloatArray:
        """Names become unit vectors, quantities stay as they are."""
        if not self._categorical:
            return actions
        return np.asarray(np.all(actions[:, None] == self.actions[None], axis=2), dtype=np.float64)

    # --- on disk ---

    def arrays(self) -> Arrays:
        """All arrays for saving; an embedding made the same way continues from them bit for bit."""
        own = {
            "counts": np.array([self.n, self.fits, self._fitted_at, self.repeat, self.places_pay]),
            "depths": np.array(self._depths, dtype=np.intp),
            "centre": self._centre,
            "scale": self._scale,
        }
        return {**own, **nested({"data": transition_arrays(self.data), "shape": self.shape.arrays()})}

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        self.n, self.fits, self._fitted_at, self.repeat, *known = arrays["counts"].tolist()
        self.places_pay = bool(known[0]) if known else True  # files of earlier versions do not say
        self._centre, self._scale = arrays["centre"], arrays["scale"]
        self._depths = arrays["depths"].tolist()
        self._shape = Shape.from_arrays(part(arrays, "shape"), len(self._centre))
        self._data = transitions_of(part(arrays, "data"))
        self._dynamics = self._view = self._grid = None

    # --- the model of the moment ---

    @property
    def view(self) -> DisplacementView:
        """The model of the present data; computed on first use."""
        if self._view is None:
            self._view = self._learn()
        return self._view

    def with_repeat(self, repeat: int, *, sure: bool = False) -> DisplacementEmbedding:
        """The same model with another action repeat; shares everything else until the next update.

        One that is ``sure`` takes what it has never seen for known.
        """
        other = object.__new__(DisplacementEmbedding)
        other.__dict__.update(self.__dict__)
        other.repeat, other._grid = repeat, None
        other._view = replace(self.view, repeat=repeat, sure=sure)
        return other

    @property
    def dynamics(self) -> Dynamics:
        """The learned dynamics; computed on first use."""
        if self._dynamics is None:
            gap = 100.0 if self._categorical else 1.0  # names have nothing in common
            about = self._motion(self.data), self.shape, self._features(self.actions)
            sizes: dict[str, Any] = {"action_gap": gap, "lam": self.lam, "settings": self.settings}
            given = self._given_reward()
            self._dynamics = (
                Dynamics(*about, **sizes) if given is None else GivenRewardDynamics(*about, reward=given, **sizes)
            )
        return self._dynamics

    def _learn(self) -> DisplacementView:
        dynamics, settings, actions = self.dynamics, self.settings, self._features(self.actions)
        data = dynamics.data
        left = np.append(np.any(data.y[:-1] != data.x[1:], axis=1), True)  # the others come again as the next state
        points = np.vstack([data.x, data.y[left & ~data.ended], _ahead(dynamics, data.x, settings.reach)])
        count = min(settings.landmarks, int(np.sqrt(settings.most_weights / len(actions))))
        rows, radius = farthest_points(points, count, apart=1e-3)
        if len(rows) < count:  # all points are landmarks: how far half of them leave the others, halved along a curve
            radius = farthest_points(points, (len(rows) + 1) // 2)[1] / 2.0
        kernel = Matern(1.5, settings.smoothness * max(radius, 1e-3))
        landmarks = points[rows]
        factor = Cholesky.of(kernel(landmarks, landmarks), 1e-6)
        return DisplacementView(
            self._centre,
            self._scale,
            actions,
            dynamics,
            landmarks,
            kernel,
            factor,
            self.repeat,
            categorical=self._categorical,
            depth=self.depth,
        )

    def _given_reward(self) -> TransitionReward | None:
        """The reward function in the units of the model, as they are now."""
        reward, centre, scale = self._reward, self._centre, self._scale
        actions, categorical = self.actions, self._categorical
        if reward is None:
            return None

        def given(x: FloatArray, a: FloatArray, y: FloatArray) -> FloatArray:
            rows = actions[np.argmax(a, axis=1)] if categorical else a
            return reward(x * scale + centre, rows, y * scale + centre)

        return given

    @property
    def depth(self) -> int:
        """Steps that a search may look ahead: as many as the model predicted of one of the latest episodes."""
        least, most = self.settings.depths
        return max(least, *self._depths) if self._depths else (least + most) // 2

    def step(self, states: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """Simulate one step from encoded states with numbered actions: next states, rewards, terminations."""
        view = self.view
        y, rewards, ended = view.dynamics.step(view.scaled(states), view.actions[which])
        return np.asarray(y * self._scale + self._centre), rewards, ended

    def ends_at(self, state: FloatArray) -> bool:
        """Whether the episode ends at an encoded state (1, d), as far as is known."""
        ends = self.dynamics.terminations
        return ends is not None and bool(ends((state - self._centre) / self._scale)[0][0])

    @property
    def data(self) -> Transitions:
        """The kept transitions."""
        if self._data is None:
            raise InputError("a displacement embedding knows nothing before its first transitions")
        return self._data

    @property
    def shape(self) -> Shape:
        """The present kernels."""
        assert self._shape is not None  # chosen with the first data
        return self._shape

    @property
    def left_out_residuals(self) -> FloatArray:
        """Leave-one-out residuals of the next states of the kept data (n, d), encoded."""
        return np.asarray(self.view.dynamics.residuals * self._scale)

    def residuals(self, data: Transitions) -> FloatArray:
        """Observed minus predicted next states (n, d), encoded."""
        motion = self._motion(data)
        return np.asarray((motion.y - self.view.dynamics.step(motion.x, motion.a)[0]) * self._scale)

    @property
    def motion_variance(self) -> FloatArray:
        """Variance of s' − s in each column (d,), encoded."""
        return np.asarray(np.square(self.view.dynamics.spread * self._scale))

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and largest reward seen, including 0 if an episode terminated."""
        rewards = np.append(self.data.rewards, 0.0) if self.data.terminated.any() else self.data.rewards
        return float(rewards.min()), float(rewards.max())

    # --- the waist ---

    @property
    def information_gain(self) -> float:
        """Information gain of the novelty regression, in nats."""
        return self.view.dynamics.novelty.information_gain

    @property
    def support(self) -> FloatArray:
        """The landmarks (m, d), as encoded states."""
        return np.asarray(self.view.landmarks * self._scale + self._centre)

    def backup(self, v: FloatArray, *, reward: float = 1.0, terminal: float = 0.0) -> Target:
        """Coefficients with which ``expectation`` gives reward·(sum of rewards) + V(s')."""
        mean = float(v.mean()) if len(v) else 0.0
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
        return self._at(Zq, lambda grid: grid.std())

    def information(self, Zq: Points) -> FloatArray:
        """½log(1 + σ²/λ) at state-actions (q,)."""
        return 0.5 * np.log1p(np.square(self.std(Zq)) / self.lam)

    def weights(self, Zq: Points) -> FloatArray:
        """Signed weights on V(landmarks) (q, m)."""
        states, which = self._locate(Zq)
        W = self.view.grid(states).weights()
        return np.asarray(W[np.arange(len(states)) * len(self.actions) + which])

    def transition_weights(self, Zq: Points) -> FloatArray:
        """Weight of each kept transition in the predicted displacement, averaged over columns (q, n)."""
        Z = np.asarray(Zq)
        d = Z.shape[1] - self.actions.shape[1]
        z = np.hstack([(Z[:, :d] - self._centre) / self._scale, self._features(Z[:, d:])])
        assert self._shape is not None  # with the first data
        X, centres = self._motion(self.data).z, self.settings.centres
        each = [smoother_weights(X, z, fit, centres) for fit in self._shape.displacement]
        return np.asarray(np.mean(each, axis=0))

    def _at(self, Zq: Points, ask: Callable[[DisplacementGrid], FloatArray]) -> FloatArray:
        states, which = self._locate(Zq)
        if len(states) == 1 and not self.view.knows(states):
            return np.asarray(ask(self.view.of(int(which[0])).grid(states))[:, 0])
        values = ask(self.view.grid(states))
        return np.asarray(values[np.arange(len(states)), which])

    def _locate(self, Zq: Points) -> tuple[FloatArray, IntArray]:
        """States, and the nearest of the actions."""
        Z = np.asarray(Zq)
        d = Z.shape[1] - self.actions.shape[1]
        gaps = np.square(Z[:, None, d:] - self.actions[None]).sum(axis=2)
        return Z[:, :d], np.argmin(gaps, axis=1)

    def diagnostics(self) -> dict[str, Any]:
        """The choices of the model, and how well it predicts."""
        view, shape = self.view, self.shape
        data = self._motion(self.data)
        moved = data.y - data.x
        explained = 1.0 - view.dynamics.residuals.var(axis=0).sum() / max(float(moved.var(axis=0).sum()), 1e-300)
        return {
            "backend": "displacement",
            "transitions": self.n,
            "raw transitions kept": len(self.data),
            "landmarks": len(view.landmarks),
            "displacement kernels": [_words(fit) for fit in shape.displacement],
            "reward kernel": _words(shape.reward) + (" of the next state" if shape.reward_at_next else ""),
            "collisions left out": int(view.dynamics.dropped),
            "scale of states": _numbers(self._scale),
            "action repeat": self.repeat,
            "displacement explained": float(explained),
            "information gain": self.information_gain,
        }


def _words(chosen: Fit | None) -> str:
    if chosen is None:
        return "constant"
    return f"RBF of lengthscales {_numbers(chosen.lengthscales)} with ridge {chosen.ridge:.2g}"


def _numbers(values: FloatArray) -> list[float]:
    return [float(f"{v:.3g}") for v in values]


def _ahead(dynamics: Dynamics, x: FloatArray, reach: int) -> FloatArray:
    """States that held actions reach from the data, within their range."""
    some = x[farthest_points(x, 300)[0]]
    path = dynamics.path(some, np.ones((reach, len(some)), dtype=bool))
    y = path[:, -1].reshape(-1, x.shape[1])
    return np.asarray(y[np.all(np.abs(y) < np.abs(x).max(axis=0) + 1.0, axis=1)])
