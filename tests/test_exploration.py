"""The exploration account: its identity on finite worlds, its bound, and what it lets an actor do."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.acting import ExplorationBudget, Greedy
from cmerl.confidence import FailureBudget, Practical, Problem
from cmerl.confidence import Greedy as NoBonus
from cmerl.embedding import ExactEmbedding
from cmerl.exploration import Account, Allowance
from cmerl.kernels import Delta, StateAction
from cmerl.planning import Plan, Task, make_plan
from cmerl.transitions import Transitions

H, S, A = 6, 4, 3


def world(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(S) * 0.5, (S, A)), rng.random((S, A))


def plans(seed: int, n: int = 20) -> tuple[Plan, Plan]:
    """An optimistic plan and a greedy one from a few random transitions."""
    (P, R), rng = world(seed), np.random.default_rng(seed + 1)
    s, a = rng.integers(S, size=n), rng.integers(A, size=n)
    nexts = np.array([rng.choice(S, p=P[i, j]) for i, j in zip(s, a, strict=True)])
    model = ExactEmbedding(StateAction(Delta(), Delta()), lam=0.1, actions=np.arange(float(A))[:, None])
    model.update(Transitions.of(np.stack([s, a], axis=1).astype(float), nexts[:, None].astype(float), R[s, a]))
    problem = Problem(H, 1.0, model.kernel, Delta(), (S, A), FailureBudget(0.1, learned_reward=True))
    made = (
        make_plan([model], Task(problem, mode, 0.0), episode=1, order=np.arange(A))
        for mode in (Practical(), NoBonus())
    )
    optimistic, greedy = made
    return optimistic, greedy


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("balance", [0.0, 0.3, 100.0])
def test_promise_minus_return_is_charges_and_model_errors_exactly(seed: int, balance: float) -> None:
    (P, R), rng = world(seed), np.random.default_rng(seed + 2)
    optimistic, greedy = plans(seed)
    allowance = Allowance(balance)
    actor = Greedy().begin_episode(optimistic, np.arange(float(A))[:, None], (), ExplorationBudget(allowance, greedy))
    state, earned, errors = 0, 0.0, 0.0

    def worth(s: int, t: int) -> np.ndarray:
        """Q_g, clipped to what is possible; 0 at the end."""
        return np.clip(greedy.q(np.array([[float(s)]]), t)[0], 0.0, greedy.task.cap(t)) if t < H else np.zeros(1)

    first = max(worth(state, 0))
    for step in range(H):
        a = int(actor.act(np.array([[float(state)]]), step)[0])
        after = int(rng.choice(S, p=P[state, a]))
        errors += worth(state, step)[a] - R[state, a] - max(worth(after, step + 1))
        earned, state = earned + R[state, a], after
    assert allowance.promise == pytest.approx(first)
    assert first - earned == pytest.approx(allowance.spent + errors, abs=1e-9)
    assert allowance.spent <= balance + 1e-9
    if balance == 100.0:
        assert allowance.deviations > 0  # optimism had its way


def test_with_nothing_to_spend_optimism_breaks_the_ties_of_greed() -> None:
    optimistic, greedy = plans(3)
    rows = np.arange(float(A))[:, None]
    actor = Greedy().begin_episode(optimistic, rows, (), ExplorationBudget(Allowance(0.0), greedy))
    for s in range(S):
        state = np.array([[float(s)]])
        chosen = int(actor.act(state, 2)[0])
        assert greedy.q(state, 2)[0, chosen] == pytest.approx(greedy.q(state, 2)[0].max())


def test_exploring_costs_at_most_a_logarithm_of_the_episodes() -> None:
    account, spread, episodes = Account(), 10.0, 200
    for t in range(1, episodes + 1):
        allowance = account.allowance(t, spread)
        allowance.pay(allowance.left, 5.0)  # all of it, every time
        account = account.after(allowance)
    assert account.spent <= 0.1 * spread * (1 + math.log(episodes))
    assert account.spent == pytest.approx(0.1 * spread * sum(1 / t for t in range(1, episodes + 1)))


def test_what_is_not_spent_is_kept_but_never_more_than_the_spread() -> None:
    account = Account()
    for t in range(1, 100):
        account = account.after(account.allowance(t, 2.0))
    assert account.balance == pytest.approx(0.1 * 2.0 * sum(1 / t for t in range(1, 100)))
    assert Account(balance=50.0).allowance(1, 2.0).left == 2.0


def test_charges_scale_with_the_units_of_rewards() -> None:
    small, large = (Account().allowance(3, spread) for spread in (1e-6, 1e6))
    assert large.left / small.left == pytest.approx(1e12)
    assert large.tie / small.tie == pytest.approx(1e12)


def test_no_more_is_paid_than_can_be_won() -> None:
    account = Account(balance=4.0)
    assert account.allowance(2, 10.0, 3.0).left == 3.0  # neither kept
    assert Account().allowance(2, 10.0, 3.0).left == pytest.approx(0.1 * 3.0 / 2)  # nor deposited
    assert account.allowance(2, 10.0, -1.0).left == 0.0
    assert account.allowance(2, 10.0, 30.0).left == account.allowance(2, 10.0).left
    assert account.allowance(2, 10.0, 0.0).tie == account.allowance(2, 10.0).tie  # ties are free all the same


def test_the_prospect_is_what_the_ceiling_leaves_above_the_usual_return() -> None:
    """After five episodes a step may yet pay a fifth of the range more than was seen, within what is believed."""
    env = FakeLine()
    agent = cmerl.CMERL(env, horizon=10, seed=0, model="displacement").learn(5)  # a direct model may look for more
    lo, hi = agent.planner.rewards.believed_step_rewards
    latest = sorted(record.ret for record in agent.history[-3:])
    expected = 10 * min(hi + (hi - lo) / 5, agent.planner.rewards.bounds[1]) - latest[1]
    assert agent.explorer.prospect() == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_tails_of_a_reward_far_away_leave_exploring_free_until_it_is_found(seed: int) -> None:
    """All rewards that can be seen around the start lie below 1e-40: no reason to stay there, nor anywhere."""
    agent = cmerl.CMERL(FakeLine(lambda x: np.exp(-0.5 * np.square((x - 0.9) / 0.06))), horizon=25, seed=seed)
    for _ in range(8):
        agent.learn(1)
        found = agent.planner.rewards.step_rewards[1] > 1e-6
        assert agent.explorer.unlimited is not found
        assert agent.planner.model.choice.compared is found  # chosen as soon as there is something to win
        if found:
            break
    assert found
    agent.learn(3)
    assert max(record.ret for record in agent.history) > 5.0


class FakeLine(gymnasium.Env):
    """A point on a line, paid for where it is."""

    def __init__(self, reward=lambda x: np.exp(-np.square(x - 0.5))):
        self._reward = reward

    observation_space = gymnasium.spaces.Box(-5.0, 5.0, (1,))
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed=None, options=None):
        self._x = np.zeros(1)
        return self._x.astype(np.float32), {}

    def step(self, action):
        self._x = np.clip(self._x + 0.1 * np.asarray(action, dtype=float), -1.0, 1.0)
        return self._x.astype(np.float32), float(self._reward(self._x[0])), False, False, {}
