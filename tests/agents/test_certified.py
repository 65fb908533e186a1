"""Which runs have a certificate: worlds that end early or start elsewhere, declared rewards, and reasons for none."""

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL, agents
from cmerl.envs import FiniteMDP, RiverSwim
from cmerl.errors import InputError


class Ending(gymnasium.Env):
    """Two states whose first numbers are 5 and 2; pays −1 a step until action 3 ends it, with probability ½."""

    observation_space = gymnasium.spaces.Discrete(2, start=5)
    action_space = gymnasium.spaces.Discrete(2, start=2)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return int(5 + self.np_random.integers(2)), {}

    def step(self, action):
        ended = bool(action == 3 and self.np_random.random() < 0.5)
        return int(5 + self.np_random.integers(2)), -1.0, ended, False, {}


@pytest.mark.parametrize("name", ["cme-rl", "random"])
def test_early_ends_varying_first_states_and_numbers_that_start_elsewhere(name):
    H, agent = 6, agents.make(name, Ending(), horizon=6, seed=0, reward_range=(-1, 0))
    agent.learn(300)
    best = -sum(0.5**h for h in range(H))  # to try to end at once, at every step
    lost = 300 * best - sum(r.ret for r in agent.history)
    assert agent.certificate().regret_bound >= lost
    assert agent.ledger.starts.min() > 0
    assert (agent.ledger.upper[0] - H >= best - 1e-9).all()
    quick = agent.certificate(np.full((H, 2), 3))
    assert 0.0 <= quick.policy_loss_bound < 6.0
    assert "any first state" in quick.statement


def test_where_it_does_not_apply_a_reason_is_given():
    silent = FiniteMDP(np.full((2, 1, 2), 0.5), np.zeros((2, 1)), horizon=3)
    for env, options, reason in (
        (silent, {}, "not declared"),
        (gymnasium.make("CartPole-v1"), {"horizon": 5, "reward_range": (0, 1)}, "not Discrete"),
        (silent, {"reward_range": (0, 1)}, "learn first"),
    ):
        agent = CMERL(env, seed=0, **options)
        if reason != "learn first":
            agent.learn(1)
            assert "certified_regret" not in agent.history[0].metrics
        with pytest.raises(InputError, match=reason):
            agent.certificate()
    agent = CMERL(silent, seed=0, reward=lambda s, a: 0.0).learn(2)  # a reward that is given is declared
    assert agent.certificate().regret_bound == 0.0


def test_worlds_declare_their_rewards_and_wrappers_that_change_them_take_that_back():
    env = RiverSwim(4, 6)
    assert CMERL(env, seed=0).learn(2).certificate().most == 12
    changed = gymnasium.wrappers.TransformReward(env, lambda r: 10 * r)
    with pytest.raises(InputError, match="not declared"):
        CMERL(changed, horizon=6, seed=0).learn(2).certificate()
