"""How far ahead a model can be trusted, with models whose errors are known."""

import numpy as np
import pytest

from cmerl.embedding.displacement.motion import Motion
from cmerl.embedding.displacement.open_loop import open_loop_depth


class Drifts:
    """Moves by what an action says, and a little too far."""

    def __init__(self, error: float) -> None:
        self.error = error

    def quick_step(self, x: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, None]:
        return x + a + np.float32(self.error), np.zeros(len(x), np.float32), None


def path(n: int = 30) -> Motion:
    a = np.random.default_rng(0).normal(size=(n, 1))
    y = np.cumsum(a, axis=0)
    x = np.vstack([[[0.0]], y[:-1]])
    return Motion(x, a, y, np.zeros(n), np.zeros(n, dtype=bool))


@pytest.mark.parametrize(("error", "depth"), [(0.0, 20), (0.09, 5), (0.11, 4), (0.6, 0)])
def test_errors_add_up_until_they_exceed_the_tolerance(error: float, depth: int) -> None:
    assert open_loop_depth(Drifts(error), path(), most=20, tolerance=0.5) == depth  # type: ignore[arg-type]


def test_half_of_the_predictions_may_be_wrong() -> None:
    seen = path()
    seen.y[::3] += 9.0  # a third of what followed was not foreseen
    assert open_loop_depth(Drifts(0.0), seen, most=20, tolerance=0.5) == 20  # type: ignore[arg-type]
    seen.y[1::3] += 9.0
    assert open_loop_depth(Drifts(0.0), seen, most=20, tolerance=0.5) == 0  # type: ignore[arg-type]


def test_a_path_that_is_too_short_says_nothing_against_the_model() -> None:
    assert open_loop_depth(Drifts(9.0), path(2), most=20, tolerance=0.5) == 20  # type: ignore[arg-type]
