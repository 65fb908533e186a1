"""Conditional mean embeddings: one protocol, several ways to hold the data."""

from cmerl.embedding.base import Coef, ContinuousView, Embedding, Grid, SmoothView, View
from cmerl.embedding.compressed.embedding import CompressedEmbedding
from cmerl.embedding.compressed.sketches import compressed, fourier, nystrom
from cmerl.embedding.displacement.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.grid import Model as DisplacementModel
from cmerl.embedding.exact.embedding import ExactEmbedding
from cmerl.embedding.facade import ConditionalMeanEmbedding

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
