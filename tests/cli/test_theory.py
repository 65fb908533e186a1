"""``cmerl theory``: the numbers of the calculators, as tables, files and figures."""

import csv
import json
import math

import pytest

from cmerl.cli import main
from cmerl.kernels import Delta
from cmerl.theory import information_gain, informative_from, pac_episodes, radii, regret_bound

RIVERSWIM = {
    "horizon": 20,
    "gamma": lambda N: information_gain(Delta(), N, lam=1.0, candidates=12),
    "lam": 1.0,
    "B_V": 20 * math.sqrt(6),
    "B_P": math.sqrt(12),
    "delta": 0.1,
}


def call(*arguments):
    with pytest.raises(SystemExit) as end:
        main([str(a) for a in arguments])
    return end.value.code


def test_regret_bounds_of_a_world_are_those_of_the_library(tmp_path, capsys):
    file = tmp_path / "bounds.json"
    assert call("theory", "regret", "--env", "cmerl/RiverSwim-v0", "--episodes", "100,1000", "-o", file) == 0
    rows = json.loads(file.read_text())
    for row, T in zip(rows, (100, 1000), strict=False):
        assert row["paper"] == pytest.approx(regret_bound(episodes=T, **RIVERSWIM))
        assert row["tight"] == pytest.approx(regret_bound(episodes=T, form="tight", **RIVERSWIM))
        assert row["trivial"] == 20 * T
    assert rows[-1]["tight"] == informative_from(form="tight", **RIVERSWIM)
    assert "informative from" in capsys.readouterr().out


def test_radii_and_pac_counts_too(tmp_path):
    file = tmp_path / "radii.csv"
    assert call("theory", "radius", "--env", "cmerl/RiverSwim-v0", "--episodes", "50", "-o", file) == 0
    (row,) = csv.DictReader(file.read_text().splitlines())
    expected = radii(episodes=50, **RIVERSWIM)
    assert {name: float(row[name]) for name in expected} == pytest.approx(expected)
    file = tmp_path / "pac.json"
    arguments = ("--env", "cmerl/RiverSwim-v0", "--epsilon", "1", "--zeta", "0.001", "-o", file)
    assert call("theory", "pac", *arguments) == 0
    (row,) = json.loads(file.read_text())
    case = {**RIVERSWIM, "zeta": 0.001, "one_norm": math.sqrt(6)}
    assert row["paper"] == pac_episodes(epsilon=1.0, failure=0.1, **case)
    floor = 4 * 0.001 * 20 / 0.1  # of Thm 3, where T is infinite
    assert floor < row["least epsilon"] < 1.2 * floor
    for form in ("paper", "tight"):
        assert pac_episodes(epsilon=0.999 * row["least epsilon"], failure=0.1, form=form, **case) == math.inf


@pytest.mark.parametrize("kernel", ["delta", "linear", "rbf", "matern"])
def test_gain_says_what_is_known_of_it(tmp_path, kernel):
    file = tmp_path / "gain.json"
    assert call("theory", "gain", "--kernel", kernel, "--points", 16, "--counts", "10,100", "-o", file) == 0
    kinds = {"delta": "exact", "linear": "upper bound", "rbf": "lower bound", "matern": "lower bound"}
    rows = json.loads(file.read_text())
    assert [row["what it is"] for row in rows] == [kinds[kernel]] * 2
    assert all(row["at least"] <= row["at most"] for row in rows)


def test_a_figure_is_drawn(tmp_path):
    file = tmp_path / "bounds.svg"
    arguments = ("--features", "3", "--zeta", "0.01", "--episodes", "10,100", "-o", file)
    assert call("theory", "regret", *arguments) == 0
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
def test_mistakes_are_one_sentence_and_code_2(capsys, arguments, sentence):
    assert call("theory", *arguments) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert "Traceback" not in error


def told(capsys, *arguments):
    assert call("theory", *arguments) == 0
    return capsys.readouterr().out


def test_a_table_comes_with_its_constants_a_legend_and_a_verdict(capsys):
    out = told(capsys, "regret", "--env", "cmerl/RiverSwim-v0")
    assert "with S = 6, A = 2, H = 20, λ = 1, δ = 0.1, B_V = 48.99, B_P = 3.464, ζ = 0" in out
    assert "informative from: episodes from which the bound is below the trivial one" in out
    paper, tight = informative_from(**RIVERSWIM), informative_from(form="tight", **RIVERSWIM)
    last = f"The paper bound says nothing below {paper:.2g} episodes; the tight bound says nothing below {tight:.2g}"
    assert out.splitlines()[-1].startswith(last)

    out = told(capsys, "regret", "--states", "6", "--actions", "2", "--zeta", "1")
    assert "the paper bound says nothing, however many the episodes" in out.lower()

    out = told(capsys, "pac", "--env", "cmerl/RiverSwim-v0", "--epsilon", "1,5")
    count = pac_episodes(epsilon=1.0, failure=0.1, form="tight", **RIVERSWIM)
    assert out.splitlines()[-1] == f"For ε = 1 the tight form asks for {count:.2g} episodes."

    out = told(capsys, "radius", "--env", "cmerl/RiverSwim-v0", "--episodes", "50")
    found = radii(episodes=50, **RIVERSWIM)
    times = found["paper"] / found["tight"]
    assert out.splitlines()[-1] == f"At episode 50 the tight radius is {times:.3g} times smaller than the paper's."

    out = told(capsys, "gain", "--points", "12", "--counts", "10,100")
    low, high = (information_gain(Delta(), N, lam=1.0, candidates=12).upper for N in (10, 100))
    assert out.splitlines()[-1] == f"100 observations tell at most {high:.3g} nats, {high - low:.3g} more than 10."
    assert "with λ = 1, 12 points" in out
