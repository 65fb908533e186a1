"""Embeddings in coordinates: a cost per episode that does not grow with the data."""
