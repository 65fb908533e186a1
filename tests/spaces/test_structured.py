"""Spaces of objects: checks that name the place, default kernels, JSON; agents learn and are saved on each."""

import json

import numpy as np
import pytest
from gymnasium import spaces
from sampled import RECORD, Sampled, sample

from cmerl import CMERL
from cmerl.agents import Settings
from cmerl.errors import InputError
from cmerl.kernels import Columns, Delta, Jaccard, StateAction
from cmerl.spaces import StateSpace, structured
from cmerl.spaces.actions import ActionSet

ALL = [
    spaces.Discrete(4),
    spaces.MultiDiscrete([2, 3]),
    spaces.MultiBinary(3),
    spaces.Box(0.0, 1.0, (2,)),
    spaces.Text(5, charset="abc"),
    spaces.Tuple([spaces.Text(3, charset="ab"), spaces.MultiBinary(2)]),
    spaces.Dict({"a": spaces.Box(0.0, 1.0, (2,)), "t": spaces.Text(4, charset="ab"), "d": spaces.Discrete(3)}),
    spaces.Sequence(spaces.Discrete(3)),
    spaces.Sequence(spaces.Box(0.0, 1.0, (2,))),
    spaces.Sequence(spaces.Box(0.0, 1.0, (2,)), stack=True),
    spaces.Sequence(spaces.Dict({"x": spaces.Discrete(2), "y": spaces.Text(2)})),
    spaces.Graph(spaces.Discrete(3), spaces.Discrete(2)),
    spaces.Graph(spaces.Box(0.0, 1.0, (2,)), None),
    spaces.OneOf([spaces.Discrete(3), spaces.Box(0.0, 1.0, (2,)), spaces.Text(3)]),
    spaces.Dict({"g": spaces.Graph(spaces.Discrete(2), spaces.Discrete(2)), "m": spaces.MultiDiscrete([2, 3])}),
]
each = pytest.mark.parametrize("space", ALL, ids=lambda s: str(s)[:50])


@each
@pytest.mark.filterwarnings("ignore:.*number of edges:UserWarning")
def test_every_space_is_learned_in_and_saved_without_a_kernel_named(space, tmp_path):
    agent = CMERL(Sampled(space), seed=1).learn(4)
    agent.save(tmp_path / "agent")
    again = CMERL.load(tmp_path / "agent", env=Sampled(space))
    agent.learn(3)
    again.learn(3)
    assert [r.ret for r in again.history] == [r.ret for r in agent.history]
    assert again.history[-1].metrics["value"] == agent.history[-1].metrics["value"]
    obs = sample(space)
    np.testing.assert_array_equal(again.q_values(obs), agent.q_values(obs))
    assert agent.states.fits(space)
    assert not agent.states.fits(spaces.Text(99))


@pytest.mark.parametrize("space", [s for s in ALL if structured.is_structured(s)], ids=lambda s: str(s)[:50])
def test_objects_come_back_as_they_are_and_default_kernels_are_positive_semidefinite(space):
    space.seed(0)
    objects = [sample(space) for _ in range(12)]
    states = StateSpace.of(space)
    X = states.encode_many(objects)
    assert X.shape == (12, 1)
    back = states.decode(X)
    np.testing.assert_array_equal(states.encode_many(back), X)
    kernel = structured.default_kernel(space)
    assert np.linalg.eigvalsh(kernel(back))[0] > -1e-10
    np.testing.assert_allclose(kernel.diag(back), np.diag(kernel(back)))
    again = structured.from_spec(json.loads(json.dumps(structured.to_spec(space))))
    assert structured.to_spec(again) == structured.to_spec(space)
    assert all(again.contains(x) for x in objects)


GRAPH = spaces.Graph(spaces.Discrete(3), None)


