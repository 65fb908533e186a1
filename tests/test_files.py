"""Files that are whole or absent, and never written through a link."""

import os
from pathlib import Path

import pytest

from cmerl.errors import InputError
from cmerl.files import open_inside, read_regular, write_atomically


def test_a_link_is_not_followed_whoever_put_it_there(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    link = tmp_path / "link"
    link.symlink_to(victim)
    with pytest.raises(InputError, match="is a link"):
        write_atomically(link, [b"x"])
    with pytest.raises(InputError, match="is a link"):
        open_inside(link, os.O_RDWR | os.O_CREAT)
    (tmp_path / ".report.partial").symlink_to(victim)  # a name that could be guessed
    write_atomically(tmp_path / "report", [b"x"])
    hard = tmp_path / "hard"
    os.link(victim, hard)
    with pytest.raises(InputError, match="another name"):
        open_inside(hard, os.O_WRONLY | os.O_APPEND)
    assert victim.read_text() == "precious"


def test_what_is_no_file_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, kind in (("pipe", "a pipe"), ("folder", "a directory")):
        with pytest.raises(InputError, match=f"is {kind}"):
            write_atomically(tmp_path / name, [b"x"])
        with pytest.raises((InputError, IsADirectoryError)):
            read_regular(tmp_path / name)


def test_files_have_the_usual_permissions_and_leave_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    write_atomically(tmp_path / "mine", [b"a", b"b"])
    assert (tmp_path / "mine").read_bytes() == b"ab"
    assert (tmp_path / "mine").stat().st_mode == (tmp_path / "other").stat().st_mode
    with pytest.raises(RuntimeError, match="no more"):
        write_atomically(tmp_path / "mine", _failing())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "other"]
    assert (tmp_path / "mine").read_bytes() == b"ab"


def _failing():
    yield b"half"
    raise RuntimeError("no more")
