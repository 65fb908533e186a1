"""Linear algebra has one thread while an agent computes, and as many as before afterwards."""

from __future__ import annotations

import os
import threading
from typing import ClassVar

import numpy as np
import pytest
from small_worlds import smooth_river
from threadpoolctl import threadpool_info, threadpool_limits

from cmerl import CMERL, blas
from cmerl.acting import Greedy
from cmerl.agents.cme_rl.transition_store import TransitionStore
from cmerl.planning import make_plan


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_inside_there_is_one_thread_and_afterwards_as_many_as_before():
    assert threads() == {2}
    with blas.one_thread():
        assert threads() == {1}
        with blas.one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_the_number_of_before_comes_back_after_a_fault():
    with pytest.raises(ValueError, match="fault"), blas.one_thread():
        raise ValueError("fault")
    assert threads() == {2}


def test_while_another_thread_of_the_program_computes_there_is_one_thread():
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with blas.one_thread():
            entered.set()
            leave.wait(60)

    worker = threading.Thread(target=other)
    with blas.one_thread():
        worker.start()
        assert entered.wait(60)
    assert threads() == {1}  # this one has left, the other has not
    with blas.one_thread():
        leave.set()
        worker.join()
        assert threads() == {1}
    assert threads() == {2}


def test_a_forked_process_begins_with_no_calls():
    with blas.one_thread():
        child = os.fork()
        if not child:
            with blas.one_thread():
                os._exit(0 if threads() == {1} else 1)
        assert os.waitpid(child, 0)[1] == 0


class Watched(Greedy):
    """Notes how many threads there are when it is asked."""

    seen: ClassVar[list[set[int]]] = []

    def begin_episode(self, *given):
        actor, seen = super().begin_episode(*given), self.seen

        class Episode:
            def act(self, *asked):
                seen.append(threads())
                return actor.act(*asked)

        return Episode()


def test_agents_learn_plan_and_act_with_one_thread():
    env, planned = smooth_river(), []

    def planner(*given, **named):
        planned.append(threads())
        return make_plan(*given, **named)

    agent = CMERL(env, seed=0, model="direct", planner=planner, actor=Watched())
    for use in (
        lambda: agent.learn(1),
        lambda: agent.policy()(env.reset(seed=0)[0], 0),
        lambda: agent.policy().begin_episode()(env.reset(seed=0)[0], 0),
        lambda: agent.evaluate(episodes=1),
        lambda: agent.episode().act(env.reset(seed=0)[0]),
    ):
        planned.clear(), Watched.seen.clear()
        use()
        assert all(found == {1} for found in planned)
        assert Watched.seen
        assert all(found == {1} for found in Watched.seen)
        assert threads() == {2}
    planned.clear()
    CMERL(env, seed=0, planner=planner).q_values(np.array([0.3]))
    assert planned
    assert all(found == {1} for found in planned)


def test_agents_are_loaded_and_lessons_are_learned_again_with_one_thread(tmp_path, monkeypatch):
    env, seen = smooth_river(), []
    agent = CMERL(env, seed=0).learn(1)
    agent.save(tmp_path / "agent")
    update = TransitionStore.update
    monkeypatch.setattr(
        TransitionStore, "update", lambda *given, **named: [seen.append(threads()), update(*given, **named)]
    )
    replay = TransitionStore.replay
    monkeypatch.setattr(TransitionStore, "replay", lambda *given: [seen.append(threads()), replay(*given)])
    CMERL.load(tmp_path / "agent", env=env)
    loaded, seen[:] = list(seen), []
    assert loaded
    CMERL(env, seed=0).relearn(agent.history[0], agent.lesson())
    assert seen
    assert all(found == {1} for found in (*loaded, *seen))
    assert threads() == {2}
