"""Actor selection for displacement models, by simulated returns."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC, Actor, Greedy
from cmerl.confidence import FailureBudget, Problem
from cmerl.confidence import Greedy as NoBonus
from cmerl.embedding import DisplacementEmbedding
from cmerl.kernels import Kernel
from cmerl.model_selection.kept_value import KeptValue
from cmerl.model_selection.rule import Selection, exceeds, neighbours
from cmerl.model_selection.simulation import simulate, simulate_search
from cmerl.planning import Plan, Task, make_plan

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")


@dataclass(frozen=True, eq=False)
class Choice:
    """A choice of model, action repeat and actor.

    Attributes:
        displacement: the model; None for a direct embedding.
        actor: how to act.
        reasons: what was compared, in words.
        promised: the return that it had in simulation, of as many steps as were simulated.
        compared: whether actors were compared.
        least: the return in simulation below which another actor is worth looking for.
        kept: the fitted terminal value that it searches with; None where it does not.
    """

    displacement: DisplacementEmbedding | None
    actor: Actor
    reasons: dict[str, str]
    promised: float = 0.0
    compared: bool = False
    least: float = -np.inf
    kept: KeptValue | None = None


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
    taken for the environment, which leaves nothing unknown: were it to count as the least, as it does without
    exploration, plans of many backups would hardly see an end that is far away, and the longest repeat would always
    do best.

    Args:
        model: the displacement.
        horizon: H.
        starts: first states (k, d).
        value_kernel: of the problem; a displacement has its own.
        settings: candidates and thresholds.
        now: the present choice, if there is one: repeats far from it are mostly wasted.
    """
    steps = min(horizon, settings.simulated_steps)
    repeats = settings.repeats if now is None else neighbours(settings.repeats, model.repeat)
    returns = _returns_by_repeat(model, horizon, starts, value_kernel, repeats, steps, settings.near)
    best = max(repeats, key=lambda repeat: (returns[repeat][1].mean(), repeat))
    kept = model.repeat if now is not None and model.repeat in returns else best
    if best != kept and not exceeds(returns[best][1], returns[kept][1]):
        best = kept
    reasons = {"action repeat": ", ".join(f"{r}: {found.mean():.4g}" for r, (_, found) in returns.items())}
    plan, planned = returns[best]
    actors: dict[Actor, FloatArray] = {Greedy(): planned[-settings.search_starts :]}
    present = now.actor if now is not None and isinstance(now.actor, MPC) else settings.search
    compared = model.places_pay  # else nothing is known to search for
    some = starts[-settings.search_starts :]
    if compared:
        candidates = settings.searches(present) if len(some) > 1 else (present,)  # one start proves nothing
        actors |= {mpc: simulate_search(mpc, plan, some, steps, settings.near) for mpc in candidates}
        reasons["simulated returns"] = ", ".join(f"{_name(one)} {found.mean():.4g}" for one, found in actors.items())
    actor: Actor = present if compared else Greedy()
    if now is not None and now.compared and now.actor in actors:
        actor = now.actor
    for challenger in sorted(actors, key=lambda one: -float(actors[one].mean())):
        if len(some) > 1 and exceeds(actors[challenger], actors[actor]):
            actor = challenger
            break
    log.debug("simulated returns: %s", reasons)
    promised, value = float(actors[actor].mean()), None if now is None else now.kept
    chosen = Choice(model.with_repeat(best), actor, reasons, promised, compared, _least(actors, actor), value)
    return replace(chosen, kept=KeptValue.of(model, horizon)) if value is None and _fits_value(chosen) else chosen


def _least(actors: dict[Actor, FloatArray], chosen: Actor) -> float:
    """The return in simulation below which another actor is worth looking for.

    It is worse than all of the chosen one's by more than these differ, and half of the way to the worst actor.
    """
    found = actors[chosen]
    if len(found) == 1:
        return -np.inf
    worst = min(float(returns.mean()) for returns in actors.values())
    return min(float(found.min() - np.ptp(found)), 0.5 * (float(found.mean()) + worst))


