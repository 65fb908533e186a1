"""Conversion of a user's kernel on observations and actions to a kernel on encoded rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces

from cmerl.errors import KernelError
from cmerl.kernels import (
    CallableKernel,
    Columns,
    Constant,
    Delta,
    FeatureMap,
    FloatArray,
    Kernel,
    ObjectKernel,
    On,
    Points,
    Product,
    Repaired,
    Scaled,
    StateAction,
    Sum,
    VectorKernel,
    as_kernel,
)
from cmerl.kernels.discrete import _Matching
from cmerl.kernels.interned import Interned, bind, walk
from cmerl.kernels.pullback import Pullback
from cmerl.objects import ObjectTable
from cmerl.spaces.actions import ActionSet
from cmerl.spaces.parts import Part
from cmerl.spaces.state import StateSpace
from cmerl.spaces.structured import default_kernel
from cmerl.validation.points import as_points

ACTION = "action"  # where the objects of structured actions are found


@dataclass(frozen=True)
class Unscaled(Pullback):
    """A kernel on numbers as the environment gives them, for rows that were scaled: k(low + scale·x, …)."""

    kernel: Kernel
    low: tuple[float, ...]
    scale: tuple[float, ...]

    def _image(self, X: Points) -> FloatArray:
        raw: FloatArray = as_points(X) * np.array(self.scale) + np.array(self.low)
        return raw


@dataclass(frozen=True)
class Decoded(Pullback):
    """A kernel on observations as the environment gives them, for rows."""

    kernel: Kernel
    states: StateSpace | None = field(default=None, repr=False, compare=False)

    def _image(self, X: Points) -> list[Any]:
        if self.states is None:
            raise KernelError("this kernel has lost its observations: bind it to a state space.")
        return self.states.decode(as_points(X))

    def spec(self) -> dict[str, Any]:
        """Without the space."""
        return {"type": "Decoded", "kernel": self.kernel.spec()}


def resolve_state_kernel(kernel: Kernel, states: StateSpace) -> Kernel:
    """A kernel on observations as a kernel on rows; one on rows stays as it is."""
    return walk(kernel, lambda k: _on_rows(k, states))


def resolve_kernel(kernel: Kernel, states: StateSpace, actions: ActionSet) -> Kernel:
    """A kernel on state-actions as a kernel on rows.

    In a space with objects, or with parts named by ``on``, a kernel without `StateAction` is one on states; actions
    then have their own default.
    """
    if any(isinstance(k, StateAction) for k in _inside(kernel)):
        return walk(kernel, lambda k: _state_action(k, states, actions) if isinstance(k, StateAction) else None)
    found = resolve_state_kernel(kernel, states)
    if found is kernel and not states.objects:
        return kernel  # on rows of state-actions already
    return StateAction(found, actions.kernel, actions.rows.shape[1])


def rebind(kernel: Kernel, states: StateSpace, actions: ObjectTable | None) -> Kernel:
    """A kernel that was loaded, at the objects that were loaded with it."""
    tables = {part.name: part.table for part in states.parts if part.table is not None}
    if actions is not None:
        tables[ACTION] = actions
    found = bind(kernel, tables)
    return walk(found, lambda k: Decoded(k.kernel, states) if isinstance(k, Decoded) else None)


def object_kernel(part: Part) -> Kernel:
    """The default kernel on the numbers of a part's objects."""
    assert part.space is not None
    if isinstance(part.space, spaces.Box):  # a large picture: equal or not, which its number tells
        return Delta()
    return Interned(default_kernel(part.space), part.name, part.table)


def _state_action(k: StateAction, states: StateSpace, actions: ActionSet) -> StateAction:
    action_kernel = k.action_kernel
    if actions.objects is not None:
        table = actions.objects
        action_kernel = walk(action_kernel, lambda a: _on_objects(a, lambda leaf: Interned(leaf, ACTION, table)))
    return StateAction(resolve_state_kernel(k.state_kernel, states), action_kernel, k.action_dims)


def _on_rows(k: Kernel, states: StateSpace) -> Kernel | None:
    if isinstance(k, On):
        return _on_part(k, states)
    if isinstance(k, Interned | Decoded | Unscaled | Columns):
        return k
    if any(isinstance(part, On) for part in _inside(k)):
        return None  # each part on its own columns
    single = states.parts[0] if states.objects and len(states.parts) == 1 else None
    if single is not None:
        return _on_objects(k, lambda leaf: Interned(leaf, single.name, single.table))
    if states.objects or isinstance(k, FeatureMap):
        return _on_objects(k, lambda leaf: Decoded(leaf, states))
    if isinstance(k, ObjectKernel) and not _reads_rows(k):
        return Decoded(k, states)
    return None


def _reads_rows(k: Kernel) -> bool:
    """Whether a kernel on objects is as happy with rows of numbers: orders and categories are both."""
    from cmerl.kernels.permutations import _OrderKernel

    return isinstance(k, _OrderKernel)


def _on_objects(k: Kernel, wrap: Any) -> Kernel | None:
    """Leaves on objects, wrapped; Delta and constants need none, and composites are looked into."""
    if isinstance(k, Constant | Delta):
        return k
    if isinstance(k, On | ObjectKernel | CallableKernel | FeatureMap | Repaired | VectorKernel | _Matching):
        return as_kernel(wrap(k))
    if isinstance(k, Sum | Product | Scaled):
        if not any(isinstance(leaf, Constant | Delta) for leaf in _inside(k)):
            return as_kernel(wrap(k))  # as one, so that one matrix is kept
        return None
    return as_kernel(wrap(k))


def _on_part(k: On, states: StateSpace) -> Kernel:
    named = [part for part in states.parts if part.name == k.part]
    if not named:
        names = ", ".join(repr(part.name) for part in states.parts if part.path)
        raise KernelError(f"a kernel is on the part {k.part!r}, but the observation has {names or 'no named parts'}.")
    part = named[0]
    columns = states.columns_of(part)
    if part.kind == "objects":
        inner: Kernel = k.kernel if isinstance(k.kernel, Delta) else Interned(k.kernel, part.name, part.table)
        return Columns(inner, columns)
    if columns == ():
        raise KernelError(
            f"the part {k.part!r} is an angle, which has its own columns: use Periodic without angles=."
        )
    low, scale = states.scale_of(part)
    if np.all(low == 0.0) and np.all(scale == 1.0):
        return Columns(k.kernel, columns)
    return Columns(Unscaled(k.kernel, tuple(low.tolist()), tuple(scale.tolist())), columns)


def _inside(kernel: Kernel) -> list[Kernel]:
    """The kernel and all kernels in it."""
    found: list[Kernel] = []

    def note(k: Kernel) -> None:
        found.append(k)

    walk(kernel, note)
    return found
