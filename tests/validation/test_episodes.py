"""What users give is checked once, in one sentence."""

import numpy as np
import pytest

from cmerl.errors import InputError
from cmerl.validation import check_reward, check_seed, check_step


@pytest.mark.parametrize("step", [0, 3, np.int64(4)])
def test_steps_of_an_episode_pass(step):
    check_step(step, 5)


@pytest.mark.parametrize("step", [-1, 5, 2.0, True, None, "0"])
def test_what_is_no_step_is_refused(step):
    with pytest.raises(InputError, match="step must be a whole number from 0 to 4"):
        check_step(step, 5)


@pytest.mark.parametrize("seed", [0, 7, np.uint32(9)])
def test_a_seed_is_an_int(seed):
    assert check_seed(seed) == seed
    assert type(check_seed(seed)) is int


@pytest.mark.parametrize("seed", [-1, 1.0, False, None, "seven"])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(InputError, match="seed must be a whole number from 0 to"):
        check_seed(seed)


@pytest.mark.parametrize("reward", [1, -0.5, np.float32(0.25), np.array(2.0), True])
def test_a_reward_is_a_float(reward):
    assert check_reward(reward) == float(reward)
    assert type(check_reward(reward)) is float


@pytest.mark.parametrize(
    ("reward", "says"), [(np.nan, "finite"), (-np.inf, "finite"), ("much", "not a number"), (None, "not a number")]
)
def test_what_is_no_reward_is_refused(reward, says):
    with pytest.raises(InputError, match=says):
        check_reward(reward)
