"""Values within KL balls: above V*, around V^π, and exact where balls are a point."""

import numpy as np
import pytest

from cmerl.confidence.kl import CountingBudget, kl_radius
from cmerl.envs import random_mdp
from cmerl.finite import Balls, Counts, FiniteWorld
from cmerl.oracles import evaluate, solve

H = 5


def sample(env, world, n, seed, noise=0.0, per_step=None):
    """n transitions of random state-actions; with ``per_step`` (H, S, A, S) the law depends on the step."""
    rng, counts = np.random.default_rng(seed), Counts(world)
    for _ in range(n):
        h, s, a = rng.integers(H), rng.integers(env.R.shape[0]), rng.integers(env.R.shape[1])
        P = env.P[s, a] if per_step is None else per_step[h, s, a]
        reward = env.R[s, a] if noise == 0.0 else float(rng.random() < env.R[s, a])
        counts.add(int(h), int(s), int(a), reward, int(rng.choice(len(P), p=P)), ended=False)
    return counts


def caps(world):
    return np.repeat(np.array([world.cap(h) for h in range(H + 1)])[:, None], world.states, axis=1)


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_optimistic_values_exceed_the_optimum_and_intervals_contain_the_value_of_every_policy(seed, learned):
    env = random_mdp(4, 2, seed=seed, concentration=0.4, horizon=H)
    world = FiniteWorld(4, 2, H, 0.0, 1.0, rewards=None if learned else np.array(env.R))
    balls = Balls(sample(env, world, 30 * 4 ** (seed % 3), seed, noise=float(learned)), CountingBudget(0.05, learned))
    solution = solve(env, H)
    Q, V = balls.optimistic(caps(world))
    assert (Q >= solution.Q - 1e-9).all()
    assert (V >= solution.V - 1e-9).all()
    rng = np.random.default_rng(seed)
    for table in (solution.policy, rng.integers(2, size=(H, 4))):
        true = evaluate(env, table, H).V
        low, high = balls.interval(table)
        assert (low <= true + 1e-9).all()
        assert (high >= true - 1e-9).all()
        for sign, found in ((-1, low), (1, high)):
            np.testing.assert_allclose(balls.evaluate(np.eye(2)[table], sign)[1], found, atol=1e-7)
    Q_low, V_low = balls.evaluate(None, -1)
    assert (V_low <= evaluate(env, Q_low.argmax(axis=2), H).V + 1e-9).all()
    assert balls.contain(np.array(env.P))
    # The optimistic policy's own interval contains what optimism promises: so κ = 1 suffices for it.
    assert (balls.interval(Q.argmax(axis=2))[1] >= V - 1e-6).all()


def test_much_data_leave_little_doubt():
    env = random_mdp(3, 2, seed=1, concentration=1.0, horizon=H)
    world = FiniteWorld(3, 2, H, 0.0, 1.0, rewards=np.array(env.R))
    solution, widths = solve(env, H), []
    for n in (100, 1600):
        balls = Balls(sample(env, world, n, 0), CountingBudget(0.1, False))
        widths.append(float((balls.optimistic(caps(world))[1] - balls.evaluate(None, -1)[1])[0].max()))
    assert widths[1] < 0.45 * widths[0]
    assert solution.V[0].max() > 0


def test_one_step_of_optimism_by_hand():
    """Two steps, one state-action seen n times to lead to the worse of two states."""
    R = np.array([[0.0], [1.0]])
    world, n = FiniteWorld(2, 1, 2, 0.0, 1.0, rewards=R), 7
    counts = Counts(world)
    for _ in range(n):
        counts.add(0, 0, 0, 0.0, 0, ended=False)
    Q, _ = Balls(counts, CountingBudget(0.1, False)).optimistic(np.array([[2.0, 2.0], [1.0, 1.0], [0.0, 0.0]]))
    eps = float(kl_radius(np.array([float(n)]), union=2.0, delta=0.05)[0]) / n
    assert Q[1, :, 0].tolist() == [0.0, 1.0]
    assert Q[0, 0, 0] == pytest.approx(1 - np.exp(-eps))  # all of what is not believed goes to the better state
    assert Q[0, 1, 0] == pytest.approx(2.0)


def test_an_end_is_worth_what_it_is_worth():
    """Rewards from −1 to 0 and an end in the first step: nothing more is lost, so an end is the best that follows."""
    world = FiniteWorld(1, 1, 3, -1.0, 1.0, ends=True, rewards=np.array([[0.0]]))
    counts = Counts(world)
    for _ in range(10**4):
        counts.add(0, 0, 0, -1.0, 0, ended=True)
    balls = Balls(counts, CountingBudget(0.1, False))
    _, V = balls.optimistic(np.array([[3.0], [2.0], [1.0], [0.0]]))
    assert V[0, 0] == pytest.approx(2.0)  # less r_min per step: one step costs, two do not
    low, _ = balls.interval(np.zeros((3, 1), dtype=np.intp))
    assert low[0, 0] == pytest.approx(2.0, abs=0.01)


def test_laws_per_step_are_learned_apart():
    env = random_mdp(3, 2, seed=4, concentration=0.3, horizon=H)
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(3, 0.3), size=(H, 3, 2))
    world = FiniteWorld(3, 2, H, 0.0, 1.0, per_step=True, rewards=np.array(env.R))
    counts = sample(env, world, 3000, 0, per_step=P)
    V = np.zeros((H + 1, 3))
    for h in reversed(range(H)):
        V[h] = (env.R + P[h] @ V[h + 1]).max(axis=1)
    balls = Balls(counts, CountingBudget(0.1, False))
    upper, lower = balls.optimistic(caps(world))[1], balls.evaluate(None, -1)[1]
    assert (upper >= V - 1e-9).all()
    assert (lower <= V + 1e-9).all()
    pooled = Counts(FiniteWorld(3, 2, H, 0.0, 1.0, rewards=np.array(env.R)))
    assert len(counts.visits) == H * len(pooled.visits)


def test_true_laws_leave_balls_that_were_counted_elsewhere():
    env = random_mdp(3, 2, seed=0, concentration=0.5, horizon=H)
    world = FiniteWorld(3, 2, H, 0.0, 1.0, rewards=np.array(env.R))
    balls = Balls(sample(env, world, 2000, 0), CountingBudget(0.1, False))
    assert balls.contain(np.array(env.P))
    assert not balls.contain(np.array(env.P)[::-1].copy())
