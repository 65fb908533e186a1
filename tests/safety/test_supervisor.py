"""Cautious agents: what surely leaves is not done, who acts instead, and what is recorded."""

from pathlib import Path
from typing import ClassVar

import gymnasium
import numpy as np
import pytest
from small_worlds import Line, home

from cmerl import CMERL
from cmerl.envs import FiniteMDP, PIController, Reactor
from cmerl.errors import InputError
from cmerl.safety import Caution, Limits, Plans, Supervisor, Watch
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet

ROOT = Path(__file__).parents[2]


def cliff(length=5):
    """A corridor: action 0 stays, action 1 goes right, where the last state is beyond the edge and pays most."""
    P, R = np.zeros((length, 2, length)), np.zeros((length, 2))
    for s in range(length):
        P[s, 0, s] = 1.0
        P[s, 1, min(s + 1, length - 1)] = 1.0
        R[s] = s / length
    return FiniteMDP(P, R, start=0)


def seen_states(agent, episodes):
    states = []
    agent.learn(episodes, callback=lambda agent, record: states.extend(agent.lesson()["observations"]))
    return states


def test_an_action_that_surely_leaves_is_taken_at_most_until_it_is_known():
    """States from 3 on are outside, and the fallback stays; the unknown counts as leaving, so nobody gets there."""
    agent = CMERL(cliff(), horizon=6, limits={0: (0, 2)}, fallback=0, caution=Caution(first=0, steps=3))
    assert max(seen_states(agent, 15)) <= 2
    assert "fallback" in {i.by for i in agent.interventions}


def test_without_limits_it_goes_there():
    assert max(seen_states(CMERL(cliff(), horizon=6), 15)) == 4


def test_known_actions_are_taken_where_they_are_safe():
    """Logs have shown what each action does: then the corridor is used up to its limit, and not beyond."""
    agent = CMERL(cliff(), horizon=6, limits={0: (0, 2)}, fallback=0, caution=Caution(first=0, steps=3))
    path = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    agent.fit([{"observations": path, "actions": [0, 1] * 4 + [0], "rewards": [0.2 * s for s in path[:-1]]}] * 3)
    assert max(seen_states(agent, 10)) == 2
    assert any("probability" in i.reason for i in agent.interventions)


@pytest.mark.parametrize("model", ["direct", "displacement"])
def test_a_line_is_kept_to_from_the_first_episode_on(model):
    agent = CMERL(Line(), horizon=15, model=model, limits={"place": (-1.0, 1.0)}, fallback=home, seed=1)
    states = np.ravel(seen_states(agent, 6))
    assert np.abs(states).max() <= 1.0
    assert states.max() > 0.5  # it explores all the same
    assert {i.by for i in agent.interventions if i.episode == 0} == {"fallback"}  # nothing was known then
    assert "the limits may be left within 15 steps" in {i.reason for i in agent.interventions}
    free = np.ravel(seen_states(CMERL(Line(), horizon=15, model=model, seed=1), 6))
    assert np.abs(free).max() > 1.0


def test_what_is_recorded():
    agent = CMERL(Line(), horizon=15, limits={"place": (-1.0, 1.0)}, fallback=home, seed=1).learn(2)
    first = agent.interventions[0]
    assert (first.episode, first.step, first.by, first.reason) == (0, 0, "fallback", "nothing is known yet")
    assert len(agent.history[0].metrics["interventions"]) == 15
    assert [i.episode for i in agent.interventions] == sorted(i.episode for i in agent.interventions)


def test_outside_already_the_fallback_acts():
    agent = CMERL(Line(), horizon=15, limits={"place": (-1.0, 1.0)}, fallback=home).learn(2)
    np.testing.assert_array_equal(agent.predict(np.array([1.5])), home(np.array([1.5]), 0))


