"""Theory calculators: closed forms against brute force, bounds against arithmetic by hand."""

import math
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.embedding import ConditionalMeanEmbedding
from cmerl.errors import InputError
from cmerl.kernels import RBF, Constant, Delta, Hamming, Linear, Matern, Polynomial, StateAction
from cmerl.theory import (
    InformationGain,
    Setting,
    information_gain,
    informative_from,
    pac_episodes,
    paper_pac_episodes,
    radii,
    regret_bound,
)


def gain_of(kernel, Z, lam):
    """½ log det(I + K/λ)."""
    return 0.5 * np.linalg.slogdet(np.eye(len(Z)) + kernel(Z) / lam)[1]


def best_of_all(kernel, Z, N, lam):
    """γ_N by trying every multiset."""
    choices = combinations_with_replacement(range(len(Z)), N)
    return max(gain_of(kernel, Z[list(rows)], lam) for rows in choices)


def line(m):
    return np.linspace(0.0, 1.0, m)[:, None]


# --- maximal information gain ------------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [0.1, 1.0, 7.0])
@pytest.mark.parametrize(("m", "N"), [(1, 1), (1, 4), (3, 2), (3, 3), (3, 7), (4, 6)])
def test_delta_gain_is_the_best_of_all_multisets(m, N, lam):
    found = information_gain(Delta(), N, lam=lam, candidates=m)
    assert found.kind == "exact"
    assert found.lower == found.upper == pytest.approx(best_of_all(Delta(), line(m), N, lam), rel=1e-12)


def test_every_way_to_write_a_delta_kernel_has_its_closed_form():
    states, actions = line(3), line(2)
    expected = information_gain(Delta(), 10, lam=0.5, candidates=6)
    both = StateAction(Delta(), Delta())
    assert information_gain(both, 10, lam=0.5, states=states, actions=actions) == expected
    assert information_gain(both, 10, lam=0.5, candidates=6) == expected
    assert information_gain(Delta() * Delta(), 10, lam=0.5, candidates=np.vstack([line(6), line(6)])) == expected
    doubled = information_gain(2.0 * both, 10, lam=1.0, candidates=6)
    assert doubled.lower == pytest.approx(expected.lower, rel=1e-15)


@pytest.mark.parametrize("N", [1, 3, 4, 9, 5000])
def test_greedy_agrees_with_the_closed_form_on_independent_points(N):
    # A kernel matrix that happens to be diagonal, but whose type does not say so.
    far = 100.0 * np.arange(4.0)[:, None]
    found, truth = (information_gain(k, N, lam=0.3, candidates=c).lower for k, c in ((RBF(1.0), far), (Delta(), 4)))
    # Beyond 2000 picks come several at a time, and the counts are no longer quite even.
    assert found == pytest.approx(truth, rel=1e-12 if N <= 2000 else 1e-6)


@given(
    seed=st.integers(0, 10_000),
    kernel=st.sampled_from([RBF(0.3), Matern(1.5, 0.5), Linear(), Polynomial(2), RBF(1.0) + 0.5]),
    N=st.integers(1, 5),
    lam=st.sampled_from([0.05, 1.0, 5.0]),
)
@settings(max_examples=40, deadline=None)
def test_the_interval_holds_the_best_of_all_multisets(seed, kernel, N, lam):
    Z = np.random.default_rng(seed).normal(size=(4, 2))
    found, truth = information_gain(kernel, N, lam=lam, candidates=Z), best_of_all(kernel, Z, N, lam)
    assert found.kind in ("exact", "interval")
    assert found.lower <= truth * (1 + 1e-9)
    assert truth <= found.upper * (1 + 1e-9)
    assert found.upper <= found.lower / (1 - 1 / math.e) * (1 + 1e-9)


def test_greedy_can_miss_the_best_and_the_interval_says_so():
    # The diagonal is worth most alone, but the two axes are worth more together.
    Z = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.9]])
    best, found = best_of_all(Linear(), Z, 2, 0.1), information_gain(Linear(), 2, lam=0.1, candidates=Z)
    assert best == pytest.approx(math.log(11))
    assert found.kind == "interval"
    assert found.lower < best - 0.01
    assert best <= found.upper


