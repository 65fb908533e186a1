"""Policies as probabilities of actions, in all their forms."""

from types import SimpleNamespace

import numpy as np
import pytest

from cmerl.envs import Chain, RiverSwim
from cmerl.errors import InputError
from cmerl.oracles import evaluate, finite_model


class Tabulated:
    """A policy that answers both ways, and counts how often it was called one by one."""

    def __init__(self, table, model):
        self.actions, self.model, self.calls = table, model, 0

    def __call__(self, obs, step):
        self.calls += 1
        return self.actions[step, self.model.index(obs)]

    def table(self, observations):
        return self.actions[:, [self.model.index(obs) for obs in observations]]


@pytest.mark.parametrize("coordinates", [False, True])
def test_every_form_of_a_policy_has_the_same_value(coordinates):
    env, horizon = Chain(coordinates=coordinates), 6
    model = finite_model(env)
    actions = np.random.default_rng(0).integers(2, size=(horizon, 5))
    policy = Tabulated(actions, model)
    forms = [
        actions.tolist(),
        np.eye(2)[actions],
        policy,
        lambda obs, step: actions[step, model.index(obs)],
        lambda obs, step: np.asarray(actions[step, model.index(obs)]),
        lambda obs, step: int(actions[step, model.index(obs)]),
    ]
    expected = evaluate(env, actions, horizon).V
    for form in forms:
        np.testing.assert_array_equal(evaluate(env, form, horizon).V, expected)
    assert policy.calls == 0  # table() is preferred
    assert not np.array_equal(evaluate(env, 1 - actions, horizon).V, expected)


def test_a_callable_sees_what_the_environment_shows():
    seen = []
    evaluate(RiverSwim(), lambda obs, step: seen.append(obs) or 0, 1)
    assert [type(obs) for obs in seen] == [int] * 6
    assert seen == list(range(6))


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (np.zeros((3, 6)), "actions must be integer"),
        (np.full((3, 6), 2), "from 0 to 1"),
        (np.full((3, 6), -1), "from 0 to 1"),
        (np.zeros((2, 6), dtype=int), r"of shape \(2, 6\)"),
        (np.full((3, 6, 2), 0.6), "state 0 at step 0"),
        (np.tile([1.5, -0.5], (3, 6, 1)), "state 0 at step 0"),
        (np.full((3, 6, 2), np.nan), "state 0 at step 0"),
        (lambda obs, step: 2 if (obs, step) == (4, 1) else 0, "state 4 at step 1"),
        (lambda obs, step: 0.5, "must be an integer from 0 to 1"),
        (lambda obs, step: None, "must be an integer from 0 to 1"),
        (lambda obs, step: np.array([1]), "must be an integer from 0 to 1"),
        (SimpleNamespace(table=lambda obs: np.zeros((3, 5), dtype=int)), r"of shape \(3, 5\)"),
        (None, "a policy is a callable"),
    ],
)
def test_policies_are_checked(policy, message):
    with pytest.raises(InputError, match=message):
        evaluate(RiverSwim(), policy, 3)
