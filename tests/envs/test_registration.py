"""Gymnasium knows the worlds by name."""

import subprocess
import sys

import gymnasium
import pytest
from gymnasium.wrappers import TimeLimit

from cmerl import envs
from cmerl.envs import register
from cmerl.envs.registration import WORLDS
from cmerl.errors import InputError

HORIZONS = {"RiverSwim": 20, "Chain": 20, "GridWorld": 20, "DeepSea": 10, "RandomMDP": 10, "Inventory": 20}
HORIZONS |= {"LinearMixture": 10, "Bilinear": 8}
CASES = ["LeadTimeInventory", "Battery", "Reactor"]
OBJECTS = {"StringEdit": 12, "Molecule": 6, "Knapsack": 6, "Routing": 15}
CONTINUOUS = ["PBall2D", "TwoRooms", "CartPoleSwingUp", "LinearQuadratic", "Regulator"]
CONTINUOUS += ["PetsCartPole", "PilcoCartPole", "PilcoDoublePendulum"]
CONTINUOUS += ["dmc-cartpole-balance", "dmc-cartpole-swingup", "dmc-pendulum-swingup", "dmc-reacher-easy"]
CONTINUOUS += ["dmc-point_mass-easy", *CASES]

register()


def test_every_world_is_registered_once_and_for_all():
    register()  # Gymnasium's warning about a second registration would be an error here
    assert set(WORLDS) == {f"cmerl/{name}-v0" for name in [*HORIZONS, *OBJECTS, *CONTINUOUS, *CASES]}
    assert set(WORLDS) <= set(gymnasium.registry)


@pytest.mark.parametrize(("name", "horizon"), (HORIZONS | OBJECTS).items())
def test_make(name, horizon):
    env = gymnasium.make(f"cmerl/{name}-v0")
    assert env.unwrapped.horizon == horizon
    assert env.spec.max_episode_steps is None
    wrapper = env
    while wrapper is not wrapper.unwrapped:
        assert not isinstance(wrapper, TimeLimit)
        wrapper = wrapper.env

    _, info = env.reset(seed=0, options={"state": 1})
    assert info == {"state": 1}
    for _ in range(3 * horizon):
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        assert observation in env.observation_space
        assert not terminated
        assert not truncated


def test_make_passes_options_on():
    assert gymnasium.make("cmerl/RiverSwim-v0", states=9).unwrapped.P.shape == (9, 2, 9)
    assert gymnasium.make("cmerl/RandomMDP-v0", states=3, seed=4).unwrapped.P.shape == (3, 3, 3)
    assert gymnasium.make("cmerl/GridWorld-v0", coordinates=True).observation_space.shape == (2,)


def test_ids_resolve_in_a_fresh_interpreter():
    code = "import gymnasium, cmerl.envs as e; e.register(); gymnasium.make('cmerl/Chain-v0').reset(seed=0)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize(
    ("world", "option"),
    [
        ("PBall2D", "radius"),
        ("TwoRooms", "noise"),
        ("TwoRooms", "wall"),
        ("CartPoleSwingUp", "force"),
        ("PilcoCartPole", "noise"),
        ("LinearQuadratic", "max_action"),
        ("GridWorld", "slip"),
        ("Chain", "slip"),
    ],
)
@pytest.mark.parametrize("value", ["wide", None])
def test_what_is_no_number_is_refused_by_its_name(world, option, value):
    with pytest.raises(InputError, match=f"{option} must be a number, but is {value!r}"):
        getattr(envs, world)(**{option: value})