def test_many_candidates_and_huge_N_stay_within_a_percent():
    Z = np.array([(x, y) for x in np.linspace(0, 1, 8) for y in np.linspace(0, 1, 8)])
    gains = [information_gain(RBF(0.3), N, lam=1.0, candidates=Z) for N in (300, 3000, 10**6, 10**9)]
    assert all(0 < found.upper / found.lower - 1 < 0.02 for found in gains)
    assert all(a.upper < b.lower for a, b in pairwise(gains))
    # What greedy reports is the gain of actual points: no interval is below what data have.
    data = np.random.default_rng(0).integers(len(Z), size=300)
    assert ConditionalMeanEmbedding(RBF(0.3)).update(Z[data], Z[data]).information_gain <= gains[0].upper


@pytest.mark.parametrize("lam", [0.1, 1.0])
@pytest.mark.parametrize("N", [1, 2, 4, 5])
def test_linear_bound_is_above_every_multiset(N, lam):
    angles = np.linspace(0, np.pi, 6, endpoint=False)
    Z = np.column_stack([np.cos(angles), np.sin(angles)])
    bound = information_gain(Linear(1.0), N, lam=lam, dimension=2)
    assert bound.kind == "upper bound"
    assert bound.lower == 0.0
    assert bound.upper == pytest.approx(0.5 * min(2, N) * math.log(1 + N / (min(2, N) * lam)), rel=1e-12)
    assert best_of_all(Linear(), Z, N, lam) <= bound.upper * (1 + 1e-12)
    # With the points at hand the interval is at least as good: it knows the dimension itself.
    assert information_gain(Linear(), N, lam=lam, candidates=Z).upper <= bound.upper * (1 + 1e-9)


def test_a_kernel_of_one_feature_is_exact():
    found = information_gain(Constant(2.0), 7, lam=0.5, candidates=line(5))
    assert found.kind == "exact"
    assert found.lower == pytest.approx(0.5 * math.log1p(7 * 2.0 / 0.5), rel=1e-12)


def test_a_grid_of_a_continuous_domain_is_only_a_lower_bound():
    coarse, fine = (information_gain(RBF(0.2), 30, lam=1.0, candidates=line(m), exhaustive=False) for m in (3, 30))
    assert coarse.kind == fine.kind == "lower bound"
    assert coarse.lower < fine.lower
    assert coarse.upper == fine.upper == pytest.approx(15 * math.log(2))  # N independent points: the trivial bound
    assert information_gain(Linear(), 5, lam=1.0, candidates=line(4), exhaustive=False).upper == math.inf
    # Delta kernels too: on a continuum there is always another point.
    assert information_gain(Delta(), 5, lam=1.0, candidates=line(4), exhaustive=False).kind == "lower bound"


def test_structured_state_actions():
    words = ["aa", "ab", "bb"]
    found = information_gain(StateAction(Hamming(), Delta()), 12, lam=1.0, states=words, actions=["x", "y"])
    assert found.kind == "interval"
    # Two actions do not help each other: twice the best of six on one of them.
    single = information_gain(Hamming(), 6, lam=1.0, candidates=words)
    assert found.lower == pytest.approx(2 * single.lower, rel=1e-9)


@given(m=st.integers(1, 20), N=st.integers(0, 200), lam=st.floats(0.01, 100))
def test_gain_grows_with_N_and_points_and_falls_with_the_ridge(m, N, lam):
    here = information_gain(Delta(), N, lam=lam, candidates=m).lower
    assert information_gain(Delta(), N + 1, lam=lam, candidates=m).lower > here
    assert information_gain(Delta(), N, lam=lam, candidates=m + 1).lower >= here
    assert information_gain(Delta(), N, lam=2 * lam, candidates=m).lower <= here
    # Diminishing returns, which make γ_N/N fall.
    after = information_gain(Delta(), N + 2, lam=lam, candidates=m).lower
    middle = information_gain(Delta(), N + 1, lam=lam, candidates=m).lower
    assert after - middle <= middle - here + 1e-9


