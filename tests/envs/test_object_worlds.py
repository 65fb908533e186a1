"""Worlds of objects: spaces that hold, and optima that brute force confirms."""

import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check

import cmerl
from cmerl.envs import Knapsack, Molecule, Routing, StringEdit
from cmerl.envs.molecule import COSTS, VALENCES, score
from cmerl.errors import InputError
from cmerl.oracles import TableModel, evaluate, solve

WORLDS = [StringEdit, Molecule, Knapsack, Routing]
SMALL = [
    (StringEdit("CAB", "ABC"), 4),
    (Molecule(budget=6), 4),
    (Knapsack(things=5, seed=3), 4),
    (Routing(customers=4, seed=1), 4),
]


@pytest.mark.parametrize(("world", "horizon"), SMALL, ids=lambda x: type(x).__name__)
def test_the_optimum_is_that_of_all_sequences_of_actions(world, horizon):
    best = -np.inf
    for actions in itertools.product(range(world.action_space.n), repeat=horizon):
        world.reset(seed=0)
        best = max(best, sum(world.step(a)[1] for a in actions))
    assert solve(world, horizon).value(0) == pytest.approx(best, abs=1e-12)


def test_stringedit_puts_one_place_right_a_step():
    world = StringEdit("CABD", "ABCD", horizon=6)
    wrong = sum(a != b for a, b in zip("AAAA", "CABD", strict=True))
    expected = sum(min(4 - wrong + step, 4) / 4 for step in range(1, 7))
    assert solve(world, 6).value(0) == pytest.approx(expected)
    obs, _ = world.reset(seed=0, options={"state": "CABA"})
    assert obs == "CABA"
    assert world.step(3 * 4 + 3)[:2] == ("CABD", 1.0)


def test_knapsack_with_time_enough_is_the_best_set_that_fits():
    world = Knapsack(things=8, seed=5)

    def worth(things):
        partners = sum(1 for i in things if i % 2 == 0 and i + 1 in things)
        return world.values[list(things)].sum() + 0.5 * partners

    subsets = [c for r in range(9) for c in itertools.combinations(range(8), r)]
    fitting = [c for c in subsets if world.weights[list(c)].sum() <= world.capacity]
    assert solve(world, 8).value(0) == pytest.approx(max(worth(c) for c in fitting))
    assert {tuple(o) for o in world.model.observations} == set(fitting)


def test_routing_ends_on_the_shortest_route_by_brute_force():
    world = Routing(customers=5, seed=2)
    stops = np.vstack([[[0.5, 0.5]], world.places, [[0.5, 0.5]]])

    def length(route):
        way = stops[[0, *(c + 1 for c in route), 6]]
        return np.linalg.norm(np.diff(way, axis=0), axis=1).sum()

    lengths = {route: length(route) for route in itertools.permutations(range(5))}
    shortest = min(lengths, key=lengths.get)
    stay = world.model.R[world.model.index(np.array(shortest)), -1]
    assert stay == pytest.approx(1.0)
    other = (1, 0, 2, 3, 4)
    low, high = min(lengths.values()), max(lengths.values())
    world.reset(seed=0)
    assert world.step(0)[1] == pytest.approx(1.0 - (lengths[other] - low) / (high - low))


def test_molecules_keep_to_budget_and_valence():
    world = Molecule(budget=8)
    for graph in world.model.observations:
        kinds = graph.nodes
        assert sum(COSTS[k] for k in kinds) <= 8
        bonds = np.bincount(graph.edge_links.ravel(), minlength=len(kinds))
        assert all(b <= VALENCES[k] for b, k in zip(bonds, kinds, strict=True))
        assert len(graph.edge_links) == len(kinds) - 1
    # two nitrogens on an oxygen: two bonds of 0.8, less 0.4 for the pair at the oxygen, and 0.3 to the carbon
    assert score(((0, 2, 1), (0, 1))) == pytest.approx(0.3 + 0.8 - 0.4)
    assert score(((0,), ())) == 0.0


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.filterwarnings("ignore")
def test_gymnasiums_own_checker_is_content(world):
    env = world()
    gymnasium_check(env, skip_render_check=True)
    assert len(env.model.R) >= 1000  # a table would be hopeless
    again, _ = env.reset(seed=1)
    assert env.model.index(again) == 0


@pytest.mark.parametrize("name", ["StringEdit", "Molecule", "Knapsack", "Routing"])
def test_an_agent_learns_with_no_kernel_named_and_regret_is_exact(name):
    env = gymnasium.make(f"cmerl/{name}-v0")
    agent = cmerl.CMERL(env, seed=0).learn(3)
    optimum = solve(env, env.unwrapped.horizon).value(0)
    for record in agent.history:
        assert record.regret == pytest.approx(optimum - record.ret, abs=1e-9)  # deterministic: gaps add up to it
        assert record.metrics["optimum"] == pytest.approx(optimum)


def test_a_policy_is_evaluated_on_the_table():
    world = Knapsack(things=4, seed=0)
    value = evaluate(world, lambda obs, step: step, 4)
    world.reset(seed=0)
    assert value.value(0) == pytest.approx(sum(world.step(a)[1] for a in range(4)))


def test_bad_tables_and_options_are_refused():
    with pytest.raises(InputError, match="one shape"):
        TableModel(np.zeros((2, 1), int), np.zeros((1, 1)), 0, np.empty(2, dtype=object))
    with pytest.raises(InputError, match="from 0 to 0"):
        TableModel(np.ones((1, 1), int), np.zeros((1, 1)), 0, np.empty(1, dtype=object))
    with pytest.raises(InputError, match="target must be a word"):
        StringEdit("XYZ")
    with pytest.raises(InputError, match="not an observation"):
        StringEdit("AB", "AB").reset(options={"state": "CC"})
