"""One kernel of every kind on two columns, for the facts that hold for all of them."""

import pytest

from cmerl.kernels import (
    RBF,
    Columns,
    Constant,
    Delta,
    Graph,
    Hamming,
    Kernel,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    StateAction,
)

KERNELS = [
    RBF(0.7),
    RBF((0.5, 2.0)),
    Matern(0.5, 0.8),
    Matern(1.5, (0.3, 1.0)),
    Matern(2.5, 1.2),
    RationalQuadratic(1.0, 0.6),
    RationalQuadratic(0.4, (0.5, 3.0)),
    Periodic(1.5, 0.9),
    Periodic((1.0, 2.0), (0.8, 1.4)),
    Linear(radius=9.0),
    Polynomial(2, 1.0, radius=9.0),
    Polynomial(3, 0.5, radius=9.0),
    Polynomial(2, 100.0, radius=9.0),
    Constant(0.3),
    Delta(),
    Hamming(),
    3.0 * RBF(0.5),
    RBF(0.5) + Delta() + 0.25,
    RBF(0.5) * Periodic((2.0, 2.0), 3.0) * Linear(radius=9.0),
    Columns(RBF(0.6), (1,)) * Columns(Delta(), (0,)),
    StateAction(RBF(0.4), Delta()),
    StateAction(Matern(1.5), 0.5 * RBF() + 1.0),
]


@pytest.fixture(scope="session", params=KERNELS, ids=repr)
def kernel(request: pytest.FixtureRequest) -> Kernel:
    return request.param


@pytest.fixture(scope="session")
def random_graphs():
    """Draws so many small graphs with labels of atoms."""

    def draw(count, rng):
        found = []
        for _ in range(count):
            n = int(rng.integers(2, 8))
            pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.4]
            found.append(Graph.of(rng.choice(list("CNO"), n).tolist(), [(j, i) for i, j in pairs] or [(0, 1)]))
        return found

    return draw
