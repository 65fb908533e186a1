"""What the bonuses of a plan prove: comparison with known dynamics, a regret bound, bounds on constants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence import (
    FiniteDomain,
    Interval,
    NonNegative,
    NormCalculator,
    Problem,
    mixture_radius,
    noise_radius,
    operator_norm,
)
from cmerl.embedding import KernelEmbedding
from cmerl.embedding.exact.grids import Layout
from cmerl.finite import TablePlan
from cmerl.oracles import FiniteModel, Solution
from cmerl.planning import Plan
from cmerl.transitions import Points, PointSet, Transitions, concatenate

FloatArray = NDArray[np.float64]

ROUNDING = 1e-9  # relative to the largest value: less than this is no failure of optimism
CERTIFY_UP_TO = 500  # state-actions for which a certificate takes milliseconds
ESTIMATE_UP_TO = 1500  # distinct state-actions for which an estimate of ‖Θ_P‖ takes seconds
MIXTURE_EPISODES = 10  # the martingale's bound is at its best from some ten times as many episodes on


@dataclass(frozen=True)
class Certifier:
    """Compares plans with a finite MDP that is known.

    Attributes:
        model: the environment.
        solution: its V* and Q*.
        domain: its states and actions, with the agent's kernels.
        states: all states, encoded, in the order of the model (S, d).
    """

    model: FiniteModel
    solution: Solution
    domain: FiniteDomain
    states: Points

    def check(self, plan: Plan, embeddings: Sequence[KernelEmbedding]) -> dict[str, bool]:
        """Whether Θ_P ∈ C_t ("in_set") and Q* ≤ Q^t everywhere ("optimistic"), for the plan made from embeddings."""
        task, problem = plan.task, plan.task.problem
        tolerance = ROUNDING * problem.horizon * problem.width
        optimistic = plan.q_table(self.states) >= self.solution.Q - tolerance
        if task.limited:  # a known maximal return bounds what episodes can reach, and plans rely on it
            optimistic |= ~self._reachable(problem.horizon)[:, :, None]
        found = {"optimistic": bool(optimistic.all())}
        if self.model.terminates or any(E.projection_loss is not None for E in embeddings):
            return found  # the set is one of operators on these states and their data alone
        left = np.arange(problem.horizon, -1, -1)
        V = self.solution.V - task.r_min * left[:, None]
        found["in_set"] = all(
            task.mode.covers(problem, E, self.domain.estimate(E), self.model.P, V, episode=plan.episode)
            for E in embeddings
        )
        return found

    def _reachable(self, horizon: int) -> NDArray[np.bool]:
        """Whether an episode can be in each state at each step (H, S)."""
        reached = [np.asarray(self.model.start) > 0]
        for _ in range(horizon - 1):
            reached.append(np.asarray((self.model.P[reached[-1]] > 0).any(axis=(0, 1))))
        return np.stack(reached)


def realised_excess(plan: Plan, embeddings: Sequence[KernelEmbedding], Z: Points, *, complete: bool) -> float:
    """Σ_h min{largest possible remaining return, largest excess of Q_h(z_h) over R + E[V_{h+1}]} of an episode.

    Args:
        plan: the one that was played throughout.
        embeddings: those that it was made from, unchanged since.
        Z: the state-actions visited, one per step.
        complete: whether the episode went on to its horizon or a terminal state; otherwise what was left is added.
    """
    total = 0.0
    E = embeddings[0]
    sigmas = E.std(Z) if len(embeddings) == 1 else [float(E.std(Z[h : h + 1])[0]) for h, E in _pairs(embeddings, Z)]
    for h, E in _pairs(embeddings, Z):
        terms, sigma = plan.stages[h].excess, np.float64(sigmas[h])
        norm1 = float(E.weight_norm1(Z[h : h + 1])[0]) if terms.weights else 0.0
        shrinkage = float(E.shrinkage(Z[h : h + 1])[0]) if terms.shrinkage else 0.0
        excess = float(terms.at(np.asarray(sigma), norm1, shrinkage))
        reward = plan.reward_estimate(h)
        if reward is not None:
            excess += 2.0 * reward.linear * float(sigma)
        total += min(_cap(plan, h), excess)
    return total if complete else total + _cap(plan, len(Z))


def regret_bound(excess: float, episodes: int, plan: Plan) -> float:
    """A bound on the regret of all ``episodes``, for all numbers of them at once, with the mode's probability.

    With Δ_h = V^t_h − V^π_h ≥ 0 on the event of optimism, Δ_h(s_h) ≤ min{cap, excess} + E[Δ_{h+1}], and what is drawn
    differs from its expectation by a martingale difference with values in an interval of length cap_{h+1}.
    """
    problem = plan.task.problem
    H = problem.horizon
    variance = sum((0.5 * _cap(plan, h)) ** 2 for h in range(1, H))
    most = episodes * _cap(plan, 0)
    if variance == 0.0:
        return min(most, excess)
    share = problem.budget.share * (0.5 if isinstance(plan.task.mode, NonNegative) else 1.0)
    luck = mixture_radius(episodes * variance, start=MIXTURE_EPISODES * variance, delta=share)
    return min(most, excess + luck)


def _pairs(embeddings: Sequence[KernelEmbedding], Z: Points) -> list[tuple[int, KernelEmbedding]]:
    return [(h, embeddings[min(h, len(embeddings) - 1)]) for h in range(len(Z))]


def _cap(plan: Plan, step: int) -> float:
    """The largest possible V at ``step``; the paper's Alg. 1 clips at H throughout."""
    if plan.task.mode.literal_algorithm1:
        return plan.task.problem.horizon * plan.task.problem.width
    return plan.task.cap(step)


