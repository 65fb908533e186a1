"""PilcoCartPole: noise is seen and not paid, and rewards by hand."""

import numpy as np
import pytest

from cmerl.envs import PilcoCartPole


def test_noise_is_seen_and_not_paid():
    quiet, noisy = PilcoCartPole(), PilcoCartPole(noise=0.05)
    start = {"state": (0.0, 0.0, 0.1, 0.0)}
    for env in (quiet, noisy):
        env.reset(seed=1, options=start)
    gaps = []
    for _ in range(100):
        (seen, paid, *_), (other, paid_too, *_) = quiet.step([0.1]), noisy.step([0.1])
        gaps.append(other[:2] - seen[:2])
        assert paid == paid_too
    assert np.std(gaps) == pytest.approx(0.05, rel=0.2)


def test_rewards_by_hand_one_and_many():
    up, down, aside = np.array([[0.0, 0, 1, 0, 0], [0.0, 0, -1, 0, 0], [0.25, 0, 1, 0, 0]])
    paid = PilcoCartPole.reward(down, [0.0], np.array([up, down, aside]))
    np.testing.assert_allclose(paid, [1.0, np.exp(-8.0), np.exp(-0.5)])
    assert PilcoCartPole.reward(down, [0.0], up) == 1.0
