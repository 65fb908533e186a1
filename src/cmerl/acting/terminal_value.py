"""The terminal value of searches: fitted value iteration over sequences, the smaller of two regressions.

v_i = max over sequences k of R_ik + γ^L V(y_ik) at landmarks x_i. V regresses v. A maximum over noisy estimates is
biased upwards, and the next round would amplify the bias. Two regressions on disjoint halves of the landmarks have
independent errors, and the smaller one does not overestimate itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.acting.followed_policy import PolicySettings, followed_policy
from cmerl.acting.policy_iteration import Backup, modified_policy_iteration
from cmerl.embedding.displacement.dynamics import Dynamics
from cmerl.embedding.displacement.motion import Motion
from cmerl.embedding.displacement.regression import farthest_points, rbf_matrix
from cmerl.kernels.fitting import Fit, fit
from cmerl.linalg import Cholesky
from cmerl.searching.icem import Channels, Search, noise_bank
from cmerl.searching.proposals import follow
from cmerl.searching.simulator import roll
from cmerl.searching.values import TerminalValue, rbf

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class TerminalSettings:
    """Sizes of the terminal value.

    Args:
        landmarks: states at which sequences are tried: two thirds as widely spread as the states seen and those that
            sequences lead to, one third of the latest episodes.
        sequences: that are tried at every landmark.
        own: variations of what was done there, tried besides.
        following: sequences that follow the policy of the latest episodes from there, tried besides.
        length: steps of a sequence.
        rounds: of value iteration between fits of the kernel.
        sweeps: of each round that take the best sequences for granted.
        fits: of the kernel.
        fit_rows: landmarks that it is fitted to.
        end_pessimism: what V lacks where there are no data, as a share of V less the least, where ends cost.
        pessimism: the same where they are not.
        longest: steps after which a reward hardly counts: γ = 1 − 1/min(H, longest).
        least_ridge: of the regressions.
        lengthscales: the least of V, in standard deviations of the state, and in radii that landmarks cover.
    """

    landmarks: int = 400
    sequences: int = 20
    own: int = 12
    following: int = 12
    length: int = 8
    rounds: int = 15
    sweeps: int = 8
    fits: int = 2
    fit_rows: int = 150
    end_pessimism: float = 1.0
    pessimism: float = 0.3
    longest: int = 100
    least_ridge: float = 0.01
    lengthscales: tuple[float, float] = (0.5, 2.0)

    def steps(self, horizon: int) -> int:
        """Steps that count: 1/(1 − γ)."""
        return max(min(horizon, self.longest), 2)

    def discount(self, horizon: int) -> float:
        """γ."""
        return 1.0 - 1.0 / self.steps(horizon)


def terminal_value(
    dynamics: Dynamics,
    channels: Channels,
    horizon: int,
    settings: TerminalSettings,
    noise: Search,
    policy: PolicySettings,
) -> TerminalValue:
    """The value that ends searches in a model; a function of its data alone, made once for each model.

    Where ends cost, V counts on nothing that was never tried: one end costs all that would have followed. V must also
    be known where sequences lead, not only where episodes have been: between landmarks it would revert to its mean,
    and staying in a bad place would seem a way out of it. Some of the sequences follow a policy: where states drift
    apart, those that were drawn beforehand would all fall, and V would say that nothing can be held.
    """
    made = dynamics.terminal_values.get(horizon)
    if made is not None:
        return made
    data, discount = dynamics.data, settings.discount(horizon)
    rng = np.random.default_rng((len(data), horizon))
    draw = _Sequences(channels, settings, noise, rng)
    X, rows, radius = _landmarks(dynamics, draw.shared, discount, settings, rng)
    own = [draw.own(data.a, rows, dynamics.last_of_episode)] if settings.own else []
    own += [draw.following(dynamics, X, policy)] if settings.following else []
    lo, hi = dynamics.reward_bounds
    shortest, covered = settings.lengthscales
    found = fitted_value(
        dynamics,
        X,
        draw.shared,
        np.concatenate(own, axis=1) if own else None,
        discount=discount,
        bounds=(lo / (1.0 - discount), hi / (1.0 - discount)),
        pessimism=settings.end_pessimism if ends_cost(data, settings.steps(horizon)) else settings.pessimism,
        shortest=max(shortest, covered * radius),
        settings=settings,
        rng=rng,
    )
    dynamics.terminal_values[horizon] = found
    return found


def ends_cost(data: Motion, steps: int) -> bool:
    """Whether episodes end, and ends pay on average no more than so many other steps do."""
    if not data.ended.any():
        return False
    going_on = steps * float(data.r[~data.ended].mean()) if not data.ended.all() else 0.0
    return float(data.r[data.ended].mean()) <= going_on


class _Sequences:
    """Sequences of actions to try: some at every landmark, some around what was done there, some by a policy."""

    def __init__(
        self, channels: Channels, settings: TerminalSettings, noise: Search, rng: np.random.Generator
    ) -> None:
        self._channels, self._settings, self._noise, self._rng = channels, settings, noise, rng
        held = np.repeat(channels.constants()[:, None], settings.length, axis=1)
        drawn = self._draw(max(settings.sequences - len(held), settings.sequences // 2))
        self.shared = channels.decode(np.concatenate([held, 2.0 * self._noise.spread * drawn]))

    def _draw(self, count: int) -> SingleArray:
        return noise_bank(self._rng, self._noise, count, self._settings.length, self._channels.latent)

    def own(self, actions: FloatArray, rows: NDArray[np.intp], last: NDArray[np.intp]) -> SingleArray:
        """Variations (m, k, L, e) of what was done from the given rows of the data on, the first of them none."""
        steps = np.minimum(rows[:, None] + np.arange(self._settings.length), last[rows][:, None])
        done = self._channels.latent_of(actions[steps].astype(np.float32))[:, None]
        noise = self._channels.noise_scale * self._variations(len(rows), self._settings.own)
        return self._channels.decode(done + noise)

    def following(self, dynamics: Dynamics, X: FloatArray, settings: PolicySettings) -> SingleArray:
        """What the policy does from landmarks (m, d), with variations (m, k, L, e), the first of them none."""
        policy = followed_policy(dynamics, self._channels, settings)
        noise = self._variations(len(X), self._settings.following)
        return self._channels.decode(follow(dynamics.simulator, policy, self._channels, X.astype(np.float32), noise))

    def _variations(self, count: int, each: int) -> SingleArray:
        """Noise of latent numbers (m, k, L, l), none for the first sequence of each."""
        noise = self._noise.spread * self._draw(count * each).reshape(count, each, self._settings.length, -1)
        noise[:, 0] = 0.0
        return noise


def _landmarks(
    dynamics: Dynamics, sequences: SingleArray, discount: float, settings: TerminalSettings, rng: np.random.Generator
) -> tuple[FloatArray, NDArray[np.intp], float]:
    """Landmarks (m, d), for each the row of the data that it is or comes from, and how far they leave the others."""
    x = dynamics.data.x
    some, k = farthest_points(x, 200)[0], len(sequences)
    start = np.repeat(x[some].astype(np.float32), k, axis=0)
    _, y, over = roll(dynamics.quick_step, start, np.tile(sequences, (len(some), 1, 1)), discount)
    near = np.all(np.abs(y) < np.abs(x).max(axis=0) + 1.0, axis=1)
    near = near if over is None else near & ~over
    points = np.vstack([x, y[near].astype(np.float64)])
    origin = np.append(np.arange(len(x)), np.repeat(some, k)[near])
    wide, radius = farthest_points(points, 2 * settings.landmarks // 3)
    recent = max(0, len(x) - 3 * dynamics.latest_length)
    rows = np.union1d(wide, rng.integers(recent, len(x), settings.landmarks // 3))
    return points[rows], origin[rows], radius


def fitted_value(
    dynamics: Dynamics,
    X: FloatArray,
    sequences: SingleArray,
    own: SingleArray | None,
    *,
    discount: float,
    bounds: tuple[float, float],
    pessimism: float,
    shortest: float,
    settings: TerminalSettings,
    rng: np.random.Generator,
) -> TerminalValue:
    """Fitted value iteration.

    Args:
        dynamics: the model.
        X: landmarks (m, d).
        sequences: features of actions (k, L, e) that are tried at every landmark.
        own: the same (m, k', L, e) for each landmark, or None.
        discount: γ.
        bounds: the least and the most that V can be.
        pessimism: see ``TerminalValue``.
        shortest: lengthscale that V may have.
        settings: sizes.
        rng: splits the landmarks.
    """
    m, d = X.shape
    tried = np.broadcast_to(sequences, (m, *sequences.shape))
    tried = tried if own is None else np.concatenate([tried, own], axis=1)
    earned, ends, over = _roll(dynamics, X.astype(np.float32), tried, discount)
    k, later = tried.shape[1], np.float32(discount ** tried.shape[2])
    flat = ends.reshape(-1, d)
    unknown = np.float32(pessimism) * (dynamics.novelty_of(flat) if pessimism else np.zeros(m * k, np.float32))
    order = rng.permutation(m)
    halves = [np.sort(order[: m // 2]), np.sort(order[m // 2 :])]
    shape = Fit(np.full(d, 2.0 * shortest), settings.least_ridge, 0.0)
    v = earned.max(axis=1).astype(np.float64)
    tolerance = 1e-3 * (bounds[1] - bounds[0]) * (1.0 - discount)
    for i in range(settings.fits + 1):
        Q = (X / shape.lengthscales).astype(np.float32)
        inverse = _inverses(X / shape.lengthscales, halves, max(shape.ridge, settings.least_ridge))
        K = rbf(flat / shape.lengthscales.astype(np.float32), Q)
        backup = Backup(K, earned.ravel(), later * ~over.ravel(), unknown.ravel(), inverse, bounds)
        v = modified_policy_iteration(backup, v, k, tolerance, settings.rounds, settings.sweeps)
        if i == settings.fits or v.std() < 1e-9:
            break
        rows = np.sort(rng.permutation(m)[: settings.fit_rows])
        part = v[rows] - v[rows].mean()
        if part.std() < 1e-9:
            break
        found = fit(X[rows], (part / part.std())[:, None], start=shape, most_steps=12)
        shape = Fit(np.maximum(found.lengthscales, shortest), found.ridge, found.evidence)
    mean, coef = backup.regressed(v)
    scales = shape.lengthscales.astype(np.float32)
    return TerminalValue(Q, scales, np.ascontiguousarray(coef), mean, bounds, v, pessimism, dynamics.novelty_of)


def _inverses(P: FloatArray, halves: list[NDArray[np.intp]], ridge: float) -> SingleArray:
    """(K + ridge)⁻¹ of each half, among zeros (2, m, m)."""
    found = np.zeros((len(halves), len(P), len(P)), dtype=np.float32)
    for i, rows in enumerate(halves):
        K = rbf_matrix(P[rows], P[rows])
        found[i][np.ix_(rows, rows)] = Cholesky.of(K, ridge).solve(np.eye(len(rows)))
    return found


def _roll(
    dynamics: Dynamics, X: SingleArray, tried: SingleArray, discount: float, block: int = 20
) -> tuple[SingleArray, SingleArray, BoolArray]:
    """Discounted rewards (m, k), states at last (m, k, d), what has ended (m, k), of sequences (m, k, L, e)."""
    (m, k, length, _), d = tried.shape, X.shape[1]
    earned, ends, over = np.empty((m, k), np.float32), np.empty((m, k, d), np.float32), np.zeros((m, k), dtype=bool)
    for start in range(0, m, block):  # what a block needs stays in the cache
        x = X[start : start + block]
        q = len(x) * k
        total, last, ended = roll(
            dynamics.quick_step,
            np.repeat(x, k, axis=0),
            tried[start : start + block].reshape(q, length, -1),
            discount,
        )
        earned[start : start + block], ends[start : start + block] = total.reshape(-1, k), last.reshape(-1, k, d)
        if ended is not None:
            over[start : start + block] = ended.reshape(-1, k)
    return earned, ends, over
