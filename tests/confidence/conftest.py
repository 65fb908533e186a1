"""The embedding of data that were counted."""

import numpy as np
import pytest
from counted import LAM, VISITS

from cmerl.embedding import ExactEmbedding
from cmerl.kernels import Delta, StateAction
from cmerl.transitions import Transitions


@pytest.fixture
def data():
    embedding = ExactEmbedding(StateAction(Delta(), Delta()), LAM, np.array([[0.0], [1.0]]))
    embedding.update(Transitions.of(np.array(VISITS, dtype=float), np.zeros((len(VISITS), 1))))
    return embedding
