"""Conditional mean embeddings: one protocol, several backends."""

from cmerl.embedding.base import (
    Coef,
    Grid,
    KernelEmbedding,
    KernelGrid,
    Model,
    SmoothView,
    View,
    is_kernel_embedding,
)
from cmerl.embedding.compressed.embedding import CompressedEmbedding
from cmerl.embedding.compressed.sketches import compressed, fourier, nystrom
from cmerl.embedding.displacement.embedding import DisplacementEmbedding
from cmerl.embedding.exact.embedding import ExactEmbedding
from cmerl.embedding.facade import ConditionalMeanEmbedding

__all__ = [
    "Coef",
    "CompressedEmbedding",
    "ConditionalMeanEmbedding",
    "DisplacementEmbedding",
    "ExactEmbedding",
    "Grid",
    "KernelEmbedding",
    "KernelGrid",
    "Model",
    "SmoothView",
    "View",
    "compressed",
    "fourier",
    "is_kernel_embedding",
    "nystrom",
]
