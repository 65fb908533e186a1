"""Which environments have an oracle, and that every way to ask it gives one answer."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

from cmerl.envs import RiverSwim
from cmerl.errors import InputError
from cmerl.oracles import evaluate, finite_model, solve


def test_a_model_a_wrapped_env_and_an_env_give_one_answer():
    env = RiverSwim(coordinates=True)
    wrapped = gymnasium.wrappers.OrderEnforcing(env)
    np.testing.assert_array_equal(solve(wrapped, 20).V, solve(env, 20).V)
    np.testing.assert_array_equal(solve(finite_model(env), 20).V, solve(env, 20).V)


def test_any_environment_with_tables_has_a_model():
    env = RiverSwim()
    bare = SimpleNamespace(unwrapped=SimpleNamespace(P=env.P, R=env.R))
    model = finite_model(bare)
    np.testing.assert_array_equal(model.start, [1, 0, 0, 0, 0, 0])
    assert model.index(3) == 3
    np.testing.assert_array_equal(solve(bare, 5).V, solve(env, 5).V)


def test_other_environments_have_none():
    cart_pole = gymnasium.make("CartPole-v1")
    assert finite_model(cart_pole) is None
    assert finite_model(SimpleNamespace(P=np.zeros((2, 1, 3)), R=np.zeros((2, 1)))) is None
    with pytest.raises(InputError, match=r"P \(S, A, S\) and R \(S, A\)"):
        solve(cart_pole, 5)
    with pytest.raises(InputError, match=r"P \(S, A, S\) and R \(S, A\)"):
        evaluate(cart_pole, lambda obs, step: 0, 5)


@pytest.mark.parametrize("horizon", [0, -3, 2.0, None])
def test_horizons_are_checked(horizon):
    with pytest.raises(InputError, match="horizon must be an integer of at least 1"):
        solve(RiverSwim(), horizon)
    with pytest.raises(InputError, match="horizon must be an integer of at least 1"):
        evaluate(RiverSwim(), lambda obs, step: 0, horizon)
