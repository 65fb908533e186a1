"""Fallbacks and masks as users give them."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from cmerl.errors import InputError
from cmerl.safety.given import as_fallback, as_mask
from cmerl.spaces.actions import ActionSet

BOX, TWO = spaces.Box(-1.0, 1.0, (2,), np.float64), spaces.Discrete(2)


@pytest.mark.parametrize("given", [None, "greedy"])
def test_without_a_fallback_the_agent_is_asked(given: Any) -> None:
    assert as_fallback(given, TWO) is None


def test_a_fallback_may_look_at_the_step_or_not() -> None:
    def of_both(obs: Any, step: int) -> Any:
        return obs, step

    both, one, table = (as_fallback(given, TWO) for given in (of_both, lambda obs: obs + 1, {3: 1}.get))
    assert (both(3, 5), one(3, 5)) == ((3, 5), 4)
    assert table(3, 5) == 1  # a method of C says nothing of its arguments: it gets both


def test_an_action_is_played_as_a_copy_each_time() -> None:
    constant = as_fallback([0.5, -0.5], BOX)
    first = constant(None, 0)
    first[:] = 9.0
    np.testing.assert_array_equal(constant(None, 1), [0.5, -0.5])
    assert as_fallback(1, TWO)(None, 0) == 1


@pytest.mark.parametrize(("given", "space"), [(7, TWO), ("stay", TWO), ([0.0, 3.0], BOX), ("stay", BOX)])
def test_what_is_no_fallback_is_refused(given: Any, space: spaces.Space[Any]) -> None:
    with pytest.raises(InputError, match="fallback must be a function, an action of the environment or 'greedy'"):
        as_fallback(given, space)


def test_a_mask_is_asked_for_one_action_or_for_all_of_them() -> None:
    actions = ActionSet.of(spaces.Discrete(3, start=2), None, np.random.default_rng(0))
    one, all_of_them = as_mask(lambda obs, action: action > obs, actions), as_mask(lambda obs: [0, 1, obs], actions)
    assert [one(3, action) for action in (2, 3, 4)] == [False, False, True]
    assert [all_of_them(1, action) for action in (2, 3, 4)] == [False, True, True]
    assert as_mask(None, actions) is None
    with pytest.raises(InputError, match="one truth value for each of 3 actions"):
        as_mask(lambda obs: [True], actions)(0, 2)
    with pytest.raises(InputError, match="allowed must be a function"):
        as_mask([True, False, True], actions)
