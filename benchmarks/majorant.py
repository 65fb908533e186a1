"""Optimism by majorants on RBF kernels over a finite grid: an experiment.

    python benchmarks/majorant.py --episodes 150 --seeds 4

With ρ(z) = B_P·λ‖M⁻¹φ‖ + β_noise·λ^{-1/2}σ, which bounds ‖μ(z) − μ̂(z)‖ on the event of `split`,

    max{p·V : p a law, ‖Ψp − μ̂(z)‖ ≤ ρ(z)}  =  min over f + c ≥ V of ⟨f, μ̂(z)⟩ + c + ρ(z)‖f‖ .

Any f gives a valid bound, with c the least constant that makes f + c a majorant: a minimum that was not quite found
costs tightness, not validity. It is monotone in V, so V itself need not lie in the space. `split` instead pays for
the norm of V_{h+1}, which kinks make large. All are run on walks on a line with Gaussian steps, the reward known and
B_P as it is; Q ≥ Q* is checked at every episode. Rows with ρ divided by a number prove nothing: they tell how far ρ
is from being of use.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from scipy.optimize import minimize

from cmerl import CMERL
from cmerl.confidence import Split, second_moment_radius
from cmerl.embedding import ExactEmbedding
from cmerl.envs import FiniteMDP
from cmerl.kernels import RBF, Delta, StateAction
from cmerl.linalg import Cholesky
from cmerl.oracles import evaluate, solve
from cmerl.transitions import Transitions

DELTA, LAM = 0.1, 0.1


def walk(states: int, horizon: int, noise: float = 0.12) -> FiniteMDP:
    """Left or right on a line, with Gaussian steps; a small reward at the left end and a large one at the right."""
    x = np.linspace(0.0, 1.0, states)
    aims = np.clip(x[:, None] + np.array([-0.15, 0.15]), 0.0, 1.0)
    P = np.exp(-0.5 * ((x - aims[..., None]) / noise) ** 2)
    R = np.repeat((0.2 * np.exp(-((x / 0.1) ** 2)) + np.exp(-(((x - 1.0) / 0.1) ** 2)))[:, None], 2, axis=1)
    return FiniteMDP(P / P.sum(axis=2, keepdims=True), R, 2, horizon=horizon, coordinates=x[:, None])


def majorants(V: np.ndarray, means: np.ndarray, rho: np.ndarray, L: np.ndarray) -> np.ndarray:
    """The least ⟨f, μ̂⟩ + c + ρ‖f‖ found over f = Lg (z,), for μ̂ as weights on the states (z, S).

    The maximum in c(g) = max(V − Lg) is smoothed while g is looked for, and taken as it is in what is returned.
    """
    span = float(np.ptp(V))
    if span == 0.0:
        return np.full(len(means), V[0])
    linear, g = means @ L, np.zeros_like(means)

    def smoothed(flat: np.ndarray, tau: float) -> tuple[float, np.ndarray]:
        g = flat.reshape(linear.shape)
        rest = (V - g @ L.T) / tau
        top = rest.max(axis=1, keepdims=True)
        p = np.exp(rest - top)
        c = tau * (top[:, 0] + np.log(p.sum(axis=1)))
        p /= p.sum(axis=1, keepdims=True)
        norm = np.sqrt((g**2).sum(axis=1) + 1e-10 * span**2)
        slope = linear - p @ L + (rho / norm)[:, None] * g
        return float(np.sum((linear * g).sum(axis=1) + c + rho * norm)), slope.ravel()

    for tau in (0.1 * span, 0.01 * span, 0.002 * span):
        g = minimize(smoothed, g.ravel(), (tau,), "L-BFGS-B", jac=True, options={"maxiter": 150}).x.reshape(g.shape)
    found = (linear * g).sum(axis=1) + (V - g @ L.T).max(axis=1) + rho * np.linalg.norm(g, axis=1)
    return np.minimum(found, V.max())


class MajorantRun:
    """Value iteration with majorants, greedy play, all data in one exact embedding."""

    def __init__(self, env: FiniteMDP, ell: float, B_P: float, seed: int, divide: float = 1.0) -> None:
        self.env, self.B_P, self.divide = env, B_P, divide
        self.S, self.A = env.R.shape
        self.H = int(env.horizon or 1)
        self.kernel = RBF(ell)
        self.Z = np.array([[*s, a] for s in env.observations for a in range(self.A)])
        self.E = ExactEmbedding(StateAction(self.kernel, Delta()), LAM, np.arange(self.A, dtype=float)[:, None])
        self.L = Cholesky.of(self.kernel(env.observations)).L
        self.rng = np.random.default_rng(seed)

    def plan(self) -> np.ndarray:
        """Q (H, S, A)."""
        means = np.zeros((self.S * self.A, self.S))
        seen = np.abs(self.env.observations[:, 0][:, None] - np.ravel(self.E.support)).argmin(axis=0)
        if self.E.n:
            means[:, seen] = self.E.weights(self.Z)
        beta = second_moment_radius(self.E.information_gain, self.E.sum_r, D=self.kernel.diameter, delta=DELTA / 2)
        rho = (self.B_P * self.E.shrinkage(self.Z) + beta * self.E.std(self.Z) / math.sqrt(LAM)) / self.divide
        Q, V = np.zeros((self.H, self.S, self.A)), np.zeros(self.S)
        for h in reversed(range(self.H)):
            Q[h] = self.env.R + majorants(V, means, rho, self.L).reshape(self.S, self.A)
            V = np.clip(Q[h].max(axis=1), 0.0, self.H - h)
        return Q

    def episode(self) -> np.ndarray:
        """Plan, play, learn; Q (H, S, A)."""
        Q = self.plan()
        s, Z, after = 2, [], []
        for h in range(self.H):
            a = int(self.rng.choice(np.flatnonzero(Q[h, s] >= Q[h, s].max() - 1e-9)))
            following = int(self.rng.choice(self.S, p=self.env.P[s, a]))
            Z.append([*self.env.observations[s], a])
            after.append(self.env.observations[following])
            s = following
        self.E.update(Transitions.of(np.array(Z), np.array(after)))
        return Q


def operator_norm(env: FiniteMDP, ell: float) -> float:
    """‖Θ_P‖_HS."""
    K = RBF(ell)(env.observations)
    rows = env.P.reshape(-1, len(K))
    factor = Cholesky.of(np.kron(K, np.eye(env.R.shape[1])))
    return math.sqrt(float(np.trace(factor.solve(rows @ K @ rows.T))))


def table(Q: np.ndarray) -> np.ndarray:
    """The greedy policy (H, S)."""
    return np.asarray(Q.argmax(axis=2))


def main() -> None:
    """Regret, the bound at the start, and failures of optimism."""
    parser = argparse.ArgumentParser(description="optimism by majorants on RBF kernels")
    parser.add_argument("--episodes", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--states", type=int, default=9)
    parser.add_argument("--horizon", type=int, default=6)
    parser.add_argument("--lengthscales", default="0.1,0.3")
    options = parser.parse_args()
    env, T = walk(options.states, options.horizon), options.episodes
    best = solve(env, options.horizon)
    print(f"V* = {best.value(2):.3f}, V*·T = {T * best.value(2):.1f}, H = {options.horizon}")
    print("| lengthscale | B_P | bound | regret | V₁(s₁) at the end | not optimistic | seconds an episode |")
    print("|---|---|---|---|---|---|---|")
    for ell in map(float, options.lengthscales.split(",")):
        B_P = operator_norm(env, ell)
        for name in ("split, first constants", "split", "majorant", "majorant, ρ/10"):
            began, lost, last, wrong = time.perf_counter(), [], [], 0
            for seed in range(options.seeds):
                regret, fails, V1 = run(env, name, ell, B_P, seed, T, best)
                lost.append(regret)
                last.append(V1)
                wrong += fails
            seconds = (time.perf_counter() - began) / (options.seeds * T)
            print(
                f"| {ell:g} | {B_P:.2f} | {name} | {np.mean(lost):.1f} ({np.max(lost):.1f}) | {np.mean(last):.3f} "
                f"| {wrong} of {options.seeds} | {seconds:.3f} |",
                flush=True,
            )


def run(
    env: FiniteMDP, name: str, ell: float, B_P: float, seed: int, T: int, best: object
) -> tuple[float, bool, float]:
    """Regret of T episodes, whether optimism ever failed, and the last bound on V₁(s₁)."""
    Q_star, V_star = best.Q, best.value(2)  # type: ignore[attr-defined]
    H, lost, wrong, Q = len(Q_star), 0.0, False, Q_star
    agent, own = None, None
    if name.startswith("majorant"):
        own = MajorantRun(env, ell, B_P, seed, float(name.split("/")[1]) if "/" in name else 1.0)
    else:
        agent = CMERL(
            env,
            seed=seed,
            lam=LAM,
            delta=DELTA,
            bonus=Split(sharp=name == "split"),
            kernel=StateAction(RBF(ell), Delta()),
            value_kernel=RBF(ell),
            states=env.observations,
            B_P=B_P,
            reward=lambda obs, a: env.R[np.abs(env.observations[:, 0] - obs[0]).argmin(), a],
            reward_range=(0, 1),
            certify=False,
        )
    for _ in range(T):
        if own is not None:
            Q = own.episode()
            policy = table(Q)
        else:
            assert agent is not None
            plan = agent.policy()
            Q = plan.plan.q_table(agent.states.encode_many(env.observations))
            policy = plan.table(env.observations)
            agent.learn(1)
        wrong |= bool(np.any(Q_star - 1e-7 > Q))
        lost += V_star - evaluate(env, policy, H).value(2)
    return lost, wrong, min(float(Q[0, 2].max()), float(H))


if __name__ == "__main__":
    main()