def test_learning_in_parts_and_after_loading_is_learning_at_once(tmp_path):
    def make():
        return CMERL(Line(), horizon=10, limits={"place": (-1.0, 1.0)}, fallback=home, seed=2)

    whole, parts = make().learn(5), make().learn(2)
    parts.save(tmp_path / "agent")
    with pytest.raises(InputError, match="was told limits, fallback"):
        CMERL.load(tmp_path / "agent", Line())
    again = CMERL.load(tmp_path / "agent", Line(), limits={"place": (-1.0, 1.0)}, fallback=home)
    again.learn(3)
    assert [r.ret for r in again.history] == [r.ret for r in whole.history]
    assert again.interventions == whole.interventions


def test_a_cost_is_kept_within_its_budget():
    def far(obs, action, next_obs):
        return float(max(next_obs[0], 0.0))

    options = {"cost": far, "cost_budget": 1.0, "fallback": home, "seed": 1}
    agent = CMERL(Line(), horizon=15, **options)
    costs = []

    def spent(agent, record):
        path = agent.lesson()["observations"]
        costs.append(sum(far(None, None, obs) for obs in path[1:]))

    agent.learn(6, callback=spent)
    assert max(costs) <= 1.0
    assert max(costs) > 0.2
    assert [record.metrics["cost"] for record in agent.history] == pytest.approx(costs)


def test_a_cost_may_be_a_key_of_info():
    agent = CMERL(Line(), horizon=15, cost="wear", cost_budget=4.0, fallback=np.zeros(1), caution=Caution(first=0))
    wear = []
    agent.learn(4, callback=lambda agent, r: wear.append(sum(abs(a[0]) for a in agent.lesson()["actions"])))
    assert max(wear) <= 4.0
    assert [record.metrics["cost"] for record in agent.history] == pytest.approx(wear)
    episode = agent.episode()
    episode.act(np.zeros(1))
    with pytest.raises(InputError, match="no 'wear'"):
        episode.observe(0.0, np.zeros(1))


def test_a_reading_that_is_refused_costs_nothing_and_a_lost_one_as_much_as_any():
    agent = CMERL(Line(), horizon=5, cost="wear", cost_budget=9.0, fallback=np.zeros(1))
    episode = agent.episode()
    for reading, wear in [(0.0, 0.5), (None, 0.25), (None, None), (0.0, 0.0), (0.0, 0.0)]:
        episode.act(np.zeros(1))
        with pytest.raises(InputError, match="shape"):
            episode.observe(0.0, np.zeros(3), info={"wear": 1.0})
        info = None if wear is None else {"wear": wear}
        episode.observe(0.0, None if reading is None else np.zeros(1), info=info)
    assert episode.record.metrics["cost"] == 0.5 + 0.25 + 0.5  # what is not known is taken to be the largest so far


@pytest.mark.parametrize(
    ("fallback", "cost", "says"),
    [
        (lambda obs: None, lambda o, a, n: 0.0, "step 0: the fallback's action is None"),
        (lambda obs: np.full(1, np.nan), lambda o, a, n: 0.0, "step 0: the fallback's action is array"),
        (lambda obs, step: None if step == 2 else home(obs, step), lambda o, a, n: 0.0, "step 2: the fallback's"),
        (home, lambda o, a, n: "much", "step 0: the cost of a step must be a finite number, not 'much'"),
    ],
)
def test_what_functions_of_users_return_is_checked_and_located(fallback, cost, says):
    agent = CMERL(Line(), horizon=5, fallback=fallback, cost=cost, cost_budget=1.0)
    with pytest.raises(InputError, match=says):
        agent.learn(1)


def test_a_fallback_beyond_its_bounds_is_played_at_them():
    agent = CMERL(Line(), horizon=5, limits={0: (-9.0, 9.0)}, fallback=lambda obs: 7.0).learn(1)
    assert {float(action[0]) for action in agent.lesson()["actions"]} == {1.0}


