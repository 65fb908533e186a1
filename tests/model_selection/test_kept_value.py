"""A terminal value that is kept says the same of the same place, whatever the units of the model are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from walks import learned, walk

from cmerl.acting import MPC
from cmerl.acting.terminal_value import terminal_value
from cmerl.embedding import DisplacementEmbedding
from cmerl.model_selection.kept_value import KeptValue

HORIZON = 10


def model(stretch: float = 1.0, n: int = 150) -> DisplacementEmbedding:
    """A walk that costs more on one side; states beyond the first 150 lie on a grid that is ``stretch`` wide."""
    data = walk(0.0, n)
    Z = np.array(data.Z)
    Z[150:, :2] = stretch * (Z[150:, :2] + 3.0)
    nexts = Z[:, :2] + (np.asarray(data.next_states) - np.asarray(data.Z)[:, :2])
    return learned(replace(data, Z=Z, next_states=nexts, rewards=-Z[:, 0]))


def kept_by(owner: DisplacementEmbedding) -> KeptValue:
    settings = MPC()
    terminal_value(
        owner.dynamics, settings.channels(owner.view), HORIZON, settings.terminal, settings.search, settings.policy
    )
    found = KeptValue.of(owner, HORIZON)
    assert found is not None
    return found


def test_before_the_first_search_there_is_nothing_to_keep() -> None:
    assert KeptValue.of(model(), HORIZON) is None


def test_in_a_model_with_other_units_the_same_places_have_the_same_regressed_values() -> None:
    first, later = model(), model(stretch=5.0, n=300)
    kept = kept_by(first)
    assert not np.allclose(first.units.scale, later.units.scale, rtol=0.5)
    kept.put_into(later, HORIZON)
    moved = later.dynamics.terminal_values[HORIZON]
    places = np.random.default_rng(0).random((50, 2))
    before, after = (
        replace(value, pessimism=0.0)(owner.units.scaled(places).astype(np.float32))
        for value, owner in ((kept.value, first), (moved, later))
    )
    assert before.std() > 0.1
    np.testing.assert_allclose(after, before, atol=1e-3 * np.ptp(before))
    assert moved.novelty is later.dynamics.novelty_of  # what is known now, not then


def test_a_kept_value_goes_through_arrays_bit_for_bit() -> None:
    owner = model()
    kept = kept_by(owner)
    again = KeptValue.from_arrays(kept.arrays(), owner)
    places = np.random.default_rng(1).normal(size=(20, 2)).astype(np.float32)
    np.testing.assert_array_equal(again.value(places), kept.value(places))
    again.put_into(owner, HORIZON)
    np.testing.assert_array_equal(owner.dynamics.terminal_values[HORIZON](places), kept.value(places))
