"""Conditional mean embeddings: one protocol, several ways to hold the data."""

from cmerl.embedding.base import Coef, Embedding, Grid, View
from cmerl.embedding.exact import ExactEmbedding
from cmerl.embedding.facade import ConditionalMeanEmbedding

__all__ = ["Coef", "ConditionalMeanEmbedding", "Embedding", "ExactEmbedding", "Grid", "View"]