def checked(
    choice: Choice, horizon: int, visited: FloatArray, value_kernel: Kernel, settings: Selection
) -> tuple[Choice, bool]:
    """The same actor with the better of its terminal values, and whether it keeps its promise with what was learned.

    Its promise is the return that it had in simulation when it was chosen. Every episode changes the model a little
    and its values sometimes much: a search that swings a pole up may leave it hanging after the next episode, or let
    it fall later. Simulations show that before it is played.

    Args:
        choice: the present one.
        horizon: H.
        visited: states to simulate from (k, d), the first of them where the latest episode began.
        value_kernel: of the problem; a displacement has its own.
        settings: sizes.
    """
    model = choice.displacement
    if model is None or not (_fits_value(choice) or np.isfinite(choice.least)):
        return choice, True
    if not _fits_value(choice):
        (earned,) = _simulated(choice, horizon, visited[:1], value_kernel, settings)
        return replace(choice, kept=None), float(earned) >= choice.least
    found = _simulated(choice, horizon, visited, value_kernel, settings)
    new, kept = KeptValue.of(model, horizon), choice.kept
    if new is not None and kept is not None and kept.value is not new.value:
        kept.put_into(model, horizon)
        before = _simulated(choice, horizon, visited, value_kernel, settings)
        compared = f"{found.mean():.4g} in simulation with the new one, {before.mean():.4g} with the one before"
        log.debug("terminal value: %s", compared)
        choice = replace(choice, reasons={**choice.reasons, "terminal value": compared})
        if before.mean() > found.mean():
            new, found = KeptValue.of(model, horizon), before
        else:
            model.dynamics.terminal_values[horizon] = new.value
    return replace(choice, kept=new), float(found[0]) >= choice.least


def _simulated(
    choice: Choice, horizon: int, starts: FloatArray, value_kernel: Kernel, settings: Selection
) -> FloatArray:
    """Returns (k,) of the actor when the model is taken for the environment."""
    model, steps = choice.displacement, min(horizon, settings.simulated_steps)
    assert model is not None
    if isinstance(choice.actor, MPC):
        (plan,) = _plans(model, horizon, value_kernel, (model.repeat,)).values()
        return simulate_search(choice.actor, plan, starts, steps, settings.near)
    returns = _returns_by_repeat(model, horizon, starts, value_kernel, (model.repeat,), steps, settings.near)
    ((_, found),) = returns.values()
    return found


def _fits_value(choice: Choice) -> bool:
    return isinstance(choice.actor, MPC) and choice.actor.value == "fitted" and choice.compared


def _name(actor: Actor) -> str:
    return f"search of {actor.depth} steps with {actor.value} value" if isinstance(actor, MPC) else "plan alone"


def _returns_by_repeat(
    model: DisplacementEmbedding,
    horizon: int,
    starts: FloatArray,
    value_kernel: Kernel,
    repeats: tuple[int, ...],
    steps: int,
    near: int,
) -> dict[int, tuple[Plan, FloatArray]]:
    """The plan for each repeat, and its simulated return from each start."""
    plans = _plans(model, horizon, value_kernel, repeats)
    returns = simulate(model.with_repeat(1, sure=True), plans, starts, steps, near)
    return {repeat: (plans[repeat], found) for repeat, found in zip(repeats, returns, strict=True)}


def _plans(
    model: DisplacementEmbedding, horizon: int, value_kernel: Kernel, repeats: tuple[int, ...]
) -> dict[int, Plan]:
    """The plan for each repeat, when the model is taken for the environment."""
    lo, hi = model.reward_range
    problem = Problem(horizon, hi - lo, value_kernel, value_kernel, None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, NoBonus(), lo)
    order = np.arange(len(model.actions))
    return {
        repeat: make_plan([model.with_repeat(repeat, sure=True)], task, episode=1, order=order) for repeat in repeats
    }
