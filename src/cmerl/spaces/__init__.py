"""Conversion between Gymnasium's observations and the rows that kernels use."""

from cmerl.spaces.columns import Angles
from cmerl.spaces.state import StateSpace

__all__ = ["Angles", "StateSpace"]
