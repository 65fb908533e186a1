"""An agent on disk, and from its episodes: the hooks of `cmerl.agents.persistence`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cmerl.agents.cme_rl import persistence
from cmerl.agents.cme_rl.algorithm import Algorithm1
from cmerl.agents.cme_rl.explorer import Wishes

if TYPE_CHECKING:
    from cmerl.agents.storage import Tensors


class Stored(Algorithm1):
    """Can be saved and made again, bit for bit."""

    def lesson(self) -> dict[str, Any]:
        """What the last episode taught; what exploring has cost cannot be read off the episode."""
        return {**super().lesson(), "exploration": self.explorer.spec()}

    def _relearn(self, lesson: dict[str, Any]) -> None:
        super()._relearn(lesson)
        self.explorer.restore(lesson.get("exploration", self.explorer.spec()))  # 0.1 had no account

    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        contradicted = self.proving.contradicted if self.options.mode.provable else []
        tensors, about = persistence.state(self.planner, self.learner.pending, contradicted)
        told = self.explorer.wishes.given
        return tensors, {**about, "exploration": self.explorer.spec(), **({"supervised": told} if told else {})}

    def _restore(self, tensors: Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        wishes = Wishes.again(meta.get("supervised", ()), given)
        self._compose(persistence.restore(tensors, meta, given, self._host))
        self.explorer.watch_over(wishes, self.env)
        if self.options.mode.provable:
            self.proving.contradicted[:] = meta["contradicted"]
        self.explorer.restore(meta["exploration"])
        self.model.replay(tensors)
        self.learner.pending = persistence.saved_pending(tensors)
        persistence.probe(self.planner)

    @classmethod
    def _check_saved(cls, tensors: Tensors, meta: dict[str, Any]) -> None:
        persistence.check_cme_rl(tensors, meta)

    def _unsaved(self) -> dict[str, Any]:
        told = {name: getattr(self.explorer.wishes, name) for name in self.explorer.wishes.given}
        return told if self.options.reward == "learned" else {**told, "reward": self.options.reward}
