"""Which columns count: those that rewards depend on, now or later."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import DisplacementEmbedding
from cmerl.model_selection.relevance import relevant_columns
from cmerl.transitions import Transitions


def learned(columns: tuple[int, ...], *, paid: bool = True, n: int = 200) -> DisplacementEmbedding:
    """Column 0 pays and is moved by 1, which an action moves; 2 is noise; nothing follows from 3."""
    rng = np.random.default_rng(0)
    s, a = rng.random((n, 4)), rng.integers(2, size=n)
    moved = np.column_stack([s[:, 0] + 0.2 * s[:, 1], s[:, 1] + 0.1 * a, rng.random(n), 0.5 * s[:, 3] + s[:, 0]])
    made = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True)
    pick = list(columns)
    made.update(Transitions.of(np.column_stack([s[:, pick], a]), moved[:, pick], paid * np.sin(3 * s[:, 0])))
    return made


@pytest.mark.parametrize("columns", [(0, 1, 2, 3), (2, 3, 1, 0), (3, 0, 2, 1)])
def test_a_column_counts_if_rewards_follow_from_it_at_once_or_later(columns: tuple[int, ...]) -> None:
    found = relevant_columns(learned(columns).dynamics, np.arange(200), 0.02)
    assert [column in (0, 1) for column in columns] == found.tolist()


def test_all_columns_count_where_no_reward_is_known_to_differ() -> None:
    assert relevant_columns(learned((0, 1, 2, 3), paid=False).dynamics, np.arange(200), 0.02).all()


def test_shuffling_is_no_chance() -> None:
    dynamics = learned((0, 1, 2, 3)).dynamics
    first, second = (relevant_columns(dynamics, np.arange(0, 200, 2), 0.02) for _ in range(2))
    np.testing.assert_array_equal(first, second)
