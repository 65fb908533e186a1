"""The learner: when transitions wait to be learned, what is played meanwhile, and that none of them is ever lost."""

from __future__ import annotations

import dataclasses
from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl.agents import CMERL, EpisodeRecord
from cmerl.agents.cme_rl.calibration import model_error
from cmerl.agents.cme_rl.settings import Settings, Updates
from cmerl.agents.cme_rl.transition_store import TransitionStore
from cmerl.agents.cme_rl.update_buffer import Seen, UpdateBuffer
from cmerl.agents.saving import container
from cmerl.errors import KernelError
from cmerl.experiments import units
from cmerl.experiments.packing import pack, unpack
from cmerl.experiments.spec import parse
from cmerl.planning import make_plan

SOON = 60  # transitions after which an agent may wait, so that short runs show it
SETTINGS = Settings(updates=Updates(wait_after=SOON))

CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "exact": ("cmerl/RiverSwim-v0", 20, {}),
    "a law for each step": ("cmerl/RiverSwim-v0", 6, {"time_homogeneous": False}),
    "compressed": ("cmerl/RiverSwim-v0", 20, {"backend": "compressed"}),
    "ends": ("FrozenLake-v1", 15, {}),
}
EPISODES = {"exact": 30, "a law for each step": 60, "compressed": 30, "ends": 50}


def world_of(case: str) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(CASES[case][0], **({"coordinates": True} if case == "compressed" else {}))


def make(case: str, cls: type[CMERL] = CMERL, **options: Any) -> CMERL:
    _, horizon, own = CASES[case]
    return cls(world_of(case), horizon=horizon, seed=5, **{"settings": SETTINGS, **own, **options})


def bits(history: list[EpisodeRecord]) -> list[EpisodeRecord]:
    return [dataclasses.replace(record, seconds=0.0) for record in history]


def until_something_waits(agent: CMERL, episodes: int) -> CMERL:
    """Learn so many episodes, and on until transitions of several episodes wait."""
    several = lambda agent, record: len(agent.learner.pending) <= record.length  # noqa: E731
    agent.learn(episodes).learn(100, callback=several)
    assert len(agent.learner.pending) > agent.history[-1].length
    return agent


