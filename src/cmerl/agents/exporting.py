"""Export of a plan to a policy file."""

from __future__ import annotations

import logging
import os
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC, Refined
from cmerl.agents.distillation import distil
from cmerl.agents.exporting_searches import can_search, search_contents
from cmerl.confidence import Greedy as GreedyMode
from cmerl.embedding.compressed.moments import CompressedView
from cmerl.embedding.displacement.grid import DisplacementView
from cmerl.embedding.exact.grids import ExactView
from cmerl.errors import InputError
from cmerl.exported import container
from cmerl.files import write_atomically
from cmerl.finite import TablePlan
from cmerl.kernels import RBF, Columns, Constant, Delta, Hamming, Kernel, Matern, Product, Scaled, StateAction, Sum
from cmerl.planning import TIE, Plan
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet

if TYPE_CHECKING:
    from cmerl.agents.policies import PlanPolicy

FloatArray = NDArray[np.float64]
Term = dict[str, Any]

log = logging.getLogger("cmerl")


def export(policy: PlanPolicy, path: str | os.PathLike[str], *, search: bool = True) -> None:
    """Write a policy to one file; one that cannot be is refused with the reason."""
    write_atomically(path, [container.to_bytes(*contents(policy, search=search))])


def contents(policy: PlanPolicy, *, search: bool = True) -> tuple[dict[str, Any], container.Arrays]:
    """The header and the arrays; ``search`` says whether a search is exported as it is, where that can be."""
    plan, states, actions = policy.plan, policy.states, policy.actions
    if actions.objects is not None or states.objects:
        raise InputError("a policy on objects (text, graphs, …) cannot be exported: only numbers go into the file")
    if getattr(plan, "first_step", 0):
        raise InputError("this plan was made inside an episode, for the steps that were left: export agent.policy()")
    if isinstance(plan, Plan) and isinstance(plan.views[0], DisplacementView):
        return _of_displacement(policy, plan, plan.views[0], search)
    greedy = "the greedy policy of its plan: the search is left out" if policy.searches else "the policy itself"
    if policy.searches:
        log.warning("this policy searches at every step; what is exported is %s", greedy)
    meta, arrays = _common(policy, {"exported": greedy})
    if states.all_states is not None:
        table = plan.table(states.all_states)
        return {**meta, "kind": "table", "first": int(states.all_states[0, 0])}, {**arrays, "table": table}
    if isinstance(plan, TablePlan):
        raise InputError("this plan is a table on states that are not numbers, and cannot be exported")
    refined = policy.actor if isinstance(policy.actor, Refined) else None
    own, numbers = _kernel_contents(plan, states, actions, refined)
    return {**meta, **own}, {**arrays, **numbers}


def _common(policy: PlanPolicy, about: dict[str, Any]) -> tuple[dict[str, Any], container.Arrays]:
    """The common part of all policy files."""
    plan, actions = policy.plan, policy.actions
    meta: dict[str, Any] = {
        "about": {**about, "transitions": plan.transitions},
        "horizon": plan.task.problem.horizon,
        "actions": {"shape": list(np.shape(actions.values[0])), "dtype": np.asarray(actions.values[0]).dtype.str},
    }
    arrays: container.Arrays = {"values": actions.table}
    if actions.scale is not None:
        arrays |= {"action_low": actions.scale.low, "action_high": actions.scale.high}
    return meta, arrays


def _observed(states: StateSpace) -> tuple[list[dict[str, Any]], container.Arrays]:
    """The encoding of observations."""
    columns = states.columns
    numbers = {
        "low": np.where(columns.category, 0.0, columns.low),
        "scale": np.where(columns.category, 1.0, columns.scale),
        "period": columns.period,
    }
    return [{"path": list(p.path), "shape": list(p.shape)} for p in states.parts], numbers


def _of_displacement(
    policy: PlanPolicy, plan: Plan, view: DisplacementView, search: bool
) -> tuple[dict[str, Any], container.Arrays]:
    """The search itself, or preferences at landmarks, learned from the policy in its own model."""
    if policy.exploration is not None or not isinstance(plan.task.mode, GreedyMode):
        raise InputError("this policy explores, and a file cannot: export agent.policy(explore=False)")
    if search and isinstance(policy.actor, MPC) and can_search(view, policy.actions.continuous):
        meta, arrays = _common(policy, {"exported": "the search itself"})
        parts, numbers = _observed(policy.states)
        said, own = search_contents(policy.actor, plan, view, policy.seed)
        return {**meta, "kind": "search", "observations": parts, "search": said}, {**arrays, **numbers, **own}
    found = distil(plan, policy.actor, policy.actions.rows, policy.seed)
    about = {"exported": "preferences at landmarks, distilled from the policy", "simulated": found.simulated}
    meta, arrays = _common(policy, about)
    parts, numbers = _observed(policy.states)
    arrays |= {
        **numbers,
        "states": found.states * view.scale + view.centre,
        "lengthscales": found.width * view.scale,
        "weights": found.weights,
    }
    return {**meta, "kind": "landmarks", "observations": parts}, arrays


