"""Logged episodes, read from arrays, tables, files and data sets, and checked.

>>> from cmerl import logs
>>> played = {"observations": [0, 1, 2], "actions": [1, 1], "rewards": [0.0, 1.0]}
>>> [len(episode) for episode in logs.read([played]).episodes]
[2]
"""

from __future__ import annotations

from cmerl.logs.episodes import LoggedEpisode
from cmerl.logs.sources import Log, read

__all__ = ["Log", "LoggedEpisode", "read"]
