"""Regret balancing: the rule by hand, and the agent that follows it."""

import math

import pytest

from cmerl import CMERL
from cmerl.agents import make
from cmerl.agents.cme_rl.balancing import Balance, Learner, balance
from cmerl.confidence import (
    Balanced,
    BalancedProvable,
    Candidate,
    Greedy,
    Practical,
    Tight,
    scales,
)
from cmerl.envs import RiverSwim


def rule(*learners, span=10.0, width=1.0, floor=0.0, delta=0.1):
    return Balance(tuple(learners), span, width, floor, delta)


# --- the rule ------------------------------------------------------------------------------------------------


def test_putative_regret_is_what_was_expected_to_be_lost_but_never_more_than_everything():
    now = rule(Learner("a", 4, 0.0, 7.0), floor=0.1)
    assert now.putative(now.learners[0]) == pytest.approx(7.0 + 0.1 * 10 * 2)
    assert now.putative(Learner("b", 4, 0.0, 1e9)) == 40.0


def test_everyone_plays_once_and_then_who_claims_the_least():
    now, turns = rule(*(Learner(c) for c in "abc")), []
    for excess in (9.0, 1.0, 4.0, 1.0, 1.0, 2.0):
        turns.append(now.turn())
        learners = list(now.learners)
        learners[turns[-1]] = learners[turns[-1]].played(5.0, excess)
        now = rule(*learners)
    assert turns == [2, 1, 0, 1, 1, 1]  # claims: 9, 1, 4, then b again until it claims more than a's 4
    assert [learner.episodes for learner in now.learners] == [1, 4, 1]


def test_a_learner_that_claims_too_little_and_earns_too_little_is_dropped():
    liar, honest = Learner("liar", 400, 400 * 1.0, 4.0), Learner("honest", 400, 400 * 8.0, 900.0)
    now = rule(liar, honest)
    half = math.sqrt(math.log(2 * math.log(math.e * 400) / 0.1) / 400) * 10.0
    assert now.interval(liar) == pytest.approx(half)
    assert 1.0 + 0.01 + half < 8.0 - half
    assert now.active() == [False, True]
    assert now.turn() == 1  # although it claims more
    # One that admits its losses stays, and so does one that may have been unlucky.
    assert rule(Learner("humble", 400, 400.0, 4000.0), honest).active() == [True, True]
    assert rule(Learner("unlucky", 4, 4.0, 0.0), honest).active() == [True, True]
    # Nor does a few episodes' luck of another drop it.
    assert rule(liar, Learner("lucky", 4, 4 * 8.0, 40.0)).active() == [True, True]
    # It is admitted again once others turn out no better.
    assert rule(liar, Learner("honest", 4000, 4000 * 1.2, 900.0)).active() == [True, True]


def test_those_as_good_as_what_was_shown_are_active():
    assert rule(Learner("a", 4, 8.0, 0.0), Learner("b", 2, 4.0, 0.0), width=0.0).active() == [True, True]
    assert rule(Learner("a", 4, 8.0, 0.0), Learner("b", 2, 3.9, 0.0), width=0.0).active() == [True, False]


def unproven(*learners):
    return Balance(tuple(learners), span=10.0, width=1.0, floor=0.1, delta=0.1, proven=False)


def test_where_nothing_is_proven_the_reckless_plays_and_bolder_ones_may_lose_what_it_may_have_missed():
    now, turns = unproven(*(Learner(c) for c in "abc")), []
    for _ in range(60):  # bolder ones always lose 2
        turns.append(now.turn())
        now = now.after(turns[-1], 3.0, 0.0, greedy=5.0 if turns[-1] else None)
    # By hand: a has played k times and stakes √k. When that exceeds 0, b plays and stakes 2 + 2√1 = 4; c, waiting for
    # b's losses, plays for a stake of 2 at k = 5, and then stakes 4 + 3√1 = 7. At k = 17 b is the least, then stakes
    # 4 + 2√2 = 6.8, so it is its turn again at k = 47, and c's at none: it stakes 6 + 2 + 3.
    expected = [0, 1] + [0] * 4 + [2] + [0] * 12 + [1] + [0] * 30 + [1]
    assert turns[: len(expected)] == expected
    assert now.stakes() == pytest.approx(
        [math.sqrt(now.learners[0].episodes), 6.0 + 2.0 * math.sqrt(3.0), 6.0 + 2.0 + 3.0]
    )


def test_trials_that_lose_nothing_are_shared_out_and_what_was_lost_can_be_won_back():
    now = unproven(*(Learner(c) for c in "abc"))
    for _ in range(490):
        now = now.after(now.turn(), 3.0, 0.0, greedy=3.0)
    assert [x.episodes for x in now.learners] == [360, 90, 40]  # as 1 : 1/4 : 1/9
    learner = Learner("b").played(1.0, 0.0, greedy=4.0).played(6.0, 0.0, greedy=4.0)
    assert learner.lost == pytest.approx(1.0)
    assert learner.played(9.0, 0.0, greedy=4.0).lost == 0.0  # and not a credit
    assert learner.played(9.0, 0.0).lost == learner.lost


