"""Slices through what an agent believes, against the plan that they show."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.agents.slices import draw, slice_of
from cmerl.errors import InputError


@pytest.fixture(scope="module")
def ball() -> cmerl.CMERL:
    return cmerl.CMERL(gymnasium.make("cmerl/PBall2D-v0"), seed=0, model="direct", replan=False).learn(2)


def test_every_layer_is_that_of_the_plan(ball: cmerl.CMERL) -> None:
    found = slice_of(ball, (1, 0), None, 4, False, points=5)
    policy = ball.policy(explore=False)
    for i, j in [(0, 0), (2, 3), (4, 1)]:
        obs = np.array([found.axes[1][j], found.axes[0][i]])
        row = ball.states.encode(obs)
        best = int(policy.plan.act(row, 4)[0])
        assert found.value[i, j] == pytest.approx(policy.plan.value(row, 4)[0])
        assert found.policy[i, j] == policy(obs, 4)
        assert found.uncertainty[i, j] == pytest.approx(policy.plan.views[0].grid(row).std()[0, best])


def test_errors_are_what_the_mean_misses(ball: cmerl.CMERL) -> None:
    """Against weights solved here, on the scale of a mean step."""
    found = slice_of(ball, None, None, 0, False, points=3)
    (_, first), (_, second) = ball.model.batches
    Z, after = np.vstack([first.Z, second.Z]), np.vstack([first.next_states, second.next_states])
    K = ball.kernel(Z)
    mean = K @ np.linalg.solve(K + ball.lam * np.eye(len(Z)), after)
    scale = np.linalg.norm(after - Z[:, :2], axis=1).mean()
    assert found.error == pytest.approx(np.linalg.norm(after - mean, axis=1) / scale, abs=1e-8)


def test_a_figure_in_more_and_fewer_dimensions(tmp_path: Path, ball: cmerl.CMERL) -> None:
    ball.plot(path=tmp_path / "ball.png", names=["x", "y"])
    assert (tmp_path / "ball.png").read_bytes().startswith(b"\x89PNG")
    assert len(ball.plot([1]).axes) == 4
    pole = cmerl.CMERL(gymnasium.make("CartPole-v1"), horizon=30, seed=0).learn(1)
    figure = pole.plot((2, 3), at=[0.0, 0.0, 0.0, 0.0], names=["x", "v", "angle", "turn"])
    assert "x = 0, v = 0" in figure.get_suptitle()


@pytest.mark.parametrize("bonus", ["practical", "kl"])
def test_states_that_are_finitely_many_are_all_shown(tmp_path: Path, bonus: str) -> None:
    env = gymnasium.make("cmerl/RiverSwim-v0")
    river = cmerl.CMERL(env, seed=0, bonus=bonus, reward_range=(0, 1)).learn(3)
    found, policy = slice_of(river, None, None, 2, False), river.policy(explore=False)
    assert found.axes[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert found.policy.tolist() == [policy(s, 2) for s in range(6)]
    data = river.transitions()
    count: dict[tuple[int, int], list[int]] = {}
    for s, a, t in zip(data.observations, data.actions, data.nexts, strict=True):
        count.setdefault((int(s), int(a)), []).append(int(t))
    missed = [
        1.0 - count[int(s), int(a)].count(int(t)) / (len(count[int(s), int(a)]) + river.lam)
        for s, a, t in zip(data.observations, data.actions, data.nexts, strict=True)
    ]
    assert found.error == pytest.approx(missed)  # by the counts
    river.plot(path=tmp_path / "river.png")
    assert (tmp_path / "river.png").read_bytes().startswith(b"\x89PNG")


def test_a_few_actions_have_a_colour_each(ball: cmerl.CMERL) -> None:
    found = slice_of(ball, None, None, 0, False)
    bar = draw(found).axes[-2]  # after the panels come the scales of value, uncertainty, policy and error
    assert [float(tick.get_text()) for tick in bar.get_yticklabels()] == np.unique(found.policy).tolist()


def test_what_cannot_be_plotted(ball: cmerl.CMERL) -> None:
    with pytest.raises(InputError, match="columns must be one or two different numbers from 0 to 1"):
        ball.plot((0, 2))
    with pytest.raises(InputError, match="at must be an observation of 2 numbers"):
        ball.plot(at=[0.0])
    with pytest.raises(InputError, match="nothing to plot: learn first"):
        cmerl.CMERL(gymnasium.make("cmerl/PBall2D-v0")).plot()
    with pytest.raises(InputError, match="columns must be one or two different numbers from 0 to 0"):
        cmerl.CMERL(gymnasium.make("cmerl/RiverSwim-v0")).learn(1).plot((0, 1))
    with pytest.raises(InputError, match="plot shows observations that are numbers"):
        cmerl.CMERL(gymnasium.make("cmerl/StringEdit-v0")).learn(1).plot()
    with pytest.raises(InputError, match=r"names must be those of all 2 columns, not \['x'\]"):
        ball.plot(names=["x"])


def test_files_that_cannot_be_written(tmp_path: Path, ball: cmerl.CMERL) -> None:
    with pytest.raises(InputError, match=r"ball.png' cannot be used: it is not there"):
        ball.plot(path=tmp_path / "nowhere" / "ball.png")
    with pytest.raises(InputError, match=r"ball.docx' cannot be drawn: Format 'docx' is not supported"):
        ball.plot(path=tmp_path / "ball.docx")


def test_a_displacement_is_uncertain_where_it_has_not_been() -> None:
    """Also without exploration, when it plans as if all were known."""
    env = gymnasium.make("cmerl/PBall2D-v0")
    env.unwrapped.columns = ("east", "north")
    agent = cmerl.CMERL(env, seed=0, model="displacement").learn(2)
    found = slice_of(agent, None, None, 0, False, points=9)
    gaps = np.array(
        [[np.linalg.norm(found.places - [x, y], axis=1).min() for y in found.axes[1]] for x in found.axes[0]]
    )
    assert found.uncertainty.min() >= 0.0
    assert np.corrcoef(gaps.ravel(), found.uncertainty.ravel())[0, 1] > 0.3
    figure = agent.plot()
    assert (figure.axes[2].get_xlabel(), figure.axes[2].get_ylabel()) == ("east", "north")
    assert "column 1 = " in agent.plot([0], names=["column 0", "column 1"]).get_suptitle()
