"""The risk of leaving, against every path enumerated."""

import itertools

import numpy as np
import pytest

from cmerl.safety import finite_risk, known_laws


def brute_force(laws, outside, follow, state, action):
    """The probability of every path of k steps that leaves, added up; unknown mass leaves under the action alone."""
    S, total = len(outside), 1.0 - laws[state, action].sum()
    for path in itertools.product(range(S), repeat=1 + len(follow)):
        chance = laws[state, action, path[0]]
        for k, actions in enumerate(follow):
            if outside[path[k]]:
                chance *= path[k + 1] == path[k]  # it has left, and is counted once
            else:
                chance *= laws[path[k], actions[path[k]], path[k + 1]]
        total += chance * any(outside[s] for s in path)
    return total


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_risk_is_the_sum_over_all_paths(seed, steps):
    rng = np.random.default_rng(seed)
    S, A = 4, 2
    laws = rng.dirichlet(np.ones(S), (S, A)) * rng.uniform(0.7, 1.0, (S, A, 1))
    outside = np.array([False, False, False, True])
    follow = rng.integers(A, size=(steps - 1, S))
    risk = finite_risk(laws, outside, follow)
    for s, a in itertools.product(range(3), range(A)):
        assert risk[s, a] == pytest.approx(brute_force(laws, outside, follow, s, a), abs=1e-12)


def test_known_laws_lack_what_lambda_says():
    counts = np.zeros((2, 1, 2))
    counts[0, 0] = [3.0, 1.0]
    laws = known_laws(counts, 0.5)
    np.testing.assert_allclose(laws[0, 0], [3.0 / 4.5, 1.0 / 4.5])
    assert laws[1].sum() == 0.0
    risk = finite_risk(laws, np.array([False, True]), np.empty((0, 2), dtype=int))
    assert risk[0, 0] == pytest.approx((1.0 + 0.5) / 4.5)
    assert risk[1, 0] == 1.0
