"""What plans prove: the realised excess, estimates of constants, and comparison with a known world."""

import numpy as np
import pytest
from agent_runs import known, smooth

from cmerl import CMERL
from cmerl.confidence import NonNegative, Split
from cmerl.envs import RiverSwim, random_mdp
from cmerl.kernels import RBF
from cmerl.oracles import solve

MODES = ["paper", "tight", "split", "nonnegative"]


def test_the_certificate_of_a_tight_run_is_that_of_its_confidence_set():
    env = random_mdp(4, 2, seed=0, concentration=0.3, horizon=5)
    answers = set()
    for B_P in (0.01, 0.6, 3.0):
        agent = known(env, seed=0, bonus="tight", B_P=B_P, lam=1.0, delta=0.9)
        for _ in range(12):
            held = agent.confidence_set().contains(env.P)
            optimistic = all(
                np.all(agent.q_values(s, h) >= solve(env, 5).Q[h, s] - 1e-8) for s in range(4) for h in range(5)
            )
            metrics = agent.learn(1).history[-1].metrics
            assert metrics["in_set"] == held
            assert metrics["optimistic"] == optimistic
            answers.add(held)
    assert answers == {True, False}


@pytest.mark.parametrize("mode", [Split(), NonNegative()])
def test_the_certificate_of_noise_is_computed_from_counts(mode):
    env = random_mdp(3, 2, seed=5, concentration=0.4, horizon=4)
    agent = known(env, seed=0, bonus=mode, lam=0.5).learn(15)
    certifier, E = agent.proving.proofs.certifier, agent.model.embeddings[0]
    data = np.concatenate([np.column_stack([b.Z, b.next_states]) for _, b in agent.model.batches]).astype(int)
    counts = np.zeros((3, 2, 3))
    np.add.at(counts, tuple(data.T), 1)
    N = counts.sum(axis=2, keepdims=True)
    surplus = (counts - N * env.P) / np.sqrt(N + 0.5)
    found = certifier.domain.estimate(E)
    assert found.noise(env.P) == pytest.approx(np.sqrt((surplus**2).sum()), rel=1e-9)
    V = solve(env, 4).V
    expected = [np.sqrt((((counts - N * env.P) @ v) ** 2 / (N[..., 0] + 0.5)).sum()) for v in V]
    np.testing.assert_allclose(found.value_noise(env.P, V), expected, atol=1e-9)


def test_certificates_can_be_switched_off_and_need_a_known_world():
    env = RiverSwim(5, 10)
    metrics = known(env, bonus="split", certify=False).learn(2).history[-1].metrics
    assert "in_set" not in metrics
    assert "optimistic" not in metrics
    assert "regret_bound" in metrics  # needs no truth
    practical = CMERL(env).learn(1).history[-1].metrics
    assert not {"in_set", "optimistic", "regret_bound"} & set(practical)


def test_the_realised_excess_is_the_sum_of_clipped_double_bonuses():
    env = RiverSwim(4, 6)
    agent = known(env, seed=2, bonus="split")
    total = 0.0
    for _ in range(6):
        plan = agent.policy().plan
        agent.learn(1)
        steps, batch = agent.model.batches[-1]
        for h, z in zip(steps, batch.Z, strict=True):
            total += min(6 - h, 2 * plan.bonus(z[None, :1], h)[0, int(z[1])])
        assert agent.history[-1].metrics["excess"] == pytest.approx(total)


def test_the_estimates_hold_the_true_constants():
    for seed in range(3):
        env, agent = smooth(seed, B_P=50.0, B_V=500.0, finite=True)
        agent.learn(30)
        found = agent.estimate_constants(delta=0.05)
        states = agent.states.encode_many(env.observations)
        Z = np.array([[*s, a] for s in states for a in range(2)])
        P, K = env.P.reshape(8, 4), RBF(0.5)(states)
        truth = np.sqrt(np.trace(np.linalg.solve(agent.kernel(Z), P @ K @ P.T)))
        assert 0.1 < found["B_P"].lower <= truth <= found["B_P"].upper < np.inf
        plan = agent.policy().plan
        V = [plan.value(states, h) for h in range(1, 4)]
        largest = max(np.sqrt(v @ np.linalg.solve(K, v)) for v in V)
        assert found["B_V"][:2] == pytest.approx((largest, largest), rel=1e-6)


@pytest.mark.parametrize("bonus", MODES)
def test_a_maximal_return_bounds_only_what_episodes_can_reach(bonus):
    env = RiverSwim(4, 6)
    best = solve(env, 6)
    agent = known(env, seed=0, bonus=bonus, max_return=3.0)
    assert best.value(3) > 3.0  # where no episode begins
    for _ in range(3):
        for h in range(6):
            for s in range(4):
                lower, upper = agent.value_bounds(s, h)
                assert lower - 1e-9 <= best.value(s, h) <= upper + 1e-9
        agent.learn(1)
        assert agent.history[-1].metrics["optimistic"] is True
    assert agent.value_bounds(0)[1] <= 3.0  # where they do, it tells something
