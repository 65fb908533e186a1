"""Checks of a kernel on a sample: symmetry, positive semi-definiteness, diagonal, blocks, determinism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cmerl.checking.report import SEVERITIES, Finding, Findings
from cmerl.errors import CmerlError, InputError
from cmerl.kernels import FloatArray, Kernel, as_kernel
from cmerl.linalg import spectrum

SINGLES = 6  # points that are asked for one by one


@dataclass(frozen=True)
class KernelReport(Findings):
    """Findings about a kernel, the most severe first.

    Attributes:
        findings: what was found.
        points: number of points tested.
        smallest: smallest eigenvalue of their matrix; None without a matrix.
        largest: largest eigenvalue.
    """

    points: int
    smallest: float | None = None
    largest: float | None = None

    def __str__(self) -> str:
        lines = [str(f) for f in self.findings] or ["no problems found"]
        if self.smallest is not None:
            lines.append(f"eigenvalues on {self.points} points: from {self.smallest:.3g} to {self.largest:.3g}")
        return "\n".join(lines)


def check_kernel(kernel: Any, points: Any, *, tolerance: float = 1e-8) -> KernelReport:
    """Test whether a function is a kernel on a sample of points.

    A sample can only refute: a function that passes may be indefinite on other points.

    Args:
        kernel: a kernel, or a function k(X, Y) → matrix.
        points: at least two points, as a list of objects or an array (n, d), such as visited states.
        tolerance: relative difference below which values count as equal.
    """
    if not hasattr(points, "__len__") or len(points) < 2:
        raise InputError("check_kernel needs a list or an array of at least two points")
    k = as_kernel(kernel)
    n = len(points)
    K, found = _evaluate(k, points)
    if K is None:
        return KernelReport(tuple(found), n)
    scale = max(float(np.abs(K).max()), 1e-300)
    findings = [
        *_check_symmetry(K, tolerance * scale),
        *_check_blocks(k, points, K, tolerance * scale),
        *_check_diagonal(k, points, K, tolerance * scale),
        *_check_determinism(k, points, K),
    ]
    values = spectrum((K + K.T) / 2.0)[0]
    findings += _check_eigenvalues(values, n, tolerance * scale)
    order = {severity: i for i, severity in enumerate(SEVERITIES)}
    findings.sort(key=lambda f: order[f.severity])
    return KernelReport(tuple(findings), n, float(values.min()), float(values.max()))


def _evaluate(k: Kernel, points: Any) -> tuple[FloatArray | None, list[Finding]]:
    try:
        K = np.asarray(k(points, points[:]))
    except CmerlError as error:
        return None, [Finding("error", "matrix", str(error), "return a finite array of shape (len(X), len(Y))")]
    except Exception as error:  # a user's own code may raise anything
        what = f"the kernel raised {type(error).__name__}: {error}"
        return None, [Finding("error", "exception", what, "call it with the same points in a debugger")]
    if K.shape != (len(points), len(points)):
        what = f"the kernel returned shape {K.shape} for {len(points)} and {len(points)} points"
        return None, [Finding("error", "matrix", what, "return an array of shape (len(X), len(Y))")]
    if K.dtype.kind not in "biuf" or not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K.astype(np.float64)))[0]
        what = f"k is NaN or infinite for points {i} and {j}"
        return None, [Finding("error", "not finite", what, "return finite numbers")]
    return K.astype(np.float64), []


def _check_symmetry(K: FloatArray, tolerance: float) -> list[Finding]:
    apart = np.abs(K - K.T)
    i, j = np.unravel_index(int(apart.argmax()), apart.shape)
    if apart[i, j] <= tolerance:
        return []
    what = f"k is not symmetric: k(x_{i}, x_{j}) = {K[i, j]:.6g}, but k(x_{j}, x_{i}) = {K[j, i]:.6g}"
    return [Finding("error", "not symmetric", what, "use (k(x, y) + k(y, x))/2")]


def _check_eigenvalues(values: FloatArray, n: int, tolerance: float) -> list[Finding]:
    if values.min() >= -n * tolerance:
        return []
    share = -values[values < 0.0].sum() / np.abs(values).sum()
    what = (
        f"k is not positive semi-definite: on {n} points the smallest eigenvalue is {values.min():.3g}, "
        f"and {100.0 * share:.2g} % of the spectrum is negative"
    )
    return [Finding("error", "indefinite", what, "choose another kernel, or ask for cmerl.kernels.repair(k, points)")]


def _check_blocks(k: Kernel, points: Any, K: FloatArray, tolerance: float) -> list[Finding]:
    """A value must not depend on which other points are asked for with it."""
    half = len(points) // 2
    for j in {half, *np.linspace(0, len(points) - 1, SINGLES).astype(int).tolist()}:
        try:
            column = np.asarray(k(points[:half], points[j : j + 1]), dtype=np.float64)
        except Exception as error:  # a user's own code may raise anything
            what = f"the kernel raised {type(error).__name__} for {half} points and point {j}: {error}"
            return [Finding("error", "exception", what, "let it take any two lists of points")]
        if column.shape != (half, 1):
            what = f"the kernel returned shape {column.shape} for {half} points and point {j}"
            return [Finding("error", "matrix", what, "return an array of shape (len(X), len(Y))")]
        apart = np.abs(column[:, 0] - K[:half, j])
        if apart.max() > tolerance:
            i = int(apart.argmax())
            values = f"{K[i, j]:.6g} among all, {column[i, 0]:.6g} in a column"
            what = f"k(x_{i}, x_{j}) depends on the other points: {values}"
            fix = "let k be a function of two points: no scaling by what else is there"
            return [Finding("error", "depends on the batch", what, fix)]
    return []


def _check_diagonal(k: Kernel, points: Any, K: FloatArray, tolerance: float) -> list[Finding]:
    findings, own = [], np.asarray(k.diag(points), dtype=np.float64)
    apart = np.abs(own - np.diagonal(K))
    if apart.max() > tolerance:
        i = int(apart.argmax())
        what = f"diag says {own[i]:.6g} for point {i}, but k(x, x) = {K[i, i]:.6g}"
        findings.append(Finding("error", "diagonal", what, "let diag(X) be the diagonal of k(X, X)"))
    if own.min() <= tolerance:
        i = int(own.argmin())
        what = f"k(x, x) = {own[i]:.3g} for point {i}: nothing can be learned there"
        severity: Any = "error" if own[i] < -tolerance else "note"
        findings.append(Finding(severity, "zero diagonal", what, "add a constant, or normalize"))
    if own.max() > k.bound**2 * (1.0 + 1e-9):
        i = int(own.argmax())
        what = f"k(x, x) = {own[i]:.6g} for point {i} exceeds the declared bound² = {k.bound**2:.6g}"
        findings.append(Finding("error", "bound", what, "declare a larger bound"))
    return findings


def _check_determinism(k: Kernel, points: Any, K: FloatArray) -> list[Finding]:
    again = np.asarray(k(points, points[:]), dtype=np.float64)
    if np.array_equal(again, K):
        return []
    i, j = np.unravel_index(int(np.abs(again - K).argmax()), K.shape)
    what = f"the same call gave k(x_{i}, x_{j}) = {K[i, j]:.6g} and then {again[i, j]:.6g}"
    return [Finding("error", "not deterministic", what, "draw nothing inside a kernel, and keep no state")]
