"""Reports of a check: the gravest finding first, in words and ready for JSON."""

from __future__ import annotations

import numpy as np
from drifting import NanLater, NeverPays, Sound, Wide

import cmerl
from cmerl.checking import check_env


def test_a_sound_environment_of_ones_own_is_clean_and_the_report_is_ready_for_json():
    report = cmerl.check_env(Sound())
    assert report.ok
    assert len(report) == 0
    assert "no problems found" in str(report)
    assert report.as_dict()["findings"] == []
    assert report.choices["observations"] == "2 numbers scaled by their bounds"
    assert report.steps == 120


def test_the_gravest_comes_first():
    class NeverPaysAndBreaks(NeverPays, NanLater):
        pass

    class Many(Wide):
        def observe(self):
            return super().observe() * (np.nan if self.count > 11 else 1.0)

    assert check_env(NeverPaysAndBreaks()).names == ["nan observation", "constant reward"]
    assert check_env(Many()).names == ["nan observation", "many columns"]