def test_a_fallback_of_a_finite_mdp_is_checked_at_every_state():
    fallback = [0, 0, 0, 0, 7].__getitem__
    agent = CMERL(
        cliff(), limits={0: (0, 2)}, horizon=6, fallback=lambda obs: fallback(obs), caution=Caution(first=0)
    )
    with pytest.raises(InputError, match="the fallback's action is 7, which is none of the 2 actions"):
        agent.learn(1)


@pytest.mark.parametrize("allowed", [lambda obs, action: action == 0 or obs < 1, lambda obs: [True, obs < 1]])
def test_a_fallback_must_keep_to_what_is_allowed(allowed):
    """Going right is forbidden from state 1 on: a fallback that goes right gets there by its first step."""
    made = {"horizon": 6, "limits": {0: (0, 2)}, "allowed": allowed}
    says = "^episode 0, step 1: the fallback's action is .*1.*, which is forbidden at the observation .*1"
    with pytest.raises(InputError, match=says):
        CMERL(cliff(), fallback=1, **made).learn(1)
    assert max(seen_states(CMERL(cliff(), fallback=lambda obs: int(obs < 1), **made), 2)) == 1


def test_numbers_of_a_fallback_are_clipped_before_they_must_be_allowed():
    made = {"horizon": 5, "limits": {0: (-9.0, 9.0)}, "fallback": lambda obs: 7.0}
    CMERL(Line(), allowed=lambda obs, action: action[0] <= 1.0, **made).learn(1)
    with pytest.raises(InputError, match=r"step 0: the fallback's action is array\(\[1.*, which is forbidden"):
        CMERL(Line(), allowed=lambda obs, action: action[0] < 1.0, **made).learn(1)


def test_forecasts_clip_a_fallback_too():
    def wild(obs, step):
        return 5.0 * home(obs, step)

    made = {"horizon": 10, "limits": {"place": (-1.0, 1.0)}, "caution": Caution(unknown=1.0, steps=5), "seed": 1}
    ours, theirs = (
        CMERL(Line(), fallback=act, **made).learn(4)
        for act in (wild, lambda obs, step: np.clip(wild(obs, step), -1, 1))
    )
    assert [record.ret for record in ours.history] == [record.ret for record in theirs.history]
    assert ours.interventions == theirs.interventions


def test_a_budget_is_kept_in_an_evaluation():
    """Actions wear, the fallback does not, and the budget is for some of the steps."""

    class Worn(Line):
        worn = 0.0

        def reset(self, **options):
            self.worn = 0.0
            return super().reset(**options)

        def step(self, action):
            found = super().step(action)
            self.worn += found[-1]["wear"]
            return found

    options = {"cost": "wear", "cost_budget": 2.0, "fallback": np.zeros(1), "caution": Caution(first=0)}
    agent, env = CMERL(Line(), horizon=15, **options).learn(3), Worn()
    agent.evaluate(env, episodes=1)
    assert 0.0 < env.worn <= 2.0


@pytest.mark.parametrize("allowed", [lambda obs, a: a == 0 or obs < 2, lambda obs: [True, obs < 2]])
def test_forbidden_actions_are_never_played(allowed):
    agent = CMERL(cliff(), horizon=6, allowed=allowed)
    assert max(seen_states(agent, 10)) == 2
    assert {(i.by, i.reason) for i in agent.interventions} == {("mask", "the action is forbidden here")}


def test_a_budget_of_exploratory_episodes_and_a_pause(tmp_path):
    agent = CMERL(cliff(), horizon=6, exploratory_episodes=3, seed=0).learn(6)
    assert agent.predict(0) == agent.predict(0, explore=False)
    other = CMERL(cliff(), horizon=6, seed=0)
    other.pause()
    assert other.predict(0) == other.predict(0, explore=False)
    other.learn(2)
    other.save(tmp_path / "agent")
    assert CMERL.load(tmp_path / "agent", cliff()).paused is True
    assert other.resume().paused is False
    assert CMERL(cliff(), horizon=6, explore="greedy", seed=0).learn(2).history[0].ret == other.history[0].ret


