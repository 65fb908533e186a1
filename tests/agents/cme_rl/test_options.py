"""What a user may say, alone and together, and what is chosen where nothing was said."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.agents.cme_rl.options import Options, settled
from cmerl.confidence import as_mode
from cmerl.errors import InputError
from cmerl.kernels import RBF

RIVER = "cmerl/RiverSwim-v0"


def options(name: str = RIVER, **given: Any) -> Options:
    return CMERL(gymnasium.make(name), **given).options


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"reward": 3.0}, "reward must be 'learned' or a callable"),
        ({"replan": "often"}, "replan must be True, False or 'auto'"),
        ({"certify": 2}, "certify must be True or False"),
        ({"bonus": "tight", "replan": True}, "never replans inside an episode"),
        ({"bonus": "tight", "backend": "fourier"}, "proves nothing on backend 'fourier'"),
        ({"bonus": "kl", "backend": "compressed"}, "proves nothing on backend 'compressed'"),
        ({"model": "linear"}, "model 'linear' is unknown"),
        ({"model": "displacement"}, "needs observations that are real numbers"),
        ({"bonus": "tight", "lam": 1e-9}, "lam = 1e-09 is lost in rounding"),
        ({"max_return": "much"}, "max_return must be a finite number"),
        ({"B_P": 0}, "B_P must be a positive number or 'auto'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        options(**given)


def test_one_plan_an_episode_where_something_is_claimed_of_it() -> None:
    for bonus, claims in {"practical": False, "tight": True, "kl": True, "auto": True}.items():
        found = options(bonus=bonus)
        assert (found.claims, found.replan) == (claims, not claims)
        assert settled(as_mode(bonus)) == claims


@pytest.mark.parametrize(
    ("name", "given", "model"),
    [
        ("cmerl/PBall2D-v0", {}, "auto"),
        (RIVER, {}, "direct"),  # nothing lies between two numbers of states
        ("cmerl/PBall2D-v0", {"kernel": RBF(0.5)}, "direct"),
        ("cmerl/PBall2D-v0", {"backend": "exact"}, "direct"),
        ("cmerl/PBall2D-v0", {"time_homogeneous": False}, "direct"),
        ("cmerl/PBall2D-v0", {"model": "displacement", "backend": "exact"}, "displacement"),
    ],
)
def test_the_data_choose_the_model_only_where_nothing_else_was_asked_for(
    name: str, given: dict[str, Any], model: str
) -> None:
    assert options(name, **given).model == model


@pytest.mark.parametrize("name", ["kernel", "value_kernel"])
def test_a_kernel_that_a_displacement_does_not_use_is_said_to_be_unused(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    env = gymnasium.make("MountainCar-v0")
    CMERL(env, model="displacement")
    assert not caplog.records
    CMERL(env, model="displacement", **{name: RBF(0.3)})
    assert f"{name} shapes agent.embedding alone" in caplog.text


def test_the_letter_of_the_paper_knows_its_reward() -> None:
    known = lambda obs, action: 0.0  # noqa: E731
    assert options(bonus="paper").label == "paper+reward"
    assert options(bonus="paper", reward=known).label == "paper"


def test_options_come_back_from_their_description() -> None:
    agent = CMERL(gymnasium.make("cmerl/PBall2D-v0"), lam=0.3, model="direct", kernel=RBF(0.5), delta=0.05)
    again = Options.from_spec(agent.options.spec(), "learned", agent.states, agent.actions)
    assert again == agent.options
    assert np.isfinite(again.lam)
