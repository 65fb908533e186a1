"""Cost against the amount of data for every backend, errors of sketches, and other libraries on the same posterior.

    python benchmarks/bench_scale.py                 cost per episode against n, errors, a figure if --figure FILE
    python benchmarks/bench_scale.py --soak 1000000  a million transitions: time, memory, drift
    python benchmarks/bench_scale.py --others        scikit-learn (and GPyTorch, where installed) on one posterior

Every time is processor time, the least of several repetitions in one process with one BLAS thread.
"""

from __future__ import annotations

import argparse
import copy
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import numpy as np

from cmerl.confidence import FailureBudget, Practical, Problem
from cmerl.embedding import Embedding, ExactEmbedding, compressed, fourier, nystrom
from cmerl.kernels import RBF, Delta, Matern, StateAction
from cmerl.planning import Plan, Task, make_plan
from cmerl.transitions import Transitions

H, A, LAM = 20, 4, 0.1
KERNEL = StateAction(RBF(0.1), Delta())
VALUE_KERNEL = Matern(1.5, 0.1)
ACTIONS = np.arange(A, dtype=float)[:, None]
MOVES = np.array([[0.05, 0.0], [-0.05, 0.0], [0.0, 0.05], [0.0, -0.05]])
TASK = Task(
    problem=Problem(H, 1.0, KERNEL, VALUE_KERNEL, None, FailureBudget(0.1, learned_reward=True)),
    mode=Practical(),
    r_min=0.0,
)


def walk(n: int, rng: np.random.Generator) -> Transitions:
    """Random transitions in the unit square with a smooth reward."""
    states, actions = rng.random((n, 2)), rng.integers(A, size=n)
    nexts = np.clip(states + MOVES[actions] + 0.01 * rng.standard_normal((n, 2)), 0.0, 1.0)
    rewards = np.exp(-np.sum((nexts - 0.7) ** 2, axis=1) / 0.02)
    return Transitions.of(np.column_stack([states, actions]), nexts, rewards)


def backends() -> dict[str, Embedding]:
    return {
        "exact": ExactEmbedding(KERNEL, LAM, ACTIONS, track_std=False),
        "compressed": compressed(KERNEL, VALUE_KERNEL, LAM, ACTIONS),
        "nystrom": nystrom(KERNEL, LAM, ACTIONS),
        "fourier": fourier(KERNEL, LAM, ACTIONS),
    }


def plan(embedding: Embedding) -> Plan:
    return make_plan([embedding], TASK, episode=1, order=np.arange(A))


def episode_seconds(embedding: Embedding, rng: np.random.Generator, repeats: int = 5) -> float:
    """Least time of one episode: update with H transitions, then a plan."""
    return min(_once(embedding, rng) for _ in range(repeats))


def _once(embedding: Embedding, rng: np.random.Generator) -> float:
    batch = walk(H, rng)
    start = time.process_time()
    embedding.update(batch)
    plan(embedding)
    return time.process_time() - start


def cost(sizes: list[int], most_exact: int) -> dict[str, list[tuple[int, float]]]:
    """Milliseconds per episode at each n, one backend after the other."""
    curves: dict[str, list[tuple[int, float]]] = {}
    print(f"cost of one episode in ms (update + plan), H = {H}, A = {A}")
    print("  backend     " + "".join(f"{f'n = {n}':>13s}" for n in sizes))
    for name, embedding in backends().items():
        rng, row = np.random.default_rng(0), []
        for n in sizes:
            if name != "compressed" and n > most_exact:
                break
            while embedding.n < n:
                embedding.update(walk(min(500, n - embedding.n), rng))
            row.append((n, 1e3 * episode_seconds(embedding, rng)))
        curves[name] = row
        print(f"  {name:12s}" + "".join(f"{ms:13.1f}" for _, ms in row))
    return curves


