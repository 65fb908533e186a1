"""The page of a run: whole, asking for nothing, and safe against names with markup."""

from __future__ import annotations

import base64
import gzip
import json
import re

import rundirs
from pages import data_of, structure

from cmerl.report import html, rundir, write_page


def test_the_page_is_whole_and_asks_for_nothing(page) -> None:
    found = structure(page)
    assert all(address.startswith(("#", "data:")) for address in found.addresses)
    assert "default-src 'none'" in page
    assert "connect-src" not in page
    packed = re.search(r'id="plotly">(.*?)</script>', page).group(1)
    assert gzip.decompress(base64.b64decode(packed)).startswith(b"/**\n* plotly.js")


def test_names_with_markup_are_text(tmp_path) -> None:
    hostile = rundirs.HOSTILE
    rundirs.make(tmp_path, envs=(hostile,), agents=(hostile, f"_$x$ {hostile}"), seeds=2, episodes=3)
    (tmp_path / "manifest.json").write_text(json.dumps({"command": hostile, "versions": {hostile: hostile}}))
    text = write_page(tmp_path).read_text(encoding="utf-8")
    assert "<script>alert" not in text
    found = structure(text)
    assert found.words.count(hostile) >= 5
    data = data_of(text)
    rows = data["figures"]["compare-iqm"]["rows"]
    for label in [agent["name"] for agent in data["agents"]] + [row["label"] for row in rows]:
        assert "<" not in label  # plotly.js reads labels as HTML


def test_long_runs_are_thinned(tmp_path) -> None:
    rundirs.make(tmp_path, envs=("E",), agents=("a",), seeds=2, episodes=3000)
    figures = data_of(html.render(rundir.read(tmp_path)))["figures"]
    assert max(len(line["x"]) for figure in figures.values() for line in figure.get("lines", [])) <= 1000


def test_how_the_run_was_made_is_on_the_page(tmp_path, page) -> None:
    assert "cmerl run x --episodes 60" in structure(page).words
    assert "numpy" in structure(page).words
    rundirs.make(tmp_path, seeds=1, episodes=1)
    (tmp_path / "manifest.json").unlink()
    assert "The manifest does not say how this run was started." in structure(write_page(tmp_path).read_text()).words


def test_a_run_without_episodes_has_a_page_that_says_so(tmp_path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    text = write_page(tmp_path, tmp_path / "other.html").read_text()
    assert "There are no finished episodes yet." in structure(text).words
