"""The update buffer: what was seen comes out again as it went in."""

import numpy as np
import pytest

from cmerl.agents.cme_rl.update_buffer import Seen, UpdateBuffer


def filled(lengths: list[int], *, ends: bool) -> tuple[UpdateBuffer, np.ndarray]:
    """Episodes of so many steps, and all their numbers (n, 5): step, state, action, next state, reward."""
    rng, buffer, rows = np.random.default_rng(len(lengths)), UpdateBuffer(), []
    for length in lengths:
        for step in range(length):
            s, a, after, reward = rng.random(4)
            buffer.add(Seen(step, np.array([[s, a]]), np.array([[after]]), reward, ends and step == length - 1), 0.25)
            rows.append([step, s, a, after, reward])
    return buffer, np.array(rows)


def test_a_batch_is_what_was_seen_in_its_order() -> None:
    buffer, rows = filled([3, 2], ends=True)
    steps, batch = buffer.batch()
    np.testing.assert_array_equal(np.column_stack([steps, batch.Z, batch.next_states, batch.rewards]), rows)
    assert batch.terminated.tolist() == [False, False, True, False, True]
    assert buffer.surprise == 5 * 0.25
    assert buffer.total_reward == pytest.approx(rows[:, 4].sum())
    np.testing.assert_array_equal(buffer.state_actions, rows[:, 1:3])


@pytest.mark.parametrize("lengths", [[4], [1, 4], [3, 1, 2], [2, 2, 1]])
def test_the_latest_episode_is_what_came_since_the_last_first_step(lengths: list[int]) -> None:
    buffer, rows = filled(lengths, ends=False)
    before, latest = buffer.split()
    assert (len(before), len(latest)) == (sum(lengths[:-1]), lengths[-1])
    np.testing.assert_array_equal(latest.state_actions, rows[-lengths[-1] :, 1:3])


def test_an_episode_is_complete_at_its_horizon_or_at_an_end() -> None:
    assert filled([3], ends=True)[0].complete(10)
    cut = filled([3], ends=False)[0]
    assert cut.complete(3)
    assert not cut.complete(4)


def test_arrays_bring_it_back_bit_for_bit() -> None:
    buffer, _ = filled([2, 3], ends=True)
    again = UpdateBuffer.from_arrays(buffer.arrays())
    assert again.surprise == buffer.surprise
    for a, b in zip(again.seen, buffer.seen, strict=True):
        assert (a.step, a.reward, a.done) == (b.step, b.reward, b.done)
        np.testing.assert_array_equal(np.hstack([a.z, a.next_state]), np.hstack([b.z, b.next_state]))
    assert len(UpdateBuffer.from_arrays(UpdateBuffer().arrays())) == 0
