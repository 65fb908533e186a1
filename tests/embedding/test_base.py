"""Which models are kernel embeddings, as proofs need."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.embedding import ExactEmbedding
from cmerl.embedding.base import is_kernel_embedding
from cmerl.kernels import Delta, StateAction


@pytest.mark.parametrize(("model", "kernel"), [("direct", True), ("displacement", False)])
def test_models_of_displacements_are_none(model: Any, kernel: bool) -> None:
    agent = CMERL(gymnasium.make("cmerl/PBall2D-v0"), model=model, horizon=3, seed=0).learn(1)
    assert is_kernel_embedding(agent.model.embeddings[0]) is kernel


def test_an_exact_embedding_is_one() -> None:
    assert is_kernel_embedding(ExactEmbedding(StateAction(Delta(), Delta()), 1.0, np.array([[0.0], [1.0]])))
