"""The automatic kernels, chosen from the spaces and the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.agents.cme_rl.settings import KernelSettings
from cmerl.errors import InputError
from cmerl.kernels import RBF, Columns, Constant, Delta, Hamming, Kernel, Matern, Product, StateAction, as_kernel
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.spaces.resolution import object_kernel, resolve_kernel, resolve_state_kernel
from cmerl.transitions import Transitions

FloatArray = NDArray[np.float64]


def automatic_kernel(
    rho: float,
    states: StateSpace,
    spread: FloatArray,
    action_kernel: Kernel,
    action_dims: int,
    settings: KernelSettings,
) -> Kernel:
    """The kernel on continuous states: what actions share is smooth, what they do differently is local.

    A fraction ρ of the kernel does not look at the action. The rest is each action's own, at half the width: were it
    as wide as what they share, an action found bad on one side of a goal would be taken for bad on the other too.
    Continuous actions share with their neighbours already, and with all others half at most.
    """
    if not isinstance(action_kernel, Delta):
        rho = min(rho, 0.5)
    wide = state_kernel(RBF, settings.width, states, spread, settings)
    narrow = state_kernel(RBF, settings.own_width * settings.width, states, spread, settings)
    shared = StateAction(wide, Constant(rho), action_dims)
    return shared + StateAction(narrow, (1.0 - rho) * action_kernel, action_dims)


def automatic_value_kernel(states: StateSpace, spread: FloatArray, settings: KernelSettings) -> Kernel:
    """The kernel that interpolates value functions: they have kinks, which a smoother one would ring around."""
    return state_kernel(lambda width: Matern(1.5, width), settings.width, states, spread, settings)


def automatic_state_kernel(states: StateSpace, settings: KernelSettings) -> Kernel:
    """The kernel on states without numbers: categories that are equal, times the kernels of objects."""
    return state_kernel(RBF, settings.width, states, np.ones(states.dims), settings)


def state_kernel(
    family: Callable[[Any], Kernel], width: float, states: StateSpace, spread: FloatArray, settings: KernelSettings
) -> Kernel:
    """A smooth kernel on numbers, times one that asks whether categories are equal, times those of objects.

    Args:
        family: makes the smooth kernel from its widths.
        width: for two columns that fill [0, 1]; more columns lie farther apart, and get a larger one.
        states: which columns are which.
        spread: how much of its axis each column fills (d,).
        settings: up to how many combinations of categories each is learned on its own.
    """
    numbers = np.flatnonzero(~states.categories)
    objects = {states.columns_of(part): object_kernel(part) for part in states.objects}
    categories = np.setdiff1d(np.flatnonzero(states.categories), [column for (column,) in objects])
    kernels: list[Kernel] = [Columns(kernel, columns) for columns, kernel in objects.items()]
    matching: Kernel = Delta() if states.combinations <= settings.few or not numbers.size else Hamming()
    if not numbers.size and not objects:
        return matching
    if categories.size:
        kernels.insert(0, Columns(matching, tuple(categories.tolist())))
    if not numbers.size:
        return _product(kernels)
    widths = width * np.sqrt(max(1.0, len(numbers) / 2)) * spread[numbers]
    smooth = family(float(widths[0]) if np.all(widths == widths[0]) else tuple(widths.tolist()))
    if not kernels:
        return smooth
    return _product([Columns(smooth, tuple(numbers.tolist())), *kernels])


def _product(kernels: Sequence[Kernel]) -> Kernel:
    return kernels[0] if len(kernels) == 1 else Product(tuple(kernels))


def seen_spread(states: StateSpace, rows: FloatArray, sensible: tuple[float, float]) -> FloatArray:
    """The share of its axis that each column fills (d,): 1 for sensible bounds, else from the data (n, d).

    Rounded to powers of √2, so that a little more data seldom call for a new embedding; a percent at either end does
    not count.
    """
    low, high = np.percentile(rows, [1, 99], axis=0)
    width = np.where(high > low, high - low, 1.0)
    rounded = 2.0 ** (np.round(2.0 * np.log2(width)) / 2.0)
    fitting = states.bounded & (sensible[0] <= width) & (width <= sensible[1])
    return np.where(states.categories | fitting, 1.0, rounded)


def shared_fraction(data: Transitions, kernel: Kernel, action_dims: int, bounds: tuple[float, float]) -> float:
    """ρ: how alike the states before and after a step are, on average, rounded and kept within bounds.

    A step that hardly moves the state leaves all actions nearly alike. Rounding keeps small changes from calling for
    a new embedding.
    """
    assert isinstance(data.Z, np.ndarray)
    assert isinstance(data.next_states, np.ndarray)
    rows = np.linspace(0, len(data) - 1, min(len(data), 300)).astype(np.intp)
    similarity = np.mean(np.diagonal(kernel(data.Z[rows, :-action_dims], data.next_states[rows])))
    return float(np.clip(np.round(similarity, 1), *bounds))


def choose_kernel(
    kernel: Any, states: StateSpace, actions: ActionSet, settings: KernelSettings, *, provable: bool
) -> Kernel | None:
    """The kernel on state-actions, or None to let the memory choose it from the data."""
    if not isinstance(kernel, str):
        return resolve_kernel(as_kernel(kernel), states, actions)
    if kernel != "auto":
        raise InputError(f"kernel must be a kernel or 'auto', not {kernel!r}")
    if states.integer:
        return StateAction(Delta(), actions.kernel, actions.rows.shape[1])
    if states.categories.all():  # objects, and nothing whose width the data could tell
        return StateAction(automatic_state_kernel(states, settings), actions.kernel, actions.rows.shape[1])
    # A proof is about one kernel, fixed before the data.
    if not provable:
        return None
    dims = actions.rows.shape[1]
    return automatic_kernel(0.5, states, np.ones(states.dims), actions.kernel, dims, settings)


def choose_value_kernel(
    value_kernel: Any, states: StateSpace, kernel: Kernel | None, settings: KernelSettings, *, provable: bool
) -> Kernel | None:
    """The kernel on states, or None to let the memory choose it from the data."""
    if not isinstance(value_kernel, str):
        return resolve_state_kernel(as_kernel(value_kernel), states)
    if states.objects and isinstance(kernel, StateAction):
        return kernel.state_kernel
    if states.integer:
        return kernel.state_kernel if isinstance(kernel, StateAction) else Delta()
    return automatic_value_kernel(states, np.ones(states.dims), settings) if provable else None
