"""Conditional mean embeddings: one protocol, several ways to hold the data."""

from cmerl.embedding.base import Coef, ContinuousView, Embedding, Grid, SmoothView, View
from cmerl.embedding.compressed import CompressedEmbedding
from cmerl.embedding.displacement import DisplacementEmbedding
from cmerl.embedding.displacement_grid import Model as DisplacementModel
from cmerl.embedding.exact import ExactEmbedding
from cmerl.embedding.facade import ConditionalMeanEmbedding
from cmerl.embedding.sketches import compressed, fourier, nystrom

__all__ = [
    "Coef",
    "CompressedEmbedding",
    "ConditionalMeanEmbedding",
    "ContinuousView",
    "DisplacementEmbedding",
    "DisplacementModel",
    "Embedding",
    "ExactEmbedding",
    "Grid",
    "SmoothView",
    "View",
    "compressed",
    "fourier",
    "nystrom",
]
