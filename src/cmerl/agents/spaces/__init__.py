"""Between Gymnasium's observation spaces and the rows that kernels see."""

from cmerl.agents.spaces.columns import Angles
from cmerl.agents.spaces.state import StateSpace

__all__ = ["Angles", "StateSpace"]
