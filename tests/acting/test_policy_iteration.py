"""Value iteration that mostly reads the best sequences: the same fixed point as maximising every time."""

from __future__ import annotations

import numpy as np

from cmerl.acting.policy_iteration import Backup, modified_policy_iteration

M, CHOICES = 12, 5


def backup(seed: int, discount: float = 0.9) -> tuple[Backup, tuple[np.ndarray, ...]]:
    """A finite world: kernels are indicators, so that V at an end is v of the landmark that it is."""
    rng = np.random.default_rng(seed)
    leads, earned = rng.integers(M, size=M * CHOICES), rng.random(M * CHOICES).astype(np.float32)
    over = rng.random(M * CHOICES) < 0.1
    K = np.eye(M, dtype=np.float32)[leads]
    inverse = np.stack([np.eye(M, dtype=np.float32)] * 2)
    later = np.float32(discount) * ~over
    made = Backup(K, earned, later, np.zeros(M * CHOICES, np.float32), inverse, (0.0, 1.0 / (1.0 - discount)))
    return made, (leads, earned, later)


def optimum(leads: np.ndarray, earned: np.ndarray, later: np.ndarray) -> np.ndarray:
    v = np.zeros(M)
    for _ in range(600):
        v = (earned + later * v[leads]).reshape(M, CHOICES).max(axis=1)
    return v


def test_it_finds_the_fixed_point_of_the_maximum() -> None:
    for seed in range(5):
        made, world = backup(seed)
        found = modified_policy_iteration(made, np.zeros(M), CHOICES, 1e-6, rounds=60, sweeps=8)
        np.testing.assert_allclose(found, optimum(*world), atol=1e-4)


def test_few_rounds_do_with_sweeps_between_them() -> None:
    made, world = backup(0)
    errors = [
        np.abs(modified_policy_iteration(made, np.zeros(M), CHOICES, 0.0, rounds=6, sweeps=n) - optimum(*world)).max()
        for n in (0, 8)
    ]
    assert errors[1] < 0.05 * errors[0]


def test_the_lesser_of_two_regressions_counts_less_what_is_unknown() -> None:
    rng = np.random.default_rng(1)
    K, inverse = rng.random((7, 3)).astype(np.float32), rng.normal(size=(2, 3, 3)).astype(np.float32)
    earned, later, unknown, v = *rng.random((3, 7)).astype(np.float32), rng.normal(size=3)
    found = Backup(K, earned, later, unknown, inverse, (-0.5, 0.5))(v)
    for i in range(7):
        either = [K[i] @ (inverse[j] @ (v - v.mean())) + v.mean() for j in range(2)]
        follows = float(np.clip(min(either), -0.5, 0.5))
        expected = earned[i] + later[i] * (follows - unknown[i] * (follows - v.min()))
        assert abs(found[i] - expected) < 1e-5
