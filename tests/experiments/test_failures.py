"""Failures of units: a sentence for every error, the user's line of code, and how to go on."""

from __future__ import annotations

import errno
import os
import shlex
from pathlib import Path

import pytest

from cmerl.errors import InputError
from cmerl.experiments.failures import failure_of, place, resuming, sentence, told, what_now
from cmerl.validation import check_step


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (InputError("a horizon\n  must be positive"), "a horizon must be positive"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "the disk is full"),
        (MemoryError(), "memory is short: play fewer runs at a time (--jobs), or raise the limit"),
        (ValueError("two\nlines"), "ValueError: two lines"),
        (KeyError(), "KeyError"),
    ],
)
def test_every_error_is_one_line(error: BaseException, wanted: str) -> None:
    assert wanted in sentence(error)
    assert "\n" not in sentence(error)


def test_the_place_is_the_users_line_and_not_that_of_a_library() -> None:
    try:
        check_step(99, 3)  # raised inside cmerl, called here
    except InputError as error:
        found = failure_of(error)
    assert found.where.endswith(
        "in test_the_place_is_the_users_line_and_not_that_of_a_library: "
        "check_step(99, 3)  # raised inside cmerl, called here"
    )
    assert place(InputError("never raised")) == ""


def test_seeds_that_fail_alike_are_told_together() -> None:
    failures = [
        {"env": "e", "agent": "a", "seed": seed, "message": message, "where": "x.py, line 3"}
        for seed, message in [(0, "full"), (1, "empty"), (2, "full")]
    ]
    assert told(failures) == [
        ("e · a · seeds 0, 2 failed: full", "x.py, line 3"),
        ("e · a · seed 1 failed: empty", "x.py, line 3"),
    ]


def test_the_command_that_goes_on_can_be_typed() -> None:
    directory = Path("runs of mine") / "first"
    found = resuming(directory, ["minigrid", "own"], "127.0.0.1:6379")
    assert shlex.split(found) == [
        *("cmerl", "resume", str(directory)),
        *("--allow-env-module", "minigrid", "--allow-env-module", "own"),
        *("--address", "127.0.0.1:6379"),
    ]
    assert what_now(2, 8, directory).startswith(f"2 of 8 runs failed: the tracebacks are in {directory / 'run.log'}")
    assert resuming(directory) in what_now(2, 8, directory)
