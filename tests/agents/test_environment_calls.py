"""What comes from an environment is copied and checked, what goes wrong is named; policies are shared safely."""

import threading

import gymnasium
import numpy as np
import pytest
from small_worlds import Plane

import cmerl
from cmerl.agents import make
from cmerl.agents.environment_calls import own, step
from cmerl.errors import EnvironmentFault, InputError, SharedAgentError, StepTimeoutError


def test_an_environment_may_use_one_array_for_all_observations() -> None:
    ours, theirs = (make("cme-rl", Plane(shared), horizon=6, seed=1).learn(4) for shared in (True, False))
    assert [r.ret for r in ours.history] == [r.ret for r in theirs.history]
    lesson = ours.lesson()
    assert len({obs.tobytes() for obs in lesson["observations"]}) == 7
    np.testing.assert_array_equal(lesson["observations"], theirs.lesson()["observations"])


def test_copies_go_as_deep_as_observations() -> None:
    inner = np.zeros(2)
    copied = own({"a": (inner, 1), "b": [inner]})
    inner += 1.0
    np.testing.assert_array_equal(copied["a"][0], 0.0)
    np.testing.assert_array_equal(copied["b"][0], 0.0)


def test_a_refused_transition_leaves_the_reward_range_as_it_was() -> None:
    env = Plane()
    agent = make("cme-rl", env, horizon=6).learn(2)
    before = agent.rewards.spec()
    env.reward, env.odd = 50.0, [np.nan, 0.0]
    with pytest.raises(InputError, match=r"episode 2, step 0: .*NaN"):
        agent.learn(1)
    assert agent.rewards.spec() == before


@pytest.mark.parametrize("size", [1e16, 1e20, 1e154, 1e300])
def test_an_outlier_is_refused_and_the_agent_goes_on(size: float) -> None:
    env = Plane(shared=False)
    env.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), dtype=np.float64)
    agent = make("cme-rl", env, horizon=6).learn(2)
    env.odd = [size, 0.0]
    with pytest.raises(InputError, match=r"episode 2, step 0: .* too large to learn from"):
        agent.learn(1)
    env.odd = None
    assert np.isfinite(agent.learn(2).q_values(np.zeros(2))).all()


def test_a_return_cannot_overflow() -> None:
    env = Plane()
    agent = make("random", env, horizon=6)
    env.reward = 1e308
    with pytest.raises(InputError, match="too large"):
        agent.learn(1)
    assert agent.history == []


def test_a_step_that_takes_too_long_is_broken_off_in_any_thread() -> None:
    env = Plane()
    agent = make("random", env, horizon=3)
    env.pause = 5.0
    found: list[BaseException] = []

    def learn() -> None:
        try:
            agent.learn(1, step_timeout=0.5)
        except StepTimeoutError as error:
            found.append(error)

    learn()
    other = threading.Thread(target=learn)
    other.start()
    other.join()
    assert [str(error).partition(": make")[0] for error in found] == [
        "episode 0, step 0: the environment's step took longer than step_timeout, 0.5 s"
    ] * 2
    with pytest.raises(InputError, match="step_timeout must be"):
        agent.learn(1, step_timeout=-1)


def test_errors_of_environments_are_chained() -> None:
    env = Plane()
    env.step = lambda action: 1 / 0
    with pytest.raises(EnvironmentFault, match="the environment's step raised ZeroDivisionError") as caught:
        step(env, 0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(EnvironmentFault, match="episode 0, step 0") as outer:
        make("random", env, horizon=3).learn(1)
    assert isinstance(outer.value.__cause__, ZeroDivisionError)


def test_a_frozen_policy_can_be_shared_and_the_agent_says_that_it_cannot() -> None:
    env = Plane(shared=False)
    agent = make("cme-rl", env, horizon=10, model="direct", backend="exact").learn(5)
    policy, states = agent.policy(), np.random.default_rng(0).uniform(-1, 1, (50, 2))
    wanted = [policy(x, 0) for x in states]
    stop, wrong, refused = threading.Event(), [], []

    def ask() -> None:
        while not stop.is_set():
            wrong.extend(x for x, action in zip(states, wanted, strict=True) if policy(x, 0) != action)
            try:
                agent.predict(states[0])
            except SharedAgentError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    agent.learn(25)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert refused
    assert "agent.policy() before, which is safe to share" in refused[0]
    assert cmerl.CMERL is type(agent)
