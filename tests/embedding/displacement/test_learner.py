"""What a displacement model learns, and when scales and kernels are chosen."""

from __future__ import annotations

import numpy as np
import pytest
from swings import path

from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement import learner
from cmerl.embedding.displacement.learner import Learner
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.errors import InputError
from cmerl.transitions import Transitions

ACTIONS = np.arange(2.0)[:, None]


def fresh() -> Learner:
    return Learner(ACTIONS, categorical=True, lam=0.1, settings=DisplacementSettings(), reward=None)


def test_more_data_than_are_kept_may_come_at_once() -> None:
    rng = np.random.default_rng(0)
    Z = np.hstack([rng.uniform(-1, 1, (150, 1)), rng.integers(0, 2, (150, 1))])
    found = DisplacementEmbedding(ACTIONS, categorical=True, settings=DisplacementSettings(keep=100))
    found.update(Transitions.of(Z, Z[:, :1] + 0.1 * Z[:, 1:]))
    assert (found.n, len(found.data)) == (150, 50)
    data = Transitions.of(Z[:5], Z[:5, :1] + 0.1 * Z[:5, 1:])
    assert np.abs(found.residuals(data)).max() < 0.02


def test_the_first_rewards_of_a_place_are_learned_when_the_episode_ends() -> None:
    """A spot pays 1. A model without it would search for nothing until the data have doubled."""

    def batch(seed: int, n: int, at: float) -> Transitions:
        rng = np.random.default_rng(seed)
        x, a = at + rng.uniform(-0.5, 0.5, (n, 2)), rng.integers(2, size=(n, 1))
        return Transitions.of(np.hstack([x, a]), x + 0.05, (np.abs(x - 2.0).max(axis=1) < 0.3).astype(float))

    found = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True)
    found.update(batch(0, 300, 0.0))
    found.end_episode()
    assert found.shape.reward.fit is None  # all are alike
    found.update(batch(1, 60, 2.0))
    assert found.places_pay
    assert found.shape.reward.fit is None  # inside the episode there may be more to come
    found.end_episode()
    assert found.fits == 1
    there, elsewhere = found.step(np.array([[2.0, 2.0], [0.0, 0.0]]), np.array([0, 0]))[1]
    assert elsewhere < 0.01
    assert there > 0.25
    kernel = found.shape.reward
    found.end_episode()
    assert found.shape.reward is kernel

    patient = DisplacementEmbedding(
        np.arange(2.0)[:, None], categorical=True, settings=DisplacementSettings(reward_surprise=np.inf)
    )
    patient.update(batch(0, 300, 0.0))
    patient.update(batch(1, 60, 2.0))
    patient.end_episode()
    assert patient.shape.reward.fit is None
    patient.update(batch(2, 240, 2.0))  # the data have doubled
    assert patient.shape.reward.fit is not None


def test_rewards_that_are_misjudged_call_for_a_new_kernel_and_others_do_not() -> None:
    def batch(seed: int, n: int, lo: float, hi: float) -> Transitions:
        """A ramp that begins at 0.5."""
        rng = np.random.default_rng(seed)
        x, a = rng.uniform(lo, hi, (n, 2)), rng.integers(2, size=(n, 1))
        return Transitions.of(np.hstack([x, a]), x + 0.05, np.maximum(10.0 * (x[:, 0] - 0.5), 0.0))

    found = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True)
    found.update(batch(0, 300, 0.0, 0.52))
    foot = found.shape.reward
    assert foot.fit is not None
    found.update(batch(1, 30, 0.4, 1.0))
    ramp = found.shape.reward
    assert ramp is not foot
    found.update(batch(2, 30, 0.0, 1.0))
    assert found.shape.reward is ramp
    assert found.fits == 1  # all else stays
    given = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True, reward=lambda x, a, y: x[:, 0])
    given.update(batch(0, 300, 0.0, 0.5))
    given.update(batch(1, 30, 0.4, 1.0))
    assert given.shape.reward.fit is None


def test_what_is_known_stays_known_until_kernels_are_chosen_and_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    places = path(0, 0.1)  # pays the first coordinate
    effort = Transitions.of(places.Z, places.next_states, -0.1 * np.asarray(places.Z)[:, 2])
    found = DisplacementEmbedding(ACTIONS, categorical=True)
    found.update(effort)
    assert not found.places_pay
    found.update(places)
    assert found.places_pay
    monkeypatch.setattr(learner, "depends_on_state", lambda *_: False)
    found.update(effort)
    assert found.places_pay
    again = DisplacementEmbedding(ACTIONS, categorical=True)
    again.restore(found.arrays())
    assert again.places_pay
    found.update(effort)  # the data have doubled
    assert not found.places_pay


def test_it_knows_nothing_before_data() -> None:
    for ask in ("data", "units", "dynamics"):
        with pytest.raises(InputError, match="before its first"):
            getattr(fresh(), ask)


def test_what_is_saved_is_restored_and_goes_on_alike() -> None:
    found, again = fresh(), fresh()
    found.absorb(path(0, 0.1))
    found.absorb(path(1, 0.1))
    again.restore(found.arrays())
    for one in (found, again):
        one.absorb(path(2, 0.1))
        one.fit_rewards()
    saved, other = found.arrays(), again.arrays()
    assert saved.keys() == other.keys()
    for name, array in saved.items():
        np.testing.assert_array_equal(array, other[name])


def test_files_of_earlier_versions_do_not_say_whether_places_pay() -> None:
    found, again = fresh(), fresh()
    found.absorb(path(0, 0.1))
    saved = found.arrays()
    again.restore({**saved, "counts": saved["counts"][:3]})
    assert again.places_pay
    assert (again.n, again.fits) == (found.n, found.fits)
