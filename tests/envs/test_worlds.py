"""The named worlds: transition and reward tables against what their descriptions say, worked out by hand."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cmerl.envs import Chain, DeepSea, FiniteMDP, GridWorld, RandomMDP, RiverSwim, random_mdp
from cmerl.errors import InputError
from cmerl.oracles import solve

LEFT, RIGHT, DOWN, UP = range(4)

WORLDS = [
    RiverSwim,
    Chain,
    GridWorld,
    DeepSea,
    lambda coordinates=False: random_mdp(4, 2, seed=0),
]


@pytest.mark.parametrize("coordinates", [False, True])
@pytest.mark.parametrize("world", WORLDS)
def test_gymnasiums_checker_has_no_complaint(world, coordinates):
    check_env(world(coordinates=coordinates), skip_render_check=True)  # warnings are errors


@pytest.mark.parametrize("world", WORLDS[:4])
def test_coordinates_fill_the_unit_cube(world):
    env = world(coordinates=True)
    np.testing.assert_array_equal(env.observations.min(axis=0), 0.0)
    np.testing.assert_array_equal(env.observations.max(axis=0), 1.0)


def moves(env, cell, action):
    """The distribution over next cells, without zeros."""
    row = env.P[env.cells.index(cell), action]
    return {env.cells[t]: pytest.approx(row[t], abs=1e-12) for t in np.flatnonzero(row)}


class TestRiverSwim:
    def test_transitions(self):
        P = RiverSwim().P
        assert P.shape == (6, 2, 6)
        np.testing.assert_array_equal(P[:, 0].argmax(axis=1), [0, 0, 1, 2, 3, 4])
        np.testing.assert_array_equal(P[:, 0].max(axis=1), 1.0)
        np.testing.assert_array_equal(P[0, 1], [0.4, 0.6, 0, 0, 0, 0])
        np.testing.assert_array_equal(P[3, 1], [0, 0, 0.05, 0.6, 0.35, 0])
        np.testing.assert_array_equal(P[5, 1], [0, 0, 0, 0, 0.4, 0.6])

    def test_rewards(self):
        expected = np.zeros((6, 2))
        expected[0, 0], expected[5, 1] = 0.005, 1.0
        np.testing.assert_array_equal(RiverSwim().R, expected)

    def test_optimal_value(self):
        env = RiverSwim()
        assert env.horizon == 20
        assert round(solve(env, 20).value(0), 4) == 3.3973

    def test_two_banks_are_a_river(self):
        np.testing.assert_array_equal(RiverSwim(states=2).P[:, 1], [[0.4, 0.6], [0.4, 0.6]])

    def test_one_bank_is_not(self):
        with pytest.raises(InputError, match="states must be an integer of at least 2"):
            RiverSwim(states=1)


class TestChain:
    def test_a_slip_has_the_other_actions_whole_effect(self):
        env = Chain()
        np.testing.assert_allclose(env.P[1], [[0.2, 0, 0.8, 0, 0], [0.8, 0, 0.2, 0, 0]], atol=1e-15)
        np.testing.assert_allclose(env.P[4], [[0.2, 0, 0, 0, 0.8], [0.8, 0, 0, 0, 0.2]], atol=1e-15)
        np.testing.assert_allclose(env.R[1], [0.2 * 0.2, 0.8 * 0.2])
        np.testing.assert_allclose(env.R[4], [0.8 * 1 + 0.2 * 0.2, 0.2 * 1 + 0.8 * 0.2])

    def test_without_slips_the_end_is_reached_and_kept(self):
        assert solve(Chain(slip=0.0), 10).value(0) == 6.0  # four steps unpaid, six paid

    def test_long_run_average_of_going_forward(self):
        # The last link needs four moves without a slip, 0.8⁴ of the time; there a step pays 0.8, and each
        # slip anywhere pays 0.2: the 3.677 that the literature quotes for rewards ten times ours.
        V = solve(Chain(), 1000).V
        assert V[0, 0] - V[1, 0] == pytest.approx(0.8**5 + 0.2 * 0.2, abs=1e-12)

    def test_slip_is_a_probability(self):
        with pytest.raises(InputError, match="slip must be a probability"):
            Chain(slip=1.1)


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


class TestDeepSea:
    @pytest.mark.parametrize("depth", [1, 2, 5])
    def test_exactly_one_sequence_of_actions_is_paid(self, depth):
        env = DeepSea(depth=depth)
        returns = {}
        for code in range(2**depth):
            actions = [code >> i & 1 for i in range(depth)]
            env.reset(seed=0)
            returns[tuple(actions)] = sum(env.step(a)[1] for a in actions)
            assert env.state == len(env.cells)  # the absorbing state
        assert [actions for actions, total in returns.items() if total] == [(1,) * depth]
        assert returns[(1,) * depth] == 1.0

    def test_moves_sink_one_row_and_stop_at_the_left_edge(self):
        env = DeepSea(depth=4)
        assert moves(env, (1, 1), 1) == {(2, 2): 1.0}
        assert moves(env, (1, 1), 0) == {(2, 0): 1.0}
        assert moves(env, (1, 0), 0) == {(2, 0): 1.0}

    def test_the_floor_absorbs_and_pays_nothing(self):
        env = DeepSea(depth=3, move_cost=0.3)
        np.testing.assert_array_equal(env.P[-1, :, -1], 1.0)
        np.testing.assert_array_equal(env.R[-1], 0.0)

    def test_moving_right_all_the_way_costs_move_cost(self):
        env = DeepSea(depth=5, move_cost=0.2)
        assert env.horizon == 5
        np.testing.assert_allclose(env.R[0], [0.0, -0.04])
        assert solve(env, 5).value(0) == pytest.approx(0.8)
        assert solve(DeepSea(depth=5, move_cost=1.5), 5).value(0) == 0.0  # then going left is better

    def test_options_are_checked(self):
        with pytest.raises(InputError, match="depth"):
            DeepSea(depth=0)
        with pytest.raises(InputError, match="move_cost"):
            DeepSea(move_cost=float("nan"))


class TestRandomMDP:
    def test_the_seed_decides_the_tables(self):
        env = random_mdp(5, 3, seed=7, horizon=4)
        assert isinstance(env, FiniteMDP)
        assert env.horizon == 4
        assert env.P.shape == (5, 3, 5)
        np.testing.assert_array_equal(env.P, RandomMDP(5, 3, seed=7).P)
        assert not np.array_equal(env.P, random_mdp(5, 3, seed=8).P)
        assert not np.array_equal(env.R, random_mdp(5, 3, seed=8).R)

    def test_rewards_are_uniform_and_concentration_concentrates(self):
        sharp = random_mdp(20, 20, seed=0, concentration=0.01)
        flat = random_mdp(20, 20, seed=0, concentration=100.0)
        assert abs(sharp.R.mean() - 0.5) < 4 / np.sqrt(12 * 400)
        assert 0 <= sharp.R.min() < sharp.R.max() <= 1
        assert sharp.P.max(axis=2).mean() > 0.8
        assert flat.P.max() < 0.1

    @pytest.mark.parametrize(
        "options", [{"states": 0}, {"actions": 0}, {"seed": None}, {"seed": -1}, {"concentration": 0.0}]
    )
    def test_options_are_checked(self, options):
        with pytest.raises(InputError, match=next(iter(options))):
            random_mdp(**({"states": 2, "actions": 2, "seed": 0} | options))
