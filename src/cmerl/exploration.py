"""The exploration account: every episode deposits a little, and deviations from greedy pay from it.

There are two plans: g, greedy on the mean model, and h, an optimistic one. A step that deviates from g is charged
c(s, a) = max_b Q_g(s, b) − Q_g(s, a), and among the actions that the balance can pay the best by Q_h is played. For
any Q_g, with V_g = max_b Q_g and V_g = 0 at the end,

    V_g(s_1) − return = Σ charges + Σ [Q_g(s_t, a_t) − r_t − V_g(s_{t+1})],

so what exploring costs beyond the model's errors is what was charged: at most rate·S·(1 + ln T) in T episodes, S the
spread of returns. As long as there is something to win, deposits diverge, so nothing is starved. S is never more than
the prospect, what the ceiling of returns exceeds the usual return by: a deviation leads to where errors of the model
are large, and where all that is known to exist is earned already, they would be paid for nothing. With an empty
account h breaks the ties of g: where no reward was ever seen, exploration is unlimited.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

TIE = 1e-6  # of the spread of returns: charges below this are rounding


@dataclass(frozen=True)
class Account:
    """The balance of the exploration account between episodes, in the environment's units.

    Attributes:
        balance: what is left.
        spent: all that was charged so far.
        rate: of the spread of returns, or of the prospect if that is less, that the t-th episode deposits, over t.
    """

    balance: float = 0.0
    spent: float = 0.0
    rate: float = 0.1

    def allowance(self, episode: int, spread: float, prospect: float = np.inf) -> Allowance:
        """The budget of episode t: the balance plus its deposit.

        Args:
            episode: t.
            spread: of returns.
            prospect: by how much the next return may exceed the usual one, as far as is known: no more than that is
                worth paying.
        """
        most = min(spread, max(prospect, 0.0))
        return Allowance(min(self.balance + self.rate * most / max(episode, 1), most), TIE * spread)

    def after(self, allowance: Allowance) -> Account:
        """The account after an episode."""
        return Account(allowance.left, self.spent + allowance.spent, self.rate)


@dataclass
class Allowance:
    """The exploration budget of one episode, and what it has spent.

    Attributes:
        left: for deviations.
        tie: charges up to this are free.
        spent: charges so far.
        deviations: steps that were charged.
        promise: V_g at the first decision; None before it.
    """

    left: float
    tie: float = 0.0
    spent: float = 0.0
    deviations: int = 0
    promise: float | None = field(default=None)

    def affords(self) -> float:
        """The largest charge that can be paid now."""
        return max(self.left, 0.0) + self.tie

    def pay(self, charge: float, promise: float) -> None:
        """Charge one decision, which g has promised so much for."""
        if self.promise is None:
            self.promise = promise
        if charge > self.tie:
            self.left -= charge
            self.spent += charge
            self.deviations += 1
