"""Exported policies against the policies that they were made from, and damaged files."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.acting.refine import QSurface
from cmerl.errors import InputError
from cmerl.exported import container
from cmerl.exported.schema import check
from cmerl.exported.stream import act
from cmerl.kernels import RBF, Columns, Constant, Delta, Linear, Matern, StateAction

BALL = "cmerl/PBall2D-v0"
DIRECT: dict[str, Any] = {"model": "direct", "replan": False}


def learned(world: str, episodes: int = 3, **options: Any) -> cmerl.CMERL:
    return cmerl.CMERL(gymnasium.make(world), seed=0, **options).learn(episodes)


def observations(agent: cmerl.CMERL, count: int) -> list[Any]:
    space = agent.env.observation_space
    space.seed(0)
    return [space.sample() for _ in range(count)]


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> tuple[cmerl.CMERL, Path]:
    agent, path = learned(BALL, **DIRECT), tmp_path_factory.mktemp("ball") / "ball.policy"
    agent.policy(explore=False).export(path)
    return agent, path


KERNELS = [
    ("cmerl/RiverSwim-v0", {}),
    ("cmerl/RiverSwim-v0", {"bonus": "kl"}),
    ("cmerl/RiverSwim-v0", {"bonus": "split"}),
    (BALL, DIRECT),
    (BALL, {"backend": "compressed", "replan": False}),
    (BALL, {**DIRECT, "kernel": StateAction(Matern(1.5, 0.3), Delta())}),
    (BALL, {**DIRECT, "kernel": StateAction(RBF([0.3, 0.2]), RBF(2.0) + 0.5 * Constant(1.0))}),
    (BALL, {**DIRECT, "kernel": StateAction(Columns(Matern(2.5, 0.3), (1,)) * RBF(1.0), Matern(0.5, 2.0))}),
    (BALL, {**DIRECT, "angles": [0]}),
]


@pytest.mark.parametrize(("world", "options"), KERNELS)
@pytest.mark.parametrize("explore", [False, True])
def test_the_exported_policy_is_the_policy(
    world: str, options: dict[str, Any], explore: bool, tmp_path: Path
) -> None:
    agent = learned(world, **options)
    policy = agent.policy(explore)
    policy.export(tmp_path / "a.policy")
    loaded = cmerl.load_policy(tmp_path / "a.policy")
    assert loaded.horizon == agent.horizon
    for obs in observations(agent, 60):
        for step in (0, agent.horizon // 2, agent.horizon - 1):
            assert loaded(obs, step) == policy(obs, step)
    if world == BALL:
        obs = observations(agent, 1)[0]
        expected = policy.plan.q(agent.states.encode(obs), 4)[0]
        assert loaded.q_values(obs, 4) == pytest.approx(expected, rel=1e-9)


def test_continuous_actions_climb_to_the_same_place(tmp_path: Path) -> None:
    agent = learned("cmerl/LinearQuadratic-v0", 3, model="direct")
    policy = agent.policy(explore=False)
    policy.export(tmp_path / "a.policy")
    loaded = cmerl.load_policy(tmp_path / "a.policy")
    same = []
    for obs in observations(agent, 60):
        mine, theirs = policy(obs, 3), loaded(obs, 3)
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        q = QSurface(policy.plan, agent.states.encode(obs), 3)
        heights = q(np.vstack([agent.actions.encode(mine), agent.actions.encode(theirs)]))
        assert heights[0] == pytest.approx(heights[1], rel=1e-12, abs=1e-12)  # where Q is flat, rounding decides
        same.append(np.array_equal(mine, theirs))
    assert np.mean(same) > 0.8


def test_nothing_but_numpy_is_imported(ball: tuple[cmerl.CMERL, Path]) -> None:
    agent, path = ball
    obs = observations(agent, 1)[0]
    code = (
        "import sys, cmerl\n"
        f"action = cmerl.load_policy({str(path)!r})({obs.tolist()!r}, 0)\n"
        "theirs = {name.partition('.')[0] for name in sys.modules}\n"
        "needs = ('gymnasium', 'joblib', 'pydantic', 'rich', 'safetensors', 'scipy', 'threadpoolctl', 'typer')\n"
        "print(action, sorted(set(needs) & theirs), 'numpy' in theirs)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split(" ", 1) == [str(agent.policy(False)(obs, 0)), "[] True\n"]


@pytest.mark.parametrize(
    ("world", "options", "explore", "sentence"),
    [
        (BALL, {**DIRECT, "kernel": StateAction(Linear() + 1.0, Delta())}, False, "the kernel Linear cannot be"),
        (BALL, {**DIRECT, "kernel": RBF(0.3), "reward": lambda s, a: 0.0}, False, "asks a reward function"),
        (BALL, {**DIRECT, "backend": "fourier", "kernel": RBF(0.3)}, False, "cannot be exported"),
    ],
)
def test_what_cannot_be_exported(
    world: str, options: dict[str, Any], explore: bool, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=sentence):
        learned(world, 1, **options).policy(explore).export(tmp_path / "a.policy")
    assert not (tmp_path / "a.policy").exists()


def test_a_policy_that_knows_nothing_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="knows nothing yet"):
        cmerl.CMERL(gymnasium.make(BALL)).policy().export(tmp_path / "a.policy")


def test_observations_and_steps_are_checked(ball: tuple[cmerl.CMERL, Path]) -> None:
    loaded = cmerl.load_policy(ball[1])
    for obs, step, sentence in [
        ([0.1], 0, r"has shape \(1,\) where the policy expects \(2,\)"),
        ([0.1, "x"], 0, "is not numeric"),
        ([0.1, np.nan], 0, "NaN or infinite"),
        ([0.1, 0.2], 30, "step must be a whole number from 0 to 29"),
    ]:
        with pytest.raises(InputError, match=sentence):
            loaded(obs, step)


def test_every_flipped_byte_is_found(ball: tuple[cmerl.CMERL, Path]) -> None:
    content = ball[1].read_bytes()
    for place in np.linspace(0, len(content) - 1, 60).astype(int):
        broken = bytearray(content)
        broken[place] ^= 1
        with pytest.raises(InputError, match=r"damaged|not an exported policy"):
            container.from_bytes(bytes(broken), "a.policy")
    for length in (0, 5, 20, len(content) - 1):
        with pytest.raises(InputError, match=r"damaged|not an exported policy"):
            container.from_bytes(content[:length], "a.policy")


def sealed(meta: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    return container.to_bytes(meta, arrays)


def test_a_well_sealed_file_that_is_none(ball: tuple[cmerl.CMERL, Path], tmp_path: Path) -> None:
    """Whoever can compute a checksum can write anything: each field is checked before anything is made from it."""
    meta, arrays = container.from_bytes(ball[1].read_bytes(), "a.policy")
    changes: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"kind": "pickle"}, {}),
        ({"horizon": "many"}, {}),
        ({"terms": [{"scale": 1.0, "state": [{"kind": "os.system"}], "action": []}]}, {}),
        ({"terms": []}, {}),
        ({"actions": {"shape": [], "dtype": "O"}}, {}),
        ({"ascent": {"rounds": 10**9, "lengths": [1.0]}}, {}),
        ({"observations": [{"path": [], "shape": [3]}]}, {}),
        ({}, {"weights": arrays["weights"][:, :-1]}),
        ({}, {"order": arrays["order"] * 0}),
        ({}, {"scale": arrays["scale"] * 0}),
    ]
    for header, changed in changes:
        with pytest.raises(InputError):
            check({**meta, **header}, {**arrays, **changed})
        (tmp_path / "b.policy").write_bytes(sealed({**meta, **header}, {**arrays, **changed}))
        with pytest.raises(InputError, match="is damaged"):
            cmerl.load_policy(tmp_path / "b.policy")
    check(meta, arrays)
    huge = json.dumps({"format": 1, "arrays": {"weights": ["<f8", [10**9, 10**9]]}}).encode()
    body = container.MAGIC + struct.pack("<I", len(huge)) + huge
    with pytest.raises(InputError, match="larger than the file"):
        container.from_bytes(body + hashlib.sha256(body).digest(), "a.policy")
    with pytest.raises(InputError, match="has format 2"):
        container.from_bytes(sealed({**meta, "format": 2}, arrays), "a.policy")


def test_a_policy_as_a_filter(ball: tuple[cmerl.CMERL, Path]) -> None:
    agent, path = ball
    policy, loaded = agent.policy(False), cmerl.load_policy(path)
    seen = [obs.tolist() for obs in observations(agent, 3)]
    lines = [json.dumps(seen[0]), json.dumps(seen[1]), "", json.dumps(seen[2])]
    expected = [policy(seen[0], 0), policy(seen[1], 1), policy(seen[2], 0)]
    assert [json.loads(line) for line in act(loaded, lines)] == expected
    asked = json.dumps({"observation": seen[0], "step": 7})
    assert json.loads(next(iter(act(loaded, [asked])))) == policy(seen[0], 7)
    with pytest.raises(InputError, match="line 31: the episode is over after 30 steps"):
        list(act(loaded, [json.dumps(seen[0])] * 31))
    with pytest.raises(InputError, match="line 1 is not JSON"):
        list(act(loaded, ["east"]))
    with pytest.raises(InputError, match="line 1: the observation has shape"):
        list(act(loaded, ["[1]"]))


def test_the_command(ball: tuple[cmerl.CMERL, Path]) -> None:
    agent, path = ball
    obs = observations(agent, 1)[0].tolist()
    command = [sys.executable, "-m", "cmerl", "act", str(path)]
    ran = subprocess.run(command, input=json.dumps(obs) + "\n", capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == agent.policy(False)(obs, 0)
    ran = subprocess.run([*command[:-1], "nowhere"], input="", capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "cmerl: there is no file 'nowhere'\n")
