from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cmerl.errors import InputError
from cmerl.experiments.journal import FileJournal, Tail, frame, split

PAYLOADS = st.lists(st.binary(max_size=40), max_size=6)


def write(path: Path, payloads: list[bytes]) -> None:
    with FileJournal(path) as journal:
        for payload in payloads:
            journal.append(payload)


def read(path: Path) -> list[bytes]:
    with FileJournal(path) as journal:
        return journal.records()


@given(PAYLOADS)
def test_records_come_back_in_order(payloads: list[bytes]) -> None:
    assert list(split(b"".join(map(frame, payloads)))) == payloads


@given(PAYLOADS, st.data())
def test_a_prefix_gives_the_records_that_are_whole_in_it(payloads: list[bytes], data: st.DataObject) -> None:
    content = b"".join(map(frame, payloads))
    cut = data.draw(st.integers(0, len(content)))
    found = list(split(content[:cut]))
    assert found == payloads[: len(found)]
    assert len(b"".join(map(frame, payloads[: len(found) + 1]))) > cut or len(found) == len(payloads)


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=6), st.data())
def test_a_flipped_bit_ends_the_journal_before_its_record(payloads: list[bytes], data: st.DataObject) -> None:
    content = bytearray(b"".join(map(frame, payloads)))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    before, end = 0, 0
    for payload in payloads:
        end += len(frame(payload))
        if at < end:
            break
        before += 1
    assert list(split(bytes(content))) == payloads[:before]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@given(st.integers(1, 60))
def test_a_torn_tail_is_cut_and_written_over(tmp_path: Path, torn: int) -> None:
    path = tmp_path / "j"
    path.write_bytes(frame(b"one") + frame(b"x" * 40)[:torn])
    with FileJournal(path) as journal:
        assert journal.records() == [b"one"]
        assert journal.cut == torn
        journal.append(b"two")
    assert read(path) == [b"one", b"two"]


def test_a_tail_gives_each_record_once_and_waits_for_whole_ones(tmp_path: Path) -> None:
    path = tmp_path / "j"
    tail = Tail(path)
    assert tail() == []
    write(path, [b"one", b"two"])
    assert tail() == [b"one", b"two"]
    whole = frame(b"three")
    with open(path, "ab") as file:
        file.write(whole[:-1])
        file.flush()
        assert tail() == []
        file.write(whole[-1:])
    assert tail() == [b"three"]
    assert tail() == []


def test_a_journal_that_another_process_writes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j"
    hold = f"journal = FileJournal({str(path)!r}); print(flush=True); input()"
    code = f"from cmerl.experiments.journal import FileJournal; {hold}"
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdin is not None
    assert other.stdout is not None
    with other:
        other.stdout.readline()
        with pytest.raises(InputError, match="being written by another process"):
            FileJournal(path, patience=0.1)
        other.kill()
        other.wait()
        FileJournal(path, patience=0.1).close()
