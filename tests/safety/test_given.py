"""Fallbacks and masks as users give them."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from cmerl.errors import InputError
from cmerl.safety.given import as_cost, as_fallback, as_mask, fallback_action
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
    assert (table(3, 5), table(4, 5)) == (1, None)  # a second argument with a default is the function's own
    gain, late = as_fallback(lambda obs, gain=2: obs * gain, TWO), as_fallback(lambda obs, step=0: step, TWO)
    assert (gain(3, 5), late(3, 5)) == (6, 5)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: as_fallback(lambda: 0, TWO), r"fallback must take \(obs\) or \(obs, step\), and takes \(\)"),
        (lambda: as_fallback(lambda obs, step, more: 0, TWO), r"and takes \(obs, step, more\)"),
        (lambda: as_mask(lambda a, b, c: True, ActionSet.of(TWO)), r"allowed must take \(obs\) or \(obs, action\)"),
        (lambda: as_cost(lambda obs, action: 0.0), r"cost must take \(obs, action, next_obs\)"),
    ],
)
def test_functions_of_other_arguments_are_refused_at_once(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


@pytest.mark.parametrize("given", [[0.25, -1.0], (0.25, -3.0), np.array([0.25, -1.0]), np.array([0.25, -9.0])])
def test_what_a_fallback_plays_is_clipped_to_its_bounds(given: Any) -> None:
    played = fallback_action(given, ActionSet.of(BOX))
    np.testing.assert_array_equal(played, [0.25, -1.0])
    assert BOX.contains(played)
    np.testing.assert_array_equal(fallback_action(-np.asarray(given), ActionSet.of(BOX)), [-0.25, 1.0])


@pytest.mark.parametrize("given", [None, [0.1], [0.1, np.nan], "stay", [[0.1], [0.2, 0.3]]])
def test_what_a_fallback_cannot_play_is_named(given: Any) -> None:
    with pytest.raises(InputError, match=r"the fallback's action is .*, not finite numbers of shape \(2,\)"):
        fallback_action(given, ActionSet.of(BOX))


@pytest.mark.parametrize("given", [None, 2, 0.5, "stay", [0, 1]])
def test_a_fallback_plays_one_of_few_actions(given: Any) -> None:
    for one in (1, 1.0, np.int64(1), np.array([1])):
        assert TWO.contains(fallback_action(one, ActionSet.of(TWO)))
    with pytest.raises(InputError, match="which is none of the 2 actions"):
        fallback_action(given, ActionSet.of(TWO))


def test_an_action_is_played_as_a_copy_each_time() -> None:
    constant = as_fallback([0.5, -0.5], BOX)
    first = constant(None, 0)
    first[:] = 9.0
    np.testing.assert_array_equal(constant(None, 1), [0.5, -0.5])
    assert as_fallback(1, TWO)(None, 0) == 1


@pytest.mark.parametrize(
    ("given", "space"), [(7, TWO), ("stay", TWO), ([0.0, 3.0], BOX), ([0.0], BOX), ("stay", BOX)]
)
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
