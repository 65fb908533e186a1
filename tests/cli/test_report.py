"""`cmerl report`: a page and figures, or one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
import rundirs

from cmerl.cli import main


def cmerl(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_report_writes_the_page_and_the_figures_where_it_is_told(tmp_path, capsys) -> None:
    run = rundirs.make(tmp_path / "run", envs=("E",), agents=("a",), seeds=1, episodes=2)
    assert cmerl("report", str(run)) == 0
    assert capsys.readouterr().out.split() == [str(run / "report.html")]
    page, figures = tmp_path / "page.html", tmp_path / "figures"
    assert cmerl("report", str(run), "-o", str(page), "--figures", str(figures)) == 0
    said = capsys.readouterr().out.split()
    assert said[0] == str(page)
    assert set(said[1:]) == {str(path) for path in figures.iterdir()}


def spoil(path: Path, how: str) -> None:
    match how:
        case "empty":
            path.mkdir()
        case "foreign":
            path.mkdir()
            (path / "thesis.tex").write_text("")
        case "a file":
            path.write_text("")
        case "binary":
            rundirs.make(path, seeds=1, episodes=1)
            for file in list(path.iterdir()):
                file.write_bytes(bytes(range(256)))
        case "folders for files":
            for name in ("manifest.json", "episodes.jsonl", "summary.json"):
                (path / name).mkdir(parents=True)
        case "deep JSON":
            rundirs.make(path, seeds=1, episodes=1)
            (path / "manifest.json").write_text("[" * 100_000)
            (path / "episodes.jsonl").write_text("[" * 100_000 + "\n")
        case "odd numbers":
            row = rundirs.lines("E", "a", 0, 1)[0]
            odd = {"return": float("inf"), "regret": float("nan"), "seconds": -1.0}
            path.mkdir()
            rundirs.write(path, [{**row, **odd, "metrics": {"optimum": None, "value": 1e308}}])
        case "damaged journals":
            rundirs.make(path, seeds=1, episodes=1)
            (path / "journals").mkdir()
            (path / "journals" / "x.journal").write_bytes(b'"snapshot"' * 100)


@pytest.mark.parametrize("command", ["report", "watch"])
@pytest.mark.parametrize("how", ["missing", "empty", "foreign", "a file"])
def test_what_is_no_run_gets_one_sentence(tmp_path, capsys, command: str, how: str) -> None:
    spoil(tmp_path / "run", how)
    assert cmerl(command, str(tmp_path / "run")) == 2
    said = capsys.readouterr().err
    assert said.startswith("cmerl: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("how", ["binary", "folders for files", "deep JSON", "odd numbers", "damaged journals"])
def test_a_spoilt_run_gets_a_page_or_one_sentence(tmp_path, capsys, how: str) -> None:
    path = tmp_path / "run"
    spoil(path, how)
    code = cmerl("report", str(path))
    said = capsys.readouterr()
    if code == 0:
        assert "<h1>" in (path / "report.html").read_text(encoding="utf-8")
    else:
        assert (code, said.err.count("\n")) == (2, 1)


def test_a_page_that_cannot_be_written_gets_one_sentence(tmp_path, capsys) -> None:
    rundirs.make(tmp_path, seeds=1, episodes=1)
    assert cmerl("report", str(tmp_path), "-o", str(tmp_path / "nowhere" / "page.html")) == 2
    assert "the page cannot be written" in capsys.readouterr().err
