"""The exact conditional mean embedding: it keeps every transition and never refactorises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.exact.grids import ExactGrid, ExactView, Layout
from cmerl.embedding.exact.regression import IntArray, Regressed, RidgeRegression, check_ridge
from cmerl.embedding.exact.support_grid import SupportGrid
from cmerl.embedding.per_action import Router
from cmerl.errors import InputError
from cmerl.growing import GrowingVector
from cmerl.kernels import Kernel
from cmerl.rollback import all_or_nothing
from cmerl.transitions import Points, PointSet, Transitions, join_points, take

FloatArray = NDArray[np.float64]


class ExactEmbedding:
    """Conditional mean embedding with weights α(z) = (K + λI)⁻¹k(z) on all transitions seen [CO22, Eq. 6].

    Args:
        kernel: k_φ on state-actions.
        lam: the ridge λ > 0.
        actions: the finite action set (A, d_a) of ``grid``; needed for planning only.
        track_std: cache what σ on the support's grid needs; for plans with bonuses.
    """

    repeat = 1

    def __init__(self, kernel: Kernel, lam: float, actions: Points | None = None, *, track_std: bool = True) -> None:
        self._track_std = track_std
        self.kernel = kernel
        self.lam = check_ridge(lam)
        self.layout = Layout(kernel, np.empty((0, 1)) if actions is None else actions)
        self._router = Router(self.layout)
        self._regressions: list[RidgeRegression] = []
        self._ensure_regressions()
        self._next = PointSet()
        self._ends = PointSet()  # terminal next states: nothing is planned from them
        self._support_grid: SupportGrid | None = None
        if len(self.layout.actions):
            self._support_grid = SupportGrid(self.layout, self._regressions, self._track_std)
        # One entry a transition, in the order given: which regression, which of its points, what followed.
        self._log_group = GrowingVector(np.intp)
        self._log_point = GrowingVector(np.intp)
        self._log_next = GrowingVector(np.intp)
        self._log_reward = GrowingVector(np.float64)
        self._information: dict[bytes, FloatArray] = {}  # at single state-actions, until the next update

    def _ensure_regressions(self) -> None:
        while len(self._regressions) < self._router.count:
            self._regressions.append(RidgeRegression(self._router.kernel, self.lam))

    @property
    def n(self) -> int:
        """Transitions seen so far."""
        return len(self._log_next)

    @property
    def information_gain(self) -> float:
        """G = ½ log det(I + K/λ)."""
        return sum(r.information_gain for r in self._regressions)

    @property
    def sum_r(self) -> float:
        """Σ r_i in the order of arrival."""
        return sum(r.sum_r for r in self._regressions)

    @property
    def projection_loss(self) -> None:
        """None: nothing is projected."""
        return None

    @property
    def choices(self) -> int:
        """0: kernel features are fixed from the start."""
        return 0

    @property
    def jitter(self) -> float:
        """The largest jitter that any factorisation needed."""
        return max((r.factor.jitter for r in self._regressions), default=0.0)

    @property
    def support(self) -> Points:
        """Distinct non-terminal next states in the order of first arrival (m, d)."""
        return self._next.points

    @property
    def next_states(self) -> Points:
        """The next states of all n transitions in the order given, repeats and terminal ones included."""
        ids = self._log_next.view
        both = join_points([self._next.points, self._ends.points])
        return take(both, np.where(ids >= 0, ids, len(self._next) - 1 - ids))

    def update(self, batch: Transitions) -> None:
        """Append transitions; unchanged if the kernel fails on the batch."""
        if len(batch) == 0:
            return
        self._next.check(batch.next_states, "next states")
        with all_or_nothing(self):
            self._append(batch)

    def _append(self, batch: Transitions) -> None:
        self._information = {}
        next_ids = np.empty(len(batch), dtype=np.intp)
        alive, ended = np.flatnonzero(~batch.terminated), np.flatnonzero(batch.terminated)
        next_ids[alive] = self._next.add(take(batch.next_states, alive))
        next_ids[ended] = -1 - self._ends.add(take(batch.next_states, ended))
        groups, X = self._router.assign(batch.Z)
        self._ensure_regressions()
        points = np.empty(len(batch), dtype=np.intp)
        for g in np.unique(groups):
            rows = np.flatnonzero(groups == g)
            seen = np.maximum(next_ids[rows], -1)
            points[rows] = self._regressions[g].append(take(X, rows), seen, batch.rewards[rows])
        self._refresh_grid()
        self._log_group.extend(groups)
        self._log_point.extend(points)
        self._log_next.extend(next_ids)
        self._log_reward.extend(batch.rewards)

    def _refresh_grid(self) -> None:
        # With every update rather than when first asked: so caches, to the last bit, depend on the updates alone.
        if self._support_grid is not None and len(self._next):
            self._support_grid.refresh(self.support)

    def backup(self, v: FloatArray, *, reward: float = 1.0, terminal: float = 0.0) -> Sequence[Regressed]:
        """The regression of y_i = reward·r_i + V(s'_i), one per regression."""
        if len(v) != len(self._next):
            raise InputError(f"v needs a value for each of the {len(self._next)} support states, but has {len(v)}")
        v = np.append(v, terminal)  # index -1 is a terminated state
        return [r.solve(r.targets(v, reward)) for r in self._regressions]

    def ones(self) -> Sequence[Regressed]:
        """The constant 1, one per regression."""
        return self.backup(np.ones(len(self._next)), reward=0.0, terminal=1.0)

    def grid(self, states: Points | None = None) -> ExactGrid | SupportGrid:
        """The embedding at states × actions; by default at its support, which is cached."""
        if states is not None:
            return self.freeze().grid(states)
        if self._support_grid is None:
            raise InputError("this embedding was made without actions: pass the states that you ask about")
        return self._support_grid

    def freeze(self) -> ExactView:
        """An immutable view, for plans that outlive later updates."""
        return ExactView(self.layout, [r.snapshot() for r in self._regressions])

    def expectation(self, coef: Sequence[Regressed], Zq: Points) -> FloatArray:
        """α(z)ᵀy at the state-actions (q,)."""
        out = np.zeros(len(Zq))
        for g, rows, X in self._parts(Zq):
            full = coef[g].full
            out[rows] = self._Kqz(g, X)[:, : len(full)] @ full
        return out

    def std(self, Zq: Points) -> FloatArray:
        """σ(z) at the state-actions (q,)."""
        variance = self.kernel.diag(Zq)
        for g, rows, X in self._parts(Zq):
            r = self._regressions[g]
            variance[rows] = r.snapshot().variance(self._Kqz(g, X), r.kernel.diag(X))
        return np.sqrt(np.maximum(variance, 0.0))

    def information(self, Zq: Points) -> FloatArray:
        """½log(1 + σ²/λ) at the state-actions (q,); episodes ask for one at a time, and come back to it."""
        name = Zq.tobytes() if isinstance(Zq, np.ndarray) and len(Zq) == 1 else None
        if name in self._information:
            return self._information[name]
        found = 0.5 * np.log1p(np.square(self.std(Zq)) / self.lam)
        if name is not None:
            self._information[name] = found
        return np.asarray(found)

    def weight_norm1(self, Zq: Points) -> FloatArray:
        """‖α(z)‖₁ over all n transitions, exactly (q,)."""
        out = np.zeros(len(Zq))
        for g, rows, X in self._parts(Zq):
            out[rows] = np.abs(self._regressions[g].snapshot().row_weights(self._Kqz(g, X))).sum(axis=1)
        return out

    def shrinkage(self, Zq: Points) -> FloatArray:
        """λ‖M⁻¹φ(z)‖ (q,)."""
        out = np.sqrt(self.kernel.diag(Zq))
        for g, rows, X in self._parts(Zq):
            r = self._regressions[g]
            out[rows] = r.snapshot().shrinkage(self._Kqz(g, X), r.kernel.diag(X))
        return out

    def weights(self, Zq: Points) -> FloatArray:
        """Total weight of each distinct next state (q, m)."""
        out = np.zeros((len(Zq), len(self._next)))
        for g, rows, X in self._parts(Zq):
            part = np.zeros((len(rows), out.shape[1]))
            self._regressions[g].next_state_weights(self._Kqz(g, X), part)
            out[rows] = part
        return out

    def transition_weights(self, Zq: Points) -> FloatArray:
        """α(z) on all n transitions in the order given (q, n)."""
        out = np.zeros((len(Zq), self.n))
        for g, rows, X in self._parts(Zq):
            mine = np.flatnonzero(self._log_group.view == g)
            each = self._regressions[g].observation_weights(self._Kqz(g, X))
            out[np.ix_(rows, mine)] = each[:, self._log_point.view[mine]]
        return out

    def visit_counts(self, Zq: Points) -> FloatArray:
        """How often each state-action was seen (q,)."""
        out = np.zeros(len(Zq))
        for g, rows, X in self._parts(Zq):
            r = self._regressions[g]
            found = r.points.find(X)
            counts = np.append(np.bincount(r.ids, r.counts, len(r.points)), 0.0)
            out[rows] = counts[found]
        return out

    def _parts(self, Zq: Points) -> list[tuple[int, IntArray, Points]]:
        """Queries by the regression that answers them; those without data are left out."""
        return [part for part in self._router.parts(Zq) if self._regressions[part[0]].factor.n]

    def _Kqz(self, g: int, X: Points) -> FloatArray:
        return self._regressions[g].kernel(X, self._regressions[g].points.points)

    def diagnostics(self) -> dict[str, Any]:
        """Sizes, information gain and numerical health."""
        return {
            "backend": "exact",
            "transitions": self.n,
            "distinct state-actions": sum(len(r.points) for r in self._regressions),
            "distinct next states": len(self._next),
            "regressions": len(self._regressions),
            "information gain": self.information_gain,
            "jitter": self.jitter,
        }
