"""Sequences that follow a policy in the model, as candidates of a search.

Sequences that are drawn beforehand do not answer to where they lead. Where states drift apart, as those of a standing
pole do, nearly all of them fall, however many are drawn. A policy answers at every simulated step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cmerl.searching.icem import Channels
from cmerl.searching.simulator import Step

SingleArray = NDArray[np.float32]

Policy = Callable[[SingleArray], SingleArray]
"""Latent numbers of actions (n, l) at states (n, d)."""


def follow(step: Step, policy: Policy, channels: Channels, x: SingleArray, noise: SingleArray) -> SingleArray:
    """Latent numbers (b, k, h, l) of what a policy and some noise do from states (b, d) on.

    Args:
        step: the model.
        policy: what is done at each state, but for the noise.
        channels: of the actions.
        x: the states.
        noise: added at every step (b, k, h, l).
    """
    b, k, h, width = noise.shape
    y, added = np.repeat(x, k, axis=0), noise.reshape(b * k, h, width)
    done = np.empty_like(added)
    for t in range(h):
        done[:, t] = channels.clipped(policy(y) + added[:, t])
        y = step(y, channels.decode(done[:, t]))[0]
    return done.reshape(noise.shape)
