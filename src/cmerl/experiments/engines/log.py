"""run.log: the log of workers."""

from __future__ import annotations

import logging
import os
import sys
from typing import IO

from cmerl.files import open_inside


class LogFile(logging.FileHandler):
    """A log in a file that is made where it should be, and nowhere else: a link is not followed."""

    def handleError(self, record: logging.LogRecord) -> None:
        """On a full disk nothing is logged; the run itself says that it is full."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def _open(self) -> IO[str]:  # type: ignore[override]
        return open_log(self.baseFilename)


def open_log(path: str | os.PathLike[str]) -> IO[str]:
    """A log to append to."""
    return os.fdopen(open_inside(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a", encoding="utf-8")
