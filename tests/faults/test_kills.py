from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import kills


def test_a_run_survives_being_killed_at_random_moments(tmp_path: Path) -> None:
    toll = kills.survive(8, episodes=80, seed=0, where=tmp_path)
    assert toll.kills == 8
    assert max(toll.episodes) > 0  # some came when there was something to lose
