"""The provable modes: each formula by hand on counted data, and the constants that it may not do without."""

import math

import pytest
from counted import DELTA, GAIN, LAM, SHARE, SUM_R, WIDTH, A, H, S, problem, terms

from cmerl.confidence import (
    BonusTerms,
    FailureBudget,
    NonNegative,
    Paper,
    Split,
    Tight,
    ValueNorms,
)
from cmerl.errors import MissingConstantError
from cmerl.kernels import RBF, Delta, StateAction


@pytest.mark.parametrize("step", range(H))
def test_paper_bonus(data, step):
    beta = math.sqrt(2 * LAM * S * A + 256 * (1 + 1 / LAM) * GAIN * math.log(2 * 4**2 * H / SHARE))
    expected = H * WIDTH * math.sqrt(S) * beta / math.sqrt(LAM)  # one B_V for all steps, the last one included
    assert terms(Paper(), data, step) == pytest.approx(BonusTerms(expected, 0.0))


@pytest.mark.parametrize("step", range(H))
def test_tight_bonus(data, step):
    beta = math.sqrt(LAM * S * A + 2 * SUM_R + math.log(1 / SHARE))  # D² = 2
    expected = (H - 1 - step) * WIDTH * math.sqrt(S) * beta / math.sqrt(LAM)
    assert terms(Tight(), data, step) == pytest.approx(BonusTerms(expected, 0.0))


@pytest.mark.parametrize("step", range(H))
def test_split_bonus(data, step):
    norms = ValueNorms(3.7, 1.2)
    height = (H - 1 - step) * WIDTH
    noise = 1.2 * math.sqrt(2 * min(GAIN, 0.75 * SUM_R) + 2 * math.log(1 / SHARE)) / math.sqrt(LAM)
    assert terms(Split(), data, step, norms=norms) == pytest.approx(BonusTerms(noise, height))
    # With the user's own B_P the bias is B_P‖V‖.
    own = terms(Split(), data, step, norms=norms, B_P=1.1)
    assert own == pytest.approx(BonusTerms(noise, shrinkage=1.1 * 3.7))
    # The constants of the first version.
    old = Split(sharp=False)
    noise = 1.2 * math.sqrt(2 * SUM_R + math.log(1 / SHARE)) / math.sqrt(LAM)
    assert terms(old, data, step, norms=norms) == pytest.approx(BonusTerms(height * math.sqrt(S * A) + noise, 0.0))
    assert terms(old, data, step, norms=norms, B_P=1.1) == pytest.approx(BonusTerms(1.1 * 3.7 + noise, 0.0))


@pytest.mark.parametrize("step", range(H))
def test_nonnegative_bonus(data, step):
    value = (H - 1 - step) * WIDTH
    linear = value / 2 * math.sqrt(2 * (GAIN + math.log(H / SHARE))) / math.sqrt(LAM)
    assert terms(NonNegative(), data, step) == pytest.approx(BonusTerms(linear, value))


def test_nonnegative_pays_for_the_union_over_steps_once(data):
    """With one embedding a step the share of each is already δ/H: no H in the logarithm besides."""
    assert terms(NonNegative(), data, 1, embeddings=H) == pytest.approx(terms(NonNegative(), data, 1))


@pytest.mark.parametrize("mode", [Paper(), Tight(), Split()])
def test_a_share_of_delta_for_each_embedding(data, mode):
    """H embeddings spend δ/2 together: each may spend what one with δ/(2H) would."""
    norms = ValueNorms(1.0, 1.0)
    smaller = FailureBudget(DELTA / H, learned_reward=False)
    assert terms(mode, data, 1, norms=norms, embeddings=H) == terms(mode, data, 1, norms=norms, budget=smaller)
    assert terms(mode, data, 1, norms=norms, embeddings=H).linear > terms(mode, data, 1, norms=norms).linear


@pytest.mark.parametrize("mode", [Paper(), Tight()])
def test_the_users_constants_replace_the_automatic_ones(data, mode):
    given = terms(mode, data, 1, B_P=0.9, B_V=1.7).linear
    setting = problem(B_P=0.9)
    assert given == pytest.approx(1.7 * mode.radius(setting, data, 4) / math.sqrt(LAM))
    assert mode.radius(setting, data, 4) < mode.radius(problem(), data, 4)


@pytest.mark.parametrize(
    ("mode", "given", "missing"),
    [
        (Paper(), {}, "B_P"),
        (Paper(), {"B_P": 1.0}, "B_V"),
        (Tight(), {}, "B_P"),
        (Tight(), {"B_P": 1.0}, "B_V"),
        (Split(), {}, "B_P"),
    ],
)
def test_a_missing_constant_is_named(mode, given, missing):
    rbf = {"kernel": StateAction(RBF(0.1), Delta()), "value_kernel": RBF(0.1), "tabular": None}
    with pytest.raises(MissingConstantError, match=missing):
        mode.check(problem(**rbf, **given))
    mode.check(problem(**rbf, B_P=1.0, B_V=1.0))
    mode.check(problem())


def test_the_printed_radius_of_the_paper_is_for_kernels_bounded_by_one():
    for loud in ({"kernel": 4.0 * RBF(1.0)}, {"value_kernel": 4.0 * RBF(1.0)}):
        with pytest.raises(MissingConstantError, match="general"):
            Paper().check(problem(**loud))
        Paper(general=True).check(problem(**loud))


def test_nonnegative_needs_delta_kernels():
    with pytest.raises(MissingConstantError, match="delta kernels"):
        NonNegative().check(problem(tabular=None, B_P=1.0, B_V=1.0))
    NonNegative().check(problem())