def test_nothing_seen_is_nothing_gained():
    assert information_gain(RBF(1.0), 0, lam=1.0, candidates=line(3)) == InformationGain(0.0, 0.0, "exact")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"candidates": 5},
        {"candidates": np.empty((0, 1))},
        {"states": line(2)},
        {"candidates": line(2), "states": line(2), "actions": line(2)},
        {"candidates": line(2), "dimension": 0},
    ],
)
def test_what_gamma_cannot_be_computed_from(options):
    with pytest.raises(InputError):
        information_gain(RBF(1.0), 10, lam=1.0, **options)


@pytest.mark.parametrize(("N", "lam"), [(-1, 1.0), (1.5, 1.0), (True, 1.0), (3, 0.0), (3, math.nan)])
def test_bad_sizes_and_ridges(N, lam):
    with pytest.raises(InputError):
        information_gain(Delta(), N, lam=lam, candidates=3)


# --- regret ------------------------------------------------------------------------------------------------

# T = 50, H = 2: N = 100; γ = 3, λ = 2, B_V = 5, B_P = 4, δ = 0.1, B_φ = 1
BASE = {"episodes": 50, "horizon": 2, "gamma": 3.0, "lam": 2.0, "B_V": 5.0, "B_P": 4.0, "delta": 0.1}
ROOT = math.sqrt(2 * (1 + 1 * 2 / 2) * 100 * 3)  # √1200


def test_theorem_2_by_hand():
    alpha = math.sqrt(2 * 2 * 16 + 256 * 1.5 * 3 * math.log(4 * 100**2 / 0.1))
    expected = 2 * 5 * alpha * ROOT + 2 * 2 * math.sqrt(2 * 100 * math.log(20))
    assert regret_bound(**BASE) == pytest.approx(expected, rel=1e-14)


def test_theorem_3_by_hand():
    alpha = math.sqrt(64 + 1152 * math.log(4e5))
    expected = 2 * (5 + 0.3 * 0.7) * alpha * ROOT + 4 * 0.3 * 100 + 4 * math.sqrt(200 * math.log(20))
    assert regret_bound(**BASE, zeta=0.3, one_norm=0.7) == pytest.approx(expected, rel=1e-14)


def test_tight_form_by_hand():
    beta = math.sqrt(2 * 16 + 1.5**2 * (2 * 3 + 0.5 * math.log(20)))
    expected = 2 * 5 * beta * ROOT + 2 * math.sqrt(200 * math.log(20))
    assert regret_bound(**BASE, form="tight", D=1.5) == pytest.approx(expected, rel=1e-14)
    misspecified = expected + 2 * 0.3 * 0.7 * beta * ROOT + 4 * 0.3 * 100
    assert regret_bound(**BASE, form="tight", D=1.5, zeta=0.3, one_norm=0.7) == pytest.approx(misspecified)
    # Without ‖1‖_ψ: ‖α‖₁ ≤ √n λ^{-1/2}σ.
    any_sign = expected + 2 * 0.3 * 10 * ROOT + 2 * 0.3 * 100
    assert regret_bound(**BASE, form="tight", D=1.5, zeta=0.3) == pytest.approx(any_sign)


def test_sum_of_r_never_exceeds_the_number_of_steps():
    # γ above N/2 is useless to the tight radius: every r_i is below 1.
    few = {**BASE, "gamma": 1000.0, "form": "tight"}
    beta = math.sqrt(32 + 2 * (100 + 0.5 * math.log(20)))
    martingale = 2 * math.sqrt(200 * math.log(20))
    assert regret_bound(**few) == pytest.approx(10 * beta * math.sqrt(4 * 100 * 1000) + martingale)


def test_gamma_may_be_a_number_an_interval_or_a_function():
    assert regret_bound(**{**BASE, "gamma": InformationGain(1.0, 3.0, "interval")}) == regret_bound(**BASE)
    assert regret_bound(**{**BASE, "gamma": lambda N: 0.03 * N}) == pytest.approx(regret_bound(**BASE), rel=1e-14)
    assert regret_bound(**{**BASE, "gamma": lambda N: InformationGain(0.0, 0.03 * N, "upper bound")}) > 0
    with pytest.raises(InputError, match="finite"):
        regret_bound(**{**BASE, "gamma": InformationGain(1.0, math.inf, "lower bound")})


