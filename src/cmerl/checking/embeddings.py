"""Checks of an embedding against the facts of docs/method/algorithm.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.checking.report import Finding
from cmerl.errors import CmerlError
from cmerl.kernels import Kernel
from cmerl.linalg import spectrum

FloatArray = NDArray[np.float64]


def check_embedding(
    make: Callable[[], Any], X: FloatArray, Y: FloatArray, *, seed: int = 0, tolerance: float = 1e-6
) -> list[Finding]:
    """Test an embedding against facts of the method; the findings, empty if all hold.

    >>> import numpy as np
    >>> from cmerl import ConditionalMeanEmbedding
    >>> from cmerl.checking.embeddings import check_embedding
    >>> from cmerl.kernels import RBF
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> check_embedding(lambda: ConditionalMeanEmbedding(RBF(0.3), lam=0.5), x, x**2)
    []

    Args:
        make: returns an empty embedding with ``update``, ``weights``, ``std``, ``information_gain``, ``n``,
            ``kernel`` and ``lam``, as in ``ConditionalMeanEmbedding``.
        X: inputs to learn from (n, d), n ≥ 4.
        Y: outputs (n, d').
        seed: seed of the order of the data.
        tolerance: largest difference that counts as equal, relative to the kernel; sketches need more.
    """
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    rng = np.random.default_rng(seed)
    found: list[Finding] = []
    for fact in (_prior, _posterior, _inequalities, _monotone, _batches, _order, _refusals):
        name = fact.__name__.strip("_")
        try:
            found += [Finding("error", name, what, fix) for what, fix in fact(make, X, Y, rng, tolerance)]
        except Exception as error:
            what = f"it raised {type(error).__name__}: {error}"
            found.append(Finding("error", name, what, "let update and queries accept finite arrays"))
    return found


Facts = Iterator[tuple[str, str]]


def _learned(make: Callable[[], Any], X: FloatArray, Y: FloatArray, *stops: int) -> Any:
    E = make()
    for part in np.split(np.arange(len(X)), list(stops)):
        if len(part):
            E.update(X[part], Y[part])
    return E


def _scale(kernel: Kernel, X: FloatArray) -> float:
    return float(np.max(kernel.diag(X)))


def _prior(make: Callable[[], Any], X: FloatArray, Y: FloatArray, rng: Any, tolerance: float) -> Facts:
    """N = 0: σ² = k, and nothing is known."""
    E = make()
    if E.n != 0 or E.information_gain != 0.0:
        yield "without data n and the information gain are not 0", "start from nothing"
    if not np.allclose(E.std(X) ** 2, E.kernel.diag(X), rtol=tolerance):
        yield "without data σ² is not k(z, z)", "return the kernel's own diagonal where nothing was seen"


def _posterior(make: Callable[[], Any], X: FloatArray, Y: FloatArray, rng: Any, tolerance: float) -> Facts:
    """Mean and σ are those of the ridge regression, here by eigenvalues of K; G is ½ log det(I + K/λ)."""
    E = _learned(make, X, Y)
    K, lam = E.kernel(X), E.lam
    values, vectors = spectrum((K + K.T) / 2)
    values = np.maximum(values, 0.0)
    half = K @ vectors
    f = Y[:, 0]
    mean = half @ ((vectors.T @ f) / (values + lam))
    variance = E.kernel.diag(X) - np.einsum("qi,i,qi->q", half, 1.0 / (values + lam), half)
    size = _scale(E.kernel, X)
    got = E.expectation(lambda states: np.asarray(states)[:, 0], X)
    if not np.all(np.abs(got - mean) <= tolerance * (1.0 + np.abs(f).max()) * (1.0 + size / lam)):
        yield (
            f"means differ from (K + λI)⁻¹ by {np.abs(got - mean).max():.2g}",
            "raise tolerance for a sketch, or look at how weights are solved for",
        )
    if not np.all(np.abs(E.std(X) ** 2 - variance) <= tolerance * size * (1.0 + size / lam)):
        yield (
            f"σ² differs from k − kᵀ(K + λI)⁻¹k by {np.abs(E.std(X) ** 2 - variance).max():.2g}",
            "keep the residual of a sketch in σ²",
        )
    gain = 0.5 * float(np.sum(np.log1p(values / lam)))
    if E.information_gain < gain - tolerance * (1.0 + gain) * len(X):
        yield f"the information gain {E.information_gain:.6g} is below ½ log det(I + K/λ) = {gain:.6g}", "never less"


def _inequalities(make: Callable[[], Any], X: FloatArray, Y: FloatArray, rng: Any, tolerance: float) -> Facts:
    """σ ≤ √k; Σr ≤ 2G; nothing is NaN."""
    E = _learned(make, X, Y)
    sigma, prior = E.std(X), np.sqrt(E.kernel.diag(X))
    if not (np.all(np.isfinite(sigma)) and np.all(np.isfinite(E.weights(X)))):
        yield "σ or weights hold NaN or infinity", "refuse what leads there"
    if np.any(sigma > prior * (1.0 + tolerance) + tolerance) or np.any(sigma < 0):
        yield "σ is larger than without data, or below 0", "σ² = k − kᵀ(K + λI)⁻¹k lies from 0 to k"
    sum_r = getattr(E, "sum_r", None)
    if (
        sum_r is not None
        and math.isfinite(sum_r)
        and sum_r > 2.0 * E.information_gain * (1.0 + tolerance) + tolerance
    ):
        yield f"Σr = {sum_r:.6g} exceeds 2G = {2 * E.information_gain:.6g}", "r/(1 + w) ≤ log(1 + w)"


def _monotone(make: Callable[[], Any], X: FloatArray, Y: FloatArray, rng: Any, tolerance: float) -> Facts:
    """More data never raise σ, nor lower the information gain."""
    E = make()
    before, gain = np.sqrt(E.kernel.diag(X)), 0.0
    for part in np.array_split(np.arange(len(X)), 4):
        E.update(X[part], Y[part])
        sigma = E.std(X)
        if np.any(sigma > before + math.sqrt(tolerance) * (1.0 + before)):
            yield "σ rose when data came", "σ is non-increasing"
        if E.information_gain < gain - tolerance * (1.0 + gain):
            yield "the information gain fell when data came", "it is non-decreasing"
        before, gain = sigma, E.information_gain


def _batches(make: Callable[[], Any], X: FloatArray, Y: FloatArray, rng: Any, tolerance: float) -> Facts:
    """One batch or many: the same σ and the same means."""
    once, often = _learned(make, X, Y), _learned(make, X, Y, *range(1, len(X), 3))
    yield from _differences("in one batch and in many", once, often, X, tolerance)


def _order(make: Callable[[], Any], X: FloatArray, Y: FloatArray, rng: Any, tolerance: float) -> Facts:
    """Whatever the order: the same σ and the same means."""
    order = rng.permutation(len(X))
    yield from _differences(
        "in another order", _learned(make, X, Y), _learned(make, X[order], Y[order]), X, tolerance
    )


def _differences(how: str, one: Any, other: Any, X: FloatArray, tolerance: float) -> Facts:
    size = _scale(one.kernel, X)
    slack = tolerance * size * (1.0 + size / one.lam)
    if not np.allclose(one.std(X) ** 2, other.std(X) ** 2, atol=slack, rtol=0):
        yield f"σ differs where the same data come {how}", "raise tolerance for a sketch, whose points depend on it"
    ours, theirs = (E.expectation(lambda states: np.asarray(states)[:, 0], X) for E in (one, other))
    if not np.allclose(ours, theirs, atol=10 * slack * (1.0 + np.abs(ours).max()), rtol=0):
        yield (
            f"means differ where the same data come {how}",
            "raise tolerance for a sketch, whose points depend on it",
        )


def _refusals(make: Callable[[], Any], X: FloatArray, Y: FloatArray, rng: Any, tolerance: float) -> Facts:
    """What cannot be learned is refused by a typed error, and changes nothing."""
    E = _learned(make, X, Y)
    before = E.n, E.information_gain, E.std(X)
    for what, bad in (("NaN", np.full_like(X[:2], np.nan)), ("another number of columns", np.hstack([X[:2], X[:2]]))):
        try:
            E.update(bad, Y[:2])
            yield f"an input with {what} was learned", "refuse it with a CmerlError"
        except CmerlError:
            pass
        except Exception as error:
            yield f"an input with {what} raised {type(error).__name__}", "raise a CmerlError"
        if (E.n, E.information_gain) != before[:2] or not np.array_equal(E.std(X), before[2]):
            yield (
                f"an input with {what} was refused, but changed the embedding",
                "change nothing before all is checked",
            )
