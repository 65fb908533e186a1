"""Explanations against the plans that they take apart, and against sums over the evidence."""

from __future__ import annotations

import io
from typing import Any

import gymnasium
import numpy as np
import pytest
from rich.console import Console

import cmerl
from cmerl.embedding.displacement.evidence import smoother_weights
from cmerl.errors import InputError
from cmerl.kernels import RBF, Matern

EVERYTHING = 10**6


def agent_on(world: str, episodes: int, **options: Any) -> cmerl.CMERL:
    return cmerl.CMERL(gymnasium.make(world), seed=0, **options).learn(episodes)


@pytest.fixture(scope="module")
def river() -> cmerl.CMERL:
    return agent_on("cmerl/RiverSwim-v0", 8)


@pytest.fixture(scope="module")
def ball() -> cmerl.CMERL:
    return agent_on("cmerl/PBall2D-v0", 3, model="direct", replan=False)


def observation(agent: cmerl.CMERL) -> Any:
    return agent.env.reset(seed=1)[0]


MODES = [
    ("cmerl/RiverSwim-v0", {}),
    ("cmerl/RiverSwim-v0", {"bonus": "split"}),
    ("cmerl/RiverSwim-v0", {"bonus": "kl"}),
    ("cmerl/RiverSwim-v0", {"bonus": "guarded"}),
    ("cmerl/RiverSwim-v0", {"reward": lambda s, a: 1.0 if (s, a) == (5, 1) else 0.005 * ((s, a) == (0, 0))}),
    ("cmerl/RiverSwim-v0", {"time_homogeneous": False}),
    ("cmerl/PBall2D-v0", {"model": "direct"}),
    ("cmerl/PBall2D-v0", {"backend": "compressed"}),
    ("MountainCar-v0", {"horizon": 60, "model": "displacement", "reward_range": (-1.0, 0.0)}),
]


@pytest.mark.parametrize(("world", "options"), MODES)
@pytest.mark.parametrize("explore", [True, False])
def test_the_parts_sum_to_q_of_the_plan(world: str, options: dict[str, Any], explore: bool) -> None:
    agent = agent_on(world, 2, **options)
    obs, step = observation(agent), 3
    found = agent.explain(obs, step, explore=explore)
    plan = agent.policy(explore).plan
    row = agent.states.encode(obs)
    assert [a.q for a in found.actions] == pytest.approx(plan.q(row, step)[0], rel=1e-9)
    assert found.best == plan.act(row, step)[0]
    assert found.chosen.action == agent.actions.values[found.best]
    sigma = plan.views[min(step, len(plan.views) - 1)].grid(row).std()[0]
    assert [a.uncertainty for a in found.actions] == pytest.approx(sigma)


@pytest.mark.parametrize("name", ["river", "ball"])
def test_reward_and_value_are_sums_over_the_evidence(name: str, request: pytest.FixtureRequest) -> None:
    """Σw·r and Σw·V(s') of all transitions, V as the plan has it at the next step."""
    agent: cmerl.CMERL = request.getfixturevalue(name)
    obs, step = observation(agent), 4
    plan = agent.policy().plan
    for action in agent.explain(obs, step, evidence=EVERYTHING).actions:
        rewards = sum(e.weight * e.reward for e in action.evidence)
        after = agent.states.encode_many([e.next_observation for e in action.evidence])
        values = plan.value(after, step + 1) if len(after) else np.zeros(0)
        assert action.expected_reward == pytest.approx(rewards, abs=1e-9)
        assert action.expected_value == pytest.approx(values @ [e.weight for e in action.evidence], abs=1e-7)
        mass = sum(e.weight for e in action.evidence)
        ceiling = plan.stages[step].ceiling + plan.shift(step)
        assert action.optimism == pytest.approx((1.0 - mass) * ceiling, abs=1e-7)


