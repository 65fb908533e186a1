# %% [markdown]
# # The conditional mean embedding alone
#
# An expectation with its uncertainty, no reinforcement learning. The data: 60 pairs x, y with y = sin 3x and noise,
# none of them between 0.2 and 0.6.

# %%
import matplotlib.pyplot as plt
import numpy as np

from cmerl import ConditionalMeanEmbedding
from cmerl.kernels import RBF

rng = np.random.default_rng(0)
x = rng.uniform(-1.0, 1.0, size=(60, 1))
x = x[(x[:, 0] < 0.2) | (x[:, 0] > 0.6)]
y = np.sin(3.0 * x) + 0.1 * rng.normal(size=x.shape)

embedding = ConditionalMeanEmbedding(RBF(0.3), lam=0.1)
embedding.update(x, y)

# %% [markdown]
# `expectation` takes any function of y; `std` tells how little is known: 0 where there are many data, 1 far away.

# %%
query = np.array([[0.0], [0.4], [3.0]])
mean = embedding.expectation(lambda outcomes: outcomes[:, 0], query)
square = embedding.expectation(lambda outcomes: outcomes[:, 0] ** 2, query)
for at, m, s, sigma in zip(query[:, 0], mean, square, embedding.std(query), strict=True):
    print(f"x = {at:.1f}: E[Y] is about {m:5.2f} (true {np.sin(3 * at):5.2f}), E[Y²] {s:.2f}, σ = {sigma:.2f}")

# %%
grid = np.linspace(-1.5, 1.5, 200)[:, None]
middle, sigma = embedding.expectation(lambda outcomes: outcomes[:, 0], grid), embedding.std(grid)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.fill_between(grid[:, 0], middle - sigma, middle + sigma, color="#0072B2", alpha=0.2, label="± σ")
axes.plot(grid[:, 0], np.sin(3 * grid[:, 0]), "k--", linewidth=1, label="sin 3x")
axes.plot(grid[:, 0], middle, color="#0072B2", label="E[Y | x]")
axes.plot(x[:, 0], y[:, 0], ".", color="#D55E00", markersize=4, label="data")
axes.set(xlabel="x", ylabel="y", xlim=(-1.5, 1.5), ylim=(-1.4, 1.8))
axes.legend(ncols=4, fontsize=8, loc="upper left")