class Counting(Supervisor):
    """Notes from how many transitions forecasts are made."""

    made: ClassVar[list[int]] = []

    def foresee(self, Z, nexts):
        self.made.append(len(Z))
        return super().foresee(Z, nexts)


def test_a_forecast_is_made_again_when_data_have_grown_by_a_quarter():
    box = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)
    states, actions, zero = StateSpace.of(box), ActionSet.of(box), np.zeros(1)
    by = Counting(states, actions, 10, limits=Limits.of({0: (-1, 1)}, states), fallback=lambda obs, step: zero)
    Z, seen = np.random.default_rng(0).uniform(-0.5, 0.5, (50, 2)), [50]
    plans = Plans(lambda obs, step: zero, lambda rows, step: np.zeros((len(rows), 1)), lambda obs, step: np.zeros(1))
    watch = Watch(by, plans, lambda: (Z[: seen[0]], 0.9 * Z[: seen[0], :1]), np.random.default_rng, 0)
    for step, seen[0] in enumerate([20, 22, 25, 26, 30, 40]):
        watch.act(zero, step, lambda: zero)
    assert Counting.made == [20, 26, 40]


class Remembering:
    """A controller that must be asked once a step, as those with an integral."""

    clashes: ClassVar[list[int]] = []
    last = -1

    def begin_episode(self):
        return Remembering()

    def __call__(self, obs, step):
        if step <= self.last and step < 9:  # at the end of an episode it stands still
            self.clashes.append(step)
        self.last = step
        return home(obs, step)


def test_every_path_has_a_controller_of_its_own():
    agent = CMERL(Line(), horizon=10, limits={"place": (-1.0, 1.0)}, fallback=Remembering(), seed=1).learn(3)
    assert "too little is known of what follows within 15 steps" in {i.reason for i in agent.interventions}
    assert Remembering.clashes == []


class Jitter(gymnasium.Env):
    """A level that jitters, with a valve."""

    observation_space = gymnasium.spaces.Box(-2.0, 2.0, (1,), np.float64)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)
    horizon = 10

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level = np.zeros(1)
        return self.level.copy(), {}

    def step(self, action):
        self.level = np.clip(self.level + 0.1 * action + 0.05 * self.np_random.normal(size=1), -2.0, 2.0)
        return self.level.copy(), -abs(float(self.level[0]) - 0.5), False, False, {}


def test_a_cost_is_asked_along_paths_with_noise():
    """A log has shown what every action does, so that paths differ by the noise of 0.05, drawn twice as large."""
    rng, asked = np.random.default_rng(0), []
    actions, noise = rng.uniform(-1, 1, (150, 1)), 0.05 * rng.normal(size=(150, 1))
    levels = [np.zeros(1)]
    for action, jolt in zip(actions, noise, strict=True):
        levels.append(np.clip(0.9 * levels[-1] + 0.1 * action + jolt, -2.0, 2.0))

    def cost(obs, action, next_obs):
        if obs[0] == 0.0:
            asked.append(float(next_obs[0]))
        return 0.0

    options = {"fallback": np.zeros(1), "caution": Caution(first=0, samples=200, steps=2), "reward_range": (-3, 0)}
    agent = CMERL(Jitter(), cost=cost, cost_budget=1.0, **options)
    agent.fit([{"observations": levels, "actions": actions, "rewards": np.zeros(150)}])
    agent.predict(np.zeros(1))
    noisy, plain = np.split(np.array(asked[:400]), 2)
    assert noisy.std() == pytest.approx(0.1, rel=0.2)
    assert plain.std() < 0.05


