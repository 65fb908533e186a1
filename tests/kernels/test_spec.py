"""What a saved kernel looks like, and what is refused on the way back."""

from dataclasses import dataclass

import numpy as np
import pytest

from cmerl.errors import KernelError
from cmerl.kernels import RBF, Delta, StateAction, VectorKernel, from_spec
from cmerl.kernels.base import REGISTRY


def test_descriptions_are_plain_and_nested() -> None:
    assert RBF((1.0, 2.0)).spec() == {"type": "RBF", "lengthscale": [1.0, 2.0]}
    assert StateAction(2.0 * RBF(), Delta()).spec() == {
        "type": "StateAction",
        "state_kernel": {"type": "Scaled", "kernel": {"type": "RBF", "lengthscale": 1.0}, "c": 2.0},
        "action_kernel": {"type": "Delta"},
        "action_dims": 1,
    }


def test_defaults_may_be_left_out() -> None:
    assert from_spec({"type": "RBF"}) == RBF()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("RBF", "dictionary with a \"type\", got 'RBF'"),
        ({"lengthscale": 1.0}, 'dictionary with a "type"'),
        ({"type": "Rbf"}, "no kernel named 'Rbf'; .*RBF"),
        ({"type": "VectorKernel"}, "no kernel named 'VectorKernel'"),
        ({"type": "RBF", "length": 1.0, "gamma": 2.0}, "RBF has no parameter gamma, length"),
        ({"type": "Scaled", "c": 1.0}, "description of Scaled lacks kernel"),
        ({"type": "RBF", "lengthscale": -1.0}, "lengthscale must be positive"),
    ],
)
def test_bad_descriptions_are_refused(spec, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        from_spec(spec)


@dataclass(frozen=True)
class Cosine(VectorKernel):
    """A kernel as a user would write it."""

    phase: object = 0.0
    bound = 1.0

    def _matrix(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return np.cos(X - Y.T)

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.ones(len(X))


def test_a_user_kernel_is_saved_like_ours() -> None:
    assert from_spec(Cosine(0.5).spec()) == Cosine(0.5)
    assert from_spec((Cosine() + RBF()).spec()) == Cosine() + RBF()
    assert Cosine().diameter == 2.0


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(KernelError, match=r"Cosine.phase cannot be saved: complex has no JSON form"):
        Cosine(1j).spec()


def test_a_kernel_that_is_no_dataclass_is_refused() -> None:
    class Undecorated(Cosine):
        extra = 3

    with pytest.raises(KernelError, match=r"Undecorated cannot be saved: decorate it with @dataclass"):
        Undecorated().spec()
    del REGISTRY["Undecorated"]


def test_a_name_cannot_be_taken_over() -> None:
    with pytest.raises(KernelError, match=r"named RBF already exists in cmerl.kernels.stationary"):
        type("RBF", (Cosine,), {"__module__": "elsewhere"})
    assert REGISTRY["RBF"] is RBF
