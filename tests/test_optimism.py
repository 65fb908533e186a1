"""Ceilings: what is assumed where nothing is known, by every rule."""

from __future__ import annotations

from dataclasses import replace

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.confidence import FailureBudget, Practical, Problem
from cmerl.embedding import ExactEmbedding
from cmerl.kernels import RBF, Delta, Matern, StateAction
from cmerl.optimism import Outlook, PrizeCeiling, RangeCeiling, SeenCeiling, Situation, attained_share, ceilings
from cmerl.planning import Task, make_plan
from cmerl.rewards import RewardRange


def seen(*rewards: tuple[float, int | None], **options: object) -> RewardRange:
    """A range that has seen rewards, each with the step at which it ended an episode or None."""
    found = RewardRange("auto", may_end=False, **options)
    for reward, ended_at in rewards:
        found.see(reward, ended_at)
    return found


# --- from an outlook to ceilings ---


def test_without_an_outlook_the_ceiling_is_the_largest_reward_at_every_step_left() -> None:
    found = ceilings(4, 2.5, r_min=-1.0)
    np.testing.assert_allclose(found.cap, [10.0, 7.5, 5.0, 2.5, 0.0])
    np.testing.assert_array_equal(found.prior, found.cap)


def test_an_end_after_a_wait() -> None:
    outlook = Outlook(0.0, prize=0.5, steps_to_termination=4, reward_until_then=-0.5)
    found = ceilings(10, 2.0, r_min=-1.0, outlook=outlook)
    for step, left in ((0, 10), (8, 2)):
        waiting = min(left, 4)
        assert found.prior[step] - left == pytest.approx(-0.5 * waiting + 0.5)  # shifted by 1 a step
        assert found.cap[step] - left == pytest.approx(0.5)  # an end may be near where one knows the way
    assert found.prior[10] == found.cap[10] == 0.0


def test_no_outlook_exceeds_the_range_of_rewards() -> None:
    found = ceilings(10, 2.0, r_min=-1.0, outlook=Outlook(5.0))
    np.testing.assert_allclose(found.cap[[0, 7, 10]], [20.0, 6.0, 0.0])
    soon = ceilings(10, 2.0, r_min=-1.0, outlook=Outlook(0.0, 0.5, 0.25))
    assert soon.cap[0] == pytest.approx(10 * 1.5 + 0.25)  # shifted by 1 a step


def test_a_maximal_return_that_cannot_be_leaves_nothing_rather_than_less() -> None:
    none = ceilings(10, 2.0, r_min=-1.0, max_return=-12.0)  # ten steps cost 10 at the most
    np.testing.assert_array_equal(none.cap, 0.0)
    outlook = Outlook(0.0, steps_to_termination=4, reward_until_then=-0.5)
    little = ceilings(10, 2.0, r_min=-1.0, outlook=outlook, max_return=-9.5)
    assert little.cap[0] == pytest.approx(0.5)
    assert little.prior[0] == 0.0  # four steps of waiting cost more than that


def test_ceilings_are_equal_where_all_their_numbers_are() -> None:
    assert ceilings(4, 2.0) == ceilings(4, 2.0)
    assert ceilings(4, 2.0) != ceilings(4, 2.0, max_return=3.0)
    wait = Outlook(2.0, steps_to_termination=1)
    assert ceilings(4, 2.0, outlook=wait) != ceilings(4, 2.0)  # the same cap, another prior
    assert ceilings(4, 2.0) != "ceilings"


def test_where_nothing_is_known_q_is_the_prior_and_not_the_cap() -> None:
    problem = Problem(10, 2.0, RBF(0.1), Matern(1.5, 0.1), None, FailureBudget(0.5, learned_reward=True))
    outlook = Outlook(0.0, prize=0.5, steps_to_termination=4, reward_until_then=-0.5)
    task = Task(problem, Practical(), -1.0, optimistic=ceilings(10, 2.0, r_min=-1.0, outlook=outlook))
    actions = np.arange(2.0)[:, None]
    plan = make_plan(
        [ExactEmbedding(StateAction(RBF(0.1), Delta()), 0.1, actions)], task, episode=1, order=np.arange(2)
    )
    for step, wait in ((0, 4), (5, 4), (8, 2)):
        np.testing.assert_allclose(plan.q(np.full((1, 2), 0.5), step), -0.5 * wait + 0.5)


# --- the rules ---


