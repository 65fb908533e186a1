"""A search asked as a function: it goes on where it was expected, and begins anew elsewhere."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

from cmerl.searching.last_asked import LastAsked


class Counting:
    """A search that has led to the state that equals the step."""

    def __init__(self, begun: list[int]) -> None:
        self.calls = 0
        begun.append(len(begun))

    def __call__(self, obs: Any, step: int) -> list[int]:
        self.calls += 1
        if obs == "broken":
            raise KeyboardInterrupt
        return [step, self.calls]

    def expects(self, state: np.ndarray, step: int) -> bool:
        return bool(state[0, 0] == step)


def ask(memory: LastAsked, begun: list[int], state: float, step: int, obs: Any = None) -> Any:
    return memory.answer(obs, np.array([[state]]), step, lambda: Counting(begun))


def test_a_search_goes_on_step_after_step_where_it_has_led() -> None:
    memory, begun = LastAsked(), []
    assert [ask(memory, begun, float(step), step) for step in range(3)] == [[0, 1], [1, 2], [2, 3]]
    assert begun == [0]


def test_the_same_question_has_the_same_answer_without_a_new_search() -> None:
    memory, begun = LastAsked(), []
    first = ask(memory, begun, 0.0, 0)
    first.append(99)  # what a caller does with the answer is no matter
    assert ask(memory, begun, 0.0, 0) == [0, 1]


@pytest.mark.parametrize(("state", "step"), [(7.0, 1), (2.0, 2), (5.0, 0)], ids=["elsewhere", "a leap", "again"])
def test_elsewhere_a_search_begins_anew(state: float, step: int) -> None:
    memory, begun = LastAsked(), []
    ask(memory, begun, 0.0, 0)
    assert ask(memory, begun, state, step) == [step, 1]
    assert len(begun) == 2


def test_an_interrupted_search_is_forgotten() -> None:
    memory, begun = LastAsked(), []
    ask(memory, begun, 0.0, 0)
    with pytest.raises(KeyboardInterrupt):
        ask(memory, begun, 1.0, 1, "broken")
    assert ask(memory, begun, 1.0, 1) == [1, 1]  # begun anew, not answered from memory


def test_copies_and_other_threads_remember_nothing() -> None:
    memory, begun = LastAsked(), []
    ask(memory, begun, 0.0, 0)
    for other in (copy.deepcopy(memory), pickle.loads(pickle.dumps(memory))):
        assert ask(other, begun, 1.0, 1) == [1, 1]
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(ask(memory, begun, 1.0, 1)))
    thread.start()
    thread.join()
    assert found == [[1, 1]]
    assert ask(memory, begun, 1.0, 1) == [1, 2]  # here it goes on
