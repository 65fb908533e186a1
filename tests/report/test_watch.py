from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import rundirs

from cmerl.report import watch


@pytest.fixture
def server(tmp_path) -> Iterator[watch.Server]:
    rundirs.make(tmp_path, envs=("E",), agents=("a",), seeds=1, episodes=3)
    with watch.Server(tmp_path) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def ask(address: str, **headers: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
        return str(answer.read().decode())


def append(path: Path, rows: list[dict]) -> None:
    with open(path / "episodes.jsonl", "a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def test_the_page_is_served_to_this_machine_only(server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert "<h2>E</h2>" in ask(server.address)
    for address, headers in [
        (server.address, {"Host": "evil.example"}),  # a foreign site that points its name here
        (server.address.replace(server.secret, "guess"), {}),
        (server.address + "../../etc/passwd", {}),
    ]:
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(address, **headers)
        assert refused.value.code in (403, 404)
        refused.value.close()


def test_the_version_changes_when_episodes_arrive_and_the_page_follows(server, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(watch, "REST", 0.0)
    monkeypatch.setattr(watch, "SHARE", 1e9)
    before = ask(server.address + "version")
    assert ask(server.address + "version") == before
    assert "1 × 3" in ask(server.address + "page")
    append(tmp_path, rundirs.lines("E", "a", 0, 5)[3:])
    assert ask(server.address + "version") != before
    page = ask(server.address + "page")
    assert "1 × 5" in page
    assert 'id="plotly"' not in page  # which the browser has already
    assert "connect-src 'self'" in page


def test_a_run_that_is_cut_back_and_resumed_is_followed(server, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(watch, "REST", 0.0)
    monkeypatch.setattr(watch, "SHARE", 1e9)
    rows = rundirs.lines("E", "a", 0, 6)
    (tmp_path / "episodes.jsonl").write_text(json.dumps(rows[0]) + "\n" + json.dumps(rows[1])[:30])  # killed
    assert "1 × 1" in ask(server.address + "page")
    assert "unfinished" in ask(server.address + "page")
    (tmp_path / "episodes.jsonl").write_text(json.dumps(rows[0]) + "\n")  # resumed
    append(tmp_path, rows[1:])
    page = ask(server.address + "page")
    assert "1 × 6" in page
    assert "unfinished" not in page
    (tmp_path / "episodes.jsonl").unlink()
    assert "There are no finished episodes yet." in ask(server.address + "page")


def test_the_command_says_where_and_ends_on_an_interrupt(tmp_path) -> None:
    rundirs.make(tmp_path, seeds=1, episodes=2)
    process = subprocess.Popen(
        [sys.executable, "-m", "cmerl", "watch", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert "cmerl/RiverSwim-v0" in ask(line.split(" at ")[1].split()[0])
    process.send_signal(signal.SIGINT)
    rest, complaints = process.communicate(timeout=600)
    assert (process.returncode, rest, complaints) == (0, "", "")