def test_the_range_alone() -> None:
    rewards = seen((-1.0, None), (1.0, 7))
    assert RangeCeiling().ceilings(Situation(rewards, 5, 3)) == ceilings(5, 2.0, r_min=-1.0)
    assert RangeCeiling().ceilings(Situation(rewards, 5, 3, max_return=2.0)) == ceilings(
        5, 2.0, r_min=-1.0, max_return=2.0
    )


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([(0.0, None), (2.0, 3)], Outlook(0.0, prize=6.0)),
        ([(-1.0, None), (2.0, 3)], Outlook(0.0, prize=6.0)),  # 0 a step after an end
        ([(0.0, None), (0.5, None), (2.0, 3)], None),  # other rewards may be better still
        ([(-1.0, None), (0.0, 3)], None),
        ([(0.0, None)], None),
        ([(0.0, None), (2.0, 3), (1.0, 3)], Outlook(0.0, prize=6.0)),  # the best of them
        ([(0.5, None), (2.0, 3)], Outlook(0.5, prize=4.5)),  # instead of a step's reward
    ],
)
def test_where_only_an_end_pays_it_is_three_prizes(rewards: list, expected: Outlook | None) -> None:
    found = seen(*rewards)
    assert PrizeCeiling().outlook(found) == expected
    now = Situation(found, 20, 2)
    lo, hi = found.bounds
    assert PrizeCeiling().ceilings(now) == ceilings(20, hi - lo, r_min=lo, outlook=expected)
    if expected is not None:
        assert PrizeCeiling(prizes=1.0).outlook(found).prize == pytest.approx(expected.prize / 3.0)


@pytest.mark.parametrize("episodes", [1, 16, 10_000])
@pytest.mark.parametrize("unit", [1.0, 1e4])
@pytest.mark.parametrize(
    ("usual", "best"),
    [
        (None, 1.0),  # nothing was played: the range that is assumed
        (0.0, 1.0),
        (10.0, 1.0),  # half of the best reward a step: the ceiling leaves room enough
        (16.0, 2.56),  # 0.8 a step is nearly the best: more may exist
        (20.0, 4.0),
        (1e6, 4.0),  # one outlier is worth no more than the best reward that is believed
        (-16.0, 1.0),
    ],
)
def test_what_is_attained_is_no_ceiling(usual: float | None, best: float, unit: float, episodes: int) -> None:
    """Where good episodes earn the share q of the best reward, a step may pay (2q)² times that, however late."""
    rewards = seen((0.0, None), (unit, None), (unit, None))
    now = Situation(rewards, 20, episodes, usual=None if usual is None else unit * usual)
    steps = np.arange(20, -1, -1)
    np.testing.assert_allclose(PrizeCeiling().ceilings(now).cap, unit * best * steps)
    np.testing.assert_allclose(PrizeCeiling(attained_raise=1.0).ceilings(now).cap, unit * steps)
    known = replace(now, max_return=5.0)
    assert PrizeCeiling().ceilings(known).cap.max() == 5.0


@pytest.mark.parametrize(
    ("usual", "best", "share"),
    [(41.0, 1.0, 0.82), (132.0, 5.0, 0.528), (80.0, 1.0, 1.0), (-3.0, 1.0, 0.0), (-3.0, -0.1, 0.0)],
)
def test_the_share_of_the_best_reward_is_counted_from_zero(usual: float, best: float, share: float) -> None:
    assert attained_share(usual, 50, best) == pytest.approx(share)


def test_good_episodes_are_the_best_quarter_of_the_latest() -> None:
    rule = PrizeCeiling(recent=5, good=0.75)
    assert rule.usual([]) is None
    assert rule.usual([100.0, 0.0, 1.0, 2.0, 3.0, 4.0]) == 3.0


def test_where_steps_cost_the_best_is_not_exceeded() -> None:
    """Nearly the best of costs is what every careful policy attains."""
    rewards = seen((-10.0, None), (-10.0, None), (0.0, None))
    now = Situation(rewards, 20, 16, usual=-0.5)
    assert PrizeCeiling().ceilings(now) == RangeCeiling().ceilings(now)


def test_an_agent_whose_good_episodes_attain_the_best_reward_assumes_more() -> None:
    class Content(gymnasium.Env):
        """A step pays 1 wherever it leads, except at the very first place."""

        observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,))
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, **options: object) -> tuple[np.ndarray, dict]:
            super().reset(**options)
            self.first = True
            return np.array([0.5], dtype=np.float32), {}

        def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
            reward, self.first = 1.0 - self.first, False
            return self.observation_space.sample(), reward, False, False, {}

    agent = CMERL(Content(), horizon=10, model="direct", seed=0).learn(2)
    assert agent.planner.ceilings().cap[0] == pytest.approx(10 * (2 * 0.9) ** 2)


def test_good_episodes_are_the_best_quarter_of_the_last_twenty() -> None:
    agent = CMERL(gymnasium.make("cmerl/RiverSwim-v0", coordinates=True), seed=0)
    assert agent.planner.situation().usual is None
    agent.learn(23)
    latest = sorted(record.ret for record in agent.history[-20:])
    assert latest[14] <= agent.planner.situation().usual <= latest[15]


