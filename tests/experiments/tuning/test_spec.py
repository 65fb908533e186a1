"""The table of a search: options inside tables, and mistakes in a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from small_runs import SEARCH, changed

from cmerl.errors import InputError
from cmerl.experiments import tuning
from cmerl.experiments.tuning.spec import tuning_seeds, with_options


def test_options_with_dots_go_into_tables() -> None:
    options = {"bonus": {"mode": "practical", "sigma_scale": 1.0}}
    found = with_options(options, {"bonus.sigma_scale": 0.1, "lam": 2.0})
    assert found == {"bonus": {"mode": "practical", "sigma_scale": 0.1}, "lam": 2.0}
    assert options == {"bonus": {"mode": "practical", "sigma_scale": 1.0}}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"environments": ["cmerl/Chain-v0"]}, r"no table \[tune\]"),
        ({**SEARCH, "agents": ["cme-rl", "random"]}, "tuning is for one agent, not for 2"),
        (changed(options={}), "options is empty"),
        (changed(options={"lamm": [1.0, 2.0]}), "no option 'lamm': did you mean 'lam'?"),
        (changed(options={"bonus.sigma_scale": [1.0, 2.0]}), "inside 'bonus', which must be a table"),
        (changed(options={"lam": {"low": 2.0, "high": 1.0}}), "low must be below high, not 2.0 and 1.0"),
        (changed(options={"lam": {"low": 0.0, "high": 1.0, "log": True}}), "must begin above 0"),
        (changed(seeds=[5, 6]), "seed 5 is also one of the final comparison's"),
        (changed(trials=0), "trials must be a whole number of at least 1"),
        (changed(trails=3), "no key 'trails': did you mean 'trials'?"),
        (changed(objective="regrets"), "did you mean 'regret'?"),
        ({**SEARCH, "episods": 3}, "did you mean 'episodes'?"),
    ],
)
def test_mistakes_are_one_sentence(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        tuning.load(spec)
    assert "\n" not in str(caught.value)


def test_tuning_seeds_follow_those_of_the_final_comparison_or_are_listed() -> None:
    assert tuning_seeds(*tuning.load({**SEARCH, "seeds": [2, 9]})) == [10, 11]
    assert tuning_seeds(*tuning.load(changed(seeds=[20, 30]))) == [20, 30]
