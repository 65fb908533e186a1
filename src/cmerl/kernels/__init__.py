"""Kernels on states and state-actions, with the constants that proofs need.

    >>> from cmerl.kernels import RBF, Delta, StateAction
    >>> k = StateAction(RBF(0.5) + 0.1, Delta())

A kernel is a frozen dataclass: ``k(X, Y)`` is a matrix, ``k1 + k2``, ``k1 * k2`` and ``2.0 * k`` are kernels,
``k.bound`` and ``k.diameter`` are the constants B and D, and ``k.spec()`` can be saved.
"""

from cmerl.kernels.alignment import GlobalAlignment
from cmerl.kernels.base import FloatArray, Kernel, Points, VectorKernel
from cmerl.kernels.columns import Columns
from cmerl.kernels.composite import Product, Scaled, Sum
from cmerl.kernels.discrete import Delta, Hamming
from cmerl.kernels.distributions import Bhattacharyya, ChiSquare, JensenShannon
from cmerl.kernels.foreign import CallableKernel, SklearnKernel, as_kernel
from cmerl.kernels.grakel import GraKeL
from cmerl.kernels.graphs import Graph, ShortestPath, WeisfeilerLehman
from cmerl.kernels.interned import Interned
from cmerl.kernels.linear import Constant, Linear, Polynomial
from cmerl.kernels.permutations import Kendall, Mallows
from cmerl.kernels.records import Categorical, On, mixed, on
from cmerl.kernels.repair import Repair, Repaired, repair
from cmerl.kernels.sets import Intersection, Jaccard, MeanMap, MinMax
from cmerl.kernels.spec import from_spec
from cmerl.kernels.state_action import StateAction
from cmerl.kernels.stationary import RBF, Matern, Periodic, RationalQuadratic
from cmerl.kernels.strings import Mismatch, Spectrum, WeightedDegree
from cmerl.kernels.structured import CountKernel, ObjectKernel
from cmerl.kernels.transforms import FeatureMap, Gaussian, Normalized

__all__ = [
    "RBF",
    "Bhattacharyya",
    "CallableKernel",
    "Categorical",
    "ChiSquare",
    "Columns",
    "Constant",
    "CountKernel",
    "Delta",
    "FeatureMap",
    "FloatArray",
    "Gaussian",
    "GlobalAlignment",
    "GraKeL",
    "Graph",
    "Hamming",
    "Interned",
    "Intersection",
    "Jaccard",
    "JensenShannon",
    "Kendall",
    "Kernel",
    "Linear",
    "Mallows",
    "Matern",
    "MeanMap",
    "MinMax",
    "Mismatch",
    "Normalized",
    "ObjectKernel",
    "On",
    "Periodic",
    "Points",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "Repair",
    "Repaired",
    "Scaled",
    "ShortestPath",
    "SklearnKernel",
    "Spectrum",
    "StateAction",
    "Sum",
    "VectorKernel",
    "WeightedDegree",
    "WeisfeilerLehman",
    "as_kernel",
    "from_spec",
    "mixed",
    "on",
    "repair",
]
