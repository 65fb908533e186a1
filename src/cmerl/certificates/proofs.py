"""Proofs of a bonus mode from its plans and data."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl import oracles
from cmerl.certificates.evidence import CERTIFY_UP_TO, ROUNDING, Certifier, realised_excess, regret_bound
from cmerl.confidence import ConfidenceSet, FiniteDomain, Interval, Mode, Paper, Problem, Tight
from cmerl.embedding import KernelEmbedding
from cmerl.errors import InputError
from cmerl.planning import Plan
from cmerl.spaces import StateSpace
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")

HOLDS = "holds with probability 1 - delta"


@dataclass(frozen=True)
class Grounds:
    """The assumptions of a proof at one moment.

    Attributes:
        problem: sizes, kernels, constants.
        embeddings: what was learned, one for all steps or one for each.
        actions: the action set (A, d_a).
        begun: episodes begun so far, the next one included.
        assumption: the assumed range of rewards if none was declared, or None.
        broken: whether a reward was met outside that range.
    """

    problem: Problem
    embeddings: Sequence[KernelEmbedding]
    actions: FloatArray
    begun: int
    assumption: str | None
    broken: bool


class Proofs:
    """The proofs of one run in a provable mode.

    Args:
        mode: the rule for bonuses.
        constants: B_P, B_V, B_R as the user gave them; None where automatic.
        all_states: every state (S, d), or None where they are not finitely many.

    Attributes:
        contradicted: constants of the user's that the data say are too small.
        certifier: compares plans with the truth, where it is known and small; see ``know``.
    """

    def __init__(self, mode: Mode, *, constants: Mapping[str, float | None], all_states: Points | None) -> None:
        self._mode, self._constants, self._all_states = mode, constants, all_states
        self.contradicted: list[str] = []
        self.certifier: Certifier | None = None

    def know(self, model: Any, solution: Any, problem: Problem, states: StateSpace, actions: FloatArray) -> None:
        """Compare plans with this environment from now on, if it is finite and small."""
        if not isinstance(model, oracles.FiniteModel) or model.R.size > CERTIFY_UP_TO:
            return
        if model.R.shape[1] != len(actions):
            return
        assert isinstance(solution, oracles.Solution)
        encoded = states.encode_many(model.observations)
        domain = FiniteDomain(problem.kernel, problem.value_kernel, encoded, actions)
        self.certifier = Certifier(model, solution, domain, encoded)

    def statement(self, assumption: str | None, broken: bool) -> str:
        """The proof status of the run, in words; see ``Grounds``."""
        caveat = self._mode.caveat()
        if caveat is not None:
            return caveat
        if self.contradicted:
            return f"void: the data contradict {' and '.join(self.contradicted)}; give larger ones"
        if broken:
            return "void: a reward outside the assumed range was seen; declare reward_range"
        if self._mode.needs_norms and self._all_states is None:
            return "none: norms of V are taken on the data alone"
        if assumption is not None:
            return f"{HOLDS} if {assumption}, which nobody declared: pass reward_range"
        return HOLDS

    def value_bounds(
        self, optimistic: Plan, pessimistic: Plan, state: Points, step: int, limited: Plan | None = None
    ) -> tuple[float, float]:
        """(lower, upper) bounds on V* at one state.

        Args:
            optimistic: a plan with bonuses added.
            pessimistic: one with them subtracted.
            state: one encoded state (1, d).
            step: from 0.
            limited: a plan that relies on a known maximal return, where episodes do begin in that state.
        """
        problem, r_min = optimistic.task.problem, optimistic.task.r_min
        least, most = ((problem.horizon - step) * r for r in (r_min, r_min + problem.width))
        lower, upper = (float(plan.value(state, step)[0]) for plan in (pessimistic, optimistic))
        if limited is not None:
            upper = min(upper, float(limited.value(state, step)[0]))
            most = min(most, least + limited.task.cap(step))
        return max(lower, least), min(upper, most)

    def confidence_set(self, grounds: Grounds) -> ConfidenceSet:
        """C_t for the next episode, on finite state spaces, in the modes that have one radius."""
        if self._all_states is None:
            raise InputError("a confidence set needs a finite state space: pass states=… with all observations")
        if len(grounds.embeddings) > 1 or grounds.problem.terminations:
            raise InputError("a confidence set needs the same transitions at every step, and no early terminations")
        if not isinstance(self._mode, Paper | Tight):
            raise InputError(f"bonus {self._mode.name!r} has no single radius: use 'paper' or 'tight'")
        embedding = grounds.embeddings[0]
        return ConfidenceSet(
            embedding,
            self._mode.radius(grounds.problem, embedding, grounds.begun),
            value_kernel=grounds.problem.value_kernel,
            states=self._all_states,
            actions=grounds.actions,
        )

    def check_constants(self, found: Mapping[str, Interval]) -> None:
        """Warn once about each constant of the user's that estimates from the data contradict."""
        for name, interval in found.items():
            given = self._constants[name]
            if given is not None and given < interval.lower and name not in self.contradicted:
                self.contradicted.append(name)
                log.warning("%s = %g is contradicted by the data: it is at least %.4g", name, given, interval.lower)

    def check_return(self, ret: float, most: float | None) -> None:
        """Warn once if an episode returned more than any could."""
        if most is None or ret <= most + ROUNDING * max(abs(most), 1.0) or "max_return" in self.contradicted:
            return
        self.contradicted.append("max_return")
        log.warning("max_return = %g is contradicted by the data: an episode returned %.6g", most, ret)

    def evidence(
        self, plan: Plan, grounds: Grounds, Z: Points, *, complete: bool, so_far: float | None, episodes: int
    ) -> dict[str, Any]:
        """Proofs from an episode that was played with ``plan`` but not yet learned.

        Args:
            plan: the one that was played throughout.
            grounds: what it was made from.
            Z: the state-actions visited, one per step.
            complete: whether the episode went on to its horizon or a terminal state.
            so_far: the excess of all earlier episodes; None where it is not known.
            episodes: how many were played, this one included.
        """
        evidence: dict[str, Any] = {}
        if self.certifier is not None:
            evidence |= self.certifier.check(plan, grounds.embeddings)
        if self.statement(grounds.assumption, grounds.broken).startswith(HOLDS):
            total = realised_excess(plan, grounds.embeddings, Z, complete=complete)
            total += math.inf if so_far is None else so_far
            evidence |= {"excess": total, "regret_bound": regret_bound(total, episodes, plan)}
            if grounds.assumption is not None:
                evidence["assumes"] = grounds.assumption
        return evidence
