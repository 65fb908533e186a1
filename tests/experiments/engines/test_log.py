"""The log of workers on a full disk."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

import pytest

from cmerl.experiments.engines.log import LogFile


def test_a_log_on_a_full_disk_does_not_spill_its_own_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = LogFile(tmp_path / "run.log", delay=True, encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(handler, "flush", full)
    record = logging.LogRecord("cmerl", logging.ERROR, __file__, 1, "a unit failed", (), None)
    handler.handle(record)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(handler, "flush", lambda: 1 / 0)  # what is no matter of disks is told as ever
    handler.handle(record)
    assert "ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.undo()
    handler.close()
