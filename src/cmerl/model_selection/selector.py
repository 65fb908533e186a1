"""The selector: one clock, and the present choice of model, action repeat and actor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC, Greedy
from cmerl.embedding import DisplacementEmbedding
from cmerl.growing import doubled
from cmerl.kernels import Kernel
from cmerl.model_selection.actors import Choice, choose_actor, returns_within
from cmerl.model_selection.models import displacement_is_better
from cmerl.model_selection.rule import Selection

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

MODELS = ("auto", "direct", "displacement")
DIRECT = Choice(None, Greedy(), {})
"""The choice before any data: a direct embedding, and its plans played greedily."""


class Selector:
    """Chooses anew whenever the data have doubled, at the end of the episode.

    Args:
        model: one of ``MODELS``.
        horizon: H.
        lam: the ridge λ of the direct embedding.
        settings: candidates and thresholds.

    Attributes:
        choice: the present one.
    """

    def __init__(self, model: str, horizon: int, lam: float, settings: Selection) -> None:
        self._model, self._horizon, self._lam, self._settings = model, horizon, lam, settings
        self.choice = DIRECT
        self._doubled_at = 0  # the clock
        self._waiting = False  # whether a choice waits for the end of the episode
        self._chosen_at = 0  # transitions that there were at the last choice of an actor

    def doubled(self, n: int) -> bool:
        """The clock: true if the data have doubled since it was true last, with n transitions now."""
        if not doubled(n, self._doubled_at):
            return False
        self._doubled_at, self._waiting = n, self._model != "direct"
        return True

    def waits(self, n: int) -> bool:
        """True if a choice waits for the end of the episode, with n transitions then."""
        return self._model != "direct" and (self._waiting or doubled(n, self._doubled_at))

    @property
    def due(self) -> bool:
        """True if a choice is due at the end of an episode.

        It is also due at the first reward of a place, if actors were chosen with nothing to compare them by.
        """
        model = self.choice.displacement
        return self._waiting or (model is not None and not self.choice.compared and model.places_pay)

    def choose(
        self,
        model: DisplacementEmbedding,
        kernels: tuple[Kernel, Kernel],
        starts: FloatArray,
        steps: IntArray,
        rewards: FloatArray,
    ) -> None:
        """Choose the model by held-out predictions, then action repeat and actor by simulated returns.

        Args:
            model: the displacement, of all data.
            kernels: k_φ and k_ψ of the direct embedding.
            starts: first states of the latest episodes (k, d).
            steps: of all transitions (n,).
            rewards: theirs (n,).
        """
        self._waiting = False
        settings, before = self._settings, None if self.choice.displacement is None else self.choice
        if self._model == "auto" and not displacement_is_better(model, *kernels, self._lam, settings):
            self.choice = DIRECT
            return
        since, most = slice(self._chosen_at, None), settings.simulated_steps
        played = returns_within(steps[since], rewards[since], most)
        self.choice = choose_actor(model, self._horizon, starts, kernels[1], settings, before, played)
        self._chosen_at = len(steps)

    def spec(self) -> dict[str, Any]:
        """The choice as JSON, but for the model."""
        choice = self.choice
        return {
            "search": choice.actor.value if isinstance(choice.actor, MPC) else None,
            "reasons": choice.reasons,
            "promised": choice.promised,
            "compared": choice.compared,
        }

    def restore(self, spec: dict[str, Any], model: DisplacementEmbedding) -> None:
        """The inverse of ``spec``."""
        searches = {mpc.value: mpc for mpc in self._settings.searches}
        actor = searches[spec["search"]] if spec["search"] else Greedy()
        told = (spec[name] for name in ("reasons", "promised", "compared"))
        self.choice = Choice(model, actor, *told)
