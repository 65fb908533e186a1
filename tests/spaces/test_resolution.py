"""Kernels named by the parts of an observation see those parts in their own units."""

import numpy as np
import pytest
from gymnasium import spaces
from sampled import RECORD, Sampled

from cmerl import CMERL
from cmerl.errors import KernelError
from cmerl.kernels import RBF, Columns, Delta, FeatureMap, Interned, Periodic, Spectrum, StateAction, on


def test_parts_have_kernels_of_their_own_in_their_own_units():
    kernel = on("stock", RBF(5.0)) * on("weekday", Periodic(7.0, 1.0)) + on("name", Spectrum(1))
    agent = CMERL(Sampled(RECORD), kernel=kernel, seed=0)
    RECORD.seed(0)
    records = [RECORD.sample() for _ in range(6)]
    X = agent.states.encode_many(records)
    assert isinstance(agent.kernel, StateAction)
    assert isinstance(agent.kernel.action_kernel, Delta)
    np.testing.assert_allclose(agent.kernel.state_kernel(X), kernel(records), atol=1e-6)
    np.testing.assert_allclose(agent.kernel.state_kernel.diag(X), kernel.diag(records), atol=1e-6)
    named = agent.kernel.state_kernel.kernels[1]
    assert isinstance(named, Columns)
    assert isinstance(named.kernel, Interned)  # part by part, so that the matrix of names is kept
    agent.learn(3)


def test_a_callable_sees_the_objects_themselves(tmp_path):
    seen = []

    def same_length(X, Y):
        seen.extend(X)
        return np.array([[float(len(x) == len(y)) for y in Y] for x in X])

    agent = CMERL(Sampled(spaces.Text(4, charset="ab")), kernel=same_length, seed=0).learn(3)
    assert all(isinstance(x, str) for x in seen)
    X = agent.states.encode_many(["ab", "ba", "a"])
    np.testing.assert_array_equal(agent.kernel.state_kernel(X), [[1, 1, 0], [1, 1, 0], [0, 0, 1]])

    def same_name(X, Y):
        return np.array([[float(x["name"] == y["name"]) for y in Y] for x in X])

    CMERL(Sampled(RECORD), kernel=same_name).learn(2)
    with pytest.raises(KernelError, match="cannot be saved"):
        agent.save(tmp_path / "agent")


@pytest.mark.parametrize("shape", [(4, 4), (64, 64, 1)])
def test_pictures_are_seen_through_a_feature_map(shape):
    space = spaces.Box(0, 255, shape, np.uint8)
    kernel = FeatureMap(lambda images: np.array([[np.mean(x) / 255.0] for x in images]), RBF(0.1))
    agent = CMERL(Sampled(space), kernel=kernel, seed=0).learn(3)
    pictures = [np.full(shape, value, dtype=np.uint8) for value in (0, 20, 255)]
    X = agent.states.encode_many(pictures)
    assert X.shape[1] == (16 if shape == (4, 4) else 1)
    np.testing.assert_allclose(agent.kernel.state_kernel(X), kernel(pictures))


def test_a_part_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="on the part 'price', but the observation has 'name', 'stock', 'weekday'"):
        CMERL(Sampled(RECORD), kernel=on("price", RBF()))


def test_delta_needs_no_objects_and_other_kernels_keep_their_matrix():
    text = spaces.Text(4, charset="ab")
    agent = CMERL(Sampled(text), kernel=StateAction(0.5 * Spectrum(1) + 0.5 * Delta(), Delta()), seed=0).learn(3)
    parts = agent.kernel.state_kernel.kernels
    assert isinstance(parts[0], Interned)
    assert isinstance(parts[1].kernel, Delta)
    X = agent.states.encode_many(["a", "aa", "ab"])
    expected = 0.5 * Spectrum(1)(["a", "aa", "ab"]) + 0.5 * np.eye(3)
    np.testing.assert_allclose(agent.kernel.state_kernel(X), expected)
