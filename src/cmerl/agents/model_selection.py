"""Which model the data ask for: held-out predictions of values, and returns in simulation."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cmerl.agents.lookahead import Lookahead
from cmerl.confidence import FailureBudget, Greedy, Problem
from cmerl.embedding import DisplacementEmbedding
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky
from cmerl.planning import Plan, Task, make_plan
from cmerl.transitions import Transitions

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")

MARGIN = 0.5  # a displacement must halve the error of the direct embedding to replace it
NOISE = 0.03  # of the motion's variance: more calls for an embedding that keeps whole distributions
HELD_OUT = 300  # transitions that the two are compared on
RESIDUALS = 16  # of the displacement, standing for its noise
REPEATS = (1, 2, 3, 5)
ROLLOUTS = 8
WORTH_IT = 0.05  # of the range of returns: what looking ahead must gain
AS_GOOD = 0.001  # of the range of returns: closer than this, the longer repeat is taken


def displacement_is_better(
    displacement: DisplacementEmbedding, kernel: Kernel, value_kernel: Kernel, lam: float
) -> bool:
    """Whether next states, left out one by one, follow closely from a displacement, and far better than directly.

    The noise is that of the typical step: a bump into a wall now and then does not count.
    """
    data = displacement.data
    alive = np.flatnonzero(~data.terminated)
    if len(alive) < 2:
        return False
    rows = alive[np.linspace(0, len(alive) - 1, min(len(alive), HELD_OUT)).astype(np.intp)]
    next_states = np.asarray(data.next_states)[rows]
    direct = direct_loss(kernel(np.asarray(data.Z)[rows], np.asarray(data.Z)[rows]), next_states, value_kernel, lam)
    residuals = displacement.left_out_residuals[rows]
    moved = displacement_loss(next_states, residuals, value_kernel)
    motion = next_states - np.asarray(data.Z)[rows, : next_states.shape[1]]
    scale = np.maximum(motion.std(axis=0), 1e-12)
    noise = float(np.median(np.square(residuals / scale).mean(axis=1)))
    log.debug("held-out error of values: %.3g direct, %.3g by displacement; noise %.3g", direct, moved, noise)
    return moved < MARGIN * direct and noise < NOISE


def prediction_error(displacement: DisplacementEmbedding, data: Transitions) -> float:
    """The part of an episode's motion that was not foreseen: 0 is perfect, 1 as bad as expecting the mean.

    In units of all motion seen: that of a few steps alone may be next to nothing.
    """
    errors = np.square(displacement.residuals(data)).mean(axis=0)
    return float(np.mean(errors / np.maximum(displacement.motion_variance, 1e-24)))


def direct_loss(Kzz: FloatArray, next_states: FloatArray, value_kernel: Kernel, lam: float) -> float:
    """Mean of ‖ψ(s'_i) − μ̂₋ᵢ(z_i)‖², the embedding made without transition i.

    The residual of a ridge regression without its own row is [G Ψ]_i / G_ii with G = (K + λI)⁻¹.
    """
    G = Cholesky.of(Kzz, lam).solve(np.eye(len(Kzz)))
    squares = np.einsum("ij,ij->i", G @ value_kernel(next_states, next_states), G)
    return float(np.mean(squares / np.square(np.diagonal(G))))


def displacement_loss(next_states: FloatArray, residuals: FloatArray, value_kernel: Kernel) -> float:
    """The same for the embedding of (prediction + a residual drawn from those seen)."""
    noise = residuals[np.linspace(0, len(residuals) - 1, min(len(residuals), RESIDUALS)).astype(np.intp)]
    cross, own = value_kernel(residuals, noise), value_kernel(noise, noise)  # stationary: the prediction drops out
    return float(np.mean(value_kernel.diag(next_states)) - 2.0 * np.mean(cross) + np.mean(own))


def haste(horizon: int) -> float:
    """The discount of plans with a displacement: over an episode, one thing that was counted on is sure to go wrong.

    Where waiting costs nothing, an optimal plan may act at the last moment, which by a small error is missed.
    """
    return 1.0 - 1.0 / horizon


def repeats_near(repeat: int) -> tuple[int, ...]:
    """A repeat that was chosen, the next shorter one and the next longer one."""
    i = REPEATS.index(repeat)
    return REPEATS[max(i - 1, 0) : i + 2]


def choose_planning(
    embedding: DisplacementEmbedding,
    horizon: int,
    starts: FloatArray,
    value_kernel: Kernel,
    repeats: Sequence[int] = REPEATS,
) -> tuple[int, bool]:
    """For how many steps plans should hold an action, and whether to look ahead: what does best in simulation.

    Long repeats make plans coarse; short ones let errors of interpolation pile up, one for each backup; of those that
    are as good the longest is taken. Looking ahead takes time, and must do clearly better. The model is
    taken for the world, which leaves nothing unknown: were it to count as the least, as it does without exploration,
    plans of many backups would hardly see an end that is far away, and the longest repeat would always do best.
    """
    lo, hi = embedding.reward_range
    span = horizon * (hi - lo)
    problem = Problem(horizon, hi - lo, embedding.kernel, value_kernel, None, FailureBudget(0.5, learned_reward=True))
    task = Task(problem, Greedy(), lo, discount=haste(horizon))
    plans, order = {}, np.arange(len(embedding.actions))
    for repeat in repeats:
        plans[repeat] = make_plan([embedding.with_repeat(repeat, sure=True)], task, episode=1, order=order)
    returns = dict(zip(repeats, simulate(embedding.with_repeat(1, sure=True), plans, starts, horizon), strict=True))
    means = {repeat: float(found.mean()) for repeat, found in returns.items()}
    best = max(repeat for repeat, mean in means.items() if mean >= max(means.values()) - AS_GOOD * span)
    log.debug("simulated returns by repeat: %s", means)
    if horizon * hi - means[best] <= WORTH_IT * span:  # nothing can do clearly better
        return best, False
    ahead = simulate_ahead(embedding.with_repeat(best, sure=True), plans[best], starts[-1:], horizon)
    log.debug("simulated return from the last start: %s, looking ahead: %s", returns[best][-1], ahead)
    return best, bool(ahead - returns[best][-1] > (0.0 if embedding.looks_ahead else WORTH_IT * span))


def simulate_ahead(embedding: DisplacementEmbedding, plan: Plan, start: FloatArray, horizon: int) -> float:
    """The return from one start (1, d) of looking ahead with a plan, when the model is taken for the world."""
    ahead, state, total = Lookahead(plan, ()), start, 0.0
    for step in range(horizon):
        state, rewards, ended = embedding.step(state, np.array([ahead.act(state, step)]))
        total += float(rewards[0])
        if ended[0]:
            break
    return total


def simulate(
    embedding: DisplacementEmbedding, plans: Mapping[int, Plan], starts: FloatArray, horizon: int
) -> FloatArray:
    """Returns (plans, starts) of the plan for each repeat when the model is taken for the world."""
    # All plans at once: a small call takes as long as a larger one.
    owner = np.repeat(np.arange(len(plans)), len(starts))
    repeats = np.array(list(plans))
    states, totals, alive = np.tile(starts, (len(plans), 1)), np.zeros(len(owner)), np.arange(len(owner))
    for step in range(horizon):
        grid = replace(embedding.model, repeat=repeats[owner[alive]]).grid(states)
        which = np.choose(owner[alive], [plan.act_on(grid, states, step) for plan in plans.values()])
        states, rewards, ended = embedding.step(states, which)
        totals[alive] += rewards
        states, alive = states[~ended], alive[~ended]
        if not len(alive):
            break
    return totals.reshape(len(plans), len(starts))
