from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from cmerl import workspace

MEGABYTE = 1 << 20
# Python has started; the address space that is left would make OpenBLAS wait for ever.
LIMITED = """
import resource
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {room} * 2**20, resource.RLIM_INFINITY))
{then}
"""


def run(room: int, then: str) -> subprocess.CompletedProcess[str]:
    code = LIMITED.format(room=room, then=then)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)


def test_a_command_without_room_ends_with_a_sentence_and_does_not_wait() -> None:
    found = run(100, "from cmerl.cli import main; main(['agents'])")
    assert found.returncode == 1
    assert found.stderr.strip() == "cmerl: memory is short: play fewer runs at a time (--jobs), or raise the limit"


def test_linear_algebra_is_not_loaded_where_its_buffers_have_no_room() -> None:
    found = run(250, "import numpy\ntry:\n  import cmerl.linalg\nexcept MemoryError as error:\n  print(error)")
    assert "address space" in found.stdout


def test_with_room_nothing_is_said() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    workspace.check_room()
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == soft


def test_the_room_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "ROOM", 1 << 60)
    with pytest.raises(MemoryError, match="address space"):
        workspace.check_room()
