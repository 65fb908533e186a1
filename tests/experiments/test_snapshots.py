from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import cmerl  # noqa: F401 - registers the worlds
from cmerl import agents
from cmerl.experiments.journal import FileJournal, split
from cmerl.experiments.packing import unpack
from cmerl.experiments.snapshots import Recorder, chart_of, places_of
from cmerl.experiments.spec import parse
from cmerl.experiments.units import play, units_of


def follow(agent: agents.Agent, episodes: int) -> tuple[list[dict[str, Any]], list[Any]]:
    """Snapshots of an agent while it learns, and all the observations that it acted on."""
    recorder = Recorder(agent)
    taken: list[dict[str, Any]] = []
    seen: list[Any] = []

    def keep(agent: agents.Agent, record: Any) -> None:
        lesson = agent.lesson()
        recorder.see(lesson)
        seen.extend(lesson.get("observations", [])[:-1])
        taken.extend(recorder.snapshot().values())

    agent.learn(episodes, callback=keep)
    return taken, seen


@pytest.fixture(scope="module")
def grid() -> tuple[agents.CMERL, list[dict[str, Any]], list[Any]]:
    agent = agents.CMERL(gymnasium.make("cmerl/GridWorld-v0"), seed=1)
    return agent, *follow(agent, 8)


def test_snapshots_are_taken_at_doubling_episodes(grid) -> None:
    assert [snapshot["episode"] for snapshot in grid[1]] == [1, 2, 4, 8]


def test_a_snapshot_holds_what_the_agent_itself_says_of_every_state(grid) -> None:
    agent, (*_, last), _ = grid
    states = range(23)
    assert last["policy"].tolist() == [agent.predict(s, explore=False) for s in states]
    z = [np.hstack([np.full((4, 1), float(s)), np.arange(4.0)[:, None]]) for s in states]
    np.testing.assert_allclose(last["sigma"], [agent.embedding.std(rows).max() for rows in z], rtol=1e-12)
    most = agent.horizon * agent.reward_range[1]
    np.testing.assert_allclose(last["value"], [min(agent.q_values(s).max(), most) for s in states], rtol=1e-12)


def test_a_snapshot_says_why_the_agent_acts_so_where_the_episode_began(grid) -> None:
    agent, (*_, last), seen = grid
    assert last["explanation"] == agent.explain(seen[-20], evidence=3).to_json()
    assert len(last["explanation"]["rows"]) == 4


def test_visits_count_every_state_that_was_acted_in(grid) -> None:
    _, (*_, last), seen = grid
    assert last["visits"].tolist() == np.bincount(seen, minlength=23).tolist()
    assert last["visits"].sum() == 8 * 20


def test_cells_lie_where_the_world_has_them_and_moves_point_where_actions_lead(grid) -> None:
    _, (*_, last), _ = grid
    assert [tuple(place) for place in last["places"]] == gymnasium.make("cmerl/GridWorld-v0").unwrapped.cells
    left, right, down, up = (move[1:] for move in last["moves"])
    assert left[1] < -0.3
    assert right[1] > 0.3
    assert down[0] > 0.3
    assert up[0] < -0.3


@pytest.mark.parametrize(
    ("name", "shape"),
    [("cmerl/RiverSwim-v0", (1, 6)), ("FrozenLake-v1", (4, 4)), ("CliffWalking-v1", (4, 12)), ("Taxi-v4", (22, 23))],
)
def test_finite_worlds_have_rows_and_columns(name: str, shape: tuple[int, int]) -> None:
    env = gymnasium.make(name)
    places = places_of(env.unwrapped, int(env.observation_space.n))
    assert tuple(places.max(axis=0) + 1) == shape
    assert len({tuple(place) for place in places}) == len(places)


def test_coordinates_in_place_of_numbers_are_the_same_cells() -> None:
    agent = agents.CMERL(gymnasium.make("cmerl/GridWorld-v0", coordinates=True), seed=0)
    (first,), _ = follow(agent, 1)
    assert first["kind"] == "cells"
    assert first["visits"].sum() == 20


