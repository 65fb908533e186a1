"""The numbers of a displacement, each with its default."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DisplacementSettings:
    """How a displacement is learned, and where V is known.

    Attributes:
        centres: of each regression.
        fit_rows: transitions that the marginal likelihood is computed on.
        keep: transitions kept; when there are more, half of them stay, spread as widely as they were.
        landmarks: states at which V is known.
        most_weights: landmarks² × actions, which a backup reads: fewer landmarks where actions are many.
        reach: steps ahead at which landmarks are put, so that V is known where plans lead.
        smoothness: lengthscale of V over the distance between landmarks.
        survivors: states kept to tell terminations from.
    """

    centres: int = 250
    fit_rows: int = 250
    keep: int = 5000
    landmarks: int = 600
    most_weights: int = 1_500_000
    reach: int = 5
    smoothness: float = 4.0
    survivors: int = 400