def errors(n: int = 2000) -> None:
    """Difference of Q from the exact plan on the same data, relative to H, at visited states."""
    data = walk(n, np.random.default_rng(1))
    S = data.Z[:500, :2]
    made = backends()
    reference = None
    print(f"\ndifference of Q from the exact plan at visited states, in per cent of H (n = {n})")
    for name, embedding in made.items():
        for start in range(0, n, H):
            embedding.update(data[start : start + H])
        q = np.stack([plan(embedding).q(S, step) for step in (0, H // 2, H - 1)])
        if reference is None:
            reference = q
            continue
        gap = 100 * np.abs(q - reference) / H
        sizes = embedding.diagnostics()
        print(
            f"  {name:12s} mean {gap.mean():7.3f}   largest {gap.max():7.3f}   "
            f"coordinates {sizes['coordinates of state-actions']}, landmarks {sizes['landmarks']}"
        )


def resident() -> float:
    """Resident memory in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def soak(total: int) -> None:
    """Stream transitions; time, memory and drift of the compressed backend.

    The machine may be slower in one hour than in another, so a copy that stays at 10 000 transitions (and what it is
    timed with) is timed in turn with the embedding at every mark; the ratio is the median of such pairs.
    """
    rng, embedding = np.random.default_rng(2), compressed(KERNEL, VALUE_KERNEL, LAM, ACTIONS)
    marks = [n for n in (10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000) if n <= total]
    reference, memory = None, 0.0
    print("        n  ms/episode  at 10 000  ratio       MB  MB ratio  coordinates  landmarks")
    for n in marks:
        while embedding.n < n:
            embedding.update(walk(H, rng))
        reference = reference or copy.deepcopy(embedding)
        pairs = np.array([[1e3 * _once(e, rng) for e in (embedding, reference)] for _ in range(50)])
        (ms, first), ratio = pairs.min(axis=0), np.median(pairs[:, 0] / pairs[:, 1])
        if n >= 20_000:
            memory = memory or resident()
        d = embedding.diagnostics()
        print(
            f"{n:9d} {ms:11.2f} {first:10.2f} {ratio:6.2f} "
            f"{resident():8.1f} {resident() / memory if memory else 1:9.3f} "
            f"{d['coordinates of state-actions']:12d} {d['landmarks']:10d}",
            flush=True,
        )
    print(f"drift: {drift(embedding):.1e} (coordinates and moments against fresh factorisations)")


def drift(embedding: Embedding) -> float:
    """Largest relative difference between kept factors and factorisations made afresh with NumPy."""
    worst = 0.0
    for dictionary in [embedding._landmarks._dictionary, *(moments.features for moments in embedding._moments)]:
        D = dictionary.points.points
        L = np.linalg.cholesky(dictionary.kernel(D) + 1e-14 * np.eye(len(D)))
        X = np.random.default_rng(3).random((200, 2))
        fresh = np.linalg.solve(L, dictionary.kernel(D, X))
        kept, _ = dictionary.coordinates(X)
        worst = max(worst, float(np.abs(kept.T @ kept - fresh.T @ fresh).max()))
    for moments in embedding._moments:
        M = moments._gram.view + LAM * np.eye(len(moments.features))
        worst = max(worst, float(np.abs(moments.factor.L @ moments.factor.L.T - M).max() / np.abs(M).max()))
        y = np.linalg.solve(M, moments._linear.view[0])
        worst = max(worst, float(np.abs(moments.factor.solve(moments._linear.view[0]) - y).max() / np.abs(y).max()))
    return worst


def others(n: int = 2000) -> None:
    """The same posterior, mean of H targets and σ at all next states, from other libraries, refitted per episode."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF as SklearnRBF

    data = walk(n, np.random.default_rng(4))
    X, Y, queries = data.Z[:, :2], np.random.default_rng(5).random((n, H)), data.next_states
    Z = np.column_stack([X, np.zeros(n)])  # one action
    embedding = ExactEmbedding(KERNEL, LAM, np.zeros((1, 1)))
    embedding.update(Transitions.of(Z[:-H], queries[:-H]))
    start = time.process_time()
    embedding.update(Transitions.of(Z[-H:], queries[-H:]))
    grid = embedding.grid()
    ours = np.stack([grid.expectation(embedding.backup(Y[:, h]))[:, 0] for h in range(H)], axis=1)
    sigma = grid.std()[:, 0]
    t_ours = time.process_time() - start
    print(f"\nsame posterior at n = {n}: {H} targets at {n} queries, and σ")
    print(f"  this package, appended          {t_ours:8.3f} s")
    start = time.process_time()
    gp = GaussianProcessRegressor(SklearnRBF(0.1), alpha=LAM, optimizer=None).fit(X, Y)
    mean, std = gp.predict(queries, return_std=True)
    t = time.process_time() - start
    agree = max(np.abs(mean - ours).max(), np.abs(std[:, 0] - sigma).max())
    print(f"  scikit-learn GPR                {t:8.3f} s   ratio {t / t_ours:6.1f}   largest difference {agree:.1e}")
    try:
        import gpytorch  # noqa: F401
    except ImportError:
        print("  GPyTorch: not installed (pip install --group benchmarks)")
        return
    t, agree = gpytorch_posterior(X, Y, queries, ours)
    print(f"  GPyTorch, Cholesky              {t:8.3f} s   ratio {t / t_ours:6.1f}   largest difference {agree:.1e}")


def gpytorch_posterior(X: np.ndarray, Y: np.ndarray, queries: np.ndarray, ours: np.ndarray) -> tuple[float, float]:
    import gpytorch
    import torch

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, x: torch.Tensor, y: torch.Tensor, noise: gpytorch.likelihoods.Likelihood) -> None:
            super().__init__(x, y, noise)
            self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), gpytorch.kernels.RBFKernel()
            self.covar_module.lengthscale = 0.1

        def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    start = time.process_time()
    means = []
    with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
        for h in range(Y.shape[1]):
            likelihood = gpytorch.likelihoods.GaussianLikelihood()
            likelihood.noise = LAM
            model = Model(torch.tensor(X), torch.tensor(Y[:, h]), likelihood)
            model.eval()
            posterior = model(torch.tensor(queries))
            means.append(posterior.mean.numpy())
        posterior.variance.sqrt().numpy()
    t = time.process_time() - start
    return t, float(np.abs(np.stack(means, axis=1) - ours).max())


def figure(curves: dict[str, list[tuple[int, float]]], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = {"exact": "#D55E00", "compressed": "#0072B2", "nystrom": "#009E73", "fourier": "#CC79A7"}
    fig, ax = plt.subplots(figsize=(5.2, 3.4), constrained_layout=True)
    for name, row in curves.items():
        ax.loglog(*zip(*row, strict=True), marker="o", color=colours[name], label=name)
    ax.set_xlabel("transitions seen")
    ax.set_ylabel("ms per episode (update + plan)")
    ax.grid(alpha=0.3, which="both", linewidth=0.5)
    ax.legend(frameon=False)
    fig.savefig(path, dpi=160)
    print(f"figure in {path}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--soak", type=int, metavar="N", help="stream N transitions through the compressed backend")
    parser.add_argument("--others", action="store_true", help="compare with other libraries")
    parser.add_argument("--figure", metavar="FILE", help="write the cost curves as a picture")
    options = parser.parse_args()
    if options.soak:
        soak(options.soak)
    elif options.others:
        others()
    else:
        found = cost([500, 1000, 2000, 4000, 10_000, 20_000], most_exact=4000)
        errors()
        if options.figure:
            figure(found, options.figure)
        others()
