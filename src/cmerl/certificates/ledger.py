"""A certificate for any agent in a finite MDP: a bound on its regret from counts and returns alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence import mixture_radius
from cmerl.confidence.kl import CountingBudget
from cmerl.errors import InputError
from cmerl.finite import Balls, Counts, FiniteWorld
from cmerl.growing import Arrays, nested, part

FloatArray = NDArray[np.float64]

ROUNDING = 1e-9  # relative to the width: a reward so little outside of its range is in it


@dataclass(frozen=True)
class Certificate:
    """A certificate of a run; all its statements hold together with probability 1 − delta, at every time.

    Attributes:
        regret_bound: what the episodes have lost at most in all, against an optimal policy.
        policy_loss_bound: what the policy loses at most in one episode, from any first state seen so far.
        delta: the failure probability.
        episodes: how many the bound on regret is for.
        most: what they could have lost at most, as rewards are bounded.
        statement: the same in words.
    """

    regret_bound: float
    policy_loss_bound: float
    delta: float
    episodes: int
    most: float
    statement: str


class Ledger:
    """Counts, returns and the running upper bound on V* of one run.

    Args:
        world: what is known without data.
        delta: failure probability of everything that is concluded, together.
        growth: bounds on V* are recomputed when the counts have grown by this share.
        eager: whether it suffices that one state-action's count has; otherwise all of them together must.

    Attributes:
        counts: what was seen.
        upper: V_h(s) ≥ V*_h(s), the least so far (H+1, S), less r_min per step.
        episodes: how many were entered.
        bound: what they have lost at most.
        void: why nothing is proven any more, or None.
    """

    def __init__(self, world: FiniteWorld, delta: float, *, growth: float = 0.25, eager: bool = False) -> None:
        self.world, self.growth, self.eager = world, growth, eager
        self.budget = CountingBudget(delta, learned_reward=world.rewards is None)
        self.counts = Counts(world)
        self.balls = Balls(self.counts.copy(), self.budget)  # as of the last refresh
        caps = np.array([world.cap(step) for step in range(world.horizon + 1)])
        self.upper: FloatArray = np.repeat(caps[:, None], world.states, axis=1)
        self.starts: FloatArray = np.zeros(world.states)
        self.returned = 0.0  # the sum of returns, less r_min per step
        self.episodes = self.broken = 0
        self.bound = 0.0
        self.void: str | None = None
        self._q: FloatArray | None = None

    def enter(
        self,
        states: Sequence[int],
        actions: Sequence[int],
        rewards: Sequence[float],
        *,
        terminated: bool,
        finished: bool = True,
        gap: float | None = None,
    ) -> None:
        """One more episode.

        Args:
            states: those that it went through, the last one included.
            actions: one less.
            rewards: as many, in the environment's units.
            terminated: whether the environment ended it.
            finished: False for an aborted episode; only its transitions count.
            gap: a bound on what it lost that was known beforehand, if any.
        """
        if not self._count(states, actions, rewards, terminated=terminated):
            return
        if finished:
            self.episodes += 1
            self.starts[states[0]] += 1.0
            # After an end 0 is earned a step; after an episode cut short at least r_min would have been.
            steps = self.world.horizon if terminated else len(rewards)
            self.returned += float(sum(rewards)) - self.world.r_min * steps
        else:
            self.broken += 1
        if self._due():
            self.refresh()
        if finished:
            most = float(self.upper[0, states[0]])
            # Each episode loses at most V* ≤ upper, as no policy earns less than r_min a step.
            self.bound = min(self.from_returns(self.upper), self.bound + min(most, most if gap is None else gap))

    def observe(
        self, states: Sequence[int], actions: Sequence[int], rewards: Sequence[float], *, terminated: bool
    ) -> None:
        """Logged transitions: they count as evidence, not as episodes of this run."""
        if self._count(states, actions, rewards, terminated=terminated) and self._due():
            self.refresh()

    def _count(
        self, states: Sequence[int], actions: Sequence[int], rewards: Sequence[float], *, terminated: bool
    ) -> bool:
        """Count transitions; False once something has shown that nothing can be proven."""
        world, last = self.world, len(actions) - 1
        lo, hi = world.r_min, world.r_min + world.width
        slack = ROUNDING * max(world.width, abs(lo), abs(hi))
        for step, (s, a, r) in enumerate(zip(states, actions, rewards, strict=False)):
            ended = terminated and step == last
            if not lo - slack <= r <= hi + slack:
                self.void = f"a reward of {r:g} lies outside ({lo:g}, {hi:g})"
            elif ended and not world.ends:
                self.void = "an episode terminated early although none was expected to"
            if self.void is not None:
                return False
            self.counts.add(step, s, a, r, states[step + 1], ended=ended)
        return True

    def _due(self) -> bool:
        now, then = self.counts.visits, self.balls.counts.visits
        if not self.eager:
            return bool(now.sum() >= (1.0 + self.growth) * then.sum())
        return bool((now > (1.0 + self.growth) * then).any())

    def refresh(self) -> None:
        """Recompute the bounds on V*; old and new bounds both hold, so the smaller ones do."""
        self.balls = Balls(self.counts.copy(), self.budget)
        self._q, self.upper = self.balls.optimistic(self.upper)

    def optimistic(self) -> tuple[FloatArray, FloatArray]:
        """Q (H, S, A) and V (H+1, S) of the last refresh, less r_min per step."""
        if self._q is None:
            self._q, _ = self.balls.optimistic(self.upper)
        return self._q, self.upper

    def from_returns(self, upper: FloatArray) -> float:
        """Σ_t V*(s₁ᵗ) − Σ_t return_t, and what luck can make of the difference between returns and expectations."""
        world, T = self.world, self.episodes + self.broken
        span = world.horizon * world.width
        if span == 0.0:
            return 0.0
        luck = mixture_radius(T * span**2 / 4, start=10 * span**2 / 4, delta=self.budget.luck)
        return float(self.starts @ upper[0]) - self.returned + luck + self.broken * span

    def certificate(self, policy: FloatArray) -> Certificate:
        """The certificate of all episodes, and of a policy with probabilities (H, S, A)."""
        if self.void is not None:
            raise InputError(f"nothing is proven of this run: {self.void}")
        if self.episodes == 0:
            raise InputError("there is nothing to certify yet: learn first")
        balls = Balls(self.counts, self.budget)
        _, upper = balls.optimistic(self.upper)
        _, lower = balls.evaluate(policy, -1)
        begun = self.starts > 0
        loss = float((upper[0] - lower[0])[begun].max())
        regret = max(min(self.bound, self.from_returns(upper)), 0.0)
        most = self.episodes * self.world.cap(0)
        first = "the first state" if begun.sum() == 1 else "any first state seen so far"
        words = (
            f"With probability at least {1 - self.budget.delta:g}, the {self.episodes} episodes lost at most "
            f"{regret:.4g} in all (of at most {most:.4g}), and the policy loses at most {loss:.4g} an episode "
            f"from {first}."
        )
        return Certificate(regret, loss, self.budget.delta, self.episodes, most, words)

    # --- on disk ---

    def arrays(self) -> Arrays:
        """All arrays, for saving."""
        totals = np.array([self.returned, self.episodes, self.broken, self.bound])
        own = {"upper": self.upper, "starts": self.starts, "totals": totals}
        if self.world.rewards is not None:
            own["rewards"] = self.world.rewards
        return {**own, **nested({"now": self.counts.arrays(), "then": self.balls.counts.arrays()})}

    def spec(self) -> dict[str, Any]:
        """The settings as JSON."""
        about = {"delta": self.budget.delta, "growth": self.growth, "eager": self.eager, "void": self.void}
        return {**about, "world": {**asdict(self.world), "rewards": None}}

    @classmethod
    def restore(cls, spec: dict[str, Any], arrays: Arrays) -> Ledger:
        """The inverse of ``spec`` and ``arrays``."""
        world = FiniteWorld(**{**spec["world"], "rewards": arrays.get("rewards")})
        found = cls(world, spec["delta"], growth=spec["growth"], eager=spec["eager"])
        found.void = spec["void"]
        found.counts = Counts.from_arrays(world, part(arrays, "now"))
        found.balls = Balls(Counts.from_arrays(world, part(arrays, "then")), found.budget)
        found.upper, found.starts = arrays["upper"], arrays["starts"]
        found.returned, episodes, broken, found.bound = (float(x) for x in arrays["totals"])
        found.episodes, found.broken = int(episodes), int(broken)
        return found
