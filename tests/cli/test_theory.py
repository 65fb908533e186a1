"""``cmerl theory``: the numbers of the calculators, as tables, files and figures."""

import csv
import json
import math

import pytest
from theory_constants import riverswim

from cmerl.theory import informative_from, pac_episodes, radii, regret_bound


def test_regret_bounds_of_a_world_are_those_of_the_library(tmp_path, call):
    file = tmp_path / "bounds.json"
    arguments = ("--env", "cmerl/RiverSwim-v0", "--episodes", "100,1000", "-o", file)
    code, out, _ = call("theory", "regret", *arguments)
    assert code == 0
    rows = json.loads(file.read_text())
    for row, T in zip(rows, (100, 1000), strict=False):
        assert row["paper"] == pytest.approx(regret_bound(episodes=T, **riverswim()))
        assert row["tight"] == pytest.approx(regret_bound(episodes=T, form="tight", **riverswim()))
        assert row["trivial"] == 20 * T
    assert rows[-1]["tight"] == informative_from(form="tight", **riverswim())
    assert "informative from" in out


def test_radii_and_pac_counts_too(tmp_path, call):
    file = tmp_path / "radii.csv"
    assert call("theory", "radius", "--env", "cmerl/RiverSwim-v0", "--episodes", "50", "-o", file)[0] == 0
    (row,) = csv.DictReader(file.read_text().splitlines())
    expected = radii(episodes=50, **riverswim())
    assert {name: float(row[name]) for name in expected} == pytest.approx(expected)
    file = tmp_path / "pac.json"
    arguments = ("--env", "cmerl/RiverSwim-v0", "--epsilon", "1", "--zeta", "0.001", "-o", file)
    assert call("theory", "pac", *arguments)[0] == 0
    (row,) = json.loads(file.read_text())
    case = {**riverswim(), "zeta": 0.001, "one_norm": math.sqrt(6)}
    assert row["paper"] == pac_episodes(epsilon=1.0, failure=0.1, **case)
    floor = 4 * 0.001 * 20 / 0.1  # of Thm 3, where T is infinite
    assert floor < row["least epsilon"] < 1.2 * floor
    for form in ("paper", "tight"):
        assert pac_episodes(epsilon=0.999 * row["least epsilon"], failure=0.1, form=form, **case) == math.inf


@pytest.mark.parametrize("kernel", ["delta", "linear", "rbf", "matern"])
def test_gain_says_what_is_known_of_it(tmp_path, kernel, call):
    file = tmp_path / "gain.json"
    assert call("theory", "gain", "--kernel", kernel, "--points", 16, "--counts", "10,100", "-o", file)[0] == 0
    kinds = {"delta": "exact", "linear": "upper bound", "rbf": "lower bound", "matern": "lower bound"}
    rows = json.loads(file.read_text())
    assert [row["what it is"] for row in rows] == [kinds[kernel]] * 2
    assert all(row["at least"] <= row["at most"] for row in rows)


def test_a_figure_is_drawn(tmp_path, call):
    file = tmp_path / "bounds.svg"
    arguments = ("--features", "3", "--zeta", "0.01", "--episodes", "10,100", "-o", file)
    assert call("theory", "regret", *arguments)[0] == 0
    assert "<svg" in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("regret", "--env", "cmerl/PBall2D-v0"), "not a finite environment"),
        (("regret", "--env", "nowhere"), "there is no environment 'nowhere'"),
        (("regret", "--episodes", "ten"), "list of numbers"),
        (("gain", "--kernel", "cubic"), "kernel must be one of"),
        (("gain", "-o", "gain.docx"), "must end in"),
        (("pac", "--delta", "2"), "delta must lie"),
    ],
)
def test_mistakes_are_one_sentence_and_code_2(arguments, sentence, call):
    code, _, error = call("theory", *arguments)
    assert code == 2
    assert sentence in error
    assert "Traceback" not in error
