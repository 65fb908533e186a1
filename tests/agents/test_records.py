"""Records of episodes cannot be changed, and trajectories are cut where something was lost."""

import dataclasses

import pytest
from small_worlds import river

from cmerl import CMERL
from cmerl.agents.records import Trajectory, begin, go_on


def test_records_cannot_be_changed():
    record = CMERL(river()).learn(1).history[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.ret = 0.0


def seen(steps, links):
    """A trajectory of these steps; ``links`` says which begin where the one before has led."""
    found, after = Trajectory(), object()
    for step, linked in zip(steps, links, strict=True):
        obs, nxt = (after if linked else object()), object()
        found.add(step, obs, step % 2, 1.0 + step, nxt, False)
        after = nxt
    return found


def test_runs_are_cut_where_a_step_or_an_observation_is_missing():
    whole = seen([0, 1, 2], [False, True, True])
    assert whole.runs() == [slice(0, 3)]
    assert whole.states(slice(0, 3)) == [*whole.observations, whole.nexts[-1]]
    assert seen([0, 2, 3], [False, True, True]).runs() == [slice(0, 1), slice(1, 3)]  # step 1 was lost
    assert seen([0, 1, 2], [False, False, True]).runs() == [slice(0, 1), slice(1, 3)]  # an observation was
    assert Trajectory().runs() == []


def test_rewards_of_lost_steps_count_for_the_return():
    found = seen([0, 2], [False, False])
    assert (found.total, found.complete) == (4.0, True)
    found.lost, found.unplaced = 1, 0.5
    assert (found.total, found.complete) == (4.5, False)


def test_a_policy_begins_an_episode_and_takes_its_watch_along_where_it_has_one():
    class Plain:
        def __call__(self, obs, step):
            return 0

    class Searching(Plain):
        def begin_episode(self):
            return self, "begun"

    class Watched(Plain):
        def go_on_with(self, policy):
            return policy, "watched"

    plain, searching = Plain(), Searching()
    assert begin(plain) is plain
    assert begin(searching) == (searching, "begun")
    assert go_on(plain, searching) == (searching, "begun")
    assert go_on(Watched(), plain) == (plain, "watched")
