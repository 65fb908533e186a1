"""run.log: what workers have to say."""

from __future__ import annotations

import logging
import os
from typing import IO

from cmerl.files import open_inside


class LogFile(logging.FileHandler):
    """A log in a file that is made where it should be, and nowhere else: a link is not followed."""

    def _open(self) -> IO[str]:  # type: ignore[override]
        return open_log(self.baseFilename)


def open_log(path: str | os.PathLike[str]) -> IO[str]:
    """A log to append to."""
    return os.fdopen(open_inside(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a", encoding="utf-8")
