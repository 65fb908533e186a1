"""Certificates, the bound on regret that a run states for itself, and constants that data contradict."""

import logging

import numpy as np
import pytest

from cmerl import CMERL
from cmerl.confidence import NonNegative, Paper, Split, Tight
from cmerl.envs import FiniteMDP, RiverSwim, random_mdp
from cmerl.errors import InputError, RewardRangeError
from cmerl.kernels import RBF, Delta, StateAction
from cmerl.oracles import solve

MODES = ["paper", "tight", "split", "nonnegative"]


def known(env, **options):
    """CME-RL on a finite world whose reward it is given."""
    return CMERL(env, reward=lambda s, a: env.R[s, a], reward_range=(0, 1), **options)


@pytest.mark.parametrize("bonus", MODES)
@pytest.mark.parametrize("reward", ["known", "learned"])
def test_a_run_in_a_known_world_certifies_every_episode_and_bounds_its_regret(bonus, reward):
    env = random_mdp(4, 2, seed=3, concentration=0.5, horizon=5)
    agent = known(env, seed=1, bonus=bonus, lam=0.2)
    if reward == "learned":
        agent = CMERL(env, seed=1, bonus=bonus, lam=0.2, reward_range=(0, 1))
    agent.learn(40)
    metrics = [r.metrics for r in agent.history]
    assert all(m["in_set"] is True and m["optimistic"] is True for m in metrics)
    bounds, regret = [m["regret_bound"] for m in metrics], np.cumsum([r.regret for r in agent.history])
    assert np.all(regret <= bounds)
    assert np.all(np.array(bounds) <= 5 * np.arange(1, 41) + 1e-9)
    assert np.all(np.diff(bounds) >= -1e-9)


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


def test_the_bound_of_a_run_is_the_same_after_saving_and_loading(tmp_path):
    env = RiverSwim(4, 6)
    whole = known(env, seed=2, bonus="nonnegative").learn(12)
    half = known(env, seed=2, bonus="nonnegative").learn(5)
    half.save(tmp_path / "agent")
    loaded = CMERL.load(tmp_path / "agent", env=env, reward=lambda s, a: env.R[s, a]).learn(7)
    assert loaded.history[-1].metrics == whole.history[-1].metrics


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


# --- constants ---------------------------------------------------------------------------------------------


def smooth(seed=0, *, finite=False, **options):
    """A finite world with coordinates, RBF kernels, and constants of the user's choice."""
    rng = np.random.default_rng(seed)
    env = FiniteMDP(
        rng.dirichlet(np.full(4, 0.3), (4, 2)), rng.random((4, 2)), horizon=4, coordinates=rng.random((4, 1)) * 3
    )
    kernel = StateAction(RBF(0.5), Delta())
    options = {
        "bonus": "tight",
        "kernel": kernel,
        "value_kernel": RBF(0.5),
        "reward_range": (0, 1),
        "B_R": 5.0,
    } | options
    return env, CMERL(env, seed=seed, states=env.observations if finite else None, **options)


def test_constants_that_data_contradict_are_reported_once_and_end_the_proof(caplog):
    _, agent = smooth(B_P=0.05, B_V=1e-3)
    with caplog.at_level(logging.WARNING, "cmerl"):
        agent.learn(70)
    text = [record.getMessage() for record in caplog.records if "contradicted" in record.getMessage()]
    assert len(text) == 2
    assert {line.split()[0] for line in text} == {"B_P", "B_V"}
    assert agent.diagnostics()["proof"].startswith("void: the data contradict")


def test_constants_that_are_large_enough_are_not(caplog):
    _, agent = smooth(B_P=50.0, B_V=500.0)
    with caplog.at_level(logging.WARNING, "cmerl"):
        agent.learn(20)
    assert not [r for r in caplog.records if "contradicted" in r.getMessage()]
    assert agent.diagnostics()["proof"].startswith("holds")


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


@pytest.mark.parametrize("mode", [Paper(), Tight()])
def test_delta_kernels_need_no_constants_and_are_never_contradicted(mode):
    agent = known(RiverSwim(4, 6), bonus=mode).learn(4)
    found = agent.estimate_constants()
    assert found["B_P"].upper <= np.sqrt(8) + 1e-9
    assert found["B_P"].lower <= np.sqrt((agent.env.unwrapped.P**2).sum()) <= found["B_P"].upper


# --- what must not be certified ------------------------------------------------------------------------------


def jackpot(**options):
    """A step in a hundred leads to where rewards are 500."""
    P = np.zeros((2, 2, 2))
    P[0, 0, 0] = P[1, :, 1] = 1.0
    P[0, 1] = [0.99, 0.01]
    return FiniteMDP(P, [[0.1, 0.1], [500.0, 500.0]], horizon=4, **options)


