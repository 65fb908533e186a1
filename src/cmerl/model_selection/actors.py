"""Actor selection for displacement models, by simulated returns."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC, Actor, Greedy
from cmerl.confidence import FailureBudget, Problem
from cmerl.confidence import Greedy as NoBonus
from cmerl.embedding import DisplacementEmbedding
from cmerl.kernels import Kernel
from cmerl.model_selection.rule import Selection, exceeds
from cmerl.model_selection.simulation import simulate, simulate_search
from cmerl.planning import Plan, Task, make_plan

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

log = logging.getLogger("cmerl")


@dataclass(frozen=True, eq=False)
class Choice:
    """A choice of model, action repeat and actor.

    Attributes:
        displacement: the model; None for a direct embedding.
        actor: how to act.
        reasons: what was compared, in words.
        promised: the return that it had in simulation, of as many steps as were simulated.
        compared: whether actors were.
    """

    displacement: DisplacementEmbedding | None
    actor: Actor
    reasons: dict[str, str]
    promised: float = 0.0
    compared: bool = False


def choose_actor(
    model: DisplacementEmbedding,
    horizon: int,
    starts: FloatArray,
    value_kernel: Kernel,
    settings: Selection,
    now: Choice | None = None,
    played: FloatArray | None = None,
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
        played: what the present actor has earned from the last of the starts (j,), in as many steps as are simulated.
            A gain must also exceed what its simulation is wrong by: what misjudges the one misjudges the other.
    """
    steps = min(horizon, settings.simulated_steps)
    repeats = settings.repeats if now is None else _near(settings.repeats, model.repeat)
    returns = _returns_by_repeat(model, horizon, starts, value_kernel, repeats, steps, settings.near)
    best = max(repeats, key=lambda repeat: (returns[repeat][1].mean(), repeat))
    kept = model.repeat if now is not None and model.repeat in returns else best
    if best != kept and not exceeds(returns[best][1], returns[kept][1]):
        best = kept
    reasons = {"action repeat": ", ".join(f"{r}: {found.mean():.4g}" for r, (_, found) in returns.items())}
    plan, planned = returns[best]
    actors: dict[Actor, FloatArray] = {Greedy(): planned[-settings.search_starts :]}
    compared = model.places_pay  # else nothing is known to search for
    some = starts[-settings.search_starts :]
    if compared:
        candidates = settings.searches if len(some) > 1 else settings.searches[-1:]  # one start proves nothing
        actors |= {mpc: simulate_search(mpc, plan, some, steps, settings.near) for mpc in candidates}
        reasons["simulated returns"] = ", ".join(f"{_name(one)} {found.mean():.4g}" for one, found in actors.items())
    actor, misjudged = next(reversed(list(actors))), 0.0
    if now is not None and now.compared and now.actor in actors:
        actor, misjudged = now.actor, _misjudged(actors[now.actor], played)
    for challenger in sorted(actors, key=lambda one: -float(actors[one].mean())):
        if len(some) > 1 and exceeds(actors[challenger], actors[actor], least=misjudged):
            actor = challenger
            break
    if misjudged:
        reasons["simulations err by"] = f"{misjudged:.4g}"
    log.debug("simulated returns: %s", reasons)
    promised = float(actors[actor].mean())
    chosen = model.with_repeat(best)
    return Choice(chosen, actor, reasons, promised, compared)


def _misjudged(simulated: FloatArray, played: FloatArray | None) -> float:
    """By how much simulations from some starts miss what was earned from the last of them, on average."""
    if played is None or not len(played):
        return 0.0
    count = min(len(played), len(simulated))
    return float(abs(np.mean(played[-count:] - simulated[-count:])))


def returns_within(steps: IntArray, rewards: FloatArray, most: int) -> FloatArray:
    """Sums of the rewards (k,) of the first few steps of every episode that begins in a log of steps (n,)."""
    episode = np.cumsum(steps == 0)
    return np.asarray(np.bincount(episode, np.where(steps < most, rewards, 0.0))[1:])


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
    steps: int,
    near: int,
) -> dict[int, tuple[Plan, FloatArray]]:
    """The plan for each repeat, and its simulated return from each start."""
    lo, hi = model.reward_range
    problem = Problem(horizon, hi - lo, value_kernel, value_kernel, None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, NoBonus(), lo)
    order = np.arange(len(model.actions))
    plans = {
        repeat: make_plan([model.with_repeat(repeat, sure=True)], task, episode=1, order=order) for repeat in repeats
    }
    returns = simulate(model.with_repeat(1, sure=True), plans, starts, steps, near)
    return {repeat: (plans[repeat], found) for repeat, found in zip(repeats, returns, strict=True)}
