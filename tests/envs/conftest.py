"""From Python 3.13 on dm_control cannot be installed: labmaze, which it needs, has no wheels there."""

from __future__ import annotations

import sys

collect_ignore = ["test_dm_control.py"] if sys.version_info >= (3, 13) else []
