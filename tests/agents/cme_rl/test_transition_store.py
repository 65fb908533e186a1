"""What an agent remembers: the automatic kernel, the hand-over to a compressed embedding, the log."""

from __future__ import annotations

import logging

import gymnasium
import numpy as np
import pytest

from cmerl.agents import CMERL
from cmerl.agents.cme_rl.default_kernels import automatic_kernel, shared_fraction
from cmerl.agents.cme_rl.recipe import Recipe
from cmerl.agents.cme_rl.settings import KernelSettings, Settings
from cmerl.agents.cme_rl.transition_store import TransitionStore
from cmerl.embedding import CompressedEmbedding, DisplacementEmbedding, ExactEmbedding
from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, Matern
from cmerl.model_selection import Selector, selector
from cmerl.spaces import StateSpace
from cmerl.transitions import Transitions

ACTIONS = np.arange(2.0)[:, None]
KERNELS = KernelSettings()
LINE = StateSpace.of(gymnasium.spaces.Box(0.0, 1.0, (1,), np.float64))


def recipe(**changes: object) -> Recipe:
    options = {
        "kernel": RBF(0.2),
        "value_kernel": Matern(1.5, 0.2),
        "lam": 0.1,
        "states": LINE,
        "actions": ACTIONS,
        "action_kernel": Delta(),
        "backend": "auto",
        "track_std": False,
        "provable": False,
        "seed": 0,
    }
    return Recipe(**{**options, **changes})


def walk(n: int, step: float, seed: int = 0) -> Transitions:
    rng = np.random.default_rng(seed)
    states = rng.random((n, 2))
    nexts = np.clip(states + step * rng.choice([-1.0, 1.0], (n, 2)), 0.0, 1.0)
    return Transitions.of(np.hstack([states, rng.integers(2, size=(n, 1))]), nexts, rng.random(n))


def feed(held: TransitionStore, data: Transitions, size: int = 20) -> TransitionStore:
    for start in range(0, len(data), size):
        batch = data[start : start + size]
        held.update(np.zeros(len(batch), dtype=np.intp), batch)
    return held


def test_the_automatic_kernel_is_one_at_equal_points_and_rho_between_actions() -> None:
    kernel = automatic_kernel(0.7, LINE, np.ones(1), Delta(), 1, KERNELS)
    Z = np.array([[0.3, 0.4, 0.0], [0.3, 0.4, 1.0], [0.4, 0.4, 0.0], [0.4, 0.4, 1.0]])
    near, nearer = np.exp(-0.5), np.exp(-0.5 * 4)  # one width apart, and two of the narrower
    expected = np.array([1.0, 0.7, 0.7 * near + 0.3 * nearer, 0.7 * near])
    np.testing.assert_allclose(kernel(Z[:1], Z)[0], expected, atol=1e-12)


@pytest.mark.parametrize(("step", "expected"), [(0.001, 0.9), (0.06, 0.7), (1.0, 0.5)])
def test_actions_share_more_the_less_a_step_moves(step: float, expected: float) -> None:
    assert shared_fraction(walk(200, step), RBF(KERNELS.width), 1, KERNELS.shared) == pytest.approx(expected)


def test_the_kernel_follows_the_data_at_doubling_times() -> None:
    held = feed(TransitionStore(recipe(kernel=None), 1), walk(40, 0.001))
    assert held.kernel == automatic_kernel(0.9, LINE, np.ones(1), Delta(), 1, KERNELS)
    assert held.embeddings[0].kernel == held.kernel
    assert held.embeddings[0].n == 40


def test_auto_hands_over_once_and_loses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    data = walk(120, 0.1)
    with caplog.at_level(logging.INFO, logger="cmerl"):
        held = feed(TransitionStore(recipe(settings=Settings(exact_limit=60)), 1), data)
    assert isinstance(held.embeddings[0], CompressedEmbedding)
    assert sum("hands over" in message for message in caplog.messages) == 1
    exact = ExactEmbedding(RBF(0.2), 0.1, ACTIONS)
    exact.update(data)
    compressed = held.embeddings[0]
    assert compressed.n == exact.n == 120

    def value(s: np.ndarray) -> np.ndarray:
        return np.sin(3 * s[:, 0])

    a = exact.expectation(exact.backup(value(exact.support)), data.Z)
    b = compressed.expectation(compressed.backup(value(compressed.support)), data.Z)
    np.testing.assert_allclose(a, b, atol=0.05)


