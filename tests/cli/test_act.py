"""`cmerl act`: actions for observations on the standard input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from exports import BALL, DIRECT, learned, observations


def test_actions_are_those_of_the_policy(tmp_path: Path) -> None:
    agent = learned(BALL, **DIRECT)
    agent.policy(explore=False).export(tmp_path / "ball.policy")
    obs = observations(agent, 1)[0].tolist()
    command = [sys.executable, "-m", "cmerl", "act", str(tmp_path / "ball.policy")]
    ran = subprocess.run(command, input=json.dumps(obs) + "\n", capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == agent.policy(False)(obs, 0)
    ran = subprocess.run([*command[:-1], "nowhere"], input="", capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "cmerl: there is no file 'nowhere'\n")
