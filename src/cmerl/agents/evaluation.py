"""What a policy is worth: by playing it, or from data alone where that can be proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.agents import door
from cmerl.agents.records import Policy, begin
from cmerl.errors import InputError
from cmerl.finite import Balls

if TYPE_CHECKING:
    from cmerl.agents.certified import Certified

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Returns:
    """Returns of some episodes.

    Attributes:
        mean: their mean.
        interval: a 95 % interval of the expectation, by Student's t; both ends are the mean of a single episode.
        returns: each of them.
    """

    mean: float
    interval: tuple[float, float]
    returns: FloatArray


@dataclass(frozen=True)
class Value:
    """What a policy is worth from the first states, by data alone.

    Attributes:
        lower: a bound from below that holds with probability 1 − delta; likewise ``upper``.
        mean: by the law that was counted; what was never tried earns the least.
        delta: the failure probability.
        statement: the same in words.
    """

    lower: float
    mean: float
    upper: float
    delta: float
    statement: str


@dataclass(frozen=True, eq=False)
class PessimisticPolicy:
    """A policy that is best where the world is as bad as the data allow: ``policy(obs, step)``.

    Attributes:
        lower: what it earns in expectation from the first states, at least.
        delta: the failure probability of that.
        statement: the same in words.
    """

    lower: float
    delta: float
    statement: str
    _actions: NDArray[np.intp]
    _first: tuple[int, int]

    def __call__(self, obs: Any, step: int) -> int:
        """The action for an observation at ``step``."""
        return int(self._actions[step, int(obs) - self._first[0]]) + self._first[1]

    def table(self, observations: NDArray[Any]) -> NDArray[np.intp]:
        """The action at every step and observation (H, S)."""
        return self._actions[:, np.asarray(observations, dtype=np.intp) - self._first[0]] + self._first[1]


def play(env: gymnasium.Env[Any, Any], policy: Policy, horizon: int, episodes: int, seed: int) -> Returns:
    """Play a policy, on first states that depend on the seed alone."""
    if isinstance(episodes, bool) or not isinstance(episodes, int | np.integer) or episodes < 1:
        raise InputError(f"episodes must be a whole number of at least 1, not {episodes!r}")
    returns = np.zeros(int(episodes))
    for number, sequence in enumerate(np.random.SeedSequence(seed).spawn(int(episodes))):
        obs = door.reset(env, int(np.random.default_rng(sequence).integers(2**31)))
        act = begin(policy)
        for step in range(horizon):
            found = door.step(env, act(obs, step))
            returns[number] += found.reward
            obs = found.obs
            if found.terminated or found.truncated:
                break
    mean, half = float(returns.mean()), 0.0
    if len(returns) > 1:
        from scipy.stats import t  # slow to import

        half = float(t.ppf(0.975, len(returns) - 1) * returns.std(ddof=1) / np.sqrt(len(returns)))
    return Returns(mean, (mean - half, mean + half), returns)


def value_of(policy: Any, agent: Certified, start: Any = None) -> Value:
    """Bounds on what any policy earns, from what an agent has seen: lower, mean and upper.

    They hold on finite worlds with a declared range of rewards, with probability 1 − delta at every time.

    Args:
        policy: a function of (obs, step), a table (H, S), or anything with ``probabilities`` or ``table``.
        agent: whose data count, played or logged.
        start: the first observation; by default the first states of the episodes that it played.
    """
    balls, weights = _balls(agent, start)
    probabilities = agent._probabilities(policy)
    shift = balls.world.r_min * balls.world.horizon
    (_, low), (_, high) = balls.evaluate(probabilities, -1), balls.evaluate(probabilities, 1)
    V: FloatArray = np.zeros((balls.world.horizon + 1, balls.world.states))
    for step in reversed(range(balls.world.horizon)):
        V[step] = (probabilities[step] * balls.expected(V)[step]).sum(axis=1)
    lower, mean, upper = (float(weights @ v) + shift for v in (low[0], V[0], high[0]))
    delta = balls.budget.delta
    words = (
        f"With probability at least {1 - delta:g}, the policy earns between {lower:.4g} and {upper:.4g} an episode."
    )
    return Value(lower, mean, upper, delta, words)


def pessimistic_policy(agent: Certified, start: Any = None) -> PessimisticPolicy:
    """The policy with the highest lower bound, by data alone; refused where that bound says nothing.

    Args:
        agent: whose data count, played or logged.
        start: the first observation; by default the first states of the episodes that it played.
    """
    balls, weights = _balls(agent, start)
    Q, V = balls.evaluate(None, -1)
    world, delta = balls.world, balls.budget.delta
    least = world.r_min * world.horizon
    bound = float(weights @ V[0])
    if bound <= 1e-9 * max(world.cap(0), 1.0):
        seen = int((balls.counts.visits > 0).sum())
        raise InputError(
            f"the data support no policy: {int(balls.counts.visits.sum())} transitions at {seen} of {world.rows} "
            f"state-actions do not prove more than the least possible return, {least:g}; log more episodes"
        )
    words = f"With probability at least {1 - delta:g}, this policy earns {bound + least:.4g} an episode or more."
    return PessimisticPolicy(bound + least, delta, words, Q.argmax(axis=2), agent._first_numbers)


def _balls(agent: Certified, start: Any) -> tuple[Balls, FloatArray]:
    """What the data leave possible, and the weights of first states (S,)."""
    ledger = agent.ledger
    if ledger is None:
        raise InputError(f"nothing can be proven from these data: {agent._books}")
    if ledger.void is not None:
        raise InputError(f"nothing is proven of these data: {ledger.void}")
    if start is not None:
        weights = np.zeros(ledger.world.states)
        weights[int(start) - agent._first_numbers[0]] = 1.0
    elif ledger.starts.sum() > 0:
        weights = ledger.starts / ledger.starts.sum()
    else:
        raise InputError("it is not known where episodes begin: pass start=…, the first observation")
    return Balls(ledger.counts, ledger.budget), weights
