"""PilcoDoublePendulum: the textbook modes of its links, rewards by hand, and misuse."""

import numpy as np
import pytest
from energies import jacobian

from cmerl.envs import PetsCartPole, PilcoDoublePendulum
from cmerl.envs.pilco_double_pendulum import derivative as double_pendulum
from cmerl.errors import InputError


def test_linearised_the_links_swing_in_their_two_modes():
    """Uniform rods: masses ml²(4/3, 1/2; 1/2, 1/3), stiffness mgl(3/2, 1/2): the textbook modes."""
    found = np.linalg.eigvals(jacobian(lambda s: double_pendulum(s, np.zeros(2)), np.array([np.pi, np.pi, 0.0, 0.0])))
    modes = np.linalg.eigvals(np.linalg.solve([[4 / 3, 1 / 2], [1 / 2, 1 / 3]], np.diag([3 / 2, 1 / 2]) * 9.82 / 0.5))
    np.testing.assert_allclose(np.sort(abs(found.imag))[::2], np.sort(np.sqrt(modes)), rtol=1e-6)
    np.testing.assert_allclose(found.real, 0.0, atol=1e-4)


def test_misuse_is_refused():
    env = PilcoDoublePendulum()
    with pytest.raises(InputError, match="call reset"):
        env.step([0.0, 0.0])
    for noise in (-0.1, np.inf, np.nan):
        with pytest.raises(InputError, match="noise must be"):
            PilcoDoublePendulum(noise=noise)
    with pytest.raises(InputError, match=r"must be \(θ₁, θ₂, θ̇₁, θ̇₂\), finite"):
        env.reset(options={"state": (0, 0, 0)})
    with pytest.raises(InputError, match="within the world's limits"):
        PetsCartPole().reset(options={"state": (2.6, 0, 0, 0)})
    env.reset(seed=0)
    for action in ([3.0, 0.0], 0.0, [np.nan, 0.0], [0.1], "left"):
        with pytest.raises(InputError, match=r"the action must be 2 numbers in \[-2, 2\]"):
            env.step(action)


def test_rewards_by_hand():
    links = np.array([[1, 0, 1, 0, 0, 0], [-1, 0, -1, 0, 0, 0], [1, 0, -1, 0, 0, 0.0]])
    np.testing.assert_allclose(PilcoDoublePendulum.reward(links, np.zeros(2), links), np.exp([0.0, -8.0, -2.0]))
