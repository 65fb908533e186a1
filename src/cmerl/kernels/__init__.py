"""Kernels: similarity of states and of state-actions, and what the theory must know about it.

    >>> from cmerl.kernels import RBF, Delta, StateAction
    >>> k = StateAction(RBF(0.5) + 0.1, Delta())

A kernel is a frozen dataclass: ``k(X, Y)`` is a matrix, ``k1 + k2``, ``k1 * k2`` and ``2.0 * k`` are kernels,
``k.bound`` and ``k.diameter`` are the constants B and D, and ``k.spec()`` can be saved.
"""

from cmerl.kernels.base import FloatArray, Kernel, Points, VectorKernel
from cmerl.kernels.columns import Columns
from cmerl.kernels.composite import Product, Scaled, Sum
from cmerl.kernels.discrete import Delta, Hamming
from cmerl.kernels.foreign import CallableKernel, SklearnKernel, as_kernel
from cmerl.kernels.linear import Constant, Linear, Polynomial
from cmerl.kernels.spec import from_spec
from cmerl.kernels.state_action import StateAction
from cmerl.kernels.stationary import RBF, Matern, Periodic, RationalQuadratic

__all__ = [
    "RBF",
    "CallableKernel",
    "Columns",
    "Constant",
    "Delta",
    "FloatArray",
    "Hamming",
    "Kernel",
    "Linear",
    "Matern",
    "Periodic",
    "Points",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "SklearnKernel",
    "StateAction",
    "Sum",
    "VectorKernel",
    "as_kernel",
    "from_spec",
]
