"""How well next states and values were predicted, compared with worlds whose noise is known."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.agents.cme_rl.calibration import about_next_states, about_values, motion_error, prediction_error
from cmerl.embedding import DisplacementEmbedding, ExactEmbedding
from cmerl.kernels import RBF, Delta, StateAction
from cmerl.transitions import Transitions

ACTIONS = np.array([[0.0], [1.0]])
NUMBERS, CATEGORY = np.array([False]), np.array([True])


def learned(data, kernel, lam=1e-6):
    embedding = ExactEmbedding(StateAction(kernel, Delta(), 1), lam, ACTIONS)
    embedding.update(data)
    return embedding


def walk(n, noise, seed):
    """Steps of ±0.1 on a line, the action's way."""
    rng = np.random.default_rng(seed)
    s, a = rng.uniform(0, 1, (n, 1)), rng.integers(0, 2, (n, 1)).astype(float)
    return Transitions.of(np.hstack([s, a]), s + 0.2 * (a - 0.5) + noise * rng.standard_normal((n, 1)))


def test_the_part_that_is_not_foreseen_is_that_of_the_noise():
    embedding = learned(walk(1500, 0.05, 0), RBF(0.5), lam=0.1)
    errors = [motion_error(embedding, walk(300, 0.05, seed), NUMBERS) for seed in range(1, 31)]
    assert np.mean(errors) == pytest.approx(0.05**2 / (0.1**2 + 0.05**2), rel=0.2)  # the steps' own variance is 0.1²


def test_a_smooth_motion_without_noise_is_foreseen():
    assert motion_error(learned(walk(300, 0.0, 0), RBF(0.5)), walk(50, 0.0, 1), NUMBERS) < 1e-3


def test_what_is_far_from_all_data_is_expected_to_stay():
    far = walk(50, 0.0, 1)
    far = Transitions.of(np.asarray(far.Z) + np.array([100.0, 0.0]), np.asarray(far.next_states) + 100.0)
    assert motion_error(learned(walk(300, 0.0, 0), RBF(0.5)), far, NUMBERS) == pytest.approx(1.0, abs=0.1)


def test_categories_are_foreseen_if_they_are_equal_however_their_numbers_differ():
    ring = np.array([0.0, 7.0, 3.0])  # each is followed by the next
    Z = np.hstack([ring[:, None], np.zeros((3, 1))])
    data = Transitions.of(Z, np.roll(ring, -1)[:, None])
    assert motion_error(learned(data, Delta()), data, CATEGORY) < 1e-6
    wrong = Transitions.of(Z, ring[:, None][[2, 0, 1]])
    assert motion_error(learned(wrong, Delta()), data, CATEGORY) == pytest.approx(1.0, abs=1e-4)


def test_by_hand_for_a_coin():
    # Seen twice each, with λ → 0: half a weight on each side. Both sides miss by (½, ½), squares sum to ½. The
    # features of the motion from side 0 are (0, 0) or (−1, 1), their variances ¼ each: ½ in all.
    Z, sides = np.zeros((4, 2)), np.array([[0.0], [1.0], [0.0], [1.0]])
    data = Transitions.of(Z, sides)
    assert motion_error(learned(data, Delta(), lam=1e-9), data, CATEGORY) == pytest.approx(1.0, abs=1e-6)


def told(support, W):
    """An embedding that has been told its weights, and writes down what it is asked."""
    asked = []
    return SimpleNamespace(support=np.asarray(support), weights=lambda Z: asked.append(Z) or np.asarray(W)), asked


def test_columns_of_numbers_count_alike_whatever_their_units():
    before = np.zeros((4, 2))
    after = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1000.0], [0.0, -1000.0]])
    # The first column is foreseen, the second is expected to have its mean: half of what moves.
    embedding, _ = told(after * [1.0, 0.0], np.eye(4))
    data = Transitions.of(np.hstack([before, np.zeros((4, 1))]), after)
    assert motion_error(embedding, data, np.array([False, False])) == pytest.approx(0.5)


def test_by_hand_for_a_number_that_is_foreseen_beside_a_coin_that_is_not():
    # The number's motion counts 1 and misses nothing, the coin's counts ½ (see above) and misses ½: ½ of 1½.
    steps = np.array([3.0, -2.0, 5.0, 1.0])
    after = np.column_stack([steps, [0.0, 1.0, 0.0, 1.0]])
    support = np.column_stack([np.repeat(steps, 2), np.tile([0.0, 1.0], 4)])
    embedding, _ = told(support, np.kron(np.eye(4), [0.5, 0.5]))
    data = Transitions.of(np.zeros((4, 3)), after)
    assert motion_error(embedding, data, np.array([False, True])) == pytest.approx(1 / 3)


