"""The certificate: never below what was lost, the same after saving, and refused where nothing can be proven."""

import numpy as np
import pytest

from cmerl import CMERL, agents
from cmerl.certificates import Ledger
from cmerl.envs import FiniteMDP, RiverSwim, random_mdp
from cmerl.errors import InputError
from cmerl.finite import FiniteWorld
from cmerl.oracles import evaluate, solve

AGENTS = ["cme-rl", "psrl", "ucbvi", "random", "greedy", "balanced"]


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_states_what_it_lost_at_most(name):
    for seed in range(3):
        env = random_mdp(4, 2, seed=seed, concentration=0.3, horizon=4)
        agent = agents.make(name, env, seed=seed, reward_range=(0, 1)).learn(30)
        lost = np.cumsum([r.regret for r in agent.history])
        certified = np.array([r.metrics["certified_regret"] for r in agent.history])
        assert (certified >= lost).all()
        found = agent.certificate()
        assert lost[-1] <= found.regret_bound <= certified[-1] <= found.most == 120
        solution, policy = solve(env, 4), agent.policy()
        played = policy.probabilities(env.observations) if name == "random" else policy
        assert solution.value(0) - evaluate(env, played, 4).value(0) <= found.policy_loss_bound
        assert found.delta == 0.1
        assert f"lost at most {found.regret_bound:.4g}" in found.statement


def test_learning_lowers_it_to_a_fraction_and_balls_too_small_would_break_it():
    env = random_mdp(3, 2, seed=1, concentration=0.5, horizon=4)
    agent = CMERL(env, seed=0, reward=lambda s, a: env.R[s, a]).learn(200)
    found = agent.certificate()
    assert found.regret_bound < 0.4 * found.most
    assert found.policy_loss_bound < 1.5
    best = agent.certificate(solve(env, 4).policy)  # of any policy, as numbers or as a callable
    assert best.policy_loss_bound < 1.5
    again = agent.certificate(lambda obs, step: int(solve(env, 4).policy[step, obs]))
    assert again.policy_loss_bound == best.policy_loss_bound
    worst = agent.certificate(solve(FiniteMDP(env.P, 1 - env.R), 4).policy)
    lost = solve(env, 4).value(0) - evaluate(env, solve(FiniteMDP(env.P, 1 - env.R), 4).policy, 4).value(0)
    assert worst.policy_loss_bound >= lost
    ledger = Ledger(agent.ledger.world, 0.1)  # the same run, with all its doubts about V* removed
    ledger.upper = solve(env, 4).V * 0.5
    for _ in range(400):
        ledger.enter([0] * 5, [0] * 4, [0.0] * 4, terminated=False)
    assert ledger.bound < 400 * solve(env, 4).value(0)


def test_bounds_on_values_never_rise():
    env = RiverSwim(4, 6)
    agent = CMERL(env, seed=0, bonus="kl")
    uppers = []
    for _ in range(30):
        agent.learn(1)
        uppers.append(agent.ledger.upper.copy())
    assert (np.diff(uppers, axis=0) <= 0.0).all()
    assert (uppers[-1] < uppers[0]).any()
    assert (uppers[-1] >= solve(env, 6).V).all()


@pytest.mark.parametrize("name", ["cme-rl", "psrl", "random"])
def test_it_goes_on_exactly_after_saving_and_does_not_depend_on_being_asked(name, tmp_path):
    env = RiverSwim(4, 6)
    agent = agents.make(name, env, seed=3, reward_range=(0, 1)).learn(10)
    agent.save(tmp_path / "agent")
    asked = agent.certificate()
    loaded = type(agent).load(tmp_path / "agent", env=env)
    assert loaded.certificate() == asked
    whole = agents.make(name, env, seed=3, reward_range=(0, 1)).learn(25)
    for other in (agent, loaded):
        other.learn(15)
        assert [r.metrics["certified_regret"] for r in other.history] == [
            r.metrics["certified_regret"] for r in whole.history
        ]
        assert other.certificate() == whole.certificate()


def test_what_is_learned_again_is_certified_alike():
    env = RiverSwim(4, 6)
    for bonus in ("practical", "guarded"):
        teacher, student = (CMERL(env, seed=1, bonus=bonus, reward_range=(0, 1)) for _ in range(2))
        for _ in range(12):
            teacher.learn(1)
            student.relearn(teacher.history[-1], teacher.lesson())
        assert student.certificate() == teacher.certificate()
        student.learn(3)
        assert (
            student.history[-1].metrics["certified_regret"]
            == teacher.learn(3).history[-1].metrics["certified_regret"]
        )


def test_a_reward_outside_its_range_ends_the_proof():
    ledger = Ledger(FiniteWorld(1, 1, 2, 0.0, 1.0), 0.1)
    ledger.enter([0, 0, 0], [0, 0], [0.5, 0.5], terminated=False)
    ledger.enter([0, 0, 0], [0, 0], [0.5, 7.0], terminated=False)
    with pytest.raises(InputError, match="7 lies outside"):
        ledger.certificate(np.ones((2, 1, 1)))


def test_episodes_broken_off_count_as_lost_luck():
    whole, broken = (Ledger(FiniteWorld(1, 1, 2, 0.0, 1.0, rewards=np.array([[0.5]])), 0.1) for _ in range(2))
    for ledger in (whole, broken):
        for _ in range(2000):
            ledger.enter([0, 0, 0], [0, 0], [0.5, 0.5], terminated=False)
    broken.enter([0, 0], [0], [0.5], terminated=False, finished=False)
    policy = np.ones((2, 1, 1))
    assert broken.counts.visits.sum() == whole.counts.visits.sum() + 1
    assert whole.from_returns(whole.upper) + 2.0 < broken.from_returns(broken.upper)
    assert whole.certificate(policy).policy_loss_bound == pytest.approx(0.0, abs=1e-9)
