"""The settings of caution, and the record of an intervention."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from cmerl.errors import InputError
from cmerl.validation.numbers import check_count, check_finite, check_inside, check_probability


@dataclass(frozen=True, kw_only=True)
class Caution:
    """Settings of caution: how far to look ahead, and with how much margin.

    Args:
        steps: k: the action and then k − 1 steps of the fallback must stay inside the limits.
        samples: paths that are drawn from the model, each with an error of its own.
        inflation: by how much errors from missing data are drawn larger than the posterior says; errors from noise in
            the data have their standard error.
        tail: by how much noise is drawn larger than it is, as a few paths have no rare ones.
        risk: the share of paths (on finite MDPs the probability) that may leave the limits.
        unknown: the share of a process's variance that may be open for want of data; where more is open, anything may
            follow, and a path counts as having left.
        reach: the longest lengthscale, in standard deviations of what was seen: nothing is known far outside of it.
        hidden: the least standard deviation of a process over that of its noise: noise may hide so much.
        untried: the least standard deviation of an action, whose range is from −1 to 1: one that never varied is
            tried in small steps.
        first: transitions without which nothing is predicted; the fallback acts until then. None for an episode's.
        shares: of the way from a safe action to a bold one that are tried in turn, where actions are continuous. The
            least are for fallbacks that hardly vary their actions.
        rows: transitions that a forecast is made from, the latest and the most different ones.
        fit_rows: of these, how many its lengthscales are fitted to.
    """

    steps: int = 15
    samples: int = 12
    inflation: float = 3.0
    tail: float = 2.0
    risk: float = 0.0
    unknown: float = 0.1
    reach: float = 3.0
    hidden: float = 1.0
    untried: float = 0.05
    first: int | None = None
    shares: tuple[float, ...] = (0.5, 0.25, 0.06, 0.015)
    rows: int = 200
    fit_rows: int = 120

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name in ("steps", "samples", "rows", "fit_rows"):
            check_count(name, getattr(self, name))
        if self.first is not None:
            check_count("first", self.first, least=0)
        for name in ("risk", "unknown"):
            check_probability(name, getattr(self, name))
        for name in ("inflation", "tail"):
            if check_finite(name, getattr(self, name)) < 0.0:
                raise InputError(f"{name} must be at least 0, not {getattr(self, name)!r}")
        for name in ("reach", "hidden", "untried"):
            if check_finite(name, getattr(self, name)) <= 0.0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)!r}")
        for share in self.shares:
            check_inside("a share", share)


@dataclass(frozen=True)
class Intervention:
    """An action that was not taken.

    Attributes:
        episode: the number of the episode; −1 outside of one.
        step: the step.
        proposed: the action that the plan proposed.
        played: what was played in its place.
        by: "greedy", "moderation" (an action between a safe one and the proposed), "fallback" or "mask".
        reason: why, in words.
    """

    episode: int
    step: int
    proposed: Any
    played: Any
    by: str
    reason: str

    def entry(self) -> dict[str, Any]:
        """Ready for JSON; the episode is where it is found."""
        return {name: _plain(value) for name, value in asdict(self).items() if name != "episode"}


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
