"""The product kernel over state and action, on arrays and on lists of pairs."""

import math

import numpy as np
import pytest

from cmerl.errors import InputError, KernelError
from cmerl.kernels import RBF, Constant, Delta, Hamming, Linear, StateAction

rng = np.random.default_rng(5)
S, A = rng.normal(size=(12, 2)), rng.integers(0, 3, size=(12, 1)).astype(float)
S2, A2 = rng.normal(size=(7, 2)), rng.integers(0, 3, size=(7, 1)).astype(float)


def test_is_the_product_of_both_kernels() -> None:
    k = StateAction(RBF(0.5), Delta())
    Z, Z2 = k.join(S, A), k.join(S2, A2)
    np.testing.assert_allclose(k(Z, Z2), RBF(0.5)(S, S2) * (A == A2.T), rtol=1e-12)
    np.testing.assert_allclose(k(Z), RBF(0.5)(S) * (A == A.T), rtol=1e-12)


@pytest.mark.parametrize("action_kernel", [Delta(), RBF(0.7)], ids=repr)
def test_lists_of_pairs_give_the_same_matrix_as_arrays(action_kernel) -> None:
    k = StateAction(RBF(0.5), action_kernel)
    pairs, pairs2 = k.join(list(S), list(A)), k.join(list(S2), list(A2))
    assert isinstance(pairs, list)
    np.testing.assert_array_equal(k(pairs, pairs2), k(k.join(S, A), k.join(S2, A2)))
    np.testing.assert_array_equal(k.diag(pairs), k.diag(k.join(S, A)))


def test_structured_states_and_actions() -> None:
    k = StateAction(Hamming(), Delta())
    Z = [("abc", "left"), ("abd", "left"), ("abc", "right")]
    np.testing.assert_allclose(k(Z), [[1.0, 2 / 3, 0.0], [2 / 3, 1.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(k(Z, Z[:1]), [[1.0], [2 / 3], [0.0]])


def test_array_states_may_have_structured_actions() -> None:
    k = StateAction(RBF(), Delta())
    Z = k.join(S[:3], ["left", "right", "left"])
    np.testing.assert_allclose(k(Z), RBF()(S[:3]) * [[1, 0, 1], [0, 1, 0], [1, 0, 1]])


def test_split_undoes_join() -> None:
    k = StateAction(RBF(), RBF(), action_dims=2)
    wide = np.hstack((A, A + 1.0))
    states, actions = k.split(k.join(S, wide))
    np.testing.assert_array_equal(states, S)
    np.testing.assert_array_equal(actions, wide)
    assert k.split(k.join(["s", "t"], ["a", "b"])) == (["s", "t"], ["a", "b"])


def test_indicator_means_delta_on_actions() -> None:
    assert StateAction(RBF(), Delta()).indicator
    assert not StateAction(Delta(), RBF()).indicator


def test_constants_are_those_of_a_product() -> None:
    k = StateAction(4.0 * RBF(), 9.0 * Delta())
    assert k.bound == pytest.approx(6.0)
    assert k.diameter == pytest.approx(6.0 * math.sqrt(2.0))
    assert k.nonnegative
    assert StateAction(Linear(2.0), Delta()).diameter == pytest.approx(4.0)
    assert not StateAction(Linear(2.0), Delta()).nonnegative
    assert StateAction(Linear(2.0), Constant(9.0)).diameter == pytest.approx(12.0)


def test_combines_like_any_kernel() -> None:
    k = StateAction(RBF(), Delta())
    Z = k.join(S, A)
    np.testing.assert_allclose((2.0 * k + RBF())(Z), 2.0 * k(Z) + RBF()(Z))


def test_errors() -> None:
    k = StateAction(RBF(), Delta())
    with pytest.raises(InputError, match="at least one column of state before the 1 of action, got 1 in all"):
        k(np.zeros((3, 1)))
    with pytest.raises(InputError, match=r"pairs \(state, action\), but item 1 is 'x'"):
        k([((0.0,), 1), "x"])
    with pytest.raises(InputError, match=r"but item 0 is \[1.0, 2.0, 3.0\]"):
        k([[1.0, 2.0, 3.0]])
    with pytest.raises(InputError, match="Each state needs its action, got 2 and 3"):
        k.join(np.zeros((2, 1)), np.zeros((3, 1)))
    with pytest.raises(InputError, match=r"use X\[:, None\]"):
        k.join(np.zeros((2, 1)), np.zeros(2))
    with pytest.raises(KernelError, match="action_dims must be a whole number, at least 1, got 0"):
        StateAction(RBF(), Delta(), 0)
    with pytest.raises(KernelError, match=r"action_dims must be a whole number, at least 1, got 1\.5"):
        StateAction(RBF(), Delta(), 1.5)
    with pytest.raises(KernelError, match="got the class RBF"):
        StateAction(RBF, Delta())
