"""Known reward functions: how they are asked, and what is refused."""

import gymnasium
import numpy as np
import pytest

from cmerl.errors import InputError, RewardRangeError
from cmerl.rewards import KnownReward
from cmerl.rewards.known import takes_next
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet


def test_a_known_reward_is_asked_for_once_at_every_state():
    asked = []

    def reward(obs, action):
        asked.append((float(obs[0]), int(action)))
        return 10.0 * obs[0] + action

    states = StateSpace.of(gymnasium.spaces.Box(0.0, 2.0, (1,), np.float64))
    known = KnownReward(reward, states, ActionSet.of(gymnasium.spaces.Discrete(2)))
    rows = states.encode_many(np.array([[0.5], [1.0], [0.5]]))
    np.testing.assert_allclose(known(rows), [[5.0, 6.0], [10.0, 11.0], [5.0, 6.0]])
    np.testing.assert_allclose(known(rows[:1]), [[5.0, 6.0]])
    assert len(asked) == 4


BOX = gymnasium.spaces.Box(np.array([-1.0, 0.0, -np.inf]), np.array([3.0, 8.0, np.inf]), dtype=np.float64)
TORQUE = gymnasium.spaces.Box(-2.0, 2.0, (1,), np.float32)


def rows_of(n=40, seed=0):
    rng = np.random.default_rng(seed)
    states, actions = StateSpace.of(BOX), ActionSet.of(TORQUE)
    obs, later = (np.column_stack([rng.uniform(-1, 3, n), rng.uniform(0, 8, n), rng.normal(0, 9, n)]) for _ in "ab")
    chosen = rng.uniform(-2, 2, (n, 1)).astype(np.float32)
    coded = states.encode_many(obs), actions.scale.encode(chosen), states.encode_many(later)
    return states, actions, (obs, chosen, later), coded


def test_a_function_that_takes_arrays_is_asked_once_and_says_the_same():
    states, actions, (obs, chosen, later), coded = rows_of()
    calls = []

    def paid(obs, action, next_obs):
        calls.append(np.shape(obs))
        return np.sum(np.square(next_obs), axis=-1) - obs[..., 1] * np.asarray(action)[..., 0]

    known = KnownReward(paid, states, actions)
    assert known.of_next
    expected = [paid(*row) for row in zip(obs, chosen, later, strict=True)]
    calls.clear()
    np.testing.assert_allclose(known.of(*coded), expected, rtol=1e-5)
    assert [shape for shape in calls if len(shape) == 2] == [(8, 3), (40, 3)]  # a probe, and all of them
    calls.clear()
    known.of(*coded)
    assert calls == [(40, 3), (3,)]  # and one row again, to be sure


@pytest.mark.parametrize(
    "paid",
    [
        lambda obs, action, next_obs: float(next_obs[0]) - float(action[0]),  # an array has no float
        lambda obs, action, next_obs: next_obs.sum() - action.sum(),  # one number for all rows
        lambda obs, action, next_obs: 1.0 if next_obs[0] > 0 else 0.0,  # an array is neither true nor false
        lambda obs, action, next_obs: next_obs[0],  # the first row, not the first column
    ],
)
@pytest.mark.parametrize("n", [3, 8, 40])
def test_a_function_that_does_not_take_arrays_is_asked_row_by_row(paid, n):
    states, actions, raw, coded = rows_of(n)
    expected = [paid(*row) for row in zip(*raw, strict=True)]
    np.testing.assert_allclose(KnownReward(paid, states, actions).of(*coded), expected, rtol=1e-5, atol=1e-6)


def test_a_function_that_answers_arrays_by_their_first_row_does_not_mislead_a_plan():
    table = np.arange(12.0).reshape(4, 3)
    states, actions = StateSpace.of(gymnasium.spaces.Discrete(4)), ActionSet.of(gymnasium.spaces.Discrete(3))
    asked = []

    def paid(state, action):
        asked.append(np.size(state))
        return table[np.ravel(state)[0], action]

    np.testing.assert_array_equal(KnownReward(paid, states, actions)(np.array([[0.0], [1.0], [2.0], [3.0]])), table)
    assert asked == [1] * 12  # row by row: no probe can be sure of a function


def test_an_answer_for_the_first_row_alone_is_found_out_where_the_probe_could_not_tell():
    states, actions, (obs, _, _), (s, a, _) = rows_of()
    flat = np.zeros_like(s)
    known = KnownReward(lambda obs, action: np.ravel(obs)[0] + 0.0 * np.asarray(action)[..., 0], states, actions)
    zero = states.decode(flat[:1])[0][0]
    np.testing.assert_allclose(known.of(flat, a), np.full(len(a), zero))  # all rows alike: nothing to be seen
    for _ in range(3):
        found = known.of(s, a)
    np.testing.assert_allclose(found, obs[:, 0], rtol=1e-5, atol=1e-6)


def test_what_a_function_takes_is_read_from_its_signature():
    assert not takes_next(lambda obs, action: 0.0)
    assert takes_next(lambda obs, action, next_obs: 0.0)
    assert takes_next(lambda obs, action, next_obs=None: 0.0)
    assert not takes_next(lambda *args: 0.0)
    assert not takes_next(max)  # written in C, and silent
    for wrong in (lambda obs: 0.0, lambda a, b, c, d: 0.0, lambda obs, action, *, scale: 0.0):
        with pytest.raises(InputError, match=r"must be a function of \(observation, action\) or"):
            takes_next(wrong)


def test_a_known_reward_that_is_none_is_refused():
    states, actions, _, coded = rows_of()
    with pytest.raises(InputError, match="the reward is nan"):
        KnownReward(lambda obs, action: obs[..., 0] * np.nan, states, actions).of(*coded[:2])
    with pytest.raises(InputError, match="takes the next observation"):
        KnownReward(lambda obs, action, next_obs: 0.0, states, actions).of(*coded[:2])
    with pytest.raises(RewardRangeError, match=r"gives .* outside the declared reward_range \(0, 1\)"):
        KnownReward(lambda obs, action: obs[..., 1], states, actions, (0.0, 1.0)).of(*coded[:2])
