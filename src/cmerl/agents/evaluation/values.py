"""Policy evaluation by playing, or from data alone with a proof if possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl import logs
from cmerl.agents import environment_calls
from cmerl.agents.evaluation.practical import Transitions, estimate, from_log
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
    """The value of a policy from the first states, from data alone.

    Attributes:
        lower: the lower end of an interval that holds with probability 1 − delta; likewise ``upper``.
        mean: the estimate; where it is proven, what was never tried earns the least.
        delta: the failure probability.
        provable: whether that is proven; otherwise it was measured on small environments.
        unsupported: the share of what the policy does that the data say nothing of; 0 where it is proven.
        statement: the same in words.
    """

    lower: float
    mean: float
    upper: float
    delta: float
    provable: bool
    unsupported: float
    statement: str


@dataclass(frozen=True, eq=False)
class PessimisticPolicy:
    """A pessimistic policy, the best for the worst environment that the data allow: ``policy(obs, step)``.

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
    if not callable(getattr(env, "reset", None)):
        raise InputError(f"env must be an environment, not {env!r}: evaluate(env, episodes=10)")
    if isinstance(episodes, bool) or not isinstance(episodes, int | np.integer) or episodes < 1:
        raise InputError(f"episodes must be a whole number of at least 1, not {episodes!r}")
    returns = np.zeros(int(episodes))
    for number, sequence in enumerate(np.random.SeedSequence(seed).spawn(int(episodes))):
        obs = environment_calls.reset(env, int(np.random.default_rng(sequence).integers(2**31)))
        act = begin(policy)
        for step in range(horizon):
            action = act(obs, step)
            found = environment_calls.step(env, action)
            if (price := getattr(act, "price", None)) is not None:  # a budget counts here too
                act.spend(price(obs, action, found.obs, found.info))  # type: ignore[attr-defined]
            returns[number] += found.reward
            obs = found.obs
            if found.terminated or found.truncated:
                break
    mean, half = float(returns.mean()), 0.0
    if len(returns) > 1:
        from scipy.stats import t  # slow to import

        half = float(t.ppf(0.975, len(returns) - 1) * returns.std(ddof=1) / np.sqrt(len(returns)))
    return Returns(mean, (mean - half, mean + half), returns)


def value_of(policy: Any, data: Any, start: Any = None, *, horizon: int | None = None, delta: float = 0.05) -> Value:
    """Evaluate any policy from data alone: lower bound, mean and upper bound of its return.

    With data of an agent on a finite MDP with a declared range of rewards, the interval is proven at the agent's
    delta. Otherwise it is practical: fitted Q evaluation, whose intervals had their stated coverage on small
    environments. ``provable`` and ``statement`` tell which.

    Args:
        policy: a function of (obs, step) or (obs), a table (H, S), a model of Stable-Baselines3, or anything with
            ``probabilities`` or ``table`` for a proven interval.
        data: an agent, whose played and logged data are used; or logged episodes, as for ``agent.fit``.
        start: the first observation; by default the first states of the data.
        horizon: steps per episode; by default the agent's, or the length of the longest episode.
        delta: failure probability of an interval that is not proven.
    """
    if callable(getattr(policy, "policy", None)):
        raise InputError(f"a policy is evaluated, not a {type(policy).__name__}: pass agent.policy(explore=False)")
    if getattr(data, "ledger", None) is not None:
        return _proven_value(policy, data, start)
    if not 0.0 < delta < 1.0:
        raise InputError(f"delta must lie between 0 and 1, not {delta!r}")
    seen, steps = _seen(data, horizon)
    return practical_value(policy, seen if start is None else seen._replace(starts=[start]), steps, delta)


def _seen(data: Any, horizon: int | None) -> tuple[Transitions, int]:
    """Transitions of an agent or of a log, and the length of an episode."""
    if callable(getattr(data, "transitions", None)) and hasattr(data, "horizon"):
        return data.transitions(), data.horizon if horizon is None else horizon
    if hasattr(data, "policy") and hasattr(data, "horizon"):
        raise InputError(
            f"a {type(data).__name__} keeps no transitions, and nothing can be proven: {data._books}; pass the "
            "episodes themselves"
        )
    log = logs.read(data)
    return from_log(log), max(map(len, log.episodes)) if horizon is None else horizon


def practical_value(policy: Any, seen: Transitions, horizon: int, delta: float) -> Value:
    """An interval by fitted Q evaluation."""
    from scipy.stats import norm  # slow to import

    found, transitions = estimate(policy, seen, horizon), len(seen.rewards)
    half = float(norm.ppf(1.0 - delta / 2.0)) * found.deviation
    words = (
        f"By {transitions} transitions the policy earns {found.mean:.4g} an episode, between {found.mean - half:.4g} "
        f"and {found.mean + half:.4g} with confidence {1 - delta:g}. This is not proven: it was measured on small "
        f"worlds. The data say nothing of about {found.unsupported:.0%} of what the policy does."
    )
    return Value(found.mean - half, found.mean, found.mean + half, delta, False, found.unsupported, words)


def _proven_value(policy: Any, agent: Certified, start: Any) -> Value:
    balls, weights = _balls(agent, None if start is None else [start])
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
    return Value(lower, mean, upper, delta, True, 0.0, words)


class PessimisticValues(NamedTuple):
    """The best values at the lower end of what the data leave possible.

    Attributes:
        balls: what they leave possible.
        Q: (H, S, A), less the smallest reward per step; likewise V (H + 1, S).
        lower: of the value from the first states, in the environment's units.
        delta: the failure probability.
        statement: the same in words.
    """

    balls: Balls
    Q: FloatArray
    V: FloatArray
    lower: float
    delta: float
    statement: str


def pessimistic_values(agent: Certified, starts: Sequence[Any] | None = None) -> PessimisticValues:
    """Values of the policy with the highest lower bound; refused where that bound says nothing."""
    balls, weights = _balls(agent, starts)
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
    return PessimisticValues(balls, Q, V, bound + least, delta, words)


def pessimistic_policy(agent: Certified, start: Any = None) -> PessimisticPolicy:
    """The policy with the highest lower bound, by data alone; refused where that bound says nothing.

    Args:
        agent: whose data count, played or logged.
        start: the first observation; by default the first states of the episodes that it played.
    """
    found = pessimistic_values(agent, None if start is None else [start])
    return PessimisticPolicy(found.lower, found.delta, found.statement, found.Q.argmax(axis=2), agent._first_numbers)


def _balls(agent: Certified, starts: Sequence[Any] | None) -> tuple[Balls, FloatArray]:
    """The confidence balls of the data, and the weights of first states (S,)."""
    ledger = agent.ledger
    if ledger is None:
        raise InputError(f"nothing can be proven from these data: {agent._books}")
    if ledger.void is not None:
        raise InputError(f"nothing is proven of these data: {ledger.void}")
    if starts is not None:
        first, count = agent._first_numbers[0], ledger.world.states
        numbers = [_start(start, first, count) for start in starts]
        weights = np.bincount(numbers, minlength=ledger.world.states) / len(numbers)
    elif ledger.starts.sum() > 0:
        weights = ledger.starts / ledger.starts.sum()
    else:
        raise InputError("it is not known where episodes begin: pass start=…, the first observation")
    return Balls(ledger.counts, ledger.budget), weights


def _start(start: Any, first: int, count: int) -> int:
    """The number of a first observation, from 0 on."""
    number = np.asarray(start)
    if number.ndim or number.dtype.kind not in "iu" or not first <= number < first + count:
        raise InputError(f"start must be a state from {first} to {first + count - 1}, not {start!r}")
    return int(number) - first
