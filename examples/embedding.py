"""The conditional mean embedding alone: an expectation with its uncertainty, no reinforcement learning."""

import numpy as np

from cmerl import ConditionalMeanEmbedding
from cmerl.kernels import RBF

rng = np.random.default_rng(0)
x = rng.uniform(-1.0, 1.0, size=(200, 1))
y = np.sin(3.0 * x) + 0.1 * rng.normal(size=x.shape)

embedding = ConditionalMeanEmbedding(RBF(0.3), lam=0.1)
embedding.update(x, y)
query = np.array([[0.5], [3.0]])
mean = embedding.expectation(lambda states: states[:, 0], query)
print(f"E[Y | x = 0.5] is about {mean[0]:.2f} (true {np.sin(1.5):.2f}), σ = {embedding.std(query)[0]:.2f}")
print(f"far from all data σ = {embedding.std(query)[1]:.2f}")
