"""Between Gymnasium's observation spaces and the rows that kernels see."""

from cmerl.spaces.columns import Angles
from cmerl.spaces.state import StateSpace

__all__ = ["Angles", "StateSpace"]
