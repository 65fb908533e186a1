"""A model at fixed states, and the formula for Q."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence import BonusTerms, reward_radius
from cmerl.embedding import Coef, Grid, KernelGrid, Model, is_kernel_embedding
from cmerl.planning.task import Task
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Stage:
    """One step of a plan.

    Attributes:
        coef: the regressed target, for the model to read.
        shift: what every target lacks, since rewards count from the smallest one.
        ceiling: of Q, where there are no data.
        terms: the bonus.
        excess: the largest excess of Q over r + E[V_{h+1}], if the mode proves it and it is requested.
        until: the step whose V was regressed, the next one unless actions are held.
    """

    coef: Coef
    shift: float
    ceiling: float
    terms: BonusTerms
    excess: BonusTerms
    until: int


@dataclass(frozen=True)
class RewardEstimate:
    """A learned reward with its own bonus: clip(α(z)ᵀr + sign·linear·σ(z), 0, width)."""

    coef: Coef
    linear: float
    width: float


@dataclass(frozen=True)
class Basis:
    """Regressions of a model that all steps of a plan share.

    Attributes:
        one: the constant 1.
        reward: the reward, where it has a bonus of its own.
    """

    one: Coef
    reward: RewardEstimate | None

    @classmethod
    def of(cls, model: Model, task: Task) -> Basis:
        """For one plan."""
        return cls(model.ones(), reward_estimate(model, task) if task.reward_bonus else None)


def reward_estimate(model: Model, task: Task) -> RewardEstimate:
    """Regress the reward, with a bonus that covers what the data leave open."""
    problem = task.problem
    assert is_kernel_embedding(model)  # proofs are about embeddings
    B_R = problem.constant("B_R", task.mode.name)
    noise = problem.width / 2  # a bounded reward is sub-Gaussian with half its range
    share, choices = problem.delta_reward, model.choices
    beta = reward_radius(model.information_gain, lam=model.lam, B_R=B_R, noise=noise, delta=share, choices=choices)
    linear = beta / math.sqrt(model.lam)
    if model.projection_loss is not None:  # the part of R that the coordinates miss, at the data and at the query
        linear = math.hypot((beta + B_R * math.sqrt(model.projection_loss[0])) / math.sqrt(model.lam), B_R)
    return RewardEstimate(model.backup(np.zeros(len(model.support)), reward=1.0), linear, problem.width)


class Site:
    """A set of states under one model: what does not depend on the step is computed once."""

    def __init__(self, grid: Grid, states: Points, task: Task, basis: Basis, sign: float) -> None:
        self.grid, self._states, self._task, self._basis, self._sign = grid, states, task, basis, sign

    @cached_property
    def sigma(self) -> FloatArray:
        """σ(z) (q, A)."""
        return self.grid.std()

    @cached_property
    def mass(self) -> FloatArray:
        """The mass (q, A): the model's mean of the constant 1."""
        return self.grid.expectation(self._basis.one)

    @cached_property
    def weight_norm1(self) -> FloatArray:
        """‖α(z)‖₁ (q, A)."""
        assert isinstance(self.grid, KernelGrid)  # only modes for embeddings ask
        return self.grid.weight_norm1()

    @cached_property
    def shrinkage(self) -> FloatArray:
        """λ‖M⁻¹φ(z)‖ (q, A)."""
        assert isinstance(self.grid, KernelGrid)
        return self.grid.shrinkage()

    @cached_property
    def reward(self) -> FloatArray:
        """The reward from the smallest one on (q, A), where it is not part of the regression targets."""
        if self._task.known_reward is not None:
            return self._task.known_reward(self._states) - self._task.r_min
        estimate = self._basis.reward
        assert estimate is not None
        mean = self.grid.expectation(estimate.coef) - self._task.r_min * self.mass
        return np.clip(mean + self._sign * estimate.linear * self.sigma, 0.0, estimate.width)

    def q(self, stage: Stage) -> FloatArray:
        """Q = reward + mean + (1 − mass)·ceiling + bonus, unclipped (q, A)."""
        q = self.grid.expectation(stage.coef)
        if stage.shift or stage.ceiling:
            q += stage.ceiling + (stage.shift - stage.ceiling) * self.mass
        if self._task.separate_reward:
            q += self.reward
        if any(stage.terms):
            q += self._sign * self.bonus(stage.terms)
        return q

    def bonus(self, terms: BonusTerms) -> FloatArray:
        """A bonus (q, A)."""
        norm1 = self.weight_norm1 if terms.weights else 0.0
        return terms.at(self.sigma, norm1, self.shrinkage if terms.shrinkage else 0.0)
