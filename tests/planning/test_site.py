"""One formula for Q whatever the model: reward + mean + (1 − mass)·ceiling, written out for three of them.

For embeddings the weights α are solved for here, densely. For a displacement they follow from where a simulated step
leads, and from how much is unknown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from cmerl.confidence import FailureBudget, Greedy, Practical, Problem
from cmerl.embedding import CompressedEmbedding, DisplacementEmbedding, ExactEmbedding, Model, compressed
from cmerl.kernels import RBF, Matern
from cmerl.optimism import Outlook, ceilings
from cmerl.planning import Plan, Task, make_plan
from cmerl.transitions import Transitions

H, LAM, R_MIN, WIDTH = 4, 0.3, -1.0, 1.5
ACTIONS = np.arange(2.0)[:, None]
KERNEL, VALUE_KERNEL = RBF((0.4, 0.4, 0.8)), Matern(1.5, 0.3)
STATES = np.random.default_rng(9).uniform(-0.4, 1.2, (15, 2))


def walk(n: int = 90, seed: int = 0) -> Transitions:
    """A walk whose rewards go from −1 to ½ and that ends beyond 1."""
    rng = np.random.default_rng(seed)
    states, actions = rng.random((n, 2)), rng.integers(2, size=(n, 1))
    nexts = states + np.hstack([0.1 * actions - 0.05, 0.05 * np.sin(3 * states[:, :1])])
    rewards = -0.25 + 0.75 * np.sin(4.0 * states[:, 1])
    return Transitions.of(np.hstack([states, actions]), nexts, rewards, nexts[:, 0] > 0.97)


class Parts(NamedTuple):
    """Everything at states × actions that the formula needs (q, A), and weights on V at the support (q, A, m)."""

    reward: np.ndarray
    mass: np.ndarray
    ends: np.ndarray
    weights: np.ndarray


def of_embedding(model: Model, states: np.ndarray) -> Parts:
    data = walk()
    q = len(states)
    Zq = np.hstack([np.repeat(states, 2, axis=0), np.tile(ACTIONS, (q, 1))])
    Z = np.asarray(data.Z)
    k = lambda X, Y: np.exp(-0.5 * np.square((X[:, None] - Y[None]) / [0.4, 0.4, 0.8]).sum(axis=2))  # noqa: E731
    alpha = np.linalg.solve(k(Z, Z) + LAM * np.eye(len(Z)), k(Z, Zq)).T.reshape(q, 2, -1)
    support = np.asarray(model.support)
    lands = (np.asarray(data.next_states)[:, None] == support[None]).all(axis=2) & ~data.terminated[:, None]
    assert lands.sum() == np.count_nonzero(~data.terminated)
    return Parts(alpha @ data.rewards, alpha.sum(axis=2), alpha @ data.terminated, alpha @ lands)


def of_displacement(model: DisplacementEmbedding, states: np.ndarray) -> Parts:
    q = len(states)
    known = 1.0 - model.grid(states).std() ** 2
    steps = [model.step(states, np.full(q, a)) for a in (0, 1)]
    rewards, ended = (np.column_stack([step[i] for step in steps]) for i in (1, 2))
    weights = [model.weights(np.hstack([states, np.tile(ACTIONS[a], (q, 1))])) for a in (0, 1)]
    return Parts(known * rewards, known, known * ended, np.stack(weights, axis=1))


def exact() -> ExactEmbedding:
    model = ExactEmbedding(KERNEL, LAM, ACTIONS)
    model.update(walk())
    return model


def sketch() -> CompressedEmbedding:
    model = compressed(KERNEL, VALUE_KERNEL, LAM, ACTIONS, tolerance=0.0, value_tolerance=0.0)
    model.update(walk())
    return model


def displaced() -> DisplacementEmbedding:
    model = DisplacementEmbedding(ACTIONS, categorical=True, lam=LAM)
    model.update(walk())
    return model


MODELS = {
    "exact": (exact, of_embedding),
    "compressed": (sketch, of_embedding),
    "displacement": (displaced, of_displacement),
}
OUTLOOK = Outlook(0.3, margin=0.1, prize=0.2, steps_to_termination=2, reward_until_then=-0.4)


def planned(model: Model, *, mode: Practical | Greedy, outlook: Outlook | None) -> Plan:
    problem = Problem(H, WIDTH, KERNEL, VALUE_KERNEL, None, FailureBudget(0.1, learned_reward=True))
    optimistic = ceilings(H, WIDTH, r_min=R_MIN, outlook=outlook)
    task = Task(problem, mode, R_MIN, optimistic=optimistic)
    return make_plan([model], task, episode=1, order=np.arange(2))


def by_hand(name: str, model: Model, optimism: float, outlook: Outlook | None) -> np.ndarray:
    """Q (H, q, A) in the environment's units."""
    here, there = (MODELS[name][1](model, states) for states in (STATES, np.asarray(model.support)))
    found, v = [], np.zeros(len(there.mass))
    for step in reversed(range(H)):
        left = H - step
        cap = prior = left * WIDTH
        if outlook is not None:
            cap = min(cap, left * (outlook.reward - R_MIN + outlook.margin) + outlook.prize)
            wait = min(outlook.steps_to_termination, left)
            prior = max(cap - wait * (outlook.reward - outlook.reward_until_then), 0.0)

        def q(parts: Parts, v=v, left=left, prior=prior) -> np.ndarray:
            after = -R_MIN * (left - 1)  # 0 is earned at every step after an end
            mean = parts.reward - R_MIN * parts.mass + parts.weights @ v + parts.ends * after
            return mean + (1.0 - parts.mass) * optimism * prior

        found.append(q(here) + R_MIN * left)
        v = np.clip(q(there).max(axis=1), 0.0, cap)
    return np.array(found[::-1])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("outlook", [None, OUTLOOK], ids=["range", "outlook"])
@pytest.mark.parametrize("mode", [Practical(), Greedy()], ids=["explores", "greedy"])
def test_q_is_reward_and_mean_and_the_ceiling_where_mass_is_missing(
    name: str, outlook: Outlook | None, mode: Practical | Greedy
) -> None:
    model = MODELS[name][0]()
    plan = planned(model, mode=mode, outlook=outlook)
    expected = by_hand(name, model, mode.optimism, outlook)
    tolerance = 1e-3 if name == "displacement" else 1e-7  # V is interpolated in single precision
    np.testing.assert_allclose(plan.q_table(STATES), expected, atol=tolerance)
    for step in range(H):
        np.testing.assert_allclose(plan.q(STATES, step), expected[step], atol=tolerance)
    mass = MODELS[name][1](model, STATES).mass
    assert mass.min() < 0.85 < 0.95 < mass.max()  # the ceiling counts here and there


@pytest.mark.parametrize("name", MODELS)
def test_the_mass_is_what_the_model_expects_of_the_constant(name: str) -> None:
    model = MODELS[name][0]()
    found = model.grid(STATES).expectation(model.ones())
    np.testing.assert_allclose(found, MODELS[name][1](model, STATES).mass, atol=1e-6)
    plan = planned(model, mode=Practical(), outlook=None)
    np.testing.assert_allclose(plan.site(STATES, 0).mass, found, atol=1e-6)
