"""`cmerl agents`: every agent and every option has a line."""

from __future__ import annotations

from typing import Any

import cmerl


def test_agents_are_listed_with_their_options(call: Any) -> None:
    code, out, _ = call("agents")
    assert code == 0
    assert "cme-rl: Reinforcement learning with conditional mean embeddings" in out
    assert "bonus" in out
    assert [line.partition(":")[0] for line in out.splitlines() if line[0] != " "] == cmerl.agents.names()


def test_every_option_of_every_agent_has_a_meaning(call: Any) -> None:
    _, out, _ = call("agents")
    options = [line for line in out.splitlines() if line.startswith("    ")]
    assert [line for line in options if "  " not in line.strip()] == []
    assert " at 0x" not in out  # a function is told by its name
    assert "    B_V: float | Auto = 'auto'  see B_P" in options


def test_one_agent_is_told_with_types_defaults_and_a_line_each(call: Any) -> None:
    code, out, _ = call("agents", "psrl")
    assert code == 0
    assert "    prior_weight: float = 1.0  total weight of the transition prior, in transitions" in out
    assert "    reward_range: tuple[float, float] = (0.0, 1.0)  (lo, hi) of all rewards" in out
    code, out, err = call("agents", "prsl")
    assert (code, out) == (2, "")
    assert "there is no agent 'prsl': did you mean 'psrl'?" in err
