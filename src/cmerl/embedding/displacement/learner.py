"""Learner of a displacement model: its data, scales and kernels, and when they are chosen.

Scales and kernels are chosen whenever the data have doubled. The kernel of rewards is chosen at once where it
misjudges new ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.compressed.sample_error import transition_arrays, transitions_of
from cmerl.embedding.displacement.dynamics import Dynamics
from cmerl.embedding.displacement.given_reward import GivenRewardDynamics, TransitionReward
from cmerl.embedding.displacement.kernel_choice import Shape, fit_shape
from cmerl.embedding.displacement.regression import farthest_points
from cmerl.embedding.displacement.reward_kernel import fit_reward
from cmerl.embedding.displacement.reward_surprise import misjudges_rewards
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.embedding.displacement.state_dependence import depends_on_state, differ
from cmerl.embedding.displacement.units import Units
from cmerl.errors import InputError
from cmerl.growing import Arrays, doubled, nested, part
from cmerl.transitions import Transitions, concatenate

FloatArray = NDArray[np.float64]

NOTHING_KNOWN = "a displacement embedding knows nothing before its first transitions"


class Learner:
    """The data, scales and kernels of a displacement model, and the dynamics that follow from them.

    What it holds is replaced, and never changed in place: a copy shares everything until either learns more.

    Args:
        actions: the finite action set (A, d_a).
        categorical: True if actions are categories, not quantities.
        lam: λ of the novelty regression.
        settings: all other numbers.
        reward: the reward function of encoded states, actions and next states (n,), or None to learn it.

    Attributes:
        n: transitions learned.
        fits: how often scales and kernels were chosen.
        places_pay: whether a reward is known to depend on the state; asked again whenever kernels are chosen.
    """

    def __init__(
        self,
        actions: FloatArray,
        *,
        categorical: bool,
        lam: float,
        settings: DisplacementSettings,
        reward: TransitionReward | None,
    ) -> None:
        self.actions, self.lam, self._categorical = actions, lam, categorical
        self._reward = reward
        self.settings = settings
        self.fits = 0
        self.places_pay = False
        self.n = 0
        self._fitted_at = 0
        self._data: Transitions | None = None
        self._units: Units | None = None
        self._shape: Shape | None = None
        self._dynamics: Dynamics | None = None

    # --- learning ---

    def absorb(self, batch: Transitions) -> None:
        """Keep transitions, and choose scales and kernels if that is due."""
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
                self.units.motion(self._data), self.settings, self._shape, reward=self._reward is None
            )
        elif misjudged:
            self.fit_rewards()
        known = self.places_pay and self._fitted_at < self.n  # little data may deceive: it is asked again
        self.places_pay = known or self._rewards_differ()
        self._dynamics = None

    @property
    def rewards_wait(self) -> bool:
        """Whether the end of the episode calls for a kernel of rewards: the first ones of a place were seen.

        Inside the episode they may be the tail of more: were they fitted at once, exploring would end there. After it
        they must be fitted: a model without them would search for nothing until the data have doubled.
        """
        unknown = self._shape is not None and self._shape.reward.fit is None and self._reward is None
        return unknown and self.places_pay and bool(np.isfinite(self.settings.reward_surprise))

    def fit_rewards(self) -> None:
        """Choose the kernel of rewards anew."""
        self._shape = replace(self.shape, reward=fit_reward(self.units.motion(self.data), self.settings))
        self._dynamics = None

    def _rewards_differ(self) -> bool:
        """Whether rewards differ between states, as far as is known; a function that is given knows all states."""
        if self._reward is not None or not self.settings.state_dependence:
            return differ(np.array(self.reward_range))
        return depends_on_state(self.units.motion(self.data), self.settings)

    def _misjudges_rewards(self, batch: Transitions) -> bool:
        """See ``misjudges_rewards``; the first rewards of a place wait for the end of the episode."""
        if self._shape is None or self._shape.reward.fit is None:
            return False
        return misjudges_rewards(self.dynamics, self.units.motion(batch), most=self.settings.reward_surprise)

    def _thin(self, data: Transitions) -> Transitions:
        """Half of the data, spread as widely as they were."""
        rows = np.sort(farthest_points(self.units.motion(data).z, self.settings.keep // 2)[0])
        assert isinstance(data.Z, np.ndarray)
        assert isinstance(data.next_states, np.ndarray)
        return Transitions(data.Z[rows], data.next_states[rows], data.rewards[rows], data.terminated[rows])

    def _choose_scales(self, data: Transitions) -> None:
        self._units = Units.of(data, self.actions, categorical=self._categorical)

    # --- on disk ---

    def arrays(self) -> Arrays:
        """All arrays for saving; a learner made the same way continues from them bit for bit."""
        own = {
            "counts": np.array([self.n, self.fits, self._fitted_at, self.places_pay]),
            "centre": self.units.centre,
            "scale": self.units.scale,
        }
        return {**own, **nested({"data": transition_arrays(self.data), "shape": self.shape.arrays()})}

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        self.n, self.fits, self._fitted_at, *known = arrays["counts"].tolist()
        self.places_pay = bool(known[0]) if known else True  # files of earlier versions do not say
        self._units = Units(arrays["centre"], arrays["scale"], self.actions, self._categorical)
        self._shape = Shape.from_arrays(part(arrays, "shape"), len(arrays["centre"]))
        self._data = transitions_of(part(arrays, "data"))
        self._dynamics = None

    # --- what is known ---

    @property
    def dynamics(self) -> Dynamics:
        """The learned dynamics; computed on first use."""
        if self._dynamics is None:
            data, units = self.data, self.units
            about = units.motion(data), self.shape, units.action_features
            sizes: dict[str, Any] = {"action_gap": units.action_gap, "lam": self.lam, "settings": self.settings}
            self._dynamics = (
                Dynamics(*about, **sizes)
                if self._reward is None
                else GivenRewardDynamics(*about, reward=units.reward(self._reward), **sizes)
            )
        return self._dynamics

    @property
    def data(self) -> Transitions:
        """The kept transitions."""
        if self._data is None:
            raise InputError(NOTHING_KNOWN)
        return self._data

    @property
    def units(self) -> Units:
        """The present scales of states and features of actions."""
        if self._units is None:
            raise InputError(NOTHING_KNOWN)
        return self._units

    @property
    def shape(self) -> Shape:
        """The present kernels."""
        assert self._shape is not None  # chosen with the first data
        return self._shape

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and largest reward seen, including 0 if an episode terminated."""
        rewards = np.append(self.data.rewards, 0.0) if self.data.terminated.any() else self.data.rewards
        return float(rewards.min()), float(rewards.max())