def test_where_states_are_finitely_many_what_was_seen_is_the_ceiling() -> None:
    agent = CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0).learn(3)
    assert agent.planner.situation().usual is None


@pytest.mark.parametrize("rule", [PrizeCeiling(), SeenCeiling()])
def test_a_declared_range_is_taken_at_its_word(rule: PrizeCeiling | SeenCeiling) -> None:
    declared = RewardRange((0.0, 2.0), may_end=False)
    declared.see(0.0)
    declared.see(2.0, 3)
    now = Situation(declared, 20, 2, usual=40.0)
    assert rule.ceilings(now) == RangeCeiling().ceilings(now)


@pytest.mark.parametrize(
    ("rewards", "episodes", "expected"),
    [
        ([(-1.0, None)], 1, Outlook(-1.0, 1.0)),  # all alike: one more is hoped for
        ([(0.0, None), (1e-40, None)], 3, Outlook(0.0, 1.0)),  # so are tails of a reward far away
        ([(-1.0, None), (-1.0, 7), (-1.0, 5)], 3, Outlook(0.0, 0.0, 0.0, 3, -1.0)),  # ending early earns 0 a step
        ([(-0.1, None), (0.0, None)], 1, Outlook(0.0, 2.0)),  # one step may pay for a whole episode
        ([(-0.1, None), (0.0, None)], 2, Outlook(0.0, 0.05)),
        ([(-0.1, None), (0.0, None), (100.0, 7)], 2, Outlook(0.0, 0.05, 99.95, 3, 0.0)),  # a prize is won once
        ([(1.0, None), (1.0, 7)], 2, Outlook(1.0, 0.0, 0.0, 3, 1.0)),
        ([(-1.0, None), (-1.0, 5), (-1.0, 7)], 3, Outlook(0.0, 0.0, 0.0, 3, -1.0)),  # the soonest end, not the last
        ([(-1.0, None), (-1.0, 6)], 1, Outlook(0.0, 0.0, 0.0, 0, -1.0)),  # after one episode it may be at once
        ([(-1.0, None), (-0.5, None), (-1.0, 4)], 2, Outlook(0.0, 0.0, 0.0, 2, -0.5)),  # −½ + ¼ is no better than 0
        ([(-1.0, None), (-0.1, None), (-1.0, 4)], 2, Outlook(0.0, 0.35, 0.0, 2, -0.1)),
        ([(0.0, None), (0.0, None), (5.0, 4), (3.0, 4)], 2, Outlook(0.0, 0.0, 5.0, 2, 0.0)),  # the best end
    ],
)
def test_what_was_seen_and_a_margin(rewards: list, episodes: int, expected: Outlook) -> None:
    found = seen(*rewards)
    for again in (found, RewardRange.from_spec(found.spec())):
        outlook = SeenCeiling().outlook(Situation(again, 20, episodes))
        assert outlook is not None
        assert vars(outlook) == pytest.approx(vars(expected))


def test_while_no_reward_depends_on_the_state_a_step_may_pay_for_a_whole_episode() -> None:
    rewards = RewardRange("auto", may_end=False)
    for reward in (-0.1, -0.05, 0.0):
        rewards.see(reward)
    known, unknown = (SeenCeiling().outlook(Situation(rewards, 20, 5, places_pay=p)) for p in (True, False))
    assert known == Outlook(0.0, pytest.approx(0.1 / 5.0))
    assert unknown == Outlook(0.0, pytest.approx(0.1 * 20.0))


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
def test_while_no_reward_depends_on_the_state_what_actions_cost_gives_the_unit(unit: float) -> None:
    rewards = RewardRange("auto", may_end=False)
    for reward in (-1.0, -0.5, 0.0):
        rewards.see(unit * reward)
    found = SeenCeiling().ceilings(Situation(rewards, 20, 5, places_pay=False))
    assert found.cap[0] == pytest.approx(20 * 21 * unit)
    assert found.cap[20] == 0.0


def test_before_any_step_has_gone_on_nothing_in_particular_is_hoped_for() -> None:
    rewards = RewardRange("auto", may_end=False)
    assert SeenCeiling().outlook(Situation(rewards, 20, 0)) is None
    rewards.see(1.0, 1)
    assert SeenCeiling().outlook(Situation(rewards, 20, 1)) is None


def test_proofs_assume_the_range_and_models_without_proof_what_suits_them() -> None:
    river = gymnasium.make("cmerl/RiverSwim-v0")
    assert CMERL(river, bonus="tight").planner.optimism == RangeCeiling()
    assert CMERL(river).planner.optimism == PrizeCeiling()
    moved = CMERL(gymnasium.make("Pendulum-v1", max_episode_steps=20), model="displacement").learn(1)
    assert moved.planner.optimism == SeenCeiling()
