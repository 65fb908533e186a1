"""The selector: one clock, and the present choice of model, action repeat and actor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC, Greedy
from cmerl.embedding import DisplacementEmbedding
from cmerl.growing import Arrays, doubled
from cmerl.kernels import Kernel
from cmerl.model_selection.actors import Choice, checked, choose_actor
from cmerl.model_selection.kept_value import KeptValue
from cmerl.model_selection.models import displacement_is_better
from cmerl.model_selection.rule import Selection

FloatArray = NDArray[np.float64]

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
        visited: FloatArray,
        *,
        attained: float = 0.0,
    ) -> None:
        """Choose the model by held-out predictions, then action repeat and actor by simulated returns.

        Args:
            model: the displacement, of all data.
            kernels: k_φ and k_ψ of the direct embedding.
            starts: first states of the latest episodes (k, d).
            visited: states of the latest episode (l, d), its first one first.
            attained: share of the best reward seen that good episodes earn a step, see ``attained_share``.
        """
        self._waiting = False
        settings = self._settings
        if self._model == "auto" and attained >= settings.attained and starts.shape[1] <= settings.most_columns:
            # A displacement believes its own motion: where that leads nowhere new, as along a wall, it looks no
            # further. What is known cannot pay much more, so the model that looks everywhere takes over.
            about = (
                f"direct, to look for more than the best reward seen: good episodes earn {attained:.0%} of it a step"
            )
            self.choice = replace(DIRECT, reasons={"model": about})
            return
        if self._model == "auto" and not displacement_is_better(model, *kernels, self._lam, settings):
            self.choice = DIRECT
            return
        self._choose_actor(model, kernels[1], starts, visited)

    def check(self, value_kernel: Kernel, starts: FloatArray, visited: FloatArray) -> None:
        """Keep the terminal value that does better in simulation; choose the actor again if it breaks its promise.

        Args:
            value_kernel: k_ψ of the direct embedding.
            starts: first states of the latest episodes (k, d).
            visited: states of the latest episode (l, d), its first one first.
        """
        if not self._keeps_its_promise(value_kernel, visited):
            assert self.choice.displacement is not None
            self._choose_actor(self.choice.displacement, value_kernel, starts, visited)

    def _choose_actor(
        self, model: DisplacementEmbedding, value_kernel: Kernel, starts: FloatArray, visited: FloatArray
    ) -> None:
        before = None if self.choice.displacement is None else self.choice
        self.choice = choose_actor(model, self._horizon, starts, value_kernel, self._settings, before)
        if before is not None and before.kept is not None:
            self._keeps_its_promise(value_kernel, visited)

    def _keeps_its_promise(self, value_kernel: Kernel, visited: FloatArray) -> bool:
        """Whether the actor does, with the better of its terminal values, which it has from then on."""
        if not self._settings.check:
            return True
        self.choice, keeps = checked(self.choice, self._horizon, visited, value_kernel, self._settings)
        return keeps

    def spec(self) -> dict[str, Any]:
        """The choice as JSON, but for the model and its terminal value."""
        choice, search = self.choice, self.choice.actor if isinstance(self.choice.actor, MPC) else None
        return {
            "search": None if search is None else search.value,
            "depth": None if search is None else search.depth,
            "reasons": choice.reasons,
            "promised": choice.promised,
            "compared": choice.compared,
            "least": choice.least if np.isfinite(choice.least) else None,
        }

    def arrays(self) -> Arrays:
        """The terminal value that was kept, if there is one."""
        return {} if self.choice.kept is None else self.choice.kept.arrays()

    def restore_value(self, arrays: Arrays) -> None:
        """The inverse of ``arrays``, once the model is what it was."""
        model = self.choice.displacement
        if model is not None and arrays:
            kept = KeptValue.from_arrays(arrays, model)
            kept.put_into(model, self._horizon)
            self.choice = replace(self.choice, kept=KeptValue.of(model, self._horizon))

    def restore(self, spec: dict[str, Any], model: DisplacementEmbedding) -> None:
        """The inverse of ``spec``."""
        search = self._settings.search
        depth = spec.get("depth") or search.depth  # files of earlier versions do not say
        actor = replace(search, value=spec["search"], depth=depth) if spec["search"] else Greedy()
        told = {name: spec[name] for name in ("reasons", "promised", "compared")}
        least = spec.get("least")
        self.choice = Choice(model, actor, **told, least=-np.inf if least is None else least)
