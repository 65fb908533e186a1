"""Random MDPs: drawn as they say."""

import numpy as np
import pytest

from cmerl.envs import FiniteMDP, RandomMDP, random_mdp
from cmerl.errors import InputError


class TestRandomMDP:
    def test_the_seed_decides_the_tables(self):
        env = random_mdp(5, 3, seed=7, horizon=4)
        assert isinstance(env, FiniteMDP)
        assert env.horizon == 4
        assert env.P.shape == (5, 3, 5)
        np.testing.assert_array_equal(env.P, RandomMDP(5, 3, seed=7).P)
        assert not np.array_equal(env.P, random_mdp(5, 3, seed=8).P)
        assert not np.array_equal(env.R, random_mdp(5, 3, seed=8).R)

    def test_rewards_are_uniform_and_concentration_concentrates(self):
        sharp = random_mdp(20, 20, seed=0, concentration=0.01)
        flat = random_mdp(20, 20, seed=0, concentration=100.0)
        assert abs(sharp.R.mean() - 0.5) < 4 / np.sqrt(12 * 400)
        assert 0 <= sharp.R.min() < sharp.R.max() <= 1
        assert sharp.P.max(axis=2).mean() > 0.8
        assert flat.P.max() < 0.1

    @pytest.mark.parametrize(
        "options", [{"states": 0}, {"actions": 0}, {"seed": None}, {"seed": -1}, {"concentration": 0.0}]
    )
    def test_options_are_checked(self, options):
        with pytest.raises(InputError, match=next(iter(options))):
            random_mdp(**({"states": 2, "actions": 2, "seed": 0} | options))
