"""Model-predictive control by the cross-entropy method (iCEM, Pinneri et al. 2020).

At every decision, action sequences are drawn around the best so far with time-correlated noise. The model simulates
their rewards, and a terminal value adds the rest. Inside an episode each search continues from the last one. All
functions are pure: they depend on their arguments and a generator only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SingleArray = NDArray[np.float32]
IntArray = NDArray[np.intp]

Score = Callable[[SingleArray], tuple[SingleArray, SingleArray | None]]
"""Values of sequences of action features (b, n, h, f) by the mean model and optimistically, (b, n) each."""


@dataclass(frozen=True)
class Channels:
    """The map from latent numbers to action features: clipped to [−1, 1], or the largest of a few for choices.

    Attributes:
        continuous: features that are quantities.
        choices: for each part with finitely many values, the features of these (k, f).
    """

    continuous: int = 0
    choices: tuple[SingleArray, ...] = ()

    @property
    def latent(self) -> int:
        """Latent numbers of one action."""
        return self.continuous + sum(len(choice) for choice in self.choices)

    @property
    def samples(self) -> int:
        """Number of quantities and choices, which sets the number of samples."""
        return self.continuous + len(self.choices)

    def clipped(self, U: SingleArray) -> SingleArray:
        """Latent numbers (…, l), changed in place: quantities are clipped to [−1, 1]."""
        if self.continuous:
            np.clip(U[..., : self.continuous], -1.0, 1.0, out=U[..., : self.continuous])
        return U

    def decode(self, U: SingleArray) -> SingleArray:
        """Features (…, f) of latent numbers (…, l)."""
        parts = [np.clip(U[..., : self.continuous], -1.0, 1.0)] if self.continuous else []
        at = self.continuous
        for choice in self.choices:
            parts.append(choice[U[..., at : at + len(choice)].argmax(axis=-1)])
            at += len(choice)
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)

    @property
    def noise_scale(self) -> float:
        """Scale of the noise around what was done: larger for choices, which are a whole unit apart."""
        return 1.0 if not self.choices else 2.0

    def latent_of(self, features: SingleArray) -> SingleArray:
        """Latent numbers (…, l) of features (…, f); the inverse of ``decode``."""
        parts = [features[..., : self.continuous]] if self.continuous else []
        at = self.continuous
        for choice in self.choices:
            own = features[..., at : at + choice.shape[1]]
            gaps = np.square(own[..., None, :] - choice).sum(axis=-1)
            parts.append(np.eye(len(choice), dtype=np.float32)[gaps.argmin(axis=-1)])
            at += choice.shape[1]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)

    def constants(self) -> SingleArray:
        """Latent numbers (k, l) of actions to hold: none, each at its most and least, and each choice of a part."""
        unit = np.eye(self.latent, dtype=np.float32)
        edges = [-unit[: self.continuous]] if self.continuous else []
        return np.vstack([np.zeros((1, self.latent), dtype=np.float32), unit, *edges])


@dataclass(frozen=True, kw_only=True)
class Search:
    """Sizes of a search.

    Args:
        samples: least sequences of a round, for each quantity or choice of an action and once more.
        kernels: kernels that a round may evaluate: in a small model it draws more sequences.
        most: sequences of a round.
        rounds: of drawing and keeping the best.
        first_rounds: the same at the first decision of an episode.
        elites: sequences that the next round is drawn around.
        kept: of these that come again at the next decision.
        proposals: sequences of a first round that follow the policy of the latest episodes.
        momentum: of the mean and the spread, which hold on to what they were.
        spread: standard deviation at first, of actions scaled to [−1, 1].
        colour: exponent of the noise's spectrum, f^−colour: actions that last do more than actions that alternate.
        amplitudes: of the noise: coarse and fine search at once.
    """

    samples: int = 32
    kernels: int = 2_000_000
    most: int = 512
    rounds: int = 2
    first_rounds: int = 4
    elites: int = 8
    kept: int = 4
    proposals: int = 32
    momentum: float = 0.1
    spread: float = 0.5
    colour: float = 2.0
    amplitudes: tuple[float, ...] = (1.0, 0.3, 0.1)

    def least(self, channels: Channels) -> int:
        """Least sequences of a round."""
        return self.samples * (1 + channels.samples)

    def sequences(self, channels: Channels, depth: int, centres: int) -> int:
        """Sequences of a round that looks so many steps ahead in a model with so many centres."""
        return max(self.least(channels), min(self.most, self.kernels // max(depth * centres, 1)))


def coloured_noise(rng: np.random.Generator, count: int, length: int, width: int, colour: float) -> SingleArray:
    """Noise (count, length, width) of about unit variance whose spectrum falls as f^−colour."""
    n = max(length, 8)
    f = np.fft.rfftfreq(n)
    f[0] = f[1]
    amplitude = f ** (-colour / 2.0)
    spectrum = rng.normal(size=(2, count, width, len(f)))
    x = np.fft.irfft((spectrum[0] + 1j * spectrum[1]) * amplitude, n=n)
    x *= n / np.sqrt(amplitude[0] ** 2 + 4.0 * np.sum(amplitude[1:] ** 2))
    return np.ascontiguousarray(x[:, :, :length].transpose(0, 2, 1), dtype=np.float32)


def noise_bank(rng: np.random.Generator, settings: Search, count: int, length: int, width: int) -> SingleArray:
    """Coloured noise of all amplitudes (count, length, width)."""
    sizes = rng.choice(np.asarray(settings.amplitudes, dtype=np.float32), (count, 1, 1))
    return np.asarray(coloured_noise(rng, count, length, width, settings.colour) * sizes, dtype=np.float32)


class Memory(NamedTuple):
    """The memory of a search about the steps to come, for b states at once.

    Attributes:
        mean: latent numbers (b, h, l) that sequences are drawn around.
        kept: the best sequences (b, k, h, l), the best of all first.
    """

    mean: SingleArray
    kept: SingleArray

    def shifted(self, steps: int = 1) -> Memory:
        """The memory after some steps were played; the last steps are unknown."""
        mean = np.concatenate([self.mean[:, steps:], np.zeros_like(self.mean[:, :steps])], axis=1)
        last = np.repeat(self.kept[:, :, -1:], steps, axis=2)
        return Memory(mean, np.concatenate([self.kept[:, :, steps:], last], axis=2))


class Found(NamedTuple):
    """The outcome of a search at b states.

    Attributes:
        best: the latent numbers of the sequence to play (b, h, l).
        memory: what the next search may continue from.
        promise: what the best sequence by the mean model is worth (b,).
        charge: by how much less the one to play is worth (b,).
    """

    best: SingleArray
    memory: Memory
    promise: NDArray[np.float64]
    charge: NDArray[np.float64]


def search(
    score: Score,
    channels: Channels,
    bank: SingleArray,
    rng: np.random.Generator,
    settings: Search,
    *,
    sequences: int | None = None,
    states: int = 1,
    before: Memory | None = None,
    proposals: SingleArray | None = None,
    balance: float = 0.0,
    deadline: float | None = None,
) -> Found:
    """The best sequences of actions that a few rounds find, from each of some states.

    Of the sequences whose worth by the mean model falls short of the best by no more than ``balance``, the one to
    play is the best optimistically; where scores are not optimistic it is the best.

    Args:
        score: what sequences are worth.
        channels: of the actions.
        bank: noise (m, h, l) to draw from.
        rng: chooses from it.
        settings: sizes.
        sequences: that a round draws; the least by default.
        states: b, searched for at once.
        before: the memory of the decision before, shifted.
        proposals: further sequences of the first round (b, k, h, l).
        balance: what deviating from the best may cost.
        deadline: by ``time.perf_counter``: no round begins that would pass it, if it took as long as the longest so
            far, and the best found by then is taken.
    """
    b, (m, h, width) = states, bank.shape
    first = before is None
    count = sequences or settings.least(channels)
    mean = np.zeros((b, h, width), dtype=np.float32) if before is None else before.mean
    kept = None if before is None else before.kept
    spread = np.full((b, h, width), settings.spread, dtype=np.float32)
    constants = np.broadcast_to(channels.constants()[None, :, None], (b, len(channels.constants()), h, width))
    rows = np.arange(b)[:, None]
    found: tuple[SingleArray, SingleArray, SingleArray] | None = None  # the best to play, and its two scores
    promise = np.full(b, -np.inf)
    longest = began = 0.0  # of the rounds, by the clock
    for i in range(settings.first_rounds if first else settings.rounds):
        if deadline is not None:
            now = time.perf_counter()
            longest, began = max(longest, now - began if i else 0.0), now
            if (kept is not None or i) and now + longest > deadline:
                break
        U = mean[:, None] + spread[:, None] * bank[rng.integers(0, m, (b, count))]
        parts = [U, mean[:, None]] if kept is None else [U, mean[:, None], kept]
        if i == 0:
            parts += [constants] if proposals is None else [constants, proposals]
        U = np.concatenate(parts, axis=1)
        mean_score, optimistic = score(channels.decode(channels.clipped(U)))
        order = np.argsort(-mean_score, axis=1, kind="stable")[:, : settings.elites]
        kept = U[rows, order]
        promise = np.maximum(promise, mean_score[rows[:, 0], order[:, 0]])
        if optimistic is None:
            found = kept[:, 0], mean_score[rows[:, 0], order[:, 0]], mean_score[rows[:, 0], order[:, 0]]
        else:
            found = _affordable(U, mean_score, optimistic, promise, balance, found)
            # Half of the elites are the best by the optimistic score, so that the next round is drawn around both.
            cheap = mean_score >= promise[:, None] - balance
            order[:, settings.elites // 2 :] = _optimistic_elites(cheap, optimistic, order, settings.elites // 2)
            kept = U[rows, order]
        mean = settings.momentum * mean + (1.0 - settings.momentum) * kept.mean(axis=1)
        spread = settings.momentum * spread + (1.0 - settings.momentum) * kept.std(axis=1)
    assert kept is not None
    if found is None:  # no time for a single round
        nothing = np.zeros(b)
        return Found(kept[:, 0], Memory(mean, kept[:, : settings.kept]), np.full(b, np.nan), nothing)
    best, worth, _ = found
    charge = np.maximum(promise - worth, 0.0).astype(np.float64)
    played = np.concatenate([best[:, None], kept[:, : settings.kept - 1]], axis=1) if optimistic is not None else kept
    return Found(best, Memory(mean, played[:, : settings.kept]), promise.astype(np.float64), charge)


def _optimistic_elites(cheap: NDArray[np.bool_], optimistic: SingleArray, order: IntArray, first: int) -> IntArray:
    """Further elites (b, k), none of the first ones: by the optimistic score if they are cheap, then by the mean."""
    rest = order.shape[1] - first
    chosen = np.empty((len(order), rest), dtype=np.intp)
    for i, (row, able) in enumerate(zip(order, cheap, strict=True)):
        able = np.flatnonzero(able)
        able = able[np.argsort(-optimistic[i, able], kind="stable")]
        able = able[~np.isin(able, row[:first])][:rest]
        others = row[first:][~np.isin(row[first:], able)]
        chosen[i] = np.append(able, others)[:rest]
    return chosen


def _affordable(
    U: SingleArray,
    mean_score: SingleArray,
    optimistic: SingleArray,
    promise: NDArray[np.float64],
    balance: float,
    before: tuple[SingleArray, SingleArray, SingleArray] | None,
) -> tuple[SingleArray, SingleArray, SingleArray]:
    """The best optimistic score among sequences that the balance can pay, of this round and the last."""
    rows = np.arange(len(U))
    able = np.where(mean_score >= promise[:, None] - balance, optimistic, -np.inf)
    best = able.argmax(axis=1)
    new = U[rows, best], mean_score[rows, best], able[rows, best]
    if before is None:
        return new
    sequence, worth, upper = before
    still = (worth >= promise - balance) & (upper > new[2])
    return (
        np.where(still[:, None, None], sequence, new[0]),
        np.where(still, worth, new[1]),
        np.where(still, upper, new[2]),
    )
