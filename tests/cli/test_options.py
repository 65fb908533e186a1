"""Options of several commands."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("level", ["debug", "INFO", "Warning"])
def test_a_level_may_be_written_in_any_case(level: str, call: Any, tmp_path: Any) -> None:
    code, _, err = call("resume", tmp_path / "nothing", "--log-level", level)
    assert (code, "there is no directory" in err) == (2, True)


def test_a_level_that_is_none_is_refused_with_those_there_are(call: Any, tmp_path: Any) -> None:
    code, _, err = call("resume", tmp_path / "nothing", "--log-level", "loud")
    assert (code, "'loud' must be one of debug, info, warning, error" in err) == (2, True)