@given(
    name=st.sampled_from(["episodes", "horizon", "gamma", "B_V", "B_P", "B_phi", "zeta", "one_norm", "D"]),
    form=st.sampled_from(["paper", "tight"]),
    factor=st.integers(2, 5),
)
def test_the_bound_grows_with_everything_that_makes_life_harder(name, form, factor):
    base = {**BASE, "B_phi": 1.0, "zeta": 0.1, "one_norm": 1.0, "D": 1.4, "form": form}
    harder = {**base, name: base[name] * factor}
    if name == "D" and form == "paper":
        assert regret_bound(**harder) == regret_bound(**base)
    else:
        assert regret_bound(**harder) > regret_bound(**base)
    assert regret_bound(**{**base, "delta": 0.01}) > regret_bound(**base)


def test_tight_is_below_paper():
    for episodes in (1, 100, 10**6):
        case = {**BASE, "episodes": episodes}
        assert regret_bound(**case, form="tight") < regret_bound(**case) / 5


@pytest.mark.parametrize(
    "change",
    [
        {"episodes": 0},
        {"horizon": 1.5},
        {"lam": -1.0},
        {"B_V": 0.0},
        {"B_P": math.inf},
        {"delta": 1.0},
        {"gamma": -1.0},
        {"gamma": math.nan},
        {"zeta": -0.1},
        {"zeta": 0.1},  # Thm 3 without ‖1‖_ψ
        {"form": "loose"},
    ],
)
def test_bad_constants(change):
    with pytest.raises(InputError):
        regret_bound(**{**BASE, **change})


# --- PAC ---------------------------------------------------------------------------------------------------


def riverswim():
    """RiverSwim with 6 states and delta kernels: every constant is known."""
    return {
        "horizon": 20,
        "gamma": lambda N: information_gain(Delta(), N, lam=1.0, candidates=12),
        "lam": 1.0,
        "B_V": 20 * math.sqrt(6),
        "B_P": math.sqrt(12),
        "delta": 0.1,
    }


@pytest.mark.parametrize("form", ["paper", "tight"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 19.9])
def test_pac_count_is_enough_and_one_less_is_not(form, epsilon):
    case = {**riverswim(), "form": form}
    T = pac_episodes(epsilon=epsilon, failure=0.2, **case)
    assert not math.isinf(T)
    assert regret_bound(episodes=T, **case) / (0.2 * T) <= epsilon
    if T > 1:
        assert regret_bound(episodes=T - 1, **case) / (0.2 * (T - 1)) > epsilon


def test_pac_count_is_the_smallest():
    case = {"horizon": 3, "gamma": 1.0, "lam": 1.0, "B_V": 0.5, "B_P": 0.5, "delta": 0.5, "form": "tight"}
    T = pac_episodes(epsilon=2.5, failure=0.9, **case)
    assert 10 < T < 5000
    assert next(t for t in range(1, 5000) if regret_bound(episodes=t, **case) <= 0.9 * t * 2.5) == T


def test_pac_needs_more_episodes_for_less_error_and_more_certainty():
    counts = [pac_episodes(epsilon=e, failure=p, **riverswim()) for e, p in ((2, 0.2), (1, 0.2), (1, 0.1))]
    assert counts[0] < counts[1] < counts[2]
    # The bound falls like 1/√T, up to logarithms: half the error takes at least four times the episodes.
    assert counts[1] > 4 * counts[0]


def test_misspecification_puts_a_floor_under_the_error():
    case = {**riverswim(), "zeta": 0.01, "one_norm": 1.0}
    floor = 4 * 0.01 * 20 / 0.2
    assert pac_episodes(epsilon=floor, failure=0.2, **case) == math.inf
    assert pac_episodes(epsilon=0.5 * floor, failure=0.2, **case) == math.inf
    assert pac_episodes(epsilon=1.1 * floor, failure=0.2, **case) < math.inf
    # Without non-negative weights the floor is higher, and rises with γ_N.
    del case["one_norm"]
    assert pac_episodes(epsilon=1.1 * floor, failure=0.2, form="tight", **case) == math.inf


def test_a_gain_that_grows_too_fast_has_no_pac_count():
    case = {**riverswim(), "gamma": lambda N: 0.35 * N}
    assert pac_episodes(epsilon=1.0, failure=0.2, **case) == math.inf
    assert informative_from(**case) == math.inf


