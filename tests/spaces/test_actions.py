"""Actions: finite sets, continuous boxes and their candidates, and what the kernel sees of them."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from cmerl import CMERL
from cmerl.agents import transition_store as memory
from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, StateAction
from cmerl.q_gradient import Hill
from cmerl.spaces.actions import ActionSet


def test_finite_action_spaces_are_enumerated():
    assert ActionSet.of(spaces.Discrete(3, start=-1)).values == (-1, 0, 1)
    pairs = ActionSet.of(spaces.MultiDiscrete([2, 3]))
    assert len(pairs) == 6
    np.testing.assert_array_equal(pairs.rows, [[i, j] for i in range(2) for j in range(3)])
    assert len(ActionSet.of(spaces.MultiBinary(3))) == 8
    shifted = spaces.MultiDiscrete([2, 2], start=[5, -1])
    assert all(shifted.contains(a) for a in ActionSet.of(shifted).values)


def test_given_candidates_are_checked():
    box = spaces.Box(-1.0, 1.0, (1,), np.float32)
    chosen = ActionSet.of(box, [[-1.0], [0.5]])
    assert all(box.contains(a) for a in chosen.values)
    np.testing.assert_allclose(chosen.rows, [[-1.0], [0.5]])
    with pytest.raises(InputError, match="not in the action space"):
        ActionSet.of(box, [[2.0]])
    with pytest.raises(InputError, match="at least one"):
        ActionSet.of(box, [])


@pytest.mark.parametrize(
    "space",
    [spaces.Box(-np.inf, np.inf, (1,)), spaces.MultiDiscrete([100, 100]), spaces.Discrete(10**6)],
    ids=str,
)
def test_a_space_without_bounds_or_with_too_many_actions_asks_for_candidates(space):
    with pytest.raises(InputError, match="actions="):
        ActionSet.of(space)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 6, 12])
def test_continuous_actions_get_candidates_inside_their_box(d, dtype):
    low, high = np.linspace(-3.0, -0.1, d, dtype=dtype), np.linspace(0.3, 7.7, d, dtype=dtype)
    box = spaces.Box(low, high, dtype=dtype)
    actions = ActionSet.of(box, rng=np.random.default_rng(0))
    assert 9 <= len(actions) <= 65
    assert all(box.contains(a) for a in actions.values)
    assert np.abs(actions.rows).max() == pytest.approx(1.0)
    np.testing.assert_allclose(actions.values[0], 0.0, atol=1e-6)  # doing nothing
    corners = np.all(np.isclose(np.abs(actions.rows), 1.0, atol=1e-6), axis=1)
    assert corners.sum() == (2**d if d < 4 else (len(actions) - 1) // 2)
    assert all(np.isclose(actions.rows, end, atol=1e-6).any(axis=0).all() for end in (-1.0, 1.0))


def test_candidates_are_a_function_of_the_seed():
    box = spaces.Box(-1.0, 1.0, (3,))
    a, b, c = (ActionSet.of(box, rng=np.random.default_rng(seed)).rows for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_doing_nothing_is_the_nearest_action_to_zero():
    actions = ActionSet.of(spaces.Box(np.array([0.5]), np.array([2.0]), dtype=np.float64))
    np.testing.assert_array_equal(actions.values[0], [0.5])


def test_a_dimension_without_width_is_a_constant():
    box = spaces.Box(np.array([-1.0, 2.0]), np.array([1.0, 2.0]), dtype=np.float64)
    actions = ActionSet.of(box)
    assert all(box.contains(a) for a in actions.values)
    assert set(actions.rows[:, 1]) == {0.0}


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(3, start=4),
        spaces.MultiDiscrete([2, 3]),
        spaces.Box(-2.0, 5.0, (2,), np.float32),
        spaces.Box(0.1, 0.7, (2, 2), np.float64),
        spaces.Box(0, 255, (2,), np.uint8),
    ],
    ids=str,
)
def test_rows_and_actions_are_inverse_and_survive_a_save(space):
    actions = ActionSet.of(space)
    again = ActionSet.from_spec(actions.spec(), actions.table)
    np.testing.assert_array_equal(again.rows, actions.rows)
    for value, row, other in zip(actions.values, actions.rows, again.values, strict=True):
        np.testing.assert_array_equal(actions.encode(value)[0], row)
        np.testing.assert_allclose(actions.decode(row), value, rtol=1e-14)
        np.testing.assert_array_equal(other, value)
        assert space.contains(actions.decode(row))
    assert again.spec() == actions.spec()


def test_given_candidates_are_a_finite_set_seen_as_it_is():
    actions = ActionSet.of(spaces.Box(-np.inf, np.inf, (1,)), [[-30.0], [0.0], [30.0]])
    np.testing.assert_array_equal(actions.rows, [[-30.0], [0.0], [30.0]])
    assert not actions.continuous


def test_continuous_actions_share_what_is_learned_and_discrete_ones_do_not():
    smooth = ActionSet.of(spaces.Box(-2.0, 2.0, (1,))).kernel
    assert smooth(np.array([[0.0]]), np.array([[0.25]]))[0, 0] > 0.5
    assert isinstance(ActionSet.of(spaces.Discrete(2)).kernel, Delta)


def test_an_agent_with_continuous_actions_learns_saves_and_goes_on(tmp_path):
    def env():
        return gymnasium.make("Pendulum-v1", max_episode_steps=15)

    agent = CMERL(env(), seed=0).learn(4)
    assert agent.env.action_space.contains(agent.predict(agent.env.reset(seed=0)[0]))
    half = CMERL(env(), seed=0).learn(2)
    half.save(tmp_path / "agent.safetensors")
    again = CMERL.load(tmp_path / "agent.safetensors", env=env()).learn(2)
    assert [r.ret for r in again.history] == [r.ret for r in agent.history]


class Target(gymnasium.Env):
    """Pays for an action near one that depends on where it stands; the state stays where it is."""

    observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)
    action_space = spaces.Box(-3.0, 3.0, (1,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.array([0.4]), {}

    def step(self, action):
        assert self.action_space.contains(action)
        return np.array([0.4]), float(np.exp(-((action[0] - 1.1) ** 2))), False, False, {}


@pytest.mark.parametrize("backend", ["exact", "compressed"])
def test_the_action_played_is_better_than_every_candidate_in_the_agents_own_eyes(backend):
    agent = CMERL(Target(), horizon=3, seed=0, backend=backend, reward_range=(0, 1)).learn(12)
    policy = agent.policy(explore=False)
    row = agent.actions.encode(policy(np.array([0.4]), 1))
    hill = Hill(policy.plan, agent.states.encode(np.array([0.4])), 1)
    q = hill(np.vstack([row, agent.actions.rows, np.linspace(-1, 1, 401)[:, None]]))
    candidates_q, near = q[1 : 1 + len(agent.actions)], np.abs(np.linspace(-1, 1, 401) - row[0, 0]) < 0.12
    assert q[0] >= candidates_q.max()
    assert q[0] >= q[1 + len(agent.actions) :][near].max() - 1e-3  # brute force around it finds no better
    assert not any(np.array_equal(row[0], candidate) for candidate in agent.actions.rows)


class Steering(gymnasium.Env):
    """Moves a point in the plane by a velocity, which costs; pays for being near a spot."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float64)
    action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

    def __init__(self, noise=0.0):
        self.noise = noise

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = np.array([-0.2, -0.2])
        return self.state.copy(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        moved = self.state + 0.3 * action + self.np_random.normal(0.0, self.noise, 2)
        self.state = np.clip(moved, -1.0, 1.0)
        reward = -np.square(self.state - [0.17, 0.06]).sum() - 0.05 * np.square(action).sum()
        return self.state.copy(), float(reward), False, False, {}


MODELS = {"direct": {"model": "direct", "kernel": RBF(0.6)}, "displacement": {"model": "displacement"}}


@pytest.mark.parametrize("model", MODELS)
def test_in_two_dimensions_the_action_played_is_as_good_as_brute_force_finds(model):
    agent = CMERL(Steering(), horizon=5, seed=0, **MODELS[model]).learn(12)
    policy, better = agent.policy(explore=False), 0
    axis = np.linspace(-1.0, 1.0, 41)
    everywhere = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for obs in np.array([[-0.2, -0.2], [0.0, 0.1], [0.1, -0.1]]):
        hill = Hill(policy.plan, agent.states.encode(obs), 1)
        row = agent.actions.encode(policy(obs, 1))
        q = hill(np.vstack([row, agent.actions.rows, everywhere]))
        ours, candidates_q, brute = q[0], q[1 : 1 + len(agent.actions)], q[1 + len(agent.actions) :]
        span, near = np.ptp(brute[np.isfinite(brute)]), np.linalg.norm(everywhere - row, axis=1) < 0.12
        best = candidates_q[policy.plan.act(hill.state, 1)[0]]
        assert ours >= best - 1e-6 * span
        assert ours >= brute[near].max() - 0.01 * span
        better += ours > best + 1e-4 * span
    assert better == 3


def test_a_displacement_keeps_to_the_candidates_of_one_dimension():
    agent = CMERL(Target(), horizon=10, seed=0, model="displacement").learn(4)
    policy, state = agent.policy(explore=False), agent.states.encode(np.array([0.4]))
    hill = Hill(policy.plan, state, 1)
    assert np.isfinite(hill(agent.actions.rows[policy.plan.act(state, 1)])).all()  # it could be climbed
    played = policy(np.array([0.4]), 1)
    assert any(np.array_equal(played, value) for value in agent.actions.values)


def test_candidates_of_a_displacement_follow_the_actions_played_and_plans_range_over_them():
    agent = CMERL(Steering(), horizon=8, seed=0, model="displacement")
    first = agent.actions.rows.copy()
    agent.learn(10)
    rows, fixed = agent.actions.rows, len(first) - len(first) // 4
    assert rows.shape == first.shape
    np.testing.assert_array_equal(rows[:fixed], first[:fixed])
    assert not np.array_equal(rows[fixed:], first[fixed:])
    played = np.vstack([batch.Z[:, 2:] for _, batch in agent._memory.batches])
    assert all((row == np.vstack([played, first])).all(axis=1).any() for row in rows)
    obs = np.array([-0.1, 0.2])
    moved = agent.policy().plan.views[0].with_actions(rows)
    expected = replace(agent.policy().plan, views=[moved]).q(agent.states.encode(obs), 0)[0]
    np.testing.assert_allclose(agent.q_values(obs), expected, rtol=1e-5)
    assert all(agent.env.action_space.contains(value) for value in agent.actions.values)
    direct = CMERL(Steering(), horizon=8, seed=0, **MODELS["direct"])
    np.testing.assert_array_equal(direct.learn(5).actions.rows, first)


@pytest.mark.parametrize("keep", [20_000, 60])
def test_an_agent_whose_candidates_moved_is_saved_and_goes_on_bit_for_bit(keep, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "KEEP", keep)
    options = {"horizon": 6, "seed": 3, "model": "displacement"}
    agent, first = CMERL(Steering(), **options).learn(11), CMERL(Steering(), **options).actions.rows
    assert not np.array_equal(agent.actions.rows, first)
    agent.save(tmp_path / "agent.safetensors")
    again = CMERL.load(tmp_path / "agent.safetensors", env=Steering())
    np.testing.assert_array_equal(again.actions.rows, agent.actions.rows)
    np.testing.assert_array_equal(again._first_actions.rows, first)
    returns = [[r.ret for r in a.learn(5).history] for a in (agent, again)]
    assert returns[0] == returns[1]
    np.testing.assert_array_equal(again.actions.rows, agent.actions.rows)
    np.testing.assert_array_equal(again._plan().q(np.full((1, 2), 0.4), 0), agent._plan().q(np.full((1, 2), 0.4), 0))


def test_candidates_of_one_dimension_stay_where_they_are():
    agent = CMERL(Target(), horizon=6, seed=0, model="displacement")
    first = agent.actions.rows.copy()
    np.testing.assert_array_equal(agent.learn(5).actions.rows, first)


def test_a_kernel_that_tells_actions_apart_is_not_asked_about_others():
    kernel = StateAction(RBF(0.3), Delta())
    agent = CMERL(Target(), horizon=3, seed=0, kernel=kernel, reward_range=(0, 1)).learn(3)
    played = agent.predict(np.array([0.4]))
    assert any(np.array_equal(played, value) for value in agent.actions.values)
