"""Ask and tell: the loop is somebody else's, and what is learned is the same."""

import gymnasium
import numpy as np
import pytest
from small_worlds import Plane

import cmerl.agents
from cmerl import CMERL
from cmerl.agents import GreedyAgent, RandomAgent
from cmerl.agents.baselines.q_learning import OptimisticQLearning
from cmerl.agents.baselines.ucbvi import UCBVI
from cmerl.envs import FiniteMDP, RiverSwim
from cmerl.errors import CmerlError, InputError

AGENTS = {
    "practical": lambda env: CMERL(env, seed=3),
    "kl": lambda env: CMERL(env, seed=3, bonus="kl", reward_range=(0.0, 1.0)),
    "greedy": lambda env: GreedyAgent(env, seed=3),
    "random": lambda env: RandomAgent(env, seed=3),
    "ucbvi": lambda env: UCBVI(env, seed=3),
    "q-learning": lambda env: OptimisticQLearning(env, seed=3),
    "lsvi-ucb": lambda env: cmerl.agents.make("lsvi-ucb", env, seed=3),
}
every_agent = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)


def river(coordinates=False):
    return RiverSwim(5, 8, coordinates=coordinates)


def drive(agent, env, episodes, lose=()):
    """The loop of a plant; ``lose`` are steps whose outcome is never told."""
    for _ in range(episodes):
        episode = agent.episode()
        obs, _ = env.reset(seed=agent.reset_seed(len(agent.history)))
        for step in range(agent.horizon):
            obs, reward, terminated, truncated, _ = env.step(episode.act(obs))
            if step not in lose:
                episode.observe(reward, obs, terminated, truncated)
    return agent


def outcomes(agent):
    return [(r.episode, r.ret, r.length, r.regret, r.regret_kind) for r in agent.history]


def counts(agent):
    """What was learned: transitions of every state-action."""
    return agent.ledger.counts.visits


@every_agent
def test_a_loop_of_ones_own_learns_what_learn_does(make):
    own, given = make(river()), make(river())
    drive(own, river(), 6)
    assert outcomes(own) == outcomes(given.learn(6))
    assert [own.predict(s, 2) for s in range(5)] == [given.predict(s, 2) for s in range(5)]


def test_also_where_states_are_continuous():
    own, given = CMERL(river(True), seed=1), CMERL(river(True), seed=1)
    drive(own, river(True), 5)
    assert outcomes(own) == outcomes(given.learn(5))
    np.testing.assert_array_equal(own.q_values(np.array([0.3])), given.q_values(np.array([0.3])))


@every_agent
def test_lost_outcomes_leave_the_rest_as_it_was(make):
    agent = drive(make(river()), river(), 4, lose=(0, 3))
    assert [record.length for record in agent.history] == [8] * 4
    assert [record.metrics["lost"] for record in agent.history] == [2] * 4
    assert [record.regret_kind for record in agent.history] == [None] * 4
    if agent.ledger is not None:
        assert counts(agent).sum() == 4 * 6
        assert agent.ledger.episodes == 0  # what returned from them is not known
    agent.learn(2)


def test_an_observation_that_was_lost_is_said_to_be():
    agent, env = UCBVI(river(), seed=0), river()
    episode = agent.episode()
    obs, _ = env.reset(seed=0)
    for step in range(8):
        obs, _reward, *_ = env.step(episode.act(obs))
        episode.observe(1.0 if step == 2 else 0.0, None if step == 2 else obs)
    assert episode.done
    assert (episode.record.ret, episode.record.metrics["lost"]) == (1.0, 1)
    assert counts(agent).sum() == 7


def test_what_was_lost_at_the_end_ends_the_episode():
    agent, env = UCBVI(river(), seed=0), river()
    episode = agent.episode()
    obs, _ = env.reset(seed=0)
    for step in range(8):
        obs, reward, *_ = env.step(episode.act(obs))
        if step < 7:
            episode.observe(reward, obs)
    with pytest.raises(InputError, match="over after 8 steps"):
        episode.act(obs)
    assert episode.done
    assert len(agent.history) == 1
    assert counts(agent).sum() == 7


@every_agent
def test_what_cannot_be_used_changes_nothing_and_may_be_told_again(make):
    """A reading that is refused, then the right one: the run is as if the wrong one had never come."""
    agent, env = make(river()), river()
    episode = agent.episode()
    obs, _ = env.reset(seed=agent.reset_seed(0))
    while not episode.done:
        obs, reward, terminated, truncated, _ = env.step(episode.act(obs))
        for wrong in ((float("nan"), obs), ("much", obs)):
            with pytest.raises(InputError, match=f"episode 0, step {episode.step}: the reward"):
                episode.observe(*wrong)
        if not isinstance(agent, RandomAgent):
            with pytest.raises(InputError):
                episode.observe(reward, 99)
        episode.observe(reward, obs, terminated, truncated)
    assert outcomes(agent) == outcomes(make(river()).learn(1))


@every_agent
def test_an_episode_that_is_closed_is_kept_but_does_not_count(make):
    agent, env = make(river()), river()
    obs, _ = env.reset(seed=0)
    with agent.episode() as episode:
        for _ in range(3):
            obs, reward, *_ = env.step(episode.act(obs))
            episode.observe(reward, obs)
    assert episode.done
    assert episode.record is None
    assert agent.history == []
    assert agent.broken_off == 1
    if agent.ledger is not None:
        assert counts(agent).sum() == 3
    with pytest.raises(InputError, match="this episode is over"):
        episode.act(obs)
    agent.learn(2)
    assert [record.episode for record in agent.history] == [0, 1]