def estimate_constants(
    embeddings: Sequence[KernelEmbedding],
    data: Sequence[Transitions] | None,
    actions: FloatArray,
    problem: Problem,
    plan: Plan | TablePlan,
    all_states: Points | None,
    delta: float,
) -> dict[str, Interval]:
    """Bounds on B_P = ‖Θ_P‖_HS from the data, and on B_V from the values that were planned with.

    Args:
        embeddings: what was learned; B_P is estimated where one serves all steps.
        data: the log that they were learned from, or None where it was dropped.
        actions: the action set (A, d_a).
        problem: sizes and kernels.
        plan: the plan made from them.
        all_states: every state (S, d), or None where they are not finitely many.
        delta: failure probability of the bounds on B_P; those on B_V are certain.
    """
    E = embeddings[0]
    states = E.support if all_states is None else all_states
    found = {}
    if len(states):
        calculate = NormCalculator(problem.value_kernel, states)
        ends = [-plan.task.r_min * (problem.horizon - h) for h in range(problem.horizon)]
        V = plan.value_table(states)[1:]
        norms = [calculate(v, end if problem.terminations else None).norm for v, end in zip(V, ends[1:], strict=True)]
        largest = max(norms, default=0.0)
        if all_states is None:
            found["B_V"] = Interval(largest, math.inf, "norm of this plan's V on the states seen, a lower bound")
        else:
            found["B_V"] = Interval(largest, largest, "norm of this plan's V on all states; other plans have others")
    tables = _tables(embeddings, data, actions, problem, all_states)
    if tables is not None:
        beta = noise_radius(E.sum_r, D=problem.diameter, delta=delta)
        B_psi = max(problem.value_kernel.bound, 1.0 if problem.terminations else 0.0)
        exhaustive = all_states is not None
        found["B_P"] = operator_norm(*tables, lam=E.lam, noise_radius=beta, B_psi=B_psi, exhaustive=exhaustive)
    return found


def _tables(
    embeddings: Sequence[KernelEmbedding],
    data: Sequence[Transitions] | None,
    actions: FloatArray,
    problem: Problem,
    all_states: Points | None,
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """K_φ, K_ψ and counts of transitions, on all states or on those seen; None where it would take too long."""
    if data is None or embeddings[0].projection_loss is not None or len(embeddings) > 1:
        return None
    Z, states = PointSet(), PointSet()
    if all_states is not None:
        states.add(all_states)
        Z.add(Layout(problem.kernel, actions).state_actions(all_states))
    if data:
        seen = concatenate(data)
        z, after = Z.add(seen.Z), states.add(seen.next_states)
    if not 0 < len(Z) <= ESTIMATE_UP_TO:
        return None
    S = len(states)
    counts = np.zeros((len(Z), S + 1))  # the last column is the end of an episode
    if data:
        np.add.at(counts, (z, np.where(seen.terminated, S, after)), 1.0)
    K_psi = np.eye(S + 1)
    K_psi[:S, :S] = problem.value_kernel(states.points)
    return problem.kernel(Z.points), K_psi, counts