def test_categories_that_nothing_came_from_count_as_well():
    sides = np.array([[1.0], [2.0], [1.0], [2.0]])
    embedding, _ = told([[1.0], [2.0]], np.full((4, 2), 0.5))
    assert motion_error(embedding, Transitions.of(np.zeros((4, 2)), sides), CATEGORY) == pytest.approx(1.0)


def test_at_most_32_transitions_are_asked_for_from_the_first_to_the_last_and_no_ends():
    data = walk(200, 0.05, 0)
    ended = np.arange(200) % 3 == 1
    data = Transitions.of(data.Z, data.next_states, terminated=ended)
    embedding, asked = told(np.zeros((1, 1)), np.zeros((32, 1)))
    assert motion_error(embedding, data, NUMBERS) is not None
    (Z,) = asked
    rows = [int(np.flatnonzero((np.asarray(data.Z) == z).all(axis=1))[0]) for z in Z]
    assert len(set(rows)) == 32
    assert (rows[0], rows[-1]) == (0, 198)  # row 199 is an end
    assert not ended[rows].any()
    assert max(np.diff(rows)) <= 9  # of 134 that went on, every fourth or fifth


def test_nothing_is_said_where_nothing_moves_or_nothing_is_known():
    data = walk(10, 0.0, 0)
    still = Transitions.of(data.Z, np.asarray(data.Z)[:, :1])
    assert motion_error(learned(data, RBF(0.5)), still, NUMBERS) is None
    assert motion_error(learned(data, RBF(0.5)), data[:1], NUMBERS) is None
    only_ends = Transitions.of(data.Z, data.next_states, terminated=np.ones(10, dtype=bool))
    assert motion_error(learned(only_ends, RBF(0.5)), data, NUMBERS) is None
    assert about_next_states([]) == "not known yet"


def test_errors_in_words():
    assert about_next_states([0.9, *[0.1] * 8, 0.5, 0.3]).startswith(
        "10.0% (median) of the motion in the last 10 episodes"
    )
    assert about_next_states([0.9, *[0.1] * 8, 0.5, 0.3]).endswith("at worst 50.0%")
    assert about_next_states([0.2, 931.7]).endswith("at worst more than 100%")


def test_values_in_words():
    assert about_values(9.0, 11.0, [0.0] * 5 + [10.0] * 10).endswith("the last 10 returned 10 ± 0, which agrees")
    assert about_values(9.0, 11.0, [8.0] * 3).endswith("the last 3 returned 8 ± 0, less than both")
    assert about_values(11.0, 9.0, [12.0]).endswith("more than both")
    assert about_values(9.0, 11.0, [0.0, 16.0]).endswith("the last 2 returned 8 ± 5.7, which agrees")
    assert about_values(1.0, 2.0, [0.0, 8.0]).endswith("which agrees")  # 4 ± 2.8
    assert about_values(11.0, 9.0, [10.0] * 3).endswith("which agrees")  # between the two


def test_an_agent_says_how_well_it_predicts():
    agent = cmerl.CMERL(gymnasium.make("cmerl/GridWorld-v0"), seed=0)
    assert "prediction of values" not in agent.diagnostics()
    agent.learn(40)
    errors = [r.metrics["model_error"] for r in agent.history if "model_error" in r.metrics][-10:]
    assert 0.0 < np.median(errors) < 0.6  # moves slip with probability 0.1
    found = agent.diagnostics()
    assert f"{np.median(errors):.1%} (median)" in found["prediction of next states"]
    assert "the last 10 returned" in found["prediction of values"]


def test_a_column_that_moves_for_the_first_time_counts_as_one_that_was_not_foreseen():
    rng = np.random.default_rng(0)
    s, a = np.column_stack([rng.uniform(0, 1, 200), np.zeros(200)]), rng.integers(0, 2, (200, 1)).astype(float)
    push = np.column_stack([0.2 * (a[:, 0] - 0.5), np.zeros(200)])
    displacement = DisplacementEmbedding(ACTIONS, categorical=True)
    displacement.update(Transitions.of(np.hstack([s, a]), s + push))
    jump = np.array([0.0, 3.0])
    error = prediction_error(displacement, Transitions.of(np.hstack([s, a])[:20], (s + push + jump)[:20]))
    assert error == pytest.approx(0.5, abs=0.01)  # of two columns one was foreseen, and nothing of the other


def test_asking_changes_nothing():
    env = gymnasium.make("cmerl/PBall2D-v0")
    asked, left_alone = cmerl.CMERL(env, seed=1).learn(4), cmerl.CMERL(env, seed=1).learn(8)
    asked.diagnostics()
    asked.learn(4)
    assert [r.ret for r in asked.history] == [r.ret for r in left_alone.history]