class Noting(CMERL):
    """Notes at the end of every episode what the rule asks for, and what was done."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.notes: list[tuple[int, int, float, bool, bool]] = []
        super().__init__(*arguments, **options)

    def _end_episode(self) -> None:
        learned, pending, surprise = self.model.n, len(self.learner.pending), self.learner.pending.surprise
        same = self.learner.stakes_are_as_planned
        super()._end_episode()
        self.notes.append((learned, pending, surprise, same, self.model.n == learned))
        assert len(self.learner.pending) == (pending if self.model.n == learned else 0)


# --- when ---


def test_episodes_wait_until_they_would_teach_half_a_nat_or_are_many_or_change_what_is_at_stake() -> None:
    agent = make("exact", Noting).learn(60)
    assert isinstance(agent, Noting)
    for learned, pending, surprise, same, waited in agent.notes:
        assert waited == (surprise <= 0.5 and learned >= SOON and pending <= SOON and same)
    assert any(waited for *_, waited in agent.notes)
    assert any(not waited and 0.5 < surprise < 1.0 for _, _, surprise, _, waited in agent.notes)
    assert any(not waited and surprise <= 0.5 and pending > SOON for _, pending, surprise, _, waited in agent.notes)
    assert agent.model.n + len(agent.learner.pending) == sum(record.length for record in agent.history)


def test_the_surprise_is_the_information_of_each_transition_that_waits_given_what_was_learned() -> None:
    agent = until_something_waits(make("exact"), 20)
    counts: dict[bytes, int] = {}
    for _, batch in agent.model.batches or []:
        for z in np.asarray(batch.Z):
            counts[z.tobytes()] = counts.get(z.tobytes(), 0) + 1
    visits = np.array([counts.get(seen.z[0].tobytes(), 0) for seen in agent.learner.pending.seen])
    variance = agent.lam / (visits + agent.lam)  # delta kernels
    assert agent.learner.pending.surprise == pytest.approx(0.5 * np.log1p(variance / agent.lam).sum())


def test_the_first_thousand_transitions_are_learned_episode_by_episode() -> None:
    agent = make("exact", settings=Settings()).learn(50)
    assert agent.embedding.n == 1000
    assert agent.learn(10).embedding.n < 1200


@pytest.mark.parametrize("options", [{"replan": False}, {"bonus": "split"}, {"bonus": "auto"}])
def test_with_one_plan_an_episode_nothing_waits(options: dict[str, Any]) -> None:
    agent = make("exact", **options).learn(15)
    assert agent.embedding.n == 15 * 20


def test_displacements_learn_every_episode_and_models_are_still_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {
        "model": "displacement",
        "reward_range": (-1, 0),
        "lam": 10.0,
        "settings": SETTINGS,
    }  # so that hardly anything is new
    agent = CMERL(gymnasium.make("MountainCar-v0"), horizon=10, seed=0, **options).learn(12)
    assert agent.diagnostics()["transitions"] == 12 * 10
    compared = []

    def compare(model: Any, *others: Any) -> bool:
        compared.append(model.n)
        return False

    monkeypatch.setattr("cmerl.model_selection.selector.displacement_is_better", compare)

    def nothing_is_due(agent: Any, record: EpisodeRecord) -> None:
        assert not agent.model.due

    direct = CMERL(gymnasium.make("cmerl/PBall2D-v0"), horizon=10, seed=0, settings=SETTINGS)
    direct.learn(20, callback=nothing_is_due)
    assert direct.diagnostics()["backend"] == "exact"
    assert len(compared) >= 4  # at 10, 20, 40 … or a little more
    assert len(compared) <= 8


class Prize(gymnasium.Wrapper):
    """Pays more than ever, once, in the given episode."""

    def __init__(self, env: gymnasium.Env[Any, Any], episode: int, reward: float, end: bool) -> None:
        super().__init__(env)
        self.when, self.episode, self.reward, self.end = episode, -1, reward, end

    def reset(self, **options: Any) -> Any:
        self.episode += 1
        self.first = True
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self.first and self.episode == self.when:
            reward, terminated = self.reward, self.end
        self.first = False
        return obs, reward, terminated, truncated, info


@pytest.mark.parametrize(("reward", "end"), [(1.7, False), (-0.5, False), (0.0, True)])
def test_a_reward_or_an_end_that_changes_the_range_is_learned_at_once(reward: float, end: bool) -> None:
    plain = make("exact").learn(60)
    waits = [r.episode for r, after in zip(plain.history, plain.history[1:], strict=False) if same_data(r, after)]
    episode = waits[-1]
    env = Prize(gymnasium.make("cmerl/RiverSwim-v0"), episode, reward, end)
    agent = CMERL(env, seed=5, horizon=20, settings=SETTINGS).learn(episode)
    told = agent.reward_range, agent.rewards.may_end
    assert len(agent.learn(1).learner.pending) == 0
    assert (agent.reward_range, agent.rewards.may_end) != told
    learned = [float(r) for _, batch in agent.model.batches or [] for r in batch.rewards]
    assert reward in learned


def same_data(one: EpisodeRecord, other: EpisodeRecord) -> bool:
    return bool(one.metrics["transitions"] == other.metrics["transitions"])


# --- what is played meanwhile ---


@pytest.mark.parametrize("case", CASES)
def test_a_kept_plan_is_the_plan_of_what_was_learned_and_asking_for_it_changes_nothing(case: str) -> None:
    kept = []

    def compare(agent: Any, record: EpisodeRecord) -> None:
        if not agent.learner.pending:
            return
        episode = len(agent.history)
        for explore in (True, False):
            plan = agent.planner.plan(explore=explore)
            order = agent.planner.order()
            afresh = make_plan(
                agent.model.embeddings, agent.planner.task(explore=explore), episode=episode + 1, order=order
            )
            assert (plan.episode, plan.transitions, plan.first_step) == (episode + 1, agent.model.n, 0)
            np.testing.assert_array_equal(plan.order, afresh.order)
            states = np.vstack([seen.next_state for seen in agent.learner.pending.seen])
            np.testing.assert_array_equal(plan.q_table(states), afresh.q_table(states))
        agent.diagnostics()
        kept.append(episode)

    asked = make(case).learn(EPISODES[case], callback=compare)
    assert len(kept) > 3
    assert bits(asked.history) == bits(make(case).learn(EPISODES[case]).history)


@pytest.mark.parametrize("case", ["exact", "compressed"])
def test_what_is_said_of_an_episode_is_of_that_episode(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = make(case, Noting)
    assert isinstance(agent, Noting)
    lengths, judged = [], []

    def judge(model: Any, data: Any, categories: Any) -> float | None:
        judged.append(len(data))
        return model_error(model, data, categories)

    monkeypatch.setattr("cmerl.agents.cme_rl.diagnostics.model_error", judge)

    def look(agent: Any, record: EpisodeRecord) -> None:
        lengths.append(record.length - max(agent.lesson()["replans"], default=0))
        assert record.metrics["begun"] == record.episode + 1
        assert record.metrics["transitions"] <= record.episode * agent.horizon

    agent.learn(EPISODES[case], callback=look)
    assert judged == lengths
    assert max(pending for _, pending, *_ in agent.notes) > agent.horizon


def test_first_states_are_those_of_every_episode_in_a_batch() -> None:
    agent = make("compressed")
    held = TransitionStore(agent.model.recipe, 1)
    seen = [Seen(i % 4, np.full((1, 2), 0.01 * i), np.full((1, 1), 0.01 * (i + 1)), 0.0, False) for i in range(2, 14)]
    held.update(*UpdateBuffer(seen).batch())
    np.testing.assert_allclose(held.starts, [[0.04], [0.08], [0.12]])


# --- nothing is lost ---


@pytest.mark.parametrize("case", CASES)
def test_learning_in_parts_and_after_a_load_goes_on_bit_for_bit(case: str, tmp_path: Any) -> None:
    agent = until_something_waits(make(case), EPISODES[case] - 10)
    half = len(agent.history)
    agent.save(tmp_path / "agent")
    again = CMERL.load(tmp_path / "agent", env=world_of(case))
    assert len(again.learner.pending) == len(agent.learner.pending)
    assert again.learner.pending.surprise == agent.learner.pending.surprise
    whole = make(case).learn(half + 10)
    assert bits(agent.learn(10).history) == bits(whole.history)
    assert bits(again.learn(10).history) == bits(whole.history)


def test_an_agent_that_has_dropped_its_log_saves_what_waits(tmp_path: Any) -> None:
    settings = dataclasses.replace(SETTINGS, keep=100)
    agent = until_something_waits(make("compressed", settings=settings), 20)
    assert agent.model.batches is None
    agent.save(tmp_path / "agent")
    again = CMERL.load(tmp_path / "agent", env=world_of("compressed"))
    assert bits(agent.learn(10).history) == bits(again.learn(10).history)


def test_agents_where_nothing_waits_are_read(tmp_path: Any) -> None:
    agent = make("exact", settings=Settings()).learn(8)
    agent.save(tmp_path / "agent")
    tensors, _ = container.read(tmp_path / "agent")
    assert not any(name.startswith("pending") for name in tensors)
    again = CMERL.load(tmp_path / "agent", env=gymnasium.make("cmerl/RiverSwim-v0"))
    assert bits(agent.learn(3).history) == bits(again.learn(3).history)


@pytest.mark.parametrize("case", CASES)
def test_an_agent_made_again_from_lessons_goes_on_bit_for_bit(case: str) -> None:
    lessons: list[bytes] = []
    keep = lambda agent, record: lessons.append(pack(agent.lesson()))  # noqa: E731
    agent = make(case).learn(EPISODES[case], callback=keep)
    again = make(case)
    waiting = 0
    for after, (record, lesson) in enumerate(zip(agent.history[:-5], lessons, strict=False), start=1):
        again.relearn(record, unpack(lesson))
        waiting = max(waiting, len(again.learner.pending) - record.length)
        assert again.model.n + len(again.learner.pending) == sum(r.length for r in agent.history[:after])
    assert waiting > 0  # of several episodes
    assert bits(again.learn(5).history) == bits(agent.history)


class Tape:
    """A journal in a list."""

    def __init__(self, records: list[bytes]) -> None:
        self._records = records

    def records(self) -> list[bytes]:
        return list(self._records)

    def append(self, payload: bytes) -> None:
        self._records.append(payload)


def test_a_run_that_was_killed_while_something_waited_is_resumed_bit_for_bit() -> None:
    def told(records: list[bytes]) -> list[Any]:
        found = [unpack(record) for record in records]
        for record in found:
            record.get("line", {}).pop("seconds", None)
        return [pack(record) for record in found]

    unit = units.units_of(parse({"environment": "cmerl/RiverSwim-v0", "agents": ["cme-rl"], "episodes": 62}))[0]
    whole: list[bytes] = []
    units.play(unit, Tape(whole))
    for episodes in (52, 55, 59):
        resumed = whole[: 1 + episodes]
        units.play(unit, Tape(resumed))
        assert told(resumed) == told(whole)


@pytest.mark.parametrize("case", CASES)
def test_what_waits_is_learned_when_an_episode_breaks_off(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = until_something_waits(make(case), EPISODES[case] - 10)
    seen = agent.model.n + len(agent.learner.pending)
    assert agent.env is not None
    play, count = agent.env.step, iter(range(100))

    def fall(action: Any) -> Any:
        if next(count) == 3:
            raise RuntimeError("the robot fell")
        return play(action)

    monkeypatch.setattr(agent.env, "step", fall)
    with pytest.raises(RuntimeError, match="fell"):
        agent.learn(1)
    assert agent.model.n == seen + 3
    assert len(agent.learner.pending) == 0
    assert agent.planner.plan().episode == len(agent.history) + 2
    agent.learn(3)
    assert agent.model.n + len(agent.learner.pending) == seen + 3 + sum(r.length for r in agent.history[-3:])


def test_an_episode_that_the_kernel_refuses_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = until_something_waits(make("exact"), 20)
    seen = agent.model.n + len(agent.learner.pending)
    model = agent.model.embeddings[0]
    learn = model.update

    def refuse(batch: Any) -> None:
        if 0.125 in batch.rewards:
            raise KernelError("no such point")
        learn(batch)

    monkeypatch.setattr(model, "update", refuse)
    agent.env = Prize(gymnasium.make("cmerl/RiverSwim-v0"), 0, 0.125, end=False)
    agent.updates = Updates(wait_nats=0.0)  # so that it is learned at once
    with pytest.raises(KernelError, match="no such point"):
        agent.learn(1)
    assert agent.model.n == seen
    assert len(agent.learner.pending) == 0


class Pond(gymnasium.Env[np.ndarray, int]):
    """A walk on a line of 60 steps from 0: an end at 5 pays ten, and beyond 5 there is nothing."""

    observation_space = gymnasium.spaces.Box(-20.0, 20.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    goal = 5.0

    def reset(self, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(**options)
        self.x = 0.0
        return np.array([0.0], dtype=np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.x = float(np.clip(self.x + (0.5 if action else -0.5), -20.0, 20.0))
        ended = abs(self.x - self.goal) < 0.3
        return np.array([self.x], dtype=np.float32), 10.0 if ended else -0.01, ended, False, {}


def test_an_end_that_does_not_come_is_learned_inside_the_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    env = Pond()
    agent = CMERL(env, horizon=60, seed=0, model="displacement").learn(6)
    assert any(record.length < 60 for record in agent.history)
    env.goal = 8.0  # where the model has an end there is none any more
    learned, learn = [], agent.learner.learn

    def noting(**options: Any) -> None:
        learned.append(len(agent.learner.pending))
        learn(**options)

    monkeypatch.setattr(agent.learner, "learn", noting)
    agent.learn(1)
    assert len(learned) >= 2  # once as soon as no end came, and once when the episode was over
    assert learned[0] < agent.history[-1].length