def _kernel_contents(
    plan: Plan, states: StateSpace, actions: ActionSet, refined: Refined | None
) -> tuple[dict[str, Any], container.Arrays]:
    """Q_h(s, a) = c_h + Σ_i w_{h,i} k((s, a), z_i): the mean, and what the mass takes of the ceiling, are one sum."""
    task = plan.task
    if task.known_reward is not None:
        raise InputError(
            "this plan asks a reward function, which a file cannot hold: export a policy that learned it"
        )
    if plan.basis(0).reward is not None or any(any(stage.terms) for stage in plan.stages):
        raise InputError("this plan has a bonus that a file does not hold: export agent.policy(explore=False)")
    if len(plan.views) > 1:
        raise InputError("this plan has a model for each step, and cannot be exported: use time_homogeneous=True")
    view, one = plan.views[0], plan.bases[0].one
    terms, points = expansion(view, states.dims, actions)
    assert isinstance(view, ExactView | CompressedView)  # others have no expansion
    ones = view.weights_at_centres(one)
    H = task.problem.horizon
    weights = np.stack([view.weights_at_centres(s.coef) + (s.shift - s.ceiling) * ones for s in plan.stages])
    constants = np.array([stage.ceiling + plan.shift(h) for h, stage in enumerate(plan.stages)])
    parts, numbers = _observed(states)
    meta = {
        "kind": "kernel",
        "observations": parts,
        "terms": terms,
        "tie": TIE * H * task.problem.width,
        "ascent": None if refined is None else {"rounds": refined.rounds, "lengths": list(refined.lengths)},
    }
    arrays = {
        **numbers,
        "rows": actions.rows,
        "states": points[:, : states.dims],
        "at_actions": points[:, states.dims :],
        "weights": weights,
        "constants": constants,
        "order": np.asarray(plan.order),
    }
    return meta, arrays


def expansion(view: Any, dims: int, actions: ActionSet) -> tuple[list[Term], FloatArray]:
    """The kernel as terms, and the state-actions (m, d + e) at which it is expanded."""
    groups = view.centres if isinstance(view, ExactView | CompressedView) else []
    if not groups:
        raise InputError(f"a policy of a {type(view).__name__} cannot be exported")
    if view.layout.split:  # one regression an action, on states alone
        groups = [
            np.hstack([points.reshape(len(points), dims), np.repeat(row[None], len(points), axis=0)])
            for points, row in zip(groups, actions.rows, strict=True)
        ]
    found = np.vstack(groups)
    if not len(found):
        raise InputError("this policy knows nothing yet: let the agent learn first")
    every = list(range(dims + actions.rows.shape[1]))
    return [_split(scale, factors, dims) for scale, factors in terms_of(view.layout.kernel, every)], found


def terms_of(kernel: Kernel, columns: list[int]) -> list[tuple[float, list[Term]]]:
    """A kernel on these columns as a sum of scaled products of factors."""
    if isinstance(kernel, Sum):
        return [term for part in kernel.kernels for term in terms_of(part, columns)]
    if isinstance(kernel, Product):
        return _multiplied([terms_of(part, columns) for part in kernel.kernels])
    if isinstance(kernel, StateAction):
        parts = columns[: -kernel.action_dims], columns[-kernel.action_dims :]
        kernels = kernel.state_kernel, kernel.action_kernel
        return _multiplied([terms_of(part, own) for part, own in zip(kernels, parts, strict=True)])
    if isinstance(kernel, Columns):
        return terms_of(kernel.kernel, [columns[c] for c in kernel.columns])
    if isinstance(kernel, Scaled):
        return [(kernel.c * scale, factors) for scale, factors in terms_of(kernel.kernel, columns)]
    if isinstance(kernel, Constant):
        return [(kernel.c, [])]
    if isinstance(kernel, RBF):
        scales = np.broadcast_to(np.asarray(kernel.lengthscale, dtype=np.float64), len(columns)).tolist()
        return [(1.0, [_factor("rbf", [c], [s]) for c, s in zip(columns, scales, strict=True)])]
    if isinstance(kernel, Matern):
        scales = np.broadcast_to(np.asarray(kernel.lengthscale, dtype=np.float64), len(columns)).tolist()
        return [(1.0, [_factor("matern", columns, scales, kernel.nu)])]
    if isinstance(kernel, Delta):
        return [(1.0, [_factor("delta", [c], []) for c in columns])]
    if isinstance(kernel, Hamming):
        return [(1.0, [_factor("hamming", columns, [])])]
    raise InputError(
        f"a policy with the kernel {type(kernel).__name__} cannot be exported: the file knows RBF, Matern, Delta, "
        "Hamming, Constant, their sums and products"
    )


def _factor(kind: str, columns: list[int], lengthscale: list[float], nu: float = 0.0) -> Term:
    return {"kind": kind, "columns": columns, "lengthscale": lengthscale, "nu": nu}


def _multiplied(parts: list[list[tuple[float, list[Term]]]]) -> list[tuple[float, list[Term]]]:
    return [
        (float(np.prod([scale for scale, _ in chosen])), [f for _, factors in chosen for f in factors])
        for chosen in product(*parts)
    ]


def _split(scale: float, factors: list[Term], dims: int) -> Term:
    """Factors of the state apart from those of the action, alike ones together."""
    state: list[Term] = []
    action: list[Term] = []
    for factor in factors:
        of_action = [c >= dims for c in factor["columns"]]
        if any(of_action) != all(of_action):
            raise InputError(
                f"a {factor['kind']} kernel on states and actions together cannot be exported: use StateAction"
            )
        own = [c - dims for c in factor["columns"]] if of_action[0] else factor["columns"]
        (action if of_action[0] else state).append({**factor, "columns": own})
    return {"scale": scale, "state": _together(state), "action": _together(action)}


def _together(factors: list[Term]) -> list[Term]:
    """RBF factors of single columns as one, which is faster; likewise delta factors."""
    found = [f for f in factors if f["kind"] not in ("rbf", "delta")]
    for kind in ("rbf", "delta"):
        same = [f for f in factors if f["kind"] == kind]
        columns = [c for f in same for c in f["columns"]]
        if len(set(columns)) == len(columns) and same:
            found.append(_factor(kind, columns, [s for f in same for s in f["lengthscale"]]))
        else:
            found += same
    return found