def test_a_plane_is_drawn_on_a_grid_whose_nearest_points_count_visits() -> None:
    agent = agents.CMERL(gymnasium.make("cmerl/PBall2D-v0"), seed=0)
    (first,), seen = follow(agent, 1)
    x, y = (np.array(axis) for axis in first["axes"])
    assert (x[0], x[-1], y[0], y[-1]) == (-1, 1, -1, 1)
    visits = np.zeros((len(x), len(y)), dtype=int)
    for obs in seen:
        visits[np.abs(x - obs[0]).argmin(), np.abs(y - obs[1]).argmin()] += 1
    assert first["visits"].reshape(len(x), len(y)).tolist() == visits.tolist()
    corner = np.array([x[3], y[5]], dtype=np.float32)
    assert first["policy"].reshape(len(x), len(y))[3, 5] == agent.predict(corner, explore=False)


def test_unbounded_coordinates_are_drawn_around_the_first_episode() -> None:
    box = gymnasium.spaces.Box(np.array([-np.inf, 0.0]), np.array([np.inf, 1.0]), dtype=np.float64)
    env = type("World", (gymnasium.Env,), {"observation_space": box})()
    chart = chart_of(env, [np.array([2.0, 0.5]), np.array([3.0, 0.5])])
    (x, y) = chart.axes
    assert (x[0], x[-1]) == (0.0, 5.0)
    assert (y[0], y[-1]) == (0.0, 1.0)
    assert chart.index(np.array([[100.0, 0.0]])).tolist() == [len(chart.observations) - len(y)]


def test_more_than_two_coordinates_are_drawn_as_a_slice_of_those_that_moved_most() -> None:
    box = gymnasium.spaces.Box(-1.0, 1.0, (4,), np.float64)
    env = type("World", (gymnasium.Env,), {"observation_space": box})()
    seen = [np.array([0.1, -0.9, 0.3, -0.5]), np.array([0.2, 0.9, 0.3, 0.0]), np.array([0.1, 0.0, 0.3, 0.5])]
    chart = chart_of(env, seen)
    assert chart.dims == (1, 3)
    points = chart.observations
    assert np.unique(points[:, [0, 2]], axis=0).tolist() == [[0.1, 0.3]]  # held at their medians
    assert len(np.unique(points[:, [1, 3]], axis=0)) == len(points) == len(chart.axes[0]) * len(chart.axes[1])
    assert chart.about()["held"] == [[0, 0.1], [2, 0.3]]
    assert np.abs(points[chart.index(np.array(seen))][:, [1, 3]] - np.array(seen)[:, [1, 3]]).max() < 0.04


def test_the_last_episode_has_a_snapshot_too() -> None:
    agent = agents.CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0)
    recorder, taken = Recorder(agent, 5), []

    def keep(agent: Any, record: Any) -> None:
        recorder.see(agent.lesson())
        taken.extend(recorder.snapshot().values())

    agent.learn(5, callback=keep)
    assert [snapshot["episode"] for snapshot in taken] == [1, 2, 4, 5]


def test_what_cannot_be_drawn_has_no_snapshots() -> None:
    wide = gymnasium.spaces.Box(-1.0, 1.0, (50,), np.float64)
    env = type("World", (gymnasium.Env,), {"observation_space": wide})()
    assert chart_of(env, [wide.sample()]) is None
    assert (
        chart_of(gymnasium.make("Blackjack-v1"), [gymnasium.make("Blackjack-v1").observation_space.sample()]) is None
    )
    assert follow(agents.make("random", gymnasium.make("CartPole-v1"), seed=0), 1)[0] == []


def test_a_resumed_unit_takes_the_same_snapshots(tmp_path) -> None:
    spec = parse({"environments": ["cmerl/RiverSwim-v0"], "episodes": 9, "seeds": [3, 4]})
    unit, other = units_of(spec)
    assert (unit.snapshots, other.snapshots) == (True, False)

    def snapshots(name: str) -> list[Any]:
        records = [unpack(record) for record in split((tmp_path / name).read_bytes())]
        return [record["snapshot"] for record in records if "snapshot" in record]

    with FileJournal(tmp_path / "whole") as journal:
        play(unit, journal)
    content = (tmp_path / "whole").read_bytes()
    (tmp_path / "cut").write_bytes(content[: 2 * len(content) // 5])
    with FileJournal(tmp_path / "cut") as journal:
        assert 1 < len(journal.records()) < 9
        play(unit, journal)
    whole, cut = snapshots("whole"), snapshots("cut")
    assert [snapshot["episode"] for snapshot in whole] == [1, 2, 4, 8, 9]
    for a, b in zip(whole, cut, strict=True):
        for key in a:
            np.testing.assert_array_equal(a[key], b[key])
