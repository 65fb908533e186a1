"""Which model and which actor the data ask for: candidates, one score each, and one rule for switching.

Models are scored by held-out predictions of next states, ways to act by their returns in simulation. A challenger
replaces what it is compared with if its paired gain exceeds the standard error of that gain.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC, Actor, Greedy
from cmerl.confidence import FailureBudget, Problem
from cmerl.confidence import Greedy as NoBonus
from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.grid import DisplacementView
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky
from cmerl.planning import Plan, Task, make_plan

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """How the data choose between models and between actors.

    Args:
        margin: of the error of the direct embedding that a displacement may have to replace it.
        most_noise: of the motion's variance that a displacement may leave: more calls for an embedding, which keeps
            whole distributions.
        shrinking: of the error that is left when the data double, where more noise is taken for want of data.
        fewest_to_judge: transitions below which that cannot be told.
        held_out: transitions that models are compared on.
        residuals: of a displacement, standing for its noise.
        repeats: steps for which plans may hold an action.
        starts: first states that plans are simulated from.
        search_starts: of these that searches are simulated from, all at once.
        discount: whether plans with a displacement are discounted by 1 − 1/H.
        search_landmarks: states at which a plan knows V where it only ends a search.
        simulated_steps: most steps of a simulation.
        saturation: of the range of rewards that a step may lack where returns count as all that is known to exist.
        search: sizes of searches.
    """

    margin: float = 0.5
    most_noise: float = 0.03
    shrinking: float = 0.7
    fewest_to_judge: int = 150
    held_out: int = 300
    residuals: int = 16
    repeats: tuple[int, ...] = (1, 2, 3, 5)
    starts: int = 8
    search_starts: int = 3
    discount: bool = True
    search_landmarks: int = 300
    simulated_steps: int = 100
    saturation: float = 0.01
    search: MPC = field(default_factory=MPC)

    @property
    def searches(self) -> tuple[MPC, ...]:
        """Candidates; the last is taken unless another does better."""
        return replace(self.search, value="plan"), replace(self.search, value="fitted")


@dataclass(frozen=True, eq=False)
class Choice:
    """What to plan with, and how to act on plans.

    Attributes:
        displacement: the model; None for a direct embedding.
        actor: how to act.
        reasons: what was compared, in words.
        promised: the return that it had in simulation.
        saturated: whether that is all that is known to exist: then looking for more costs nothing.
        compared: whether actors were.
    """

    displacement: DisplacementEmbedding | None
    actor: Actor
    reasons: dict[str, str]
    promised: float = 0.0
    saturated: bool = False
    compared: bool = False


def exceeds(challenger: FloatArray, incumbent: FloatArray, *, least: float = 0.0) -> bool:
    """Whether scores (n,) are better than others of the same cases, beyond the standard error of the gain."""
    gains = challenger - incumbent
    error = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    return float(gains.mean()) > max(error, least)


# --- models ---


def displacement_is_better(
    displacement: DisplacementEmbedding, kernel: Kernel, value_kernel: Kernel, lam: float, settings: Selection
) -> bool:
    """Whether next states, left out one by one, follow closely from a displacement, and far better than directly.

    The noise is that of the typical step: a bump into a wall now and then does not count.
    """
    data = displacement.data
    alive = np.flatnonzero(~data.terminated)
    if len(alive) < 2:
        return False
    rows = alive[np.linspace(0, len(alive) - 1, min(len(alive), settings.held_out)).astype(np.intp)]
    next_states = np.asarray(data.next_states)[rows]
    Z = np.asarray(data.Z)[rows]
    direct = direct_losses(kernel(Z, Z), next_states, value_kernel, lam)
    residuals = displacement.left_out_residuals[rows]
    moved = displacement_losses(residuals, value_kernel, settings.residuals)
    scale = np.maximum((next_states - Z[:, : next_states.shape[1]]).std(axis=0), 1e-12)
    noise = float(np.median(np.square(residuals / scale).mean(axis=1)))
    log.debug("held-out errors: %.3g direct, %.3g by displacement; noise %.3g", direct.mean(), moved.mean(), noise)
    quiet = noise < settings.most_noise or errors_shrink(displacement, settings)
    return quiet and exceeds(-moved, -settings.margin * direct)


def errors_shrink(displacement: DisplacementEmbedding, settings: Selection) -> bool:
    """Whether what a displacement leaves unexplained is for want of data, and not noise.

    The same held-out half of the data is predicted from the other half and from a quarter: more data help against
    errors of the model, and do nothing about noise. With few data nothing can be told.
    """
    dynamics = displacement.dynamics
    n = len(dynamics.data)
    if n < settings.fewest_to_judge:
        return False
    order = np.random.default_rng(n).permutation(n)
    held, half, quarter = order[: n // 2], order[n // 2 :], order[n // 2 : 3 * n // 4]
    errors = [dynamics.errors(displacement.shape, rows, held) for rows in (half, quarter)]
    more, less = (float(np.median(error)) for error in errors)
    log.debug("held-out errors: %.3g from half of the data, %.3g from a quarter", more, less)
    return more < settings.shrinking * less


def direct_losses(Kzz: FloatArray, next_states: FloatArray, value_kernel: Kernel, lam: float) -> FloatArray:
    """‖ψ(s'_i) − μ̂₋ᵢ(z_i)‖² (n,), the embedding made without transition i.

    The residual of a ridge regression without its own row is [G Ψ]_i / G_ii with G = (K + λI)⁻¹.
    """
    G = Cholesky.of(Kzz, lam).solve(np.eye(len(Kzz)))
    squares = np.einsum("ij,ij->i", G @ value_kernel(next_states, next_states), G)
    return np.asarray(squares / np.square(np.diagonal(G)))


def displacement_losses(residuals: FloatArray, value_kernel: Kernel, draws: int) -> FloatArray:
    """The same for the embedding of (prediction + a residual drawn from those seen); k_ψ is stationary."""
    noise = residuals[np.linspace(0, len(residuals) - 1, min(len(residuals), draws)).astype(np.intp)]
    cross, own = value_kernel(residuals, noise), value_kernel(noise, noise)  # the prediction drops out
    return np.asarray(value_kernel.diag(residuals) - 2.0 * cross.mean(axis=1) + own.mean())


# --- actors ---


def planning_discount(horizon: int, settings: Selection) -> float:
    """The discount of plans with a displacement, 1 − 1/H: in an episode, one thing counted on is sure to go wrong.

    Where waiting costs nothing, an optimal plan may act at the last moment, which by a small error is missed.
    """
    return 1.0 - 1.0 / horizon if settings.discount else 1.0


def choose_actor(
    model: DisplacementEmbedding,
    horizon: int,
    starts: FloatArray,
    value_kernel: Kernel,
    settings: Selection,
    now: Choice | None = None,
) -> Choice:
    """For how many steps plans should hold an action, and whether to search: what does best in simulation.

    Long repeats make plans coarse; short ones let errors of interpolation pile up, one for each backup. The model is
    taken for the world, which leaves nothing unknown: were it to count as the least, as it does without exploration,
    plans of many backups would hardly see an end that is far away, and the longest repeat would always do best.

    Args:
        model: the displacement.
        horizon: H.
        starts: first states (k, d).
        value_kernel: of the problem; a displacement has its own.
        settings: candidates and thresholds.
        now: the present choice, if there is one: repeats far from it are mostly wasted.
    """
    lo, hi = model.reward_range
    steps = min(horizon, settings.simulated_steps)
    repeats = settings.repeats if now is None else _near(settings.repeats, model.repeat)
    discount = planning_discount(horizon, settings)
    returns = _returns_by_repeat(model, horizon, starts, value_kernel, repeats, discount, steps)
    best = max(repeats, key=lambda repeat: (returns[repeat][1].mean(), repeat))
    kept = model.repeat if now is not None and model.repeat in returns else best
    if best != kept and not exceeds(returns[best][1], returns[kept][1]):
        best = kept
    reasons = {"action repeat": ", ".join(f"{r}: {found.mean():.4g}" for r, (_, found) in returns.items())}
    plan, planned = returns[best]
    actors: dict[Actor, FloatArray] = {Greedy(): planned[-settings.search_starts :]}
    compared = hi > lo  # else nothing is known to search for
    some = starts[-settings.search_starts :]
    if compared:
        candidates = settings.searches if len(some) > 1 else settings.searches[-1:]  # one start proves nothing
        actors |= {mpc: simulate_search(mpc, plan, some, steps) for mpc in candidates}
        reasons["simulated returns"] = ", ".join(f"{_name(one)} {found.mean():.4g}" for one, found in actors.items())
    actor = now.actor if now is not None and now.compared and now.actor in actors else next(reversed(list(actors)))
    for challenger in sorted(actors, key=lambda one: -float(actors[one].mean())):
        if len(some) > 1 and exceeds(actors[challenger], actors[actor]):
            actor = challenger
            break
    log.debug("simulated returns: %s", reasons)
    promised = float(actors[actor].mean())
    saturated = promised >= steps * (hi - settings.saturation * (hi - lo))
    chosen = model.with_repeat(best)
    most = settings.search_landmarks if isinstance(actor, MPC) else model.settings.landmarks
    return Choice(chosen.with_landmarks(most), actor, reasons, promised * horizon / steps, saturated, compared)


def _name(actor: Actor) -> str:
    return f"search with {actor.value} value" if isinstance(actor, MPC) else "plan alone"


def _near(repeats: tuple[int, ...], repeat: int) -> tuple[int, ...]:
    """A repeat that was chosen, the next shorter one and the next longer one; all, where it is no candidate."""
    if repeat not in repeats:
        return repeats
    i = repeats.index(repeat)
    return repeats[max(i - 1, 0) : i + 2]


def _returns_by_repeat(
    model: DisplacementEmbedding,
    horizon: int,
    starts: FloatArray,
    value_kernel: Kernel,
    repeats: tuple[int, ...],
    discount: float,
    steps: int,
) -> dict[int, tuple[Plan, FloatArray]]:
    """The plan for each repeat, and its simulated return from each start."""
    lo, hi = model.reward_range
    problem = Problem(horizon, hi - lo, value_kernel, value_kernel, None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, NoBonus(), lo, discount=discount)
    order = np.arange(len(model.actions))
    plans = {
        repeat: make_plan([model.with_repeat(repeat, sure=True)], task, episode=1, order=order) for repeat in repeats
    }
    returns = simulate(model.with_repeat(1, sure=True), plans, starts, steps)
    return {repeat: (plans[repeat], found) for repeat, found in zip(repeats, returns, strict=True)}


def simulate_search(mpc: MPC, plan: Plan, starts: FloatArray, horizon: int) -> FloatArray:
    """Returns (k,) of a search from several starts at once, when the model is taken for the world."""
    (view,) = plan.views
    assert isinstance(view, DisplacementView)
    actor = mpc.begin_episode(plan, view.actions, ())
    x, totals, alive = view.scaled(starts).astype(np.float32), np.zeros(len(starts)), np.ones(len(starts), dtype=bool)
    noise, start = Noise(view.dynamics.data.x, view.dynamics.residuals, horizon, len(x)), np.arange(len(x))
    for step in range(horizon):
        features = actor.features(x, step).astype(np.float32)
        y, rewards, ended = view.dynamics.quick_step(x, features)
        y = y + noise.at(step, x, start).astype(np.float32)
        totals[alive] += rewards[alive]
        x = np.where(alive[:, None], y, x)
        if ended is not None:
            alive &= ~ended
            if not alive.any():
                break
    return totals


class Noise:
    """What the model leaves unexplained around a state, drawn from residuals nearby: alike for all candidates.

    A model that is taken for the world promises too much for what balances on a knife's edge. Errors made far away
    say nothing of that edge: one blow against a wall would be dealt to all that stands.

    Args:
        states: that residuals belong to (n, d), in the units of the model.
        residuals: (n, d).
        horizon: steps of a simulation.
        starts: simulated side by side.
        near: residuals that one is drawn from.
    """

    def __init__(self, states: FloatArray, residuals: FloatArray, horizon: int, starts: int, near: int = 10) -> None:
        from scipy.spatial import cKDTree  # slow to import

        self._tree, self._residuals, self._near = cKDTree(states), residuals, min(near, len(states))
        self._ranks = np.random.default_rng((horizon, starts)).integers(0, self._near, (horizon, starts))

    def at(self, step: int, states: NDArray[Any], starts: NDArray[np.intp]) -> FloatArray:
        """At a step, for states (q, d) that were reached from the given starts (q,)."""
        rows = np.asarray(self._tree.query(states, k=np.arange(1, self._near + 1))[1])
        return np.asarray(self._residuals[rows[np.arange(len(starts)), self._ranks[step, starts]]])


def simulate(model: DisplacementEmbedding, plans: Mapping[int, Plan], starts: FloatArray, horizon: int) -> FloatArray:
    """Returns (plans, starts) of the plan for each repeat when the model is taken for the world."""
    # All plans at once: a small call takes as long as a larger one.
    owner = np.repeat(np.arange(len(plans)), len(starts))
    repeats = np.array(list(plans))
    states, totals, alive = np.tile(starts, (len(plans), 1)), np.zeros(len(owner)), np.arange(len(owner))
    noise = Noise(model.view.dynamics.data.x, model.left_out_residuals, horizon, len(starts))
    for step in range(horizon):
        grid = replace(model.view, repeat=repeats[owner[alive]]).grid(states)
        which = np.choose(owner[alive], [plan.act_on(grid, states, step) for plan in plans.values()])
        unexplained = noise.at(step, model.view.scaled(states), alive % len(starts))
        states, rewards, ended = model.step(states, which)
        states = states + unexplained
        totals[alive] += rewards
        states, alive = states[~ended], alive[~ended]
        if not len(alive):
            break
    return totals.reshape(len(plans), len(starts))
