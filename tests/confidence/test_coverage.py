"""Every provable mode on 200 random worlds with its own adaptive policy, simulated; the simulation against agents."""

import importlib.util
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from cmerl import CMERL
from cmerl.confidence import Practical
from cmerl.envs import random_mdp

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import provable
    import tabular

    # By its path: another package is called coverage too.
    spec = importlib.util.spec_from_file_location("benchmark_of_coverage", BENCHMARKS / "coverage.py")
    coverage = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(coverage)
    yield coverage, provable, tabular
    for name in ("provable", "tabular", "agent_coverage"):
        sys.modules.pop(name, None)


MODES = ["paper", "tight", "split", "nonnegative"]
SHIPPED = [*MODES, "kl", "guarded"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("delta", [0.5, 0.1, 0.05])
def test_what_a_mode_rests_on_fails_no_more_often_than_it_says(benchmarks, mode, delta):
    runs = benchmarks[0].coverage(mode, delta, worlds=200, episodes=12)
    assert runs.left_set.mean() <= delta
    assert runs.not_optimistic.mean() <= delta
    assert runs.bound_broken.mean() <= delta


@pytest.mark.parametrize("mode", MODES)
def test_a_tenth_of_the_radius_fails(benchmarks, mode):
    runs = benchmarks[0].coverage(mode, 0.5, worlds=100, episodes=12, shrink=10.0)
    assert runs.left_set.mean() > 0.5


@pytest.mark.parametrize("mode", [*MODES, "practical"])
def test_the_simulation_plans_as_the_agent_does(benchmarks, mode):
    _, provable, tabular = benchmarks
    env = random_mdp(4, 2, seed=1, concentration=0.4, horizon=5)
    reward = "learned" if mode == "practical" else lambda s, a: env.R[s, a]
    bonus = Practical(prior_scale=0.7) if mode == "practical" else mode
    agent = CMERL(env, seed=0, lam=0.1, bonus=bonus, reward=reward, reward_range=(0, 1), replan=False).learn(8)
    runs = tabular.of_worlds([env], lam=0.1, seed=0)
    for _, batch in agent.model.batches:
        for z, after in zip(batch.Z.astype(int), batch.next_states[:, 0].astype(int), strict=True):
            runs.sum_r += 1.0 / (runs.visits[0, z[0], z[1]] + 1.1)
            runs.visits[0, z[0], z[1]] += 1
            runs.after[0, z[0], z[1], after] += 1
    E = agent.model.embeddings[0]
    assert runs.gain[0] == pytest.approx(E.information_gain)
    assert runs.sum_r[0] == pytest.approx(E.sum_r)
    planned, original = [], tabular.Runs.plan
    if mode == "practical":
        planned.append(runs.plan(lambda h, v: 0.0, known=False, prior=0.7))
    else:
        proof = provable.ProvableRuns(mode, runs, delta=0.1)
        proof.episode = 8
        runs.plan = lambda *a, **k: planned.append(original(runs, *a, **k)) or planned[-1]
        proof.step()
    plan = agent.policy().plan
    np.testing.assert_allclose(planned[0][0][0], plan.q_table(agent.states.encode_many(env.observations)), rtol=1e-9)
    if mode == "practical":  # what balancing compares trials with
        greedy = agent.planner.plan(explore=False, unseen="least").q_table(agent.states.encode_many(env.observations))
        np.testing.assert_allclose(runs.plan(lambda h, v: 0.0, known=False)[0][0], greedy, rtol=1e-9, atol=1e-12)
    held = plan.task.mode.provable and agent.learn(1).history[-1].metrics["in_set"]
    assert mode == "practical" or held == (not proof.left_set[0])


@pytest.mark.parametrize("mode", SHIPPED)
def test_nothing_that_the_shipped_agent_claims_fails(benchmarks, mode):
    import agent_coverage

    for index in (1, 4, 6):
        found = agent_coverage.run(mode, 0.5, index, root=11, episodes=6)
        assert not found.failed, found.words


@pytest.mark.parametrize("mode", SHIPPED)
def test_with_radii_that_are_too_small_it_fails(benchmarks, mode):
    import agent_coverage

    with agent_coverage.shrunk_radii(100.0):
        failed = [agent_coverage.run(mode, 0.5, index, root=11, episodes=6).failed for index in range(4)]
    assert any(failed)
    assert not agent_coverage.run(mode, 0.5, 1, root=11, episodes=2).failed  # and all is as before


@pytest.mark.parametrize(
    ("failures", "verdict"),
    [([set()] * 20, 0), ([{"set"}] * 3 + [set()] * 17, 0), ([{"set"}] * 12 + [set()] * 8, 1), ([{"values"}], 1)],
)
def test_claims_are_the_verdict_and_the_event_may_fail_as_often_as_its_share(
    benchmarks, monkeypatch, failures, verdict
):
    import agent_coverage

    def run(mode, delta, index, *, root, episodes):
        return agent_coverage.Run(failures[index], "a run", agent_coverage.event_share(mode, delta, learned=True))

    monkeypatch.setattr(agent_coverage, "run", run)
    options = Namespace(modes="tight", deltas="0.5", first=0, runs=len(failures), root=0, episodes=1)
    assert agent_coverage.event_share("tight", 0.5, learned=True) == pytest.approx(1 / 6)
    assert agent_coverage.event_share("kl", 0.5, learned=False) == pytest.approx(1 / 8)
    assert agent_coverage.report(options) == verdict


def test_the_worlds_of_the_command_are_of_every_kind(benchmarks):
    import agent_coverage

    worlds = [agent_coverage.draw_world(np.random.default_rng([0, i])) for i in range(60)]
    assert {w.kind for w in worlds} == set(agent_coverage.KINDS)
    assert {len(w.R) for w in worlds} == {w.H for w in worlds} == set(range(3, 9))
    assert {w.R.shape[1] for w in worlds} == {2, 3, 4}
    for w in worlds:
        assert np.all(w.P >= 0)
        assert np.all(w.P.sum(axis=2) <= 1 + 1e-9) if w.ends else np.allclose(w.P.sum(axis=2), 1.0)
        assert w.range[0] - 1e-12 <= w.R.min()
        assert w.R.max() <= w.range[1] + 1e-12
        # V* of two steps, by trying all pairs of actions.
        if w.H == 3:
            V = w.best()[0]
            for s in range(len(w.R)):
                assert V[1, s] == pytest.approx(
                    max(w.R[s, a] + w.P[s, a] @ w.R.max(axis=1) for a in range(w.R.shape[1]))
                )
