"""The settings of a displacement model."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class OutlierSettings:
    """Which transitions are outliers, such as collisions: regressions of displacements leave them out.

    Attributes:
        far: robust standard deviations beyond which a leave-one-out residual is no noise.
        least: standard deviations of the output that it must exceed as well.
        most: share of the rows that may be outliers; if they are more, none is left out.
        fit_most: the same where kernels are chosen, from fewer rows.
        fit_width: lengthscale of the kernel that finds outliers before kernels are chosen, in standard deviations.
        fit_ridge: its ridge.
    """

    far: float = 8.0
    least: float = 3.0
    most: float = 0.05
    fit_most: float = 0.1
    fit_width: float = 2.0
    fit_ridge: float = 1e-3


@dataclass(frozen=True, kw_only=True)
class RidgeSettings:
    """How the ridge of a regression is chosen, whenever it is made: by its error on parts of the data left out.

    Attributes:
        candidates: of which one is taken; with none, the ridge is that of the kernel's fit.
        folds: parts that are left out in turn.
    """

    candidates: tuple[float, ...] = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
    folds: int = 4


@dataclass(frozen=True, kw_only=True)
class DisplacementSettings:
    """Settings of the displacement regression and of its landmarks.

    Attributes:
        centres: of each regression.
        fit_rows: transitions that the marginal likelihood is computed on.
        fit_steps: most steps of its ascent.
        starts: lengthscales from which kernels are searched for, in standard deviations.
        additive: whether rewards may be the sum of what a state and what an action contributes.
        reward_margin: a kernel of widely spread rewards is taken if its error on episodes left out is below this
            share of that of a kernel of usual, rare and late ones; with 0 it never is.
        reward_folds: groups of episodes that are left out in turn.
        keep: transitions kept; when there are more, half of them stay, spread as widely as they were.
        landmarks: states at which V is known.
        most_weights: landmarks² × actions, which a backup reads: fewer landmarks where actions are many.
        reach: steps ahead at which landmarks are put, so that V is known where plans lead.
        smoothness: lengthscale of V over the distance between landmarks.
        reward_surprise: mean squared error of rewards that are yet to be learned, over the variance of those seen,
            beyond which their kernel is chosen anew at once; with infinity the first reward of a place does not call
            for a kernel either, before the data have doubled.
        state_dependence: whether rewards count as all alike while the action alone explains them.
        end_ridge: of the regression of what an end pays.
        outliers: transitions that regressions of displacements leave out.
        ridges: how the ridges of displacements are chosen.
    """

    centres: int = 200
    fit_rows: int = 200
    fit_steps: int = 30
    starts: tuple[float, ...] = (2.0, 0.5)
    additive: bool = True
    reward_margin: float = 0.75
    reward_folds: int = 4
    keep: int = 5000
    landmarks: int = 300
    most_weights: int = 1_500_000
    reach: int = 5
    smoothness: float = 4.0
    reward_surprise: float = 2.0
    state_dependence: bool = True
    end_ridge: float = 0.01
    outliers: OutlierSettings = field(default_factory=OutlierSettings)
    ridges: RidgeSettings = field(default_factory=RidgeSettings)
