"""Saving CME-RL: everything needed to rebuild its planner and model bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cmerl.agents.cme_rl.algorithm import Algorithm1
from cmerl.agents.cme_rl.builder import Host, assemble
from cmerl.agents.cme_rl.explorer import ExplorationOptions
from cmerl.agents.cme_rl.options import Options
from cmerl.agents.cme_rl.parts import Parts
from cmerl.agents.cme_rl.planner import Planner
from cmerl.agents.cme_rl.update_buffer import UpdateBuffer
from cmerl.agents.saving.container import Tensors
from cmerl.agents.saving.contents import check_cme_rl
from cmerl.errors import InputError
from cmerl.growing import nested, part
from cmerl.rewards import RewardRange
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet


class Saved(Algorithm1):
    """Can be saved and rebuilt, bit for bit."""

    def lesson(self) -> dict[str, Any]:
        """The last episode as data, with the cost of exploration."""
        return {**super().lesson(), "exploration": self.explorer.spec()}

    def _relearn(self, lesson: dict[str, Any]) -> None:
        super()._relearn(lesson)
        self.explorer.restore(lesson.get("exploration", self.explorer.spec()))  # 0.1 had no account

    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        contradicted = self.proving.contradicted if self.options.mode.provable else []
        tensors, about = state(self.planner, self.learner.pending, contradicted)
        told = self.explorer.asked.given
        return tensors, {**about, "exploration": self.explorer.spec(), **({"supervised": told} if told else {})}

    def _restore(self, tensors: Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        asked = ExplorationOptions.again(meta.get("supervised", ()), given)
        self._compose(restored_planner(tensors, meta, given, self._host))
        self.explorer.supervise(asked, self.env)
        if self.options.mode.provable:
            self.proving.contradicted[:] = meta["contradicted"]
        self.explorer.restore(meta["exploration"])
        self.model.replay(tensors)
        self.learner.pending = UpdateBuffer.from_arrays(part(tensors, "pending"))
        probe(self.planner)

    @classmethod
    def _check_saved(cls, tensors: Tensors, meta: dict[str, Any]) -> None:
        check_cme_rl(tensors, meta)

    def _unsaved(self) -> dict[str, Any]:
        told = {name: getattr(self.explorer.asked, name) for name in self.explorer.asked.given}
        return told if self.options.reward == "learned" else {**told, "reward": self.options.reward}


def state(planner: Planner, pending: UpdateBuffer, contradicted: Sequence[str]) -> tuple[Tensors, dict[str, Any]]:
    """Arrays and a JSON-able description."""
    if planner.parts.own:
        raise InputError(f"an agent with parts of your own ({', '.join(planner.parts.own)}) cannot be saved")
    tensors = {**planner.model.tensors(planner.states.dims), "actions": planner.actions.table}
    tensors |= nested({"pending": pending.arrays()})
    if planner.all_states is not None:
        tensors["all_states"] = planner.all_states
    about: dict[str, Any] = {"options": planner.options.spec(), "rewards": planner.rewards.spec()}
    about["contradicted"] = list(contradicted)
    return tensors, {**about, "states": planner.states.spec(), "actions": planner.actions.spec()}


def restored_planner(tensors: Tensors, meta: dict[str, Any], given: dict[str, Any], host: Host) -> Planner:
    """The inverse of ``state``, but for what had not been learned; ``given`` is what a file cannot hold."""
    options = meta["options"]
    states = StateSpace.from_spec(meta["states"])
    actions = ActionSet.from_spec(meta["actions"], tensors["actions"])
    if host.env is not None and not states.fits(host.env.observation_space):
        raise InputError("the environment's observations are not those that this agent was saved with")
    if host.env is not None and not all(host.env.action_space.contains(a) for a in actions.values):
        raise InputError("the environment's actions are not those that this agent was saved with")
    reward = given.pop("reward", options["reward"])
    if given:
        raise InputError(f"load takes no {', '.join(given)}: only what cannot be saved, such as reward")
    if reward is None:
        raise InputError("this agent was given its reward function, which is not saved: pass reward=…")
    told, rewards = Options.from_spec(options, reward, states, actions), RewardRange.from_spec(meta["rewards"])
    return assemble(host, told, states, actions, rewards, tensors.get("all_states"), Parts())


def probe(planner: Planner, *, longest: int = 1000) -> None:
    """Refuse to continue from a file whose numbers lead nowhere; the plan is the one that comes next anyway.

    Args:
        planner: of the loaded agent.
        longest: horizon up to which a plan is made for that.
    """
    starts = planner.model.starts[-1:]
    if len(starts) and planner.horizon <= longest and not np.all(np.isfinite(planner.plan().q(starts, 0))):
        raise InputError("the file is damaged: values that follow from it are not finite")