def test_rewards_that_nobody_bounded_are_named_as_an_assumption():
    env = jackpot()
    missed = 0
    for seed in range(5):
        agent = CMERL(env, seed=seed, bonus="nonnegative").learn(8)
        proof = agent.diagnostics()["proof"]
        if agent.reward_range[1] > 1:
            assert proof.startswith("void: a reward outside the assumed")
            continue
        missed += agent.value_bounds(0)[1] < solve(env, 4).value(0)
        assert "if all rewards lie in [0, 1]" in proof
        assert "reward_range" in proof
        assert agent.history[-1].metrics["assumes"] == "all rewards lie in [0, 1]"
    assert missed  # so the assumption had to be named
    declared = CMERL(env, seed=0, bonus="nonnegative", reward_range=(0, 500)).learn(8)
    assert declared.diagnostics()["proof"] == "holds with probability 1 - delta"
    assert "assumes" not in declared.history[-1].metrics
    assert declared.value_bounds(0)[1] >= solve(env, 4).value(0)


def test_a_broken_assumption_on_rewards_ends_all_claims():
    agent = CMERL(jackpot(start=1), seed=0, bonus="nonnegative").learn(2)
    assert agent.diagnostics()["proof"].startswith("void: a reward outside the assumed")
    assert "regret_bound" not in agent.history[-1].metrics
    with pytest.raises(InputError, match="void: a reward outside the assumed"):
        agent.value_bounds(0)
    assert agent.pac_policy(1.0, 0.5).epsilon is None


def test_a_known_reward_with_all_states_known_bounds_itself():
    env = jackpot()
    agent = CMERL(env, seed=0, bonus="nonnegative", reward=lambda s, a: env.R[s, a]).learn(2)
    assert agent.diagnostics()["proof"] == "holds with probability 1 - delta"
    assert agent.value_bounds(0)[1] >= solve(env, 4).value(0)
    with pytest.raises(RewardRangeError, match="500"):
        CMERL(env, bonus="nonnegative", reward=lambda s, a: env.R[s, a], reward_range=(0, 1))


def test_a_known_reward_on_infinitely_many_states_bounds_nothing():
    _, agent = smooth(B_P=50.0, B_V=500.0, reward=lambda s, a: 0.2, reward_range="auto")
    assert "if all rewards lie in [0, 1]" in agent.learn(2).diagnostics()["proof"]
    # The function says more than was ever paid: at next states, for actions that nobody took.
    _, agent = smooth(B_P=50.0, B_V=500.0, reward=lambda s, a: 9.0, reward_range="auto")
    assert agent.learn(2).diagnostics()["proof"].startswith("void: a reward outside the assumed")
    assert "regret_bound" not in agent.history[-1].metrics
    _, agent = smooth(B_P=50.0, B_V=500.0, reward=lambda s, a: 9.0)
    with pytest.raises(RewardRangeError, match="9"):
        agent.learn(2)


def test_a_void_proof_bounds_no_values():
    agent = known(RiverSwim(4, 6), seed=0, bonus="tight", B_P=0.01, B_V=0.01).learn(64)
    assert agent.diagnostics()["proof"].startswith("void")
    with pytest.raises(InputError, match="void: the data contradict"):
        agent.value_bounds(0)


@pytest.mark.parametrize("bonus", MODES)
def test_a_ridge_that_rounding_swallows_is_refused_where_something_is_proven(bonus):
    env = random_mdp(3, 2, seed=0, horizon=4)
    with pytest.raises(InputError, match="lam"):
        known(env, bonus=bonus, lam=1e-14)
    CMERL(env, lam=1e-14).learn(1)
    least = known(env, seed=1, bonus=bonus, lam=1e-6).learn(25)
    N = least.embedding.visit_counts([[s, a] for s in range(3) for a in range(2)])
    sigma = least.embedding.std([[s, a] for s in range(3) for a in range(2)])
    np.testing.assert_allclose(sigma, np.sqrt(1e-6 / (N + 1e-6)), rtol=1e-6)
    assert all(record.metrics["optimistic"] for record in least.history)


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


def test_a_return_above_the_maximal_one_ends_the_proof(caplog):
    env = RiverSwim(4, 6)
    agent = known(env, seed=0, bonus="split", max_return=0.01)
    with caplog.at_level(logging.WARNING, "cmerl"):
        agent.learn(6)
    assert agent.diagnostics()["proof"].startswith("void: the data contradict max_return")
    assert sum("max_return" in record.getMessage() for record in caplog.records) == 1
