"""The DeepMind Control Suite through its wrapper, and MuJoCo's tasks of Gymnasium: real simulators, no graphics."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from dm_control import suite
from gymnasium.utils.env_checker import check_env

import cmerl
from cmerl.envs import DmControl
from cmerl.envs.registration import DMC_TASKS
from cmerl.errors import InputError


@pytest.mark.parametrize(("domain", "task"), DMC_TASKS)
def test_a_task_is_the_suites_own_with_its_actions_held(domain, task):
    env = gymnasium.make(f"cmerl/dmc-{domain}-{task}-v0")
    seen, _ = env.reset(seed=5)
    own = suite.load(
        domain, task, task_kwargs={"random": np.random.RandomState(np.random.SeedSequence(5).generate_state(1))}
    )
    first = own.reset()
    np.testing.assert_array_equal(seen, np.concatenate([np.ravel(x) for x in first.observation.values()]))
    rng = np.random.default_rng(0)
    for step in range(250):
        action = rng.uniform(-1, 1, env.action_space.shape)
        inner = [own.step(action) for _ in range(4)]
        seen, paid, ended, truncated, _ = env.step(action)
        assert paid == pytest.approx(sum(now.reward for now in inner))
        np.testing.assert_array_equal(seen, np.concatenate([np.ravel(x) for x in inner[-1].observation.values()]))
        assert not ended
        assert truncated == inner[-1].last() == (step == 249)
    assert env.unwrapped.horizon == 250


def test_an_episode_repeats_by_its_seed():
    env = DmControl("reacher", "easy", action_repeat=3)
    assert env.horizon == 334  # the last step is shorter

    def play(seed):
        return [env.reset(seed=seed)[0], *(env.step([0.5, -0.5])[0] for _ in range(5))]

    first = play(1)
    assert not np.array_equal(first, play(2))
    np.testing.assert_array_equal(first, play(1))
    env.reset(seed=0)
    steps = 0
    while not env.step([0.0, 0.0])[3]:
        steps += 1
    assert steps == 333


@pytest.mark.filterwarnings("ignore:.*infinity")
def test_gymnasiums_checker_has_no_complaint():
    check_env(DmControl("cartpole", "balance"), skip_render_check=True)


def test_an_agent_learns_in_it():
    env = gymnasium.make("cmerl/dmc-cartpole-balance-v0")
    assert cmerl.CMERL(env).horizon == 250
    agent = cmerl.CMERL(env, horizon=20, seed=0).learn(2)
    assert [record.length for record in agent.history] == [20, 20]
    assert all(0 < record.ret <= 80 for record in agent.history)


@pytest.mark.parametrize(
    ("name", "size", "steps"),
    [
        ("InvertedPendulum-v5", 4, 1000),
        ("InvertedDoublePendulum-v5", 9, 1000),
        ("Reacher-v5", 10, 50),
        ("Pusher-v5", 23, 100),
    ],
)
def test_mujocos_tasks_of_gymnasium_run(name, size, steps):
    env = gymnasium.make(name)
    seen, _ = env.reset(seed=0)
    assert seen.shape == (size,)
    assert env.spec.max_episode_steps == steps
    seen, paid, *_ = env.step(np.zeros(env.action_space.shape, env.action_space.dtype))
    assert np.isfinite(seen).all()
    assert np.isfinite(paid)


def test_without_the_extra_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['dm_control'] = None\n"
        "import gymnasium, cmerl\n"
        "try:\n    gymnasium.make('cmerl/dmc-cartpole-swingup-v0')\n"
        "except cmerl.errors.InputError as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said == "tasks of dm_control need the extra: pip install 'cmerl[control]'\n"


def test_misuse_is_refused():
    with pytest.raises(InputError, match="its tasks are balance"):
        DmControl("cartpole", "fly")
    with pytest.raises(InputError, match=r"domains are .*cartpole"):
        DmControl("aeroplane", "fly")
    with pytest.raises(InputError, match="action_repeat must be"):
        DmControl("cartpole", "balance", action_repeat=0)
    env = DmControl("cartpole", "balance")
    with pytest.raises(InputError, match="call reset"):
        env.step([0.0])
    with pytest.raises(InputError, match="knows no options"):
        env.reset(options={"state": 0})
    env.reset(seed=0)
    for action in ([2.0], [np.nan], [0.1, 0.1]):
        with pytest.raises(InputError, match="the action must lie in"):
            env.step(action)
