"""KL balls: the extreme mean within one against convex optimisers, the radii against integrals and coin tosses."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize

from cmerl.confidence.kl import CountingBudget, kl_radius, law_radius, least_mean
from cmerl.errors import InputError


def one(p, d, eps, **options):
    found, _ = least_mean(np.array([p], float), np.array([d], float), np.array([float(eps)]), **options)
    return float(found[0])


def primal(p, d, eps):
    """min q·d over laws q on the atoms and a free one with KL(p‖q) ≤ ε, by sequential quadratic programming."""
    p, d = np.asarray(p), np.append(d, 0.0)

    def slack(q):
        return eps - float((p * np.log(p / q[:-1])).sum())

    best = math.inf
    for share in (0.05, 0.3, 0.9):
        found = minimize(
            lambda q: float(q @ d),
            np.append(p * math.exp(-share * eps), 1.0 - math.exp(-share * eps)),
            jac=lambda q: d,
            bounds=[(1e-9, 1.0)] * len(d),
            constraints=[
                {"type": "ineq", "fun": slack, "jac": lambda q: np.append(p / q[:-1], 0.0)},
                {"type": "eq", "fun": lambda q: q.sum() - 1.0, "jac": lambda q: np.ones_like(q)},
            ],
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-14},
        )
        if found.success and slack(found.x) > -1e-7:
            best = min(best, float(found.fun))
    return best


weights = st.lists(st.floats(0.05, 1.0), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(weights, st.floats(-3.0, 0.7), st.integers(0, 2**31))
def test_the_least_mean_is_that_of_a_convex_optimiser(raw, log_eps, seed):
    p = np.array(raw) / np.sum(raw)
    rng = np.random.default_rng(seed)
    d = rng.random(len(p))
    if rng.random() < 0.4:
        d[rng.integers(len(p))] = 0.0
    eps = 10.0**log_eps
    found, expected = one(p, d, eps), primal(p, d, eps)
    assume(math.isfinite(expected))  # the optimiser gives up now and then
    assert found == pytest.approx(expected, abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(weights, st.floats(-8.0, 1.5), st.integers(0, 2**31))
def test_it_is_the_best_point_of_the_dual_and_no_iteration_overshoots_it(raw, log_eps, seed):
    p, rng = np.array(raw) / np.sum(raw), np.random.default_rng(seed)
    d, eps = rng.random(len(p)) * 10 ** rng.uniform(-3, 3), 10.0**log_eps
    x = d.max() * np.exp(np.linspace(-30, 20, 4001))
    dual = x * np.expm1((p[:, None] * np.log1p(d[:, None] / x)).sum(axis=0) - eps)
    best = max(0.0, dual.max(), math.exp(float(p @ np.log(d)) - eps))
    assert one(p, d, eps) == pytest.approx(best, rel=1e-3, abs=1e-9 * d.max())
    assert one(p, d, eps) >= dual.max() - 1e-9 * d.max()
    for iterations in (1, 2, 4):  # unfinished, it is still on the safe side
        assert one(p, d, eps, iterations=iterations) <= one(p, d, eps) + 1e-9 * d.max()


def test_the_ends_of_what_can_happen():
    assert one([0.0, 0.0], [3.0, 1.0], 0.1) == 0.0  # nothing was seen
    assert one([0.5, 0.5], [0.0, 0.0], 0.1) == 0.0  # all of it is the best there is
    assert one([1.0], [2.0], 0.3) == pytest.approx(2.0 * math.exp(-0.3))  # one atom: the rest of the mass is free
    assert one([0.5, 0.5], [2.0, 2.0], 0.3) == pytest.approx(2.0 * math.exp(-0.3))
    assert one([0.3, 0.7], [2.0, 5.0], 1e-12) == pytest.approx(0.6 + 3.5, abs=1e-4)
    assert one([0.3, 0.7], [2.0, 5.0], 500.0) == pytest.approx(0.0, abs=1e-9)
    p = 0.7  # an atom at 0 and another: q is binary, KL(p‖q) = ε
    q = one([1 - p, p], [0.0, 1.0], 0.05)
    assert p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q)) == pytest.approx(0.05, abs=1e-6)


def test_where_the_search_begins_makes_no_difference():
    rng = np.random.default_rng(3)
    p, d, eps = rng.dirichlet(np.ones(4), 30), rng.random((30, 4)), 10 ** rng.uniform(-4, 1, 30)
    cold, start = least_mean(p, d, eps)
    warm, _ = least_mean(p, d, eps, start=start + rng.normal(size=30))
    np.testing.assert_allclose(cold, warm, atol=1e-8)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_radius_of_one_function_is_the_worst_ratio_of_the_best_bet_to_the_mixture(n):
    """Over all counts k of a coin: max_λ λ^k(1−λ)^{n−k} / ∫λ^k(1−λ)^{n−k} dBeta(½, ½)."""
    ratios = []
    for k in range(n + 1):
        best = (k / n) ** k * (1 - k / n) ** (n - k)
        # λ = sin² turns the arcsine density into a constant
        mixed, _ = quad(lambda a, k=k: math.sin(a) ** (2 * k) * math.cos(a) ** (2 * (n - k)), 0, math.pi / 2)
        mixed *= 2 / math.pi
        ratios.append(best / mixed)
    price = float(kl_radius(np.array([float(n)]), union=1.0, delta=1.0)[0])
    assert price == pytest.approx(math.log(max(ratios)), rel=1e-6)
    assert price <= 0.5 * math.log(math.pi * (n + 0.5))
    if n > 1:
        assert price > 0.5 * math.log(2 * (n + 1))  # a smaller price that is not valid


@pytest.mark.parametrize("counts", [(3, 0), (2, 5), (9, 1)])
def test_the_radius_of_a_law_is_the_evidence_of_the_mixture(counts):
    a, b = counts
    n, prior = a + b, 0.5
    norm = math.gamma(1.0) / math.gamma(prior) ** 2
    mixed, _ = quad(
        lambda t: 2 * norm * math.sin(t) ** (2 * a) * math.cos(t) ** (2 * b), 0, math.pi / 2
    )  # Dirichlet(½, ½)
    best = (a / n) ** a * (b / n) ** b
    found = float(law_radius(np.array([counts], float), outcomes=2, union=3.0, delta=0.1)[0])
    assert found == pytest.approx(math.log(30.0) + math.log(best / mixed), rel=1e-6)


@pytest.mark.parametrize("delta", [0.1, 0.5])
def test_radii_hold_at_all_times_with_their_probability_and_shrunken_ones_do_not(delta):
    rng = np.random.default_rng(0)
    P, X = np.array([0.6, 0.3, 0.1]), np.array([0.0, 0.4, 1.0])
    runs, T = 300, 200
    draws = rng.choice(3, p=P, size=(runs, T))
    counts = np.cumsum(np.eye(3)[draws], axis=1)
    n = np.arange(1.0, T + 1)
    phat = counts / n[:, None]
    mean = phat.shape[:2]
    failed = {}
    for factor in (1.0, 0.25):
        eps = np.broadcast_to(factor * kl_radius(n, union=1.0, delta=delta) / n, mean)
        gap, _ = least_mean(phat, np.broadcast_to(1.0 - X, phat.shape), eps)
        failed["value", factor] = ((1.0 - gap) < P @ X).any(axis=1).mean()
        divergence = np.where(phat > 0, phat * np.log(np.where(phat > 0, phat, 1.0) / P), 0.0).sum(axis=2)
        radius = law_radius(counts, outcomes=3, union=1.0, delta=delta)
        failed["law", factor] = (n * divergence > factor * radius).any(axis=1).mean()
    for kind in ("value", "law"):
        assert failed[kind, 1.0] <= delta + 3 * math.sqrt(delta * (1 - delta) / runs)
        assert failed[kind, 0.25] > failed[kind, 1.0] + 0.1


def test_the_shares_of_delta_add_up():
    for learned in (False, True):
        budget = CountingBudget(0.2, learned_reward=learned)
        parts = budget.optimism + budget.laws + budget.luck + (budget.rewards if learned else 0.0)
        assert parts == pytest.approx(0.2)
    with pytest.raises(InputError, match="between 0 and 1"):
        CountingBudget(1.0, learned_reward=False)
