"""Errors are of one family, and their words survive what cannot say its name."""

import numpy as np

from cmerl.errors import CmerlError, InputError, KernelError, MissingConstantError, RewardRangeError, shown


def test_all_errors_are_of_one_family_and_value_errors():
    for error in (InputError, KernelError, RewardRangeError, MissingConstantError):
        assert issubclass(error, CmerlError)
        assert issubclass(error, ValueError)


def test_values_are_shown_in_one_short_line_whatever_they_are():
    class Mute:
        def __repr__(self):
            raise RuntimeError("no words")

    assert shown(np.eye(2)) == "array([[1., 0.], [0., 1.]])"
    assert shown("a\nb") == "'a\\nb'"
    assert shown(Mute()) == "a Mute"
    long = shown(list(range(1000)))
    assert (len(long), long[-1]) == (80, "…")
    assert len(shown("x" * 100, most=20)) == 20
