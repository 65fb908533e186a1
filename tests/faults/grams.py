"""Degenerate kernel matrices: means and σ of three backends against an eigen-decomposition, or fifty digits."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import mpmath
import numpy as np
from rows import Row

from cmerl import linalg
from cmerl.embedding import ExactEmbedding, compressed, nystrom
from cmerl.kernels import RBF, Delta, Kernel, Linear, Matern, StateAction
from cmerl.transitions import Transitions

Reference = Callable[..., tuple[np.ndarray, np.ndarray]]

BACKENDS = {
    "exact": lambda kernel, lam: ExactEmbedding(kernel, lam),
    "compressed": lambda kernel, lam: compressed(kernel, Delta(), lam, tolerance=0.0, value_tolerance=0.0),
    "nystrom": lambda kernel, lam: nystrom(kernel, lam, count=100, tolerance=0.0, rebuild=False),
}
KERNELS: list[Kernel] = [RBF(0.1), RBF(3.0), Matern(1.5, 0.2), Matern(2.5, 2.0), Matern(0.5, 1.0), Linear(), Delta(),
                         StateAction(RBF(0.5), 0.5 + 0.5 * Delta()), RBF(1.0) + Linear()]  # fmt: skip


def problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points that make a matrix nearly singular, and queries among them and between."""
    n, d = int(rng.integers(1, 25)), 2
    X = rng.uniform(size=(n, d))
    kind = rng.integers(6)
    if kind == 0:
        X = X[rng.integers(0, n, n)]
    elif kind == 1:
        X = X[rng.integers(0, max(n // 3, 1), n)] + 1e-9 * rng.normal(size=(n, d))
    elif kind == 2:
        X[:, 1] = X[:, 0]
    elif kind == 3:
        X *= 10.0 ** rng.integers(-8, 3)
    elif kind == 4:
        X = np.repeat(X[:1], n, axis=0)
    Xq = np.vstack([X[: min(n, 3)], rng.uniform(size=(3, d))])
    return X, Xq


def reference(
    kernel: Kernel, lam: float, X: np.ndarray, y: np.ndarray, Xq: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and σ by eigenvalues of K, none of them below 0."""
    values, vectors = np.linalg.eigh(kernel(X, X.copy()))
    shrunk = 1.0 / (np.maximum(values, 0.0) + lam)
    Kq = kernel(Xq, X) @ vectors
    variance = kernel.diag(Xq) - np.einsum("qi,i,qi->q", Kq, shrunk, Kq)
    return Kq @ (shrunk * (vectors.T @ y)), np.sqrt(np.maximum(variance, 0.0))


def exact_reference(
    kernel: Kernel, lam: float, X: np.ndarray, y: np.ndarray, Xq: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and σ by elimination in fifty digits."""
    with mpmath.workdps(50):
        K = mpmath.matrix(kernel(X, X.copy()).tolist()) + lam * mpmath.eye(len(X))
        Kq = mpmath.matrix(kernel(Xq, X).tolist())
        solved = mpmath.inverse(K) * Kq.T
        mean = solved.T * mpmath.matrix(y.tolist())
        reduction = [mpmath.fsum(Kq[q, i] * solved[i, q] for i in range(len(X))) for q in range(len(Xq))]
        variance = [mpmath.mpf(k) - r for k, r in zip(kernel.diag(Xq).tolist(), reduction, strict=True)]
    return np.array([float(m) for m in mean]), np.sqrt(np.maximum([float(v) for v in variance], 0.0))


def attack(count: int, seed: int, where: Path, *, broken: bool = False) -> Row:
    """So many problems, one backend after the other. ``broken``: a jitter that is far too large."""
    rng, row = np.random.default_rng(seed), Row("degenerate Grams")
    ladder = (1e-3,) if broken else linalg.JITTER_LADDER
    names = list(BACKENDS)
    choose = random.Random(seed)
    with warnings.catch_warnings(), mock.patch.object(linalg, "JITTER_LADDER", ladder):
        warnings.simplefilter("error")
        for i in range(count):
            X, Xq = problem(rng)
            kernel, lam = choose.choice(KERNELS), 10.0 ** choose.choice([-5, -3, -1, 0, 1])
            y = rng.normal(size=len(X))
            name = names[i % len(names)]
            what = f"{name}, {kernel!r}, λ = {lam:g}, problem {i} of seed {seed}"
            truth = exact_reference if i % 20 < len(names) else reference  # which takes a hundred times as long
            row.attempt(
                what, lambda k=kernel, lam=lam, b=name, X=X, y=y, Xq=Xq, t=truth: _solve(b, k, lam, X, y, Xq, t)
            )
    return row


def _solve(
    backend: str, kernel: Kernel, lam: float, X: np.ndarray, y: np.ndarray, Xq: np.ndarray, truth: Reference
) -> str:
    embedding = BACKENDS[backend](kernel, lam)
    half = len(X) // 2
    for part in (slice(0, half), slice(half, None)):
        embedding.update(Transitions.of(X[part], X[part], y[part]))
    zero = np.zeros(len(embedding.support))
    mean, sigma = embedding.expectation(embedding.backup(zero), Xq), embedding.std(Xq)
    wanted_mean, wanted_sigma = truth(kernel, lam, X, y, Xq)
    scale = float(kernel.diag(np.vstack([X, Xq])).max())
    # Rounding of K, relative to λ, decides how well anything can be known. A sketch leaves out directions of a
    # variance below τ = 3e-14 of k: by Cauchy and Schwarz an entry of its kernel is wrong by up to √τ k, 1.7e-7 k,
    # and σ² by √(nk/λ) times as much. What is asked here, 1e-6 k, is stricter wherever nk > 36 λ.
    slack = 1e-11 * len(X) * (1.0 + scale / lam) * scale + (1e-9 if backend == "exact" else 1e-6) * scale
    if not np.all(np.abs(sigma**2 - wanted_sigma**2) <= slack):
        return f"bad: σ² differs by {np.abs(sigma**2 - wanted_sigma**2).max():.1e}"
    size = (1.0 + np.abs(wanted_mean).max()) * (1.0 + np.sqrt(scale / lam))
    if not np.all(np.abs(mean - wanted_mean) <= 10.0 * slack / scale * size):
        return f"bad: means differ by {np.abs(mean - wanted_mean).max():.1e}"
    return "right"
