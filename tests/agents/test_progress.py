"""The progress bar."""

import numpy as np
from small_worlds import river

from cmerl import CMERL


def test_the_progress_bar_shows_and_changes_nothing(capsys):
    shown = CMERL(river()).learn(3, progress_bar=True)
    assert "3/3" in capsys.readouterr().out
    silent = CMERL(river()).learn(3)
    assert capsys.readouterr().out == ""
    assert [(r.ret, r.length, r.regret) for r in shown.history] == [
        (r.ret, r.length, r.regret) for r in silent.history
    ]
    for step in range(8):
        np.testing.assert_array_equal(shown.q_values(2, step), silent.q_values(2, step))