def test_a_restart_closes_what_was_open():
    agent, env = UCBVI(river(), seed=0), river()
    first = agent.episode()
    obs, _ = env.reset(seed=0)
    obs, reward, *_ = env.step(first.act(obs))
    first.observe(reward, obs)
    second = agent.episode()
    assert first.done
    assert not second.done
    assert agent.broken_off == 1
    agent.learn(1)  # the second was never begun, and leaves no trace
    assert agent.broken_off == 1
    assert len(agent.history) == 1
    assert counts(agent).sum() == 1 + 8


def test_half_an_episode_is_not_saved(tmp_path):
    agent, env = CMERL(river(), seed=0), river()
    episode = agent.episode()
    obs, _ = env.reset(seed=0)
    obs, reward, *_ = env.step(episode.act(obs))
    episode.observe(reward, obs)
    with pytest.raises(InputError, match="an episode is open"):
        agent.save(tmp_path / "agent")
    episode.close()
    agent.save(tmp_path / "agent")
    again = CMERL.load(tmp_path / "agent", river())
    assert outcomes(again.learn(2)) == outcomes(agent.learn(2))


def test_telling_before_asking_is_refused():
    episode = UCBVI(river()).episode()
    with pytest.raises(InputError, match=r"call act\(obs\) first"):
        episode.observe(0.0, 1)


@pytest.mark.parametrize("budget", [0.0, -1.0, float("inf"), "soon", True])
def test_a_budget_is_a_number_of_seconds(budget):
    with pytest.raises(InputError, match="budget must be a number of seconds"):
        UCBVI(river()).episode().act(0, budget=budget)


def test_an_end_is_told():
    P, R = np.zeros((2, 1, 2)), np.zeros((2, 1))
    P[0, 0, 1] = P[1, 0, 1] = 1.0
    agent = UCBVI(FiniteMDP(P, R), horizon=5)
    episode = agent.episode()
    episode.act(0)
    episode.observe(0.0, 1, truncated=True)
    assert episode.done
    assert episode.record.length == 1
    assert counts(agent).sum() == 1


def test_observations_are_copied():
    """A plant may use one array for all its readings."""

    class Still(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,))
        action_space = gymnasium.spaces.Discrete(2)

    agent = CMERL(Still(), horizon=3, model="direct")
    reading, episode = np.array([0.1]), agent.episode()
    for value in (0.2, 0.3, 0.4):
        episode.act(reading)
        reading[0] = value
        episode.observe(0.0, reading)
    np.testing.assert_allclose(np.ravel(agent.lesson()["observations"]), [0.1, 0.2, 0.3, 0.4])  # without a gap


def test_an_interrupt_does_not_wait_for_learning_and_loses_nothing(monkeypatch):
    """What was seen waits in the buffer; the next episode learns it."""
    env = gymnasium.make("cmerl/PBall2D-v0")
    agent = CMERL(env, seed=0, horizon=8).learn(2)
    updates, known = [], agent.model.n
    update = type(agent.model).update
    monkeypatch.setattr(type(agent.model), "update", lambda self, *a, **k: updates.append(1) or update(self, *a, **k))
    step, played = env.unwrapped.step, []

    def interrupted(action):
        played.append(action)
        if len(played) == 4:
            updates.clear()
            raise KeyboardInterrupt
        return step(action)

    monkeypatch.setattr(env.unwrapped, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(1)
    assert updates == []
    assert len(agent.history) == 2
    assert len(agent.transitions().rewards) == known + 3
    agent.learn(1)
    assert len(agent.history) == 3
    assert len(agent.transitions().rewards) == known + 3 + 8
    assert agent.model.n + len(agent.learner.pending) == known + 3 + 8


@every_agent
def test_an_observation_of_another_shape_is_refused_by_every_agent(make):
    class Torn(gymnasium.Wrapper):
        def step(self, action):
            obs, *rest = self.env.step(action)
            return (np.append(obs, obs), *rest)

    env = Torn(gymnasium.make("cmerl/GridWorld-v0", coordinates=True))
    try:
        agent = make(env)
    except CmerlError:  # a tabular agent refuses such a world at once
        return
    with pytest.raises(CmerlError, match=r"episode 0, step 0: the observation has shape \(4,\), but the space has"):
        agent.learn(1)


def test_a_class_instead_of_an_environment_is_told_how_to_make_one():
    with pytest.raises(InputError, match=r"such as RiverSwim\(\), not <class"):
        CMERL(RiverSwim)


def test_episodes_whose_first_step_is_always_lost_are_learned():
    """A model is chosen by simulations from first states; without any, from the earliest that were seen."""
    agent = CMERL(Plane(), horizon=4, seed=0)
    for _ in range(3):
        episode = agent.episode()
        episode.act(np.zeros(2))
        episode.observe(0.0, None)
        for step in range(3):
            episode.act(np.full(2, 0.1 * step))
            episode.observe(0.0, np.full(2, 0.1 * step + 0.1))
    assert [record.metrics["lost"] for record in agent.history] == [1, 1, 1]
    assert agent.model.n == 9


def test_a_budget_may_be_a_number_of_numpy():
    episode = CMERL(river(), seed=0).episode()
    assert episode.act(0, budget=np.float32(0.5)) in (0, 1)


@pytest.mark.parametrize("flag", ["False", b"no", float("nan"), np.array([True, False])])
def test_an_end_is_told_by_true_or_false(flag):
    episode = CMERL(river(), seed=0).episode()
    episode.act(0)
    with pytest.raises(CmerlError, match="step 0: truncated must be True or False, not"):
        episode.observe(0.0, 1, truncated=flag)
    episode.observe(0.0, 1, np.bool_(False), 0)
    assert (episode.step, episode.done) == (1, False)