def test_finite_worlds_and_provable_modes_stay_exact() -> None:
    few = Settings(exact_limit=15)
    finite = CMERL(gymnasium.make("cmerl/RiverSwim-v0"), settings=few).learn(10)
    assert finite.diagnostics()["backend"] == "exact"  # 12 state-actions, however many transitions
    smooth = {"env": gymnasium.make("cmerl/PBall2D-v0"), "horizon": 10, "reward_range": (0, 1), "settings": few}
    proven = CMERL(**smooth, bonus="tight", B_P=1.0, B_V=1.0, B_R=1.0).learn(3)
    assert proven.diagnostics()["backend"] == "exact"
    assert CMERL(**smooth, model="direct").learn(3).diagnostics()["backend"] == "compressed"


def test_an_agent_that_plans_with_a_displacement_shows_an_embedding_of_the_same_data() -> None:
    agent = CMERL(gymnasium.make("cmerl/PBall2D-v0"), horizon=10, seed=0, model="displacement").learn(2)
    assert agent.diagnostics()["backend"] == "displacement"
    (Z, _), k, lam = agent.learner.transitions(), agent.model.kernel, agent.model.recipe.lam
    at = Z[:5] + 0.03
    known = np.linalg.solve(k(Z, Z) + lam * np.eye(len(Z)), k(Z, at))
    expected = k.diag(at) - np.einsum("ij,ij->j", k(Z, at), known)
    assert agent.embedding.n == len(Z) == 20
    np.testing.assert_allclose(agent.embedding.std(at) ** 2, expected, rtol=1e-8)


def test_agents_whose_log_was_dropped_are_saved_and_go_on_bit_for_bit(tmp_path: object) -> None:
    env = gymnasium.make("cmerl/PBall2D-v0")
    agent = CMERL(env, horizon=10, backend="compressed", settings=Settings(keep=50)).learn(7)
    assert agent.model.batches is None
    assert agent.embedding.n == 70
    agent.save(f"{tmp_path}/agent")
    loaded = CMERL.load(f"{tmp_path}/agent", env=env)
    assert (loaded.kernel, loaded.embedding.n) == (agent.kernel, 70)
    assert loaded.diagnostics() == agent.diagnostics()
    returns = [[record.ret for record in a.learn(5).history] for a in (agent, loaded)]
    assert returns[0] == returns[1]
    S = np.random.default_rng(0).random((20, 2))
    np.testing.assert_array_equal(agent.planner.plan().q(S, 0), loaded.planner.plan().q(S, 0))
    loaded.save(f"{tmp_path}/again")
    assert CMERL.load(f"{tmp_path}/again", env=env).embedding.n == 120


def test_a_displacement_whose_log_was_dropped_is_saved_and_goes_on_bit_for_bit(tmp_path: object) -> None:
    env = gymnasium.make("Pendulum-v1", max_episode_steps=30)
    agent = CMERL(env, model="displacement", settings=Settings(keep=90)).learn(4)
    assert agent.model.batches is None
    fits = agent.model.displacement.fits
    agent.save(f"{tmp_path}/agent")
    loaded = CMERL.load(f"{tmp_path}/agent", env=env)
    assert loaded.diagnostics() == agent.diagnostics()
    returns = [[record.ret for record in a.learn(5).history] for a in (agent, loaded)]  # kernels are fitted again
    assert returns[0] == returns[1]
    assert agent.model.displacement.fits == loaded.model.displacement.fits == fits + 1


@pytest.mark.parametrize("backend", ["auto", "compressed", "nystrom"])
def test_saved_agents_on_continuous_states_go_on_bit_for_bit(backend: str, tmp_path: object) -> None:
    env = gymnasium.make("cmerl/PBall2D-v0")
    agent = CMERL(env, seed=2, horizon=10, backend=backend).learn(6)
    agent.save(f"{tmp_path}/agent")
    loaded = CMERL.load(f"{tmp_path}/agent", env=env)
    assert loaded.kernel == agent.kernel
    agent.learn(3)
    loaded.learn(3)
    assert [r.ret for r in loaded.history] == [r.ret for r in agent.history]
    np.testing.assert_array_equal(loaded.q_values(np.zeros(2)), agent.q_values(np.zeros(2)))


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(InputError, match="magic"):
        TransitionStore(recipe(backend="magic"), 1)


@pytest.mark.parametrize("provable", [False, True])
def test_only_modes_without_proof_interpolate_values_around_their_mean(provable: bool) -> None:
    """A constant V is exact around its mean; as an element of the space it is not, and its bound allows for that."""
    held = feed(TransitionStore(recipe(backend="compressed", provable=provable), 1), walk(60, 0.1)).embeddings[0]
    ones = np.ones(len(held.support))
    x = held.expectation(held.backup(ones, reward=0.0), walk(60, 0.1).Z)
    y = held.expectation(held.ones(), walk(60, 0.1).Z)
    assert (float(np.abs(x - y).max()) < 1e-12) is not provable
    # Nor do proofs read means in single precision.
    coef = held.backup(np.sin(np.arange(len(ones))), reward=0.0)
    means = held.expectation(coef, held.layout.state_actions(held.support))
    assert (float(np.abs(held.grid().expectation(coef).ravel() - means).max()) < 1e-10) is provable


