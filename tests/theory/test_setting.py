"""Theory calculators: closed forms against brute force, bounds against arithmetic by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from theory_constants import riverswim

from cmerl.errors import InputError
from cmerl.theory import (
    InformationGain,
    Setting,
    informative_from,
    pac_episodes,
    paper_pac_episodes,
    radii,
    regret_bound,
)

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
