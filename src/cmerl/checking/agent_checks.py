"""The contract of agents: each check is a function from an agent class to findings."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from cmerl.agents.base import REGRET_KINDS, Agent, EpisodeRecord
from cmerl.checking.episodes import global_seeds, same
from cmerl.checking.report import Severity
from cmerl.envs.finite import FiniteMDP
from cmerl.errors import CmerlError

Env = gymnasium.Env[Any, Any]
Problem = tuple[Severity, str, str]


@dataclass(frozen=True)
class Subject:
    """An agent under test.

    Attributes:
        make: makes it, as make(env, horizon=…, seed=…).
        world: makes the environment to try it in.
        horizon: steps of an episode.
        episodes: episodes of each run.
        seed: of a run.
        directory: for files.
    """

    make: Callable[..., Agent]
    world: Callable[[], Env]
    horizon: int
    episodes: int
    seed: int
    directory: Path

    def agent(self, env: Env | None = None, *, seed: int | None = None, horizon: int | None = None) -> Agent:
        """A new one."""
        return self.make(
            env or self.world(), horizon=horizon or self.horizon, seed=self.seed if seed is None else seed
        )


class Witness(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Writes down what was really paid, and may spoil it.

    Args:
        env: the environment.
        end: the step after which each episode is over, alternately by an end and by truncation; None for never.
        spoil: the episode in which, after two steps, the reward is NaN; None for none.
    """

    def __init__(self, env: Env, *, end: int | None = None, spoil: int | None = None) -> None:
        super().__init__(env)
        self.end, self.spoil = end, spoil
        self.rewards: list[list[float]] = []
        self.lasts: list[Any] = []

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        self.rewards.append([])
        return super().reset(**options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play a step."""
        obs, reward, terminated, truncated, info = super().step(action)
        episode, steps = len(self.rewards) - 1, self.rewards[-1]
        steps.append(float(reward))
        if self.end is not None and len(steps) >= self.end:
            terminated, truncated = episode % 2 == 0, episode % 2 == 1
        if self.spoil == episode and len(steps) == 2:
            reward = float("nan")
        return obs, reward, terminated, truncated, info


def bits(history: Sequence[EpisodeRecord]) -> Sequence[EpisodeRecord]:
    """Records without what may differ: the time they took."""
    return [dataclasses.replace(record, seconds=0.0) for record in history]


def difference(one: Sequence[EpisodeRecord], other: Sequence[EpisodeRecord]) -> str | None:
    """The first difference of two histories, in words; None if there is none."""
    for a, b in zip(bits(one), bits(other), strict=False):
        if not same(dataclasses.asdict(a), dataclasses.asdict(b)):
            return f"episode {a.episode} returned {a.ret:g} and {b.ret:g}, or differs in its metrics"
    return None if len(one) == len(other) else f"there are {len(one)} and {len(other)} records"


def check_interface(subject: Subject) -> Iterator[Problem]:
    """It is an Agent with a name, learns by ``learn``, and describes itself."""
    agent = subject.agent()
    if not isinstance(agent, Agent):
        yield "error", f"it made a {type(agent).__name__}", "derive from cmerl.agents.Agent"
        return
    if not isinstance(getattr(agent, "name", None), str):
        yield "error", "it has no name", "set the class attribute name"
    if agent.learn(1) is not agent:
        yield "error", "learn does not return the agent", "return self"
    told = agent.diagnostics() if hasattr(agent, "diagnostics") else None
    if not isinstance(told, dict):
        yield "warning", "it has no diagnostics()", "return a dictionary of what was learned, for people to read"
    if agent.learn(0) is not agent or len(agent.history) != 1:
        yield "error", "learn(0) changed the history", "play no episode"
    agent.learn(5, callback=lambda agent, record: False)
    if len(agent.history) != 2:
        yield "error", "a callback that returned False did not end learning", "leave learn to the base class"


def check_history(subject: Subject) -> Iterator[Problem]:
    """Records say what was paid, and how long it took."""
    env = Witness(subject.world())
    agent = subject.agent(env).learn(subject.episodes)
    if [record.episode for record in agent.history] != list(range(subject.episodes)):
        yield "error", "episodes are not numbered from 0 on, one after the other", "leave history to the base class"
    for record, rewards in zip(agent.history, env.rewards, strict=False):
        if record.length != len(rewards) or not np.isclose(record.ret, sum(rewards)):
            what = (
                f"episode {record.episode} paid {sum(rewards):g} in {len(rewards)} steps; its record says otherwise"
            )
            yield "error", what, "record the undiscounted return in the environment's units"
            return
        if not record.seconds >= 0 or record.length > subject.horizon:
            yield "error", f"episode {record.episode} has length {record.length}", "play at most the horizon"
            return
    for record in subject.agent().learn(2).history:
        if record.regret_kind not in REGRET_KINDS or (record.regret is None) != (record.regret_kind is None):
            yield "error", f"regret {record.regret} of kind {record.regret_kind!r}", "leave regret to the base class"
        if record.regret is not None and not record.regret >= -1e-6:
            yield "error", f"the regret of episode {record.episode} is {record.regret:g}", "it must not be negative"
        try:
            json.dumps(record.metrics, allow_nan=False)
        except (TypeError, ValueError) as error:
            yield "error", f"metrics are not ready for JSON: {error}", "record plain finite numbers"


def check_seeds(subject: Subject) -> Iterator[Problem]:
    """Equal seeds give equal runs, independently of global generators."""
    runs = []
    for globally in (1, 2):
        with global_seeds(globally):
            runs.append(subject.agent().learn(subject.episodes).history)
    if where := difference(*runs):
        yield "error", f"two runs with the same seed differ: {where}", "draw from self._rng(…) and nothing else"
    agent = subject.agent()
    if agent.seed != subject.seed:
        yield "error", f"seed {subject.seed} was given, and seed {agent.seed} is used", "pass seed on to the base"


def check_parts(subject: Subject) -> Iterator[Problem]:
    """``learn(a)`` then ``learn(b)`` is ``learn(a + b)``."""
    whole = subject.agent().learn(subject.episodes)
    parts = subject.agent().learn(1).learn(subject.episodes - 1)
    if where := difference(whole.history, parts.history):
        fix = "keep in the agent, not in learn, what the next episode depends on"
        yield (
            "error",
            f"learn(1) and learn({subject.episodes - 1}) differ from learn({subject.episodes}): {where}",
            fix,
        )


def check_saving(subject: Subject) -> Iterator[Problem]:
    """A saved agent goes on exactly where it stopped."""
    whole, agent = subject.agent().learn(subject.episodes), subject.agent().learn(2)
    path = subject.directory / "saved"
    agent.save(path)
    loaded = type(agent).load(path, subject.world())
    if where := difference(agent.history, loaded.history):
        yield "error", f"the history that was loaded is not the one that was saved: {where}", "see Agent.save"
        return
    loaded.learn(subject.episodes - 2)
    if where := difference(whole.history, loaded.history):
        yield "error", f"a loaded agent goes on differently: {where}", "return all that changes in _state"
    agent.learn(subject.episodes - 2)
    if where := difference(whole.history, agent.history):
        yield "error", f"an agent goes on differently once it was saved: {where}", "save without changing anything"


def check_lessons(subject: Subject) -> Iterator[Problem]:
    """An agent rebuilt from the lessons of its episodes goes on as if nothing had happened."""
    lessons: list[dict[str, Any]] = []
    agent = subject.agent()
    agent.learn(subject.episodes, callback=lambda agent, record: lessons.append(agent.lesson()))
    again = subject.agent()
    for record, lesson in zip(agent.history[:2], lessons, strict=False):
        again.relearn(record, lesson)
    again.learn(subject.episodes - 2)
    if where := difference(agent.history, again.history):
        yield "error", f"made again from its lessons it goes on differently: {where}", "see Agent.lesson"


def check_predict(subject: Subject) -> Iterator[Problem]:
    """Asking changes nothing, is repeatable, and gives actions of the space."""
    agent, asked = subject.agent().learn(2), subject.agent().learn(2)
    env = subject.world()
    obs, _ = env.reset(seed=0)
    for step in range(subject.horizon):
        for explore in (True, False):
            action = asked.predict(obs, step, explore)
            if not env.action_space.contains(np.asarray(action) if np.ndim(action) else action):
                yield "error", f"predict gave {action!r}, which is not in {env.action_space}", "act in the space"
                return
            again, policy = asked.predict(obs, step, explore), asked.policy(explore)(obs, step)
            if not (np.array_equal(action, again) and np.array_equal(action, policy)):
                yield "error", f"predict at step {step} gave {action!r}, {again!r}, {policy!r}", "draw nothing there"
                return
    if where := difference(agent.learn(2).history, asked.learn(2).history):
        yield "error", f"an agent that was asked goes on differently: {where}", "change nothing in policy and predict"


def check_tables(subject: Subject) -> Iterator[Problem]:
    """The table or law of a policy, by which regret is computed, is what it plays."""
    agent = subject.agent().learn(2)
    space = subject.world().observation_space
    policy: Any = agent.policy()
    if not isinstance(space, gymnasium.spaces.Discrete) or getattr(policy, "ahead", None) is not None:
        return
    observations = np.arange(int(space.n)) + int(space.start)
    if hasattr(policy, "probabilities"):
        law = np.asarray(policy.probabilities(observations))
        if not ((law >= 0).all() and np.allclose(law.sum(axis=2), 1.0)):
            yield "error", "probabilities do not sum to 1", "return laws (H, S, A)"
    elif hasattr(policy, "table"):
        table = np.asarray(policy.table(observations))
        played = [[policy(int(obs), step) for obs in observations] for step in range(subject.horizon)]
        if not np.array_equal(table, np.asarray(played)):
            yield "error", "policy.table differs from what the policy plays", "compute both from one plan"


def check_bad_input(subject: Subject) -> Iterator[Problem]:
    """Bad input raises a one-sentence error of cmerl."""
    agent = subject.agent().learn(1)
    before = bits(agent.history)
    attempts: dict[str, Callable[[], Any]] = {
        "env='nothing'": lambda: subject.make("nothing", horizon=subject.horizon, seed=0),
        "horizon=0": lambda: subject.make(subject.world(), horizon=0, seed=0),
        "seed=-1": lambda: subject.make(subject.world(), horizon=subject.horizon, seed=-1),
        "learn(-1)": lambda: agent.learn(-1),
        "learn(1.5)": lambda: agent.learn(1.5),  # type: ignore[arg-type]
        "predict at step -1": lambda: agent.predict(subject.world().reset(seed=0)[0], -1),
        "predict after the last step": lambda: agent.predict(subject.world().reset(seed=0)[0], subject.horizon),
        "load of a file that is none": lambda: type(agent).load(subject.directory / "nothing"),
    }
    for what, attempt in attempts.items():
        try:
            attempt()
        except CmerlError:
            continue
        except Exception as error:
            yield "error", f"{what} raised {type(error).__name__}: {error}", "raise an error of cmerl.errors"
        else:
            yield "error", f"{what} was accepted", "raise cmerl.errors.InputError"
    if bits(agent.history) != before:
        yield "error", "what was refused changed the history", "check before anything is changed"


def check_faults(subject: Subject) -> Iterator[Problem]:
    """A reward that is no number breaks an episode off, is told with its place, and the agent can go on."""
    agent = subject.agent(Witness(subject.world(), spoil=1))
    agent.learn(1)
    try:
        agent.learn(1)
    except CmerlError as error:
        if "episode 1, step 1" not in str(error):
            yield "error", f"the error does not say where: {error}", "leave the loop to the base class"
    else:
        yield "error", "a reward of NaN was accepted", "leave the loop to the base class"
    if len(agent.history) != 1:
        yield "error", "an episode that was broken off is in the history", "append finished episodes only"
    agent.learn(2)
    if len(agent.history) != 3:
        yield "error", "it did not go on after a fault", "let _break_off keep what can be kept"


def check_horizon_1(subject: Subject) -> Iterator[Problem]:
    """An episode of one step is one."""
    agent = subject.agent(horizon=1).learn(3)
    if [record.length for record in agent.history] != [1, 1, 1]:
        yield "error", f"lengths are {[r.length for r in agent.history]} at horizon 1", "play the horizon"
    agent.predict(subject.world().reset(seed=0)[0], 0)


def check_ends(subject: Subject) -> Iterator[Problem]:
    """Episodes that end early, or are cut, are learned from."""
    for end in (1, 2):
        env = Witness(subject.world(), end=end)
        agent = subject.agent(env).learn(subject.episodes)
        if any(record.length != end for record in agent.history):
            yield (
                "error",
                f"episodes that end after {end} steps have lengths {[r.length for r in agent.history]}",
                ("stop where the environment says so"),
            )
        agent.predict(env.reset(seed=0)[0], subject.horizon - 1)


def check_ties(subject: Subject) -> Iterator[Problem]:
    """Ties are broken by the seed."""
    env = subject.world()
    spaces = env.observation_space, env.action_space
    if not all(isinstance(space, gymnasium.spaces.Discrete) for space in spaces):
        return
    alike = FiniteMDP(np.full((2, 3, 2), 0.5), np.full((2, 3), 0.5))
    first = [subject.agent(alike, seed=seed).policy()(0, 0) for seed in range(16)]
    if len({int(action) for action in first}) == 1:
        yield "warning", f"sixteen seeds choose action {first[0]} among equals", "break ties by the seed"


CHECKS: dict[str, Callable[[Subject], Iterator[Problem]]] = {
    "interface": check_interface,
    "history": check_history,
    "seeds": check_seeds,
    "parts": check_parts,
    "saving": check_saving,
    "lessons": check_lessons,
    "predict": check_predict,
    "tables": check_tables,
    "bad input": check_bad_input,
    "faults": check_faults,
    "horizon 1": check_horizon_1,
    "ends": check_ends,
    "ties": check_ties,
}
