"""Exported policies: a table, a value function of kernels, landmarks, or a search. Only NumPy is needed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError, shown
from cmerl.exported import container
from cmerl.exported.kernels import Factor, Term, terms_of
from cmerl.exported.schema import check
from cmerl.exported.search import search_policy
from cmerl.exported.spaces import Actions, Observations, check_step
from cmerl.files import read_regular, saying_why
from cmerl.searching.ascent import refine

FloatArray = NDArray[np.float64]


class ExportedPolicy(Protocol):
    """A policy that was loaded."""

    @property
    def horizon(self) -> int:
        """Steps of an episode; later ones are refused."""
        ...

    @property
    def about(self) -> dict[str, Any]:
        """Information about the exported policy."""
        ...

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step`` (from 0)."""
        ...


@dataclass(frozen=True, eq=False)
class TablePolicy:
    """An action for every numbered state and step."""

    horizon: int
    about: dict[str, Any]
    first: int
    table: NDArray[np.int64]
    actions: Actions

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for a state's number at ``step``."""
        check_step(step, self.horizon)
        try:
            state = int(np.asarray(obs).reshape(())) - self.first
        except (TypeError, ValueError):
            state = -1
        if not 0 <= state < self.table.shape[1]:
            last = self.first + self.table.shape[1] - 1
            raise InputError(f"the observation {shown(obs)} is not a state number from {self.first} to {last}")
        return self.actions.value(int(self.table[step, state]))


@dataclass(frozen=True, eq=False)
class KernelPolicy:
    """The action with the largest Q_h(s, a) = c_h + Σ_i w_{h,i} k((s, a), z_i).

    Attributes:
        horizon: H.
        about: what was exported.
        observations: how they become rows.
        actions: the candidates.
        rows: of the candidates (A, e).
        terms: of the kernel, at the points.
        weights: w (H, m).
        constants: c (H,).
        order: in which ties are broken (H, A).
        tie: Q closer than this are tied.
        ascent: how actions between the candidates are found, or None.
    """

    horizon: int
    about: dict[str, Any]
    observations: Observations
    actions: Actions
    rows: FloatArray
    terms: tuple[Term, ...]
    weights: FloatArray
    constants: FloatArray
    order: NDArray[np.int64]
    tie: float
    ascent: dict[str, Any] | None

    @cached_property
    def _candidates(self) -> list[FloatArray]:
        """For each term, what the kernel says of the candidates (A, m)."""
        m = self.weights.shape[1]
        return [np.ascontiguousarray(term.of_actions(self.rows, m)) for term in self.terms]

    def q_values(self, obs: Any, step: int) -> FloatArray:
        """Q (A,) of the candidates, in the environment's units."""
        check_step(step, self.horizon)
        return self._q(self._weighted(self.observations.encode(obs), step), step)

    def __call__(self, obs: Any, step: int) -> Any:
        """The best action."""
        check_step(step, self.horizon)
        weighted = self._weighted(self.observations.encode(obs), step)
        order = self.order[step]
        q = self._q(weighted, step)[order]
        best = int(order[int(np.argmax(q >= q.max() - self.tie))])
        if self.ascent is None:
            return self.actions.value(best)
        return self.actions.decode(
            refine(lambda a: self._at(weighted, a), self._slope(weighted), self.rows[best], **self.ascent)
        )

    def _weighted(self, row: FloatArray, step: int) -> list[FloatArray]:
        """For each term, weights times what the kernel says of the state (m,)."""
        w = self.weights[step]
        return [term.of_state(row) * w for term in self.terms]

    def _q(self, weighted: list[FloatArray], step: int) -> FloatArray:
        q = np.full(len(self.rows), self.constants[step])
        for part, w in zip(self._candidates, weighted, strict=True):
            q += part @ w
        return q

    def _at(self, weighted: list[FloatArray], actions: FloatArray) -> FloatArray:
        """Q up to a constant (k,) at any actions (k, e)."""
        pairs = zip(self.terms, weighted, strict=True)
        return sum((term.of_actions(actions, len(w)) @ w for term, w in pairs), np.zeros(len(actions)))

    def _slope(self, weighted: list[FloatArray]) -> Any:
        pairs = list(zip(self.terms, weighted, strict=True))
        return lambda a: sum((w @ term.action_slope(a, len(w)) for term, w in pairs), np.zeros(len(a)))


@dataclass(frozen=True, eq=False)
class LandmarkPolicy:
    """The action with the largest Σ_i k(s, s_i) w_i, an RBF kernel at landmarks.

    Attributes:
        horizon: H.
        about: what was exported.
        observations: how they become rows.
        actions: the candidates.
        kernel: at the landmarks.
        weights: w (T, m, A): row step·T // H is for a step.
    """

    horizon: int
    about: dict[str, Any]
    observations: Observations
    actions: Actions
    kernel: Factor
    weights: FloatArray

    def preferences(self, obs: Any, step: int) -> FloatArray:
        """Preferences of the candidates (A,); only their order matters."""
        check_step(step, self.horizon)
        row = self.observations.encode(obs)
        return np.asarray(self.kernel.at(row[None])[0] @ self.weights[step * len(self.weights) // self.horizon])

    def __call__(self, obs: Any, step: int) -> Any:
        """The preferred action."""
        return self.actions.value(int(np.argmax(self.preferences(obs, step))))


def load(path: str | os.PathLike[str]) -> ExportedPolicy:
    """Load an exported policy. The whole file is checked first."""
    name = repr(os.fspath(path))
    if not os.path.exists(path):
        raise InputError(f"there is no file {name}")
    with saying_why(path):
        content = read_regular(path, follow=True, most=container.MOST_BYTES)
    meta, arrays = container.from_bytes(content, name)
    try:
        check(meta, arrays)
    except InputError as error:
        raise InputError(f"{name} is damaged: {error}") from None
    return build(meta, arrays)


def build(meta: dict[str, Any], arrays: container.Arrays) -> ExportedPolicy:
    """A policy from what a sound file holds."""
    bounds = [arrays.get(key) for key in ("action_low", "action_high")]
    about = meta["actions"]
    actions = Actions(arrays["values"], tuple(about["shape"]), about["dtype"], *bounds)
    H, said = meta["horizon"], meta["about"]
    if meta["kind"] == "table":
        return TablePolicy(H, said, meta["first"], arrays["table"], actions)
    parts = tuple((tuple(part["path"]), tuple(part["shape"])) for part in meta["observations"])
    observations = Observations(parts, arrays["low"], arrays["scale"], arrays["period"])
    if meta["kind"] == "landmarks":
        kernel = Factor("rbf", arrays["states"], list(range(arrays["states"].shape[1])), arrays["lengthscales"], 0.0)
        return LandmarkPolicy(H, said, observations, actions, kernel, arrays["weights"])
    if meta["kind"] == "search":
        return search_policy(meta, arrays, observations, actions)
    terms = terms_of(meta["terms"], arrays["states"], arrays["at_actions"])
    tie, ascent = float(meta["tie"]), meta["ascent"]
    numbers = (arrays["weights"], arrays["constants"], arrays["order"])
    return KernelPolicy(H, said, observations, actions, arrays["rows"], terms, *numbers, tie, ascent)