def test_weights_are_those_of_ridge_regression(ball: cmerl.CMERL) -> None:
    """(K + λI)⁻¹k(z), solved here from the transitions in the evidence alone."""
    obs = observation(ball)
    action = ball.explain(obs, evidence=EVERYTHING).actions[2]
    every = {e.number: e for a in ball.explain(obs, evidence=EVERYTHING).actions for e in a.evidence}
    rows = [every[i] for i in sorted(every)]
    states = ball.states.encode_many([e.observation for e in rows])
    Z = np.hstack([states, np.vstack([ball.actions.encode(e.action) for e in rows])])
    z = np.hstack([ball.states.encode(obs), ball.actions.encode(action.action)])
    alpha = np.linalg.solve(ball.kernel(Z) + ball.lam * np.eye(len(Z)), ball.kernel(Z, z)[:, 0])
    found = {e.number: e.weight for e in action.evidence}
    assert [found.get(i, 0.0) for i in sorted(every)] == pytest.approx(alpha, abs=1e-8)


def test_counts_weigh_all_visits_alike() -> None:
    agent = agent_on("cmerl/RiverSwim-v0", 4, bonus="kl")
    agent.ledger.refresh()
    agent.planner.forget()
    for action in agent.explain(0, evidence=EVERYTHING).actions:
        if action.evidence:
            assert {e.weight for e in action.evidence} == {1.0 / len(action.evidence)}
            mean = np.mean([e.reward for e in action.evidence])
            assert action.expected_reward == pytest.approx(mean, abs=1.0 / 128)  # rewards are counted in bins


def test_compressed_weights_give_the_mean_reward() -> None:
    kernel = RBF(0.2)
    agent = agent_on("cmerl/PBall2D-v0", 4, backend="compressed", kernel=kernel, value_kernel=Matern(1.5, 0.2))
    for action in agent.explain(observation(agent), evidence=EVERYTHING).actions:
        rewards = sum(e.weight * e.reward for e in action.evidence)
        assert action.expected_reward == pytest.approx(rewards, abs=1e-3)  # to the dictionary's tolerance


def test_displacements_are_sums_over_the_evidence() -> None:
    """Each column of s' − s is predicted as Σw·(s' − s) with weights of its own; the evidence has their mean."""
    options = {"horizon": 60, "model": "displacement", "reward_range": (-1.0, 0.0)}
    agent = agent_on("MountainCar-v0", 1, **options)
    obs, model = observation(agent), agent.model.displacement
    state, view = agent.states.encode(obs), model.view
    moved = np.asarray(model.data.next_states) - np.asarray(model.data.Z)[:, :2]
    for which, action in enumerate(agent.explain(obs, evidence=EVERYTHING).actions):
        z = np.hstack([view.scaled(state), view.actions[[which]]])
        seen, centres = view.dynamics.data.z, model.settings.centres
        each = [smoother_weights(seen, z, fit, centres)[0] for fit in view.dynamics.fits]
        there, _, _ = model.step(state, np.array([which]))
        for column, weights in enumerate(each):
            assert weights @ moved[:, column] == pytest.approx((there - state)[0, column], rel=1e-3, abs=1e-5)
        listed = np.zeros(len(moved))
        listed[[e.number for e in action.evidence]] = [e.weight for e in action.evidence]
        assert listed == pytest.approx(np.mean(each, axis=0), abs=1e-9)
        assert agent.states.encode(action.trajectory[0]) == pytest.approx(there, abs=1e-6)


def test_predicted_trajectories_follow_the_model(river: cmerl.CMERL) -> None:
    """On numbered states: the most likely next state, counted by hand."""
    found = river.explain(0, evidence=EVERYTHING)
    for action in found.actions:
        counts = np.bincount([int(e.next_observation) for e in action.evidence], minlength=6)
        if len(action.evidence) >= 2:
            assert action.trajectory[0] == int(np.argmax(counts))
    assert all(len(a.trajectory) <= 10 for a in found.actions)
    assert cmerl.CMERL(gymnasium.make("cmerl/RiverSwim-v0")).explain(0).actions[0].trajectory == ()


def test_tables_for_terminals_and_notebooks(river: cmerl.CMERL) -> None:
    found = river.explain(0)
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(found)
    text = console.export_text()
    assert "optimism" in text
    assert f"→ {found.chosen.action}" in text
    assert "<table>" in found._repr_html_()
    assert str(found).splitlines()[1].startswith("action")
    assert found.to_json()["rows"][0][0].startswith("→")


def test_what_cannot_be_explained(river: cmerl.CMERL) -> None:
    with pytest.raises(InputError, match="step must be a whole number from 0 to 19"):
        river.explain(0, 20)
    with pytest.raises(InputError, match="state number"):
        river.explain(17)
