from __future__ import annotations

import numpy as np
import pytest

from cmerl import experiments
from cmerl.report import maps, rundir, write_page


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> rundir.RunDirectory:
    out = tmp_path_factory.mktemp("maps") / "run"
    worlds = ["cmerl/RiverSwim-v0", "cmerl/GridWorld-v0", "cmerl/PBall2D-v0"]
    settings = {"agents": ["cme-rl", "random"], "episodes": 4, "seeds": 2, "jobs": 1}
    experiments.run({"environments": worlds, **settings}, out=out)
    return rundir.read(out)


def test_the_first_seed_of_each_agent_that_believes_something_has_maps(run) -> None:
    found, notes = maps.figures(run)
    assert [(m["env"], m["agent"]) for m in found.values()] == [(env, "cme-rl") for env in sorted(run.envs)]
    assert notes == []
    for chart in found.values():
        assert chart["episodes"] == [1, 2, 4]
        for layer in maps.LAYERS:
            assert len(chart[layer]) == 3


def test_cells_are_laid_out_as_the_world_and_walls_are_gaps(run) -> None:
    (chart,) = [m for m in maps.figures(run)[0].values() if m["env"] == "cmerl/GridWorld-v0"]
    assert (chart["rows"], len(chart["x"])) == (5, 5)
    walls = [(r, c) for r in range(5) for c in range(5) if chart["value"][-1][r][c] is None]
    assert walls == [(1, 1), (2, 2)]
    visits = [[sum(v or 0 for row in layer for v in row)] for layer in chart["visits"]]
    assert visits == [[20], [40], [80]]


def test_planes_have_the_first_coordinate_along_the_rows(run) -> None:
    (chart,) = [m for m in maps.figures(run)[0].values() if m["env"] == "cmerl/PBall2D-v0"]
    assert np.shape(chart["sigma"][-1]) == (len(chart["y"]), len(chart["x"]))
    (snapshot,) = [s[-1] for env, _, s in maps.snapshots_in(run.path) if env == "cmerl/PBall2D-v0"]
    sigma = np.asarray(snapshot["sigma"]).reshape(31, 31)
    np.testing.assert_allclose(chart["sigma"][-1][2][7], sigma[7, 2], rtol=1e-2)


def test_the_last_snapshot_says_why(run) -> None:
    (chart,) = [m for m in maps.figures(run)[0].values() if m["env"] == "cmerl/RiverSwim-v0"]
    told = chart["explanation"]
    assert told["title"].startswith("step 0 at 0")
    assert told["head"][:2] == ["action", "Q"]
    assert len(told["rows"]) == 2
    q, reward, value, optimism = (float(cell) for cell in told["rows"][0][1:5])
    assert q == pytest.approx(reward + value + optimism, rel=1e-3)
    assert maps.explanation({}) is None
    html = write_page(run.path).read_text(encoding="utf-8")
    assert "Why cme-rl acts so where the last episode began" in html
    assert f'<td data-label="Q">{told["rows"][0][1]}</td>' in html


def test_actions_get_arrows_where_they_lead_somewhere() -> None:
    moves = [[0.0, 0.0, -1.0], [1.0, 0.0, 0.6], [2.0, 0.9, 0.0], [3.0, -0.8, 0.1]]
    assert maps.arrows({"moves": moves, "actions": [0.0, 1.0, 2.0, 3.0]}) == ["←", "→", "↓", "↑"]
    assert maps.arrows({"moves": [[0.0, 0.5, 0.5], [1.0, 0.01, 0.0]], "actions": [0.0, 1.0]}) == ["↘", "·"]
    assert maps.arrows({"moves": [[0.0, 1.0, 0.0], [1.0, 0.9, 0.0]], "actions": [0.0, 1.0]}) is None
    assert maps.arrows({"moves": moves[:2], "actions": [0.0, 1.0, 2.0]}) is None


def test_too_many_maps_are_left_out_and_that_is_said(run, monkeypatch) -> None:
    monkeypatch.setattr(maps, "MOST_NUMBERS", 500)
    found, notes = maps.figures(run)
    assert len(found) == 2
    assert notes == ["1 map of states would make this page too large."]