def test_the_state_is_what_the_report_says():
    mode = Balanced(candidates=scales((0.1, 1.0)))
    now = balance(mode, None, 10.0, 0.1)
    assert not now.proven
    after = now.after(0, 3.0, 2.0).after(1, 1.0, 5.0, greedy=3.0)
    assert after.learners == (Learner("scale 0.1", 1, 3.0, 2.0), Learner("scale 1", 1, 1.0, 5.0, 2.0))
    assert balance(mode, after.report(), 10.0, 0.1) == after
    proven = BalancedProvable(candidates=(Candidate(label="x", mode=Tight()),))
    assert balance(proven, None, 10.0, 0.1).proven


# --- the agent -------------------------------------------------------------------------------------------------


def test_balancing_one_learner_is_that_learner():
    env = RiverSwim(5, 8)
    alone = CMERL(env, seed=3, bonus=Practical(), replan=False).learn(15)
    balanced = make("balanced", env, seed=3, values=[1.0]).learn(15)
    assert [r.ret for r in balanced.history] == [r.ret for r in alone.history]
    assert [r.regret for r in balanced.history] == [r.regret for r in alone.history]


def test_auto_balances_scales_and_shows_its_state():
    agent = CMERL(RiverSwim(5, 8), seed=0, bonus="auto").learn(30)
    report = agent.diagnostics()["learners"]
    assert [r["label"] for r in report] == [c.label for c in Balanced().candidates]
    assert sum(r["episodes"] for r in report) == 30
    assert sum(r["returns"] for r in report) == pytest.approx(sum(r.ret for r in agent.history))
    assert agent.history[-1].metrics["learners"] == report
    assert {r.metrics["active"] for r in agent.history} == {r["label"] for r in report}
    assert agent.diagnostics()["proof"] == "none"


def test_bolder_learners_are_charged_what_a_greedy_plan_promised_before_the_episode():
    agent = CMERL(RiverSwim(5, 12), seed=2, bonus="auto")
    charged, before = [], None
    for _ in range(25):
        cautious = agent.planner.plan(explore=False, unseen="least")
        promised = float(cautious.value(agent.states.encode(0), 0)[0])
        record = agent.learn(1).history[-1]
        learners = {r["label"]: r for r in record.metrics["learners"]}
        lost = 0.0 if before is None else before[record.metrics["active"]]["lost"]
        expected = max(0.0, lost + promised - record.ret)
        if record.metrics["active"] == "scale 0.03":
            expected = 0.0
        assert learners[record.metrics["active"]]["lost"] == pytest.approx(expected)
        charged.append(expected)
        before = learners
    assert max(charged) > 0.0


def test_balancing_is_not_stuck_where_its_most_reckless_candidate_is():
    lost = []
    for bonus in (Greedy(), Balanced()):
        agent = CMERL(RiverSwim(5, 12), seed=1, bonus=bonus, replan=False).learn(40)
        lost.append(sum(r.regret for r in agent.history[-10:]))
    assert lost[0] > 10.0
    assert lost[1] < 0.1


def test_a_balanced_agent_goes_on_after_saving_and_after_learning_again(tmp_path):
    env = RiverSwim(4, 6)
    whole = CMERL(env, seed=1, bonus="auto").learn(14)
    half = CMERL(env, seed=1, bonus="auto").learn(8)
    half.save(tmp_path / "agent")
    loaded = CMERL.load(tmp_path / "agent", env=env).learn(6)
    assert [r.ret for r in loaded.history] == [r.ret for r in whole.history]
    again, teacher = CMERL(env, seed=1, bonus="auto"), CMERL(env, seed=1, bonus="auto")
    for _ in range(8):
        teacher.learn(1)
        again.relearn(teacher.history[-1], teacher.lesson())
    assert [r.ret for r in again.learn(6).history] == [r.ret for r in whole.history]


def test_unknown_misspecification_and_unknown_bounds_on_values_are_balanced_too():
    env = RiverSwim(4, 6)
    options = {"reward": lambda s, a: env.R[s, a], "reward_range": (0, 1), "seed": 0}
    agent = make("balanced", env, over="zeta", values=[0.0, 0.5], **options).learn(6)
    assert isinstance(agent.mode, BalancedProvable)
    assert [c.mode for c in agent.mode.candidates] == [Tight(), Tight(zeta=0.5)]
    assert agent.diagnostics()["proof"].startswith("none: balancing bounds regret")
    agent = make("balanced", env, over="B_V", values=[5.0, 1.0], **options).learn(6)
    plans = {r.metrics["active"] for r in agent.history}
    assert plans == {"B_V 1", "B_V 5"}
    small, large = agent.history[1].metrics["learners"]  # each has played once
    assert small["excess"] <= large["excess"]