@pytest.mark.parametrize("lam", [0.1, 3.0])
def test_lam_reaches_a_displacement(lam: float) -> None:
    plane = StateSpace.of(gymnasium.spaces.Box(0.0, 1.0, (2,), np.float64))
    data = walk(60, 0.02)
    own = recipe(states=plane, model="displacement", lam=lam, kernel=None, value_kernel=None, horizon=5)
    held = feed(TransitionStore(own, 1), data)
    expected = DisplacementEmbedding(ACTIONS, categorical=True, lam=lam)
    expected.update(data)
    assert held.displacement is held.embeddings[0]
    assert held.displacement.lam == lam
    assert held.displacement.information_gain == pytest.approx(expected.information_gain, rel=0.05)  # other scales
    other = DisplacementEmbedding(ACTIONS, categorical=True, lam=3.1 - lam)
    other.update(data)
    assert abs(other.information_gain - expected.information_gain) > 0.5 * expected.information_gain


def test_a_displacement_goes_on_from_its_arrays_with_its_repeat_and_its_landmarks() -> None:
    model = DisplacementEmbedding(ACTIONS, categorical=True)
    model.update(walk(900, 0.02))
    held = model.with_repeat(3)
    assert len(held.support) == model.settings.landmarks
    again = DisplacementEmbedding(ACTIONS, categorical=True)
    again.restore(held.arrays())
    assert (again.repeat, again.n) == (3, 900)
    np.testing.assert_array_equal(again.support, held.support)


def test_the_choice_of_an_actor_is_checked_when_an_episode_ends_and_no_other_choice_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    agent = CMERL(gymnasium.make("Pendulum-v1", max_episode_steps=10), model="displacement")
    monkeypatch.setattr(Selector, "check", lambda self, kernel, starts, visited: asked.append(len(starts)))
    agent.learn(7)  # the data have doubled after episodes 1, 2 and 4
    assert asked == [3, 5, 6, 7]
    with agent.episode() as episode:  # it is broken off
        episode.act(agent.env.reset(seed=0)[0])
    assert asked == [3, 5, 6, 7]


def test_an_actor_is_checked_from_two_states_of_the_latest_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[np.ndarray] = []
    agent = CMERL(gymnasium.make("Pendulum-v1", max_episode_steps=10), model="displacement").learn(2)
    monkeypatch.setattr(Selector, "check", lambda self, kernel, starts, visited: asked.append(visited))
    agent.learn(1)
    log = agent.model.batches
    assert log is not None
    states = np.asarray(log[-1][1].Z)[:, :3]
    np.testing.assert_array_equal(asked, [states[[0, 5]]])


def test_plans_are_made_with_the_model_of_an_actor_that_was_chosen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = CMERL(gymnasium.make("Pendulum-v1", max_episode_steps=10), model="displacement")
    agent.learn(2)
    monkeypatch.setattr(selector, "checked", lambda choice, *_: (choice, False))
    before = agent.model.choice
    agent.learn(1)
    assert agent.model.choice is not before
    assert agent.model.embeddings == [agent.model.choice.displacement]


@pytest.mark.parametrize(
    ("options", "sought"),
    [({}, True), ({"reward_range": (0, 4)}, True), ({"max_return": 15.0}, False), ({"max_return": 100.0}, True)],
)
def test_the_selector_is_told_what_good_episodes_attain_where_there_may_be_more(
    options: dict[str, object], sought: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The share of the best reward seen that the best quarter of episodes earns a step."""
    told: list[float] = []
    monkeypatch.setattr(Selector, "choose", lambda self, *about, attained: told.append(attained))
    paid: list[float] = []

    class Paying(gymnasium.RewardWrapper):
        def reward(self, reward: float) -> float:
            paid.append(1.0 + reward % 3.0)
            return paid[-1]

    env = Paying(gymnasium.make("cmerl/TwoRooms-v0"))
    agent = CMERL(env, seed=0, horizon=10, **options).learn(2)
    returns = np.array(paid).reshape(2, 10).sum(axis=1)
    np.testing.assert_allclose([record.ret for record in agent.history], returns)
    share = np.quantile(returns, 0.75) / (10 * max(paid))
    assert told[-1] == (pytest.approx(share) if sought else 0.0)
