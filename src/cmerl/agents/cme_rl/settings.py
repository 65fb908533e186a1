"""All numeric settings of the default agent; `benchmarks/ablation.py` has a row for each rule."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Self, get_type_hints

from cmerl.acting import Refined
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.errors import InputError
from cmerl.model_selection import Selection
from cmerl.optimism import PrizeCeiling

RETIRED = {
    "DisplacementSettings": {"depths", "open_loop_error", "end_radius", "far", "survivors", "usual_steps"},
    "MPC": {"surprise"},
    "PrizeCeiling": {"hope", "margin"},
    "Refined": {"difference", "known"},
    "TerminalSettings": {"apart"},
    "Selection": {"discount", "fewest_to_judge", "most_noise", "saturation", "search_landmarks", "shrinking"},
}
"""Settings that saved agents may still name, and that no rule reads any more."""
RENAMED = {
    "DisplacementSettings": {"reward_starts": "starts"},
    "TerminalSettings": {"caution": "pessimism", "fear": "end_pessimism"},
}
"""Settings that saved agents may name by an older name."""


@dataclass(frozen=True, kw_only=True)
class KernelSettings:
    """The kernels that an agent chooses by itself, on observations scaled to [0, 1].

    Attributes:
        width: lengthscale for two columns; more columns lie farther apart, and get a larger one.
        own_width: of what each action does differently, over ``width``.
        shared: least and most that actions share; how much follows from how little a step moves the state.
        sensible: declared bounds count for nothing where the data fill less of them, or leave them so far.
        few: combinations of categories up to which each is learned on its own.
    """

    width: float = 0.1
    own_width: float = 0.5
    shared: tuple[float, float] = (0.5, 0.9)
    sensible: tuple[float, float] = (0.02, 2.0)
    few: int = 64


@dataclass(frozen=True, kw_only=True)
class Updates:
    """When to learn what was seen, and when to replan.

    Attributes:
        replan_nats: information gathered since the last plan after which a new one is worth its time.
        replan_share: of all information so far that it must be as well, where plans take long or all is new.
        wait_nats: information that may wait between episodes before it is learned.
        wait_after: transitions that are learned episode by episode; later no more than so many may wait.
    """

    replan_nats: float = 1.0
    replan_share: float = 0.05
    wait_nats: float = 0.5
    wait_after: int = 1000

    def replan_due(self, nats: float, gained: float, *, costly: bool) -> bool:
        """Whether so many nats call for a new plan inside an episode, after ``gained`` in all."""
        return nats > self.replan_nats and (not costly or nats > self.replan_share * gained)

    def may_wait(self, nats: float, waiting: int, learned: int) -> bool:
        """Whether so many waiting transitions are too little to be learned at the end of an episode."""
        return nats <= self.wait_nats and waiting <= self.wait_after <= learned


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All numeric settings of CME-RL.

    Attributes:
        kernels: automatic kernels.
        displacement: the displacement model.
        selection: model selection and actor selection.
        refined: refinement of continuous actions.
        updates: when to learn and when to replan.
        prize: the ceiling if only terminations pay.
        exploration_rate: episode t may spend this share of the spread of returns on exploration, divided by t.
        usual_episodes: the latest episodes, whose median return exploration is compared with.
        exact_limit: number of distinct state-actions up to which backend "auto" stays exact.
        keep: number of transitions kept for selecting dictionaries and for saving.
        most_dimensions: largest number of columns for a displacement model.
        find_angles: whether numbers that wrap around are learned as angles.
    """

    kernels: KernelSettings = field(default_factory=KernelSettings)
    displacement: DisplacementSettings = field(default_factory=DisplacementSettings)
    selection: Selection = field(default_factory=Selection)
    refined: Refined = field(default_factory=Refined)
    updates: Updates = field(default_factory=Updates)
    prize: PrizeCeiling = field(default_factory=PrizeCeiling)
    exploration_rate: float = 0.1
    usual_episodes: int = 3
    exact_limit: int = 1000
    keep: int = 20_000
    most_dimensions: int = 32
    find_angles: bool = True

    def spec(self) -> dict[str, Any]:
        """As JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Self:
        """The inverse of ``spec``."""
        found = _from_spec(cls, spec)
        assert isinstance(found, cls)
        return found


def _from_spec(cls: type, spec: dict[str, Any]) -> Any:
    """A settings object from its fields, nested ones included; a name that it does not have is an error."""
    hints = get_type_hints(cls)
    renamed = RENAMED.get(cls.__name__, {})
    spec = {renamed.get(k, k): value for k, value in spec.items() if k not in RETIRED.get(cls.__name__, ())}
    unknown = set(spec) - set(hints)
    if unknown:
        raise InputError(f"{cls.__name__} has no setting {', '.join(sorted(unknown))}")
    values = {}
    for name, value in spec.items():
        if dataclasses.is_dataclass(hints[name]):
            value = _from_spec(hints[name], value)
        values[name] = tuple(value) if isinstance(value, list) else value
    return cls(**values)
