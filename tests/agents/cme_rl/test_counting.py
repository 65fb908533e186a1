"""bonus="kl" and bonus="guarded": what they promise holds, and every habit of the agent works with them."""

from dataclasses import replace

import numpy as np
import pytest
from agent_runs import known

from cmerl import CMERL
from cmerl.confidence import KL, Guarded, Practical
from cmerl.envs import FiniteMDP, RiverSwim, random_mdp
from cmerl.oracles import evaluate, solve
from cmerl.planning import make_plan

MODES = ["kl", "guarded"]


@pytest.mark.parametrize("bonus", MODES)
@pytest.mark.parametrize("learned", [False, True])
def test_bounds_on_values_hold_at_every_state_and_step_of_random_worlds(bonus, learned):
    for seed in range(4):
        env = random_mdp(4, 2, seed=seed, concentration=0.3, horizon=4)
        agent = CMERL(env, seed=seed, bonus=bonus) if learned else known(env, seed=seed, bonus=bonus)
        solution = solve(env, 4)
        for _ in range(4):
            agent.learn(10)
            for step in range(4):
                for s in range(4):
                    low, high = agent.value_bounds(s, step)
                    assert low - 1e-9 <= solution.V[step, s] <= high + 1e-9
        assert all(r.metrics["optimistic"] and r.metrics["in_set"] for r in agent.history)
        lost = np.cumsum([r.regret for r in agent.history])
        assert (lost <= [r.metrics["regret_bound"] for r in agent.history]).all()
        assert agent.diagnostics()["proof"].startswith("holds")


@pytest.mark.parametrize("bonus", [KL(), KL(growth=0.5), Guarded(growth=0.5, kappa=2.0, prior_scale=0.1)])
def test_parts_of_a_run_and_saving_change_nothing(bonus, tmp_path):
    env = RiverSwim(4, 6)
    whole = CMERL(env, seed=5, bonus=bonus).learn(30)
    parts = CMERL(env, seed=5, bonus=bonus).learn(12)
    parts.value_bounds(0)
    parts.certificate()
    parts.save(tmp_path / "agent")
    loaded = CMERL.load(tmp_path / "agent", env=env)
    for other in (parts, loaded):
        other.learn(18)
        assert [(r.ret, r.metrics) for r in other.history] == [(r.ret, r.metrics) for r in whole.history]
        np.testing.assert_array_equal(other.policy().table(env.observations), whole.policy().table(env.observations))


def test_a_pac_policy_is_the_last_one_with_its_own_bound():
    env = random_mdp(3, 2, seed=0, concentration=0.5, horizon=3)
    agent = known(env, seed=0, bonus="kl").learn(80)
    found = agent.pac_policy(3.0)
    assert found.certified
    assert found.epsilon == agent.certificate().policy_loss_bound
    assert solve(env, 3).value(0) - evaluate(env, found, 3).value(0) <= found.epsilon
    assert not agent.pac_policy(1e-3).certified


def test_the_guard_stops_a_reckless_prior_and_lets_a_good_one_play():
    env = RiverSwim(4, 8)
    played, lost = {}, {}
    for mode in (Guarded(kappa=2.0, prior_scale=0.01), Guarded(), Practical(prior_scale=0.01)):
        agent = known(env, seed=0, bonus=mode).learn(80)
        played[mode] = [r.metrics.get("played") for r in agent.history]
        lost[mode] = sum(r.regret for r in agent.history)
    reckless, good, alone = played
    assert "kl" in played[reckless]
    assert "kl" not in played[good]
    assert lost[reckless] < 0.5 * lost[alone]
    assert lost[good] < 0.5 * lost[alone]


@pytest.mark.parametrize("kappa", [1.0, 1.2])
def test_the_account_covers_what_is_played_and_decides_who_plays(kappa):
    env = random_mdp(4, 2, seed=2, concentration=0.3, horizon=6)
    agent = known(env, seed=0, bonus=Guarded(kappa=kappa))
    states, owed, widths, lost, played = agent.planner.all_states, 0.0, 0.0, 0.0, []
    for episode in range(60):
        upper, balls = agent.ledger.upper[0, 0], agent.ledger.balls
        task, order = agent.planner.task(), agent.planner.order()
        practical = replace(task, mode=Practical())
        proposed = make_plan(agent.model.embeddings, practical, episode=episode + 1, order=order).table(states)
        low, high = (values[0, 0] for values in balls.interval(proposed))
        covered = episode == 0 or owed + upper - low <= kappa * (widths + high - low)
        table = agent.planner.plan().table(states)
        low, high = (values[0, 0] for values in balls.interval(table))
        owed, widths = owed + upper - low, widths + high - low
        record = agent.learn(1).history[-1]
        lost += record.regret
        played.append(record.metrics["played"])
        assert played[-1] == ("practical" if covered else "kl")
        assert (table == proposed).all() or not covered
        assert record.regret <= record.metrics["loss_bound"] + 1e-9
        assert lost <= owed + 1e-9 <= kappa * widths + 6.0 + 1e-6  # the first episode is not tested: at most H
    assert len(set(played)) == 2


def test_laws_per_step_and_varying_first_states():
    env = FiniteMDP(RiverSwim(3, 4).P, RiverSwim(3, 4).R, start=[0.5, 0.25, 0.25], horizon=4)
    for bonus in MODES:
        agent = CMERL(env, seed=0, bonus=bonus, reward_range=(0, 1), time_homogeneous=False).learn(30)
        assert agent.ledger.world.per_step
        assert len(agent.ledger.counts.visits) == 4 * 6
        assert all(r.metrics["optimistic"] and r.metrics["in_set"] for r in agent.history)
        lost = np.cumsum([r.regret for r in agent.history])
        assert (lost <= [r.metrics["certified_regret"] for r in agent.history]).all()


def test_a_new_plan_waits_until_counts_have_grown():
    env = RiverSwim(4, 6)
    kept = {}
    for growth in (0.0, 1.0):
        agent, plans = known(env, seed=0, bonus=KL(growth=growth)), []
        agent.learn(40, callback=lambda agent, record, plans=plans: plans.append(agent.ledger.balls) or True)
        kept[growth] = len({id(balls) for balls in plans})
    assert kept[0.0] == 40
    assert kept[1.0] < 30