def test_an_agent_that_never_leaves_its_fallback_says_so_and_what_helps(caplog):
    options = {"limits": {0: (None, 1.5)}, "fallback": np.zeros(1), "reward_range": (-3, 0), "seed": 0}
    agent = CMERL(Jitter(), caution=Caution(unknown=0.0), **options).learn(3)
    assert not caplog.messages
    agent.learn(3)
    assert {i.by for i in agent.interventions} == {"fallback"}
    assert [message[:22] for message in caplog.messages] == ["the fallback has acted"]  # once
    assert "agent.fit" in agent.diagnostics()["exploration"]
    assert "caution=cmerl.safety.Caution(steps=5, unknown=1.0)" in caplog.messages[0]
    assert "`Caution(steps=5, unknown=1.0)`" in (ROOT / "docs/how-to/limits.md").read_text()
    bolder = CMERL(Jitter(), caution=Caution(steps=5, unknown=1.0), **options).learn(6)
    assert len(caplog.messages) == 1
    assert sum(i.by == "fallback" for i in bolder.interventions) < 30  # of 60 steps
    assert {i.reason for i in bolder.interventions if i.episode > 0} == {"the limits may be left within 5 steps"}


class Tank(gymnasium.Env):
    """A heated tank that loses heat, with noise: it pays to hold 60 degrees."""

    observation_space = gymnasium.spaces.Box(0.0, 120.0, (1,), np.float64)
    action_space = gymnasium.spaces.Box(0.0, 1.0, (1,), np.float64)
    columns = ("temperature",)
    horizon = 25

    def __init__(self, noise):
        self.noise, self.peak = noise, -np.inf

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level = self.np_random.uniform(38.0, 42.0, 1)
        return self.level.copy(), {}

    def step(self, action):
        noise = self.noise * self.np_random.normal(size=1)
        self.level = np.clip(self.level + 0.1 * (20.0 - self.level) + 8.0 * action + noise, 0.0, 120.0)
        self.peak = max(self.peak, float(self.level[0]))
        return self.level.copy(), -abs(float(self.level[0]) - 60.0) / 20, False, False, {}


def proportional(obs, step):
    """A controller that holds 40 degrees."""
    return np.clip(0.25 + 0.05 * (40.0 - obs), 0.0, 1.0)


@pytest.mark.parametrize("noise", [0.02, 1.0, 3.0])
def test_a_noisy_tank_leaves_its_fallback_and_keeps_its_limit(noise):
    env = Tank(noise)
    agent = CMERL(env, limits={"temperature": (None, 70.0)}, fallback=proportional, reward_range=(-2, 0), seed=0)
    agent.learn(8)
    acted = [sum(entry["by"] == "fallback" for entry in r.metrics["interventions"]) for r in agent.history]
    assert acted[0] == 25
    assert max(acted[-2:]) < 12
    assert env.peak <= 70.0


def test_a_runaway_is_avoided_from_the_first_episodes_on():
    agent = CMERL(Reactor(), limits={"temperature": (None, 375.0)}, fallback=PIController(), seed=101).learn(3)
    assert [record.length for record in agent.history] == [40] * 3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"limits": {"pressure": (0, 1)}}, "limits has 'pressure', but the observation has 0, place"),
        ({"limits": {0: (1, 0)}}, "lo < hi"),
        ({"limits": {}}, "limits must map"),
        ({"explore": "boldly"}, "explore must be"),
        ({"explore": "cautious"}, "needs to know what to avoid"),
        ({"cost": "wear"}, "belong together"),
        ({"cost": 3, "cost_budget": 1.0}, "cost must be"),
        ({"limits": {0: (-1, 1)}, "fallback": "home"}, "fallback must be"),
        ({"allowed": 3}, "allowed must be"),
        ({"fallback": home}, "a fallback acts where limits or a budget would be exceeded"),
        ({"cost": "wear", "cost_budget": "much"}, "cost_budget must be a finite number"),
        ({"limits": {0: (-1, 1)}, "caution": 5}, "caution must be a cmerl.safety.Caution"),
        ({"exploratory_episodes": -1}, "exploratory_episodes must be"),
    ],
)
def test_what_makes_no_sense_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        CMERL(Line(), horizon=5, **options)
