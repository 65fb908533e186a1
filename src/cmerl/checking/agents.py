"""Checks of an agent against the contract of all agents, like scikit-learn's check_estimator."""

from __future__ import annotations

import copy
import inspect
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

from cmerl.agents import catalogue
from cmerl.agents.base import Agent
from cmerl.checking.agent_checks import CHECKS, Subject
from cmerl.checking.report import SEVERITIES, Finding, Findings
from cmerl.errors import CmerlError, InputError

WORLDS = ("cmerl/RiverSwim-v0", "cmerl/LinearQuadratic-v0", "cmerl/PBall2D-v0", "Pendulum-v1")
"""Where an agent is tried that was given no world: in the first that it accepts."""


@dataclass(frozen=True)
class AgentReport(Findings):
    """Findings about an agent, the most severe first.

    Attributes:
        findings: what was found.
        checks: names of the checks that ran.
    """

    checks: tuple[str, ...]

    def __str__(self) -> str:
        lines = [str(f) for f in self.findings] or ["no problems found"]
        return "\n".join([*lines, f"checked: {', '.join(self.checks)}"])


def check_agent(
    agent: str | Callable[..., Agent],
    env: Any = None,
    *,
    horizon: int = 5,
    episodes: int = 4,
    seed: int = 0,
    only: Sequence[str] | None = None,
) -> AgentReport:
    """Test an agent against the contract of all agents, and report violations.

    Args:
        agent: an agent class, a callable (env, *, horizon, seed) that returns an agent, or a registered name.
        env: an environment, an id, or a callable that makes one; by default a small environment that the agent
            accepts.
        horizon: steps per episode.
        episodes: episodes of each run.
        seed: of all runs.
        only: names of the checks to run; by default all.
    """
    factory = catalogue.find(agent) if isinstance(agent, str) else agent
    if not callable(factory):
        raise InputError(f"agent must be a class, a callable or a registered name, not {agent!r}")
    unknown = set(only or ()) - set(CHECKS)
    if unknown:
        raise InputError(f"there is no check {sorted(unknown)[0]!r}: there are {', '.join(CHECKS)}")
    checks = {name: check for name, check in CHECKS.items() if only is None or name in only}
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say is said below
        subject = Subject(
            make=factory,
            world=_world(factory, env, horizon),
            horizon=horizon,
            episodes=episodes,
            seed=seed,
            directory=Path(directory),
        )
        for name, check in checks.items():
            try:
                findings += [Finding(severity, name, what, fix) for severity, what, fix in check(subject)]
            except Exception as error:  # whatever an agent raises is a finding, not a crash of the check
                where = inspect.trace()[-1]
                what = f"{name}: {type(error).__name__}: {error} ({Path(where.filename).name}, line {where.lineno})"
                findings.append(Finding("error", name, what, "it must not raise there; see the documentation"))
    order = {severity: i for i, severity in enumerate(SEVERITIES)}
    return AgentReport(tuple(sorted(findings, key=lambda f: order[f.severity])), tuple(checks))


def _world(factory: Callable[..., Agent], env: Any, horizon: int) -> Callable[[], gymnasium.Env[Any, Any]]:
    """What makes the environment to try an agent in."""
    if isinstance(env, gymnasium.Env):
        return lambda: copy.deepcopy(env)
    if isinstance(env, str):
        return lambda: gymnasium.make(env)
    if callable(env):
        return env  # type: ignore[no-any-return]
    if env is not None:
        raise InputError(f"env must be an environment, an id or a callable that makes one, not {env!r}")
    refusals = []
    for id in WORLDS:
        try:
            factory(gymnasium.make(id), horizon=horizon, seed=0)
        except CmerlError as error:
            refusals.append(str(error))
        except Exception:
            return _maker(id)  # the checks will tell
        else:
            return _maker(id)
    raise InputError(f"the agent accepts none of {', '.join(WORLDS)} ({refusals[0]}): pass env=…")


def _maker(id: str) -> Callable[[], gymnasium.Env[Any, Any]]:
    return lambda: gymnasium.make(id)