@pytest.mark.parametrize(
    ("space", "obs", "message"),
    [
        (spaces.Text(5, charset="ab"), "abxa", "symbol 2, 'x', is not in the alphabet"),
        (spaces.Text(3, charset="ab"), "abab", "4 symbols, and not 1 to 3"),
        (spaces.Text(3), 7, "a int is not a text"),
        (spaces.Sequence(spaces.Discrete(3)), (0, 1, "two"), "element 2, 'two', is not in Discrete"),
        (spaces.Sequence(spaces.Discrete(3)), (0, 5), "element 1, 5, is not in Discrete"),
        (spaces.Sequence(spaces.Text(2, charset="a")), ("a", "ab"), "element 1: symbol 1, 'b'"),
        (spaces.Sequence(spaces.Discrete(3)), 4, "a int is not a sequence"),
        (GRAPH, spaces.GraphInstance(np.zeros(0, int), None, None), "it is an empty graph"),
        (GRAPH, spaces.GraphInstance(np.array([0, 7]), None, None), "node 1, .*7.*, is not in Discrete"),
        (GRAPH, spaces.GraphInstance(np.array([0]), None, np.array([[0, 3]])), r"edge 0 links \[0, 3\]"),
        (GRAPH, "CC", "a str is not a GraphInstance"),
        (spaces.OneOf([spaces.Discrete(2), spaces.Text(3)]), (5, 0), "one of 2 alternatives"),
        (spaces.OneOf([spaces.Discrete(2), spaces.Text(3)]), (0, 9), "value of alternative 0, 9, is not in"),
        (spaces.Dict({"at": spaces.Discrete(2), "said": spaces.Text(3, charset="a")}), {"at": 0, "said": "b"},
         "part 'said' is not what its space declares: symbol 0"),
    ],
)  # fmt: skip
def test_a_bad_object_is_named_with_its_place(space, obs, message):
    with pytest.raises(InputError, match=message):
        StateSpace.of(space).encode(obs)


ACTIONS = spaces.Dict({"go": spaces.Discrete(2), "say": spaces.Text(1, charset="ab")})
ONE_OF = spaces.OneOf([spaces.Discrete(2), spaces.Text(1, charset="a")])


@pytest.mark.parametrize("space", [ACTIONS, spaces.Tuple([spaces.Discrete(2)] * 2), ONE_OF])
def test_actions_may_be_objects(space, tmp_path):
    actions = ActionSet.of(space)
    assert all(space.contains(a) for a in actions.values)
    assert len(actions) == (3 if isinstance(space, spaces.OneOf) else 4)
    for i, a in enumerate(actions.values):
        np.testing.assert_array_equal(actions.encode(a), [[i]])
    agent = CMERL(Sampled(spaces.Text(3, charset="ab"), space), seed=0).learn(3)
    agent.save(tmp_path / "agent")
    again = CMERL.load(tmp_path / "agent", env=Sampled(spaces.Text(3, charset="ab"), space))
    assert [r.ret for r in again.learn(2).history] == [r.ret for r in agent.learn(2).history]


def test_candidates_of_an_endless_action_space_with_a_kernel_of_their_own():
    space = spaces.Sequence(spaces.Discrete(4))
    given = [(0, 1), (1, 2), (3,)]
    with pytest.raises(InputError, match=r"pass actions="):
        CMERL(Sampled(spaces.Discrete(3), space))
    kernel = StateAction(Delta(), Jaccard())
    agent = CMERL(Sampled(spaces.Discrete(3), space), actions=given, kernel=kernel, seed=0).learn(3)
    rows = agent.actions.rows
    np.testing.assert_allclose(agent.kernel.action_kernel(rows), Jaccard()(given))
    too_many = spaces.Text(9, charset="abcdef")
    with pytest.raises(InputError, match="more than 1000 actions"):
        ActionSet.of(too_many)
    assert isinstance(CMERL(Sampled(RECORD), seed=0).kernel.kernels[0].state_kernel.kernels[0], Columns)


@pytest.mark.parametrize("keep", [20_000, 25])
def test_a_compressed_agent_on_objects_goes_on_bit_for_bit_with_and_without_its_log(keep, tmp_path):
    space = spaces.Dict({"t": spaces.Text(4, charset="ab"), "x": spaces.Box(0.0, 1.0, (1,))})
    agent = CMERL(Sampled(space), seed=2, backend="compressed", settings=Settings(keep=keep)).learn(8)
    agent.save(tmp_path / "agent")
    again = CMERL.load(tmp_path / "agent", env=Sampled(space))
    assert [r.ret for r in again.learn(3).history] == [r.ret for r in agent.learn(3).history]
    obs = space.sample()
    np.testing.assert_array_equal(again.q_values(obs), agent.q_values(obs))


def test_nothing_of_a_failed_episode_is_lost_but_the_bad_object():
    class Breaks(Sampled):
        calls = 0

        def step(self, action):
            self.calls += 1
            obs, *rest = super().step(action)
            return ("abx" if self.calls == 6 else obs, *rest)

    agent = CMERL(Breaks(spaces.Text(4, charset="ab")), seed=0)
    with pytest.raises(InputError, match=r"episode 1, step 1: the observation is not what .*: symbol 2"):
        agent.learn(3)
    assert len(agent.history) == 1
    assert agent.diagnostics()["transitions"] == 5
    assert len(agent.learn(2).history) == 3