def test_the_papers_count_by_hand():
    assert paper_pac_episodes(epsilon=0.5, horizon=10, d_eff=3.0) == 3600
    assert paper_pac_episodes(epsilon=0.3, horizon=1, d_eff=1.0) == 12


@pytest.mark.parametrize("form", ["paper", "tight"])
def test_the_bound_is_informative_from_its_first_useful_episode_on(form):
    case = {**riverswim(), "form": form}
    T = informative_from(**case)
    assert regret_bound(episodes=T, **case) < 20 * T
    assert regret_bound(episodes=T - 1, **case) >= 20 * (T - 1)
    assert informative_from(**case, zeta=0.5, one_norm=1.0) == math.inf


@pytest.mark.parametrize("change", [{"epsilon": 0.0}, {"failure": 0.0}, {"failure": 1.0}])
def test_bad_pac_requests(change):
    with pytest.raises(InputError):
        pac_episodes(**{"epsilon": 1.0, "failure": 0.1, **riverswim(), **change})
    with pytest.raises(InputError):
        paper_pac_episodes(epsilon=-1.0, horizon=2, d_eff=1.0)


# --- radii -------------------------------------------------------------------------------------------------


def test_the_largest_radii_are_those_of_the_modes_at_the_largest_gain():
    H, lam, delta, gamma, B_P, D = 4, 0.5, 0.2, 3.0, 1.7, math.sqrt(2)
    found = radii(episodes=3, horizon=H, gamma=gamma, lam=lam, B_V=2.0, B_P=B_P, delta=delta)
    noise = D**2 * min(2 * gamma, 2 * H) + D**2 / 2 * math.log(2 / delta)
    assert found["paper"] ** 2 == pytest.approx(
        2 * lam * B_P**2 + 256 * (1 + 1 / lam) * gamma * math.log(2 * 9 * H / (delta / 2))
    )
    assert found["tight"] ** 2 == pytest.approx(lam * B_P**2 + noise)
    sharp = D**2 * (min(gamma, 0.75 * min(2 * gamma, 2 * H)) + math.log(2 / delta))
    assert found["split"] ** 2 == pytest.approx(sharp)
    assert found["nonnegative"] == pytest.approx(0.5 * math.sqrt(2 * (gamma + math.log(2 * H / delta))))
    before = radii(episodes=1, horizon=H, gamma=gamma, lam=lam, B_V=2.0, B_P=B_P, delta=delta)
    assert before["split"] ** 2 == pytest.approx(D**2 * math.log(2 / delta))  # no data yet, no noise summed


def test_the_least_error_is_where_the_number_of_episodes_becomes_finite():
    case = {**riverswim(), "zeta": 0.004, "form": "tight"}  # no norm of 1: the bound per episode falls, then grows
    setting = Setting(**case)
    least = setting.least_epsilon(0.5)
    assert 2 * 0.004 * 20 / 0.5 < 0.9 * least < 20
    assert setting.pac_episodes(1.0001 * least, 0.5) < math.inf
    assert setting.pac_episodes(0.9999 * least, 0.5) == math.inf
    assert Setting(**{**case, "zeta": 0.4}).least_epsilon(0.1) == 20.0  # no policy loses more than H
    assert Setting(**{**case, "zeta": 0.4}).pac_episodes(20.0, 0.1) == 1


@pytest.mark.parametrize("B_phi", [0.5, 3.0])
def test_both_ways_to_ask_for_the_papers_radius_know_how_large_the_kernel_is(B_phi):
    """radius(N) has log(4N²/δ) where β_t has log(4t²H/δ): alike in all but the logarithm."""
    setting = Setting(**{**riverswim(), "B_phi": B_phi, "gamma": 3.0})
    N, T = 200, 11
    bias = 2 * setting.lam * setting.B_P**2
    growth = [(setting.radius(N) ** 2 - bias) / math.log(4 * N**2 / setting.delta)]
    growth.append((setting.radii(T)["paper"] ** 2 - bias) / math.log(4 * T**2 * 20 / setting.delta))
    assert growth[0] == pytest.approx(256 * (1 + B_phi**2 / setting.lam) * 3.0)
    assert growth[1] == pytest.approx(growth[0])
