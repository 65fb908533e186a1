"""The named worlds: transition and reward tables against what their descriptions say, worked out by hand."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cmerl.envs import Chain, DeepSea, GridWorld, RiverSwim, random_mdp

WORLDS = [
    RiverSwim,
    Chain,
    GridWorld,
    DeepSea,
    lambda coordinates=False: random_mdp(4, 2, seed=0),
]


@pytest.mark.parametrize("coordinates", [False, True])
@pytest.mark.parametrize("world", WORLDS)
def test_gymnasiums_checker_has_no_complaint(world, coordinates):
    check_env(world(coordinates=coordinates), skip_render_check=True)  # warnings are errors


@pytest.mark.parametrize("world", WORLDS[:4])
def test_coordinates_fill_the_unit_cube(world):
    env = world(coordinates=True)
    np.testing.assert_array_equal(env.observations.min(axis=0), 0.0)
    np.testing.assert_array_equal(env.observations.max(axis=0), 1.0)
