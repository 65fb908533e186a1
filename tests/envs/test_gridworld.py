"""GridWorld: walls, slips and shapes."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cmerl.envs import GridWorld
from cmerl.errors import InputError
from cmerl.oracles import solve

LEFT, RIGHT, DOWN, UP = range(4)


def moves(env, cell, action):
    """The distribution over next cells, without zeros."""
    row = env.P[env.cells.index(cell), action]
    return {env.cells[t]: pytest.approx(row[t], abs=1e-12) for t in np.flatnonzero(row)}


class TestGridWorld:
    def test_states_are_the_free_cells_in_row_major_order(self):
        env = GridWorld()
        assert len(env.cells) == 23
        assert env.cells == sorted(env.cells)
        assert {(1, 1), (2, 2)}.isdisjoint(env.cells)
        assert env.cells[np.argmax(env.start)] == (0, 0)

    @pytest.mark.parametrize(
        ("cell", "action"),
        [((0, 0), LEFT), ((0, 0), UP), ((4, 4), RIGHT), ((4, 4), DOWN), ((1, 0), RIGHT), ((2, 1), UP)],
    )
    def test_towards_border_or_wall_it_stays_put(self, cell, action):
        assert moves(GridWorld(), cell, action) == {cell: 1.0}

    @pytest.mark.parametrize(
        ("cell", "action", "expected"),
        [
            ((3, 3), LEFT, {(3, 2): 0.9, (3, 4): 0.1 / 3, (4, 3): 0.1 / 3, (2, 3): 0.1 / 3}),
            ((3, 3), RIGHT, {(3, 4): 0.9, (3, 2): 0.1 / 3, (4, 3): 0.1 / 3, (2, 3): 0.1 / 3}),
            ((3, 3), DOWN, {(4, 3): 0.9, (3, 2): 0.1 / 3, (3, 4): 0.1 / 3, (2, 3): 0.1 / 3}),
            ((3, 3), UP, {(2, 3): 0.9, (3, 2): 0.1 / 3, (3, 4): 0.1 / 3, (4, 3): 0.1 / 3}),
            ((1, 2), RIGHT, {(1, 3): 0.9, (0, 2): 0.1}),  # walls on the left and below
            ((0, 0), DOWN, {(1, 0): 0.9, (0, 1): 0.1}),
            ((1, 0), DOWN, {(2, 0): 0.9, (0, 0): 0.1}),
        ],
    )
    def test_a_free_move_shares_its_slip_among_the_other_neighbours(self, cell, action, expected):
        assert moves(GridWorld(), cell, action) == expected

    def test_without_another_neighbour_the_move_is_certain(self):
        corridor = GridWorld(size=(1, 3), walls=(), goal=(0, 2))
        assert moves(corridor, (0, 0), RIGHT) == {(0, 1): 1.0}
        assert moves(corridor, (0, 1), RIGHT) == {(0, 2): 0.9, (0, 0): 0.1}

    def test_any_action_in_the_goal_pays_and_nothing_else_does(self):
        env = GridWorld()
        expected = np.zeros((23, 4))
        expected[env.cells.index((4, 4))] = 1.0
        np.testing.assert_array_equal(env.R, expected)

    def test_optimal_value(self):
        env = GridWorld()
        assert env.horizon == 20
        solution = solve(env, 20)
        assert round(solution.value(0), 3) == 10.855
        # In the goal, bumping into the border keeps it: the reward of every step.
        assert solution.value(env.cells.index((4, 4))) == 20.0

    def test_coordinates(self):
        env = GridWorld(size=(3, 5), walls=[[1, 1]], goal=[2, 4], coordinates=True)
        np.testing.assert_array_equal(env.observations[env.cells.index((1, 3))], [0.5, 0.75])

    def test_a_corridor_has_coordinates_too(self):
        check_env(GridWorld(size=(1, 3), walls=(), goal=(0, 2), coordinates=True), skip_render_check=True)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"size": 0}, "size must be an integer of at least 1"),
            ({"size": (5, 5, 5)}, "one number or"),
            ({"goal": (5, 0)}, "goal must be a"),
            ({"goal": (2, 2)}, r"\(2, 2\) is a wall"),
            ({"start": (1, 1)}, "start must be a free cell"),
            ({"walls": [(9, 9)]}, "each wall must be"),
            ({"slip": float("nan")}, "slip must be a probability"),
        ],
    )
    def test_impossible_grids_are_refused(self, options, message):
        with pytest.raises(InputError, match=message):
            GridWorld(**options)
