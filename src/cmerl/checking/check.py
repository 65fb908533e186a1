"""The checks of environments, each a function from played episodes to findings."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np

from cmerl.agents.base import find_horizon
from cmerl.checking.episodes import RANDOM, Env, Episode, global_seeds, play, random_actions, written
from cmerl.checking.report import SEVERITIES, Finding, Report
from cmerl.errors import InputError
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.spaces.parts import IMAGE_FIX, take_apart
from cmerl.spaces.structured import default_kernel
from cmerl.validation.numbers import check_count

LONGEST = 500  # steps of an episode that is played to look at it
MANY_COLUMNS = 30
MANY_CATEGORIES = 200  # numbers of an image, above which equal ones are rare
SLOW_STEP = 0.05  # seconds
PATIENCE = 2.0  # seconds for an episode
SOME, OTHER = 1, 2  # seeds of global generators


def check_env(env: Env, *, horizon: int | None = None, seed: int = 0) -> Report:
    """Play a few episodes and report mistakes in an environment, beyond those that Gymnasium's checker finds.

    Args:
        env: the environment; it is reset and stepped. Global generators are restored.
        horizon: steps per episode; defaults to the environment's own.
        seed: seed of the test actions.
    """
    if not isinstance(env, gymnasium.Env):
        raise InputError(f"env must be a Gymnasium environment, such as gymnasium.make({env!r}), not {env!r}")
    check_count("seed", seed, least=0)
    if horizon is not None:
        check_count("horizon", horizon)
    findings, choices = _check_interface(env)
    try:
        limit, missing = find_horizon(env, horizon), ""
        choices["horizon"] = f"{limit} steps"
    except InputError as error:
        limit, missing = 0, str(error)  # none that could be missed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say is said below
        episodes = _explore(env, seed, min(limit or LONGEST, LONGEST))
        findings += _check_steps(env, episodes, limit)
        if not any(e.error for e in episodes):
            findings += _check_repeatable(env, episodes[0], seed)
    if missing:
        findings.append(Finding("warning", "horizon", missing, _suggest_horizon(episodes)))
    findings += _check_use(env, episodes)
    order = {severity: i for i, severity in enumerate(SEVERITIES)}
    taken = sum(len(e.steps[1:]) for e in episodes)  # a reset that failed left none
    return Report(
        tuple(sorted(findings, key=lambda f: order[f.severity])),
        choices,
        steps=taken,
        seconds_per_step=sum(e.step_seconds for e in episodes) / max(taken, 1),
        seconds_per_reset=max(e.reset_seconds for e in episodes),
    )


def _check_interface(env: Env) -> tuple[list[Finding], dict[str, str]]:
    """Spaces, before anything is played."""
    findings: list[Finding] = []
    choices: dict[str, str] = {}
    try:
        states = StateSpace.of(env.observation_space, warn=False)  # it is among the findings
        choices["observations"] = states.describe()
        findings += _check_objects(states)
        if states.dims > MANY_COLUMNS and not states.integer:
            what = f"an observation has {states.dims} numbers; kernels on so many learn little from few episodes"
            findings.append(
                Finding("note", "many columns", what, "keep those that matter: cmerl.wrappers.SelectObservation")
            )
    except InputError as error:
        findings.append(Finding("error", "observation space", str(error), "wrap the environment"))
    try:
        choices["actions"] = ActionSet.of(env.action_space).describe()
    except InputError as error:
        findings.append(Finding("error", "action space", str(error), "see cmerl.wrappers.DiscreteActions"))
    return findings, choices


def _suggest_horizon(episodes: Sequence[Episode]) -> str:
    """A horizon from the episodes that were played."""
    ended = [len(e.steps) - 1 for e in episodes if e.steps and (e.steps[-1].terminated or e.steps[-1].truncated)]
    if not ended:
        return f"no episode ended by itself within {LONGEST} steps: pass --horizon (horizon=…), the steps that matter"
    return (
        f"the longest of {len(ended)} episodes that ended took {max(ended)} steps: --horizon {max(ended)} "
        f"(horizon={max(ended)}) covers it; a good policy may need more"
    )


def _check_objects(states: StateSpace) -> list[Finding]:
    """Which kernels objects get by default, and what is a picture."""
    findings = []
    for part in states.parts:
        if part.image is not None:
            large = part.space is not None or len(part.low) > MANY_CATEGORIES
            findings.append(Finding("warning" if large else "note", "picture", part.image, IMAGE_FIX))
        elif part.space is not None:
            what = f"{part.where} is a {type(part.space).__name__}, compared by {default_kernel(part.space)!r}"
            fix = "if another kernel fits better, pass it as kernel=…"
            findings.append(Finding("note", "objects", what, fix))
    return findings


def _explore(env: Env, seed: int, steps: int) -> list[Episode]:
    """Random actions, and where numbers go wrong first: extreme actions held."""
    attempts: list[tuple[str, Iterator[Any]]] = [
        (RANDOM, random_actions(env.action_space, seed + i)) for i in range(2)
    ]
    try:
        actions = ActionSet.of(env.action_space).values
        attempts += [(written(action), itertools.repeat(action)) for action in (actions[0], actions[-1])]
    except InputError:
        pass
    episodes = []
    for i, (words, attempt) in enumerate(attempts):
        with global_seeds(SOME):
            episode = play(env, seed=seed + i, actions=attempt, steps=steps, patience=PATIENCE)
        episodes.append(replace(episode, seed=seed + i, action=words))
        if episodes[-1].error is not None:
            break
    return episodes


def _check_steps(env: Env, episodes: Sequence[Episode], horizon: int) -> list[Finding]:
    """Everything that a single step can be blamed for, each kind once."""
    found: dict[str, Finding] = {}
    for number, episode in enumerate(episodes):
        known = set(found)
        if episode.error is not None:
            where, kind = f"{_at(len(episode.steps))} of episode {number}", type(episode.error).__name__
            what = f"{where} raised {kind}: {episode.error}"
            _add(found, "error", "exception", what, "run it with the same seed and actions in a debugger")
        if episode.overwritten is not None:
            what = f"the observation of {_at(episode.overwritten)} was changed in place by the step after it"
            _add(found, "warning", "aliasing", what, "return a copy: obs.copy()")
        if episode.changed_action is not None:
            what = f"{_at(episode.changed_action)} changed the action array that it was given"
            _add(found, "warning", "action changed", what, "copy the action inside step before changing it")
        known = _show_how(found, known, episode, len(episode.steps))
        for i, step in enumerate(episode.steps):
            where = f"{_at(i)} of episode {number}"
            _check_observation(found, env.observation_space, step.obs, where)
            if i:
                _check_outcome(found, step.reward, step.terminated, step.truncated, where)
            known = _show_how(found, known, episode, i)
        last = episode.steps[-1] if episode.steps else None
        if last is not None and last.truncated and not last.terminated and len(episode.steps) - 1 < horizon:
            what = f"an episode was truncated after {len(episode.steps) - 1} of {horizon} steps"
            _add(found, "warning", "truncated early", what, "pass that number as horizon, or terminate instead")
            _show_how(found, known, episode, len(episode.steps) - 1)
    return list(found.values())


def _show_how(found: dict[str, Finding], known: set[str], episode: Episode, steps: int) -> set[str]:
    """Tell how to see what was newly found again; the names that are known by then."""
    for name in found.keys() - known:
        found[name] = replace(found[name], replay=episode.replay(steps))
    return set(found)


def _add(found: dict[str, Finding], severity: Any, name: str, what: str, fix: str) -> None:
    found.setdefault(name, Finding(severity, name, what, fix))


def _check_observation(found: dict[str, Finding], space: gymnasium.Space[Any], obs: Any, where: str) -> None:
    try:
        parts = list(take_apart(space))
    except InputError:
        return
    for part in parts:
        try:
            x = part.find(obs)
        except InputError as error:
            _add(found, "error", "observation", f"at {where} {error}", "return what observation_space declares")
            continue
        if not np.all(np.isfinite(x)):
            what = f"{part.where} is NaN or infinite at {where}"
            _add(found, "error", "nan observation", what, "look for a division by zero or a diverging simulation")
        elif np.any((x < part.low - 1e-5 * _size(part.low)) | (x > part.high + 1e-5 * _size(part.high))):
            worst = int(np.argmax(np.maximum(part.low - x, x - part.high)))
            what = (
                f"{part.where} leaves its space at {where}: {x[worst]:g} is outside of "
                f"[{part.low[worst]:g}, {part.high[worst]:g}]"
            )
            _add(found, "warning", "outside the space", what, "declare wider bounds, or clip")


def _size(bound: Any) -> Any:
    return np.where(np.isfinite(bound), np.maximum(np.abs(bound), 1.0), 1.0)


def _check_outcome(found: dict[str, Finding], reward: Any, terminated: Any, truncated: Any, where: str) -> None:
    try:
        value = float(reward)
    except (TypeError, ValueError):
        what = f"the reward at {where} is a {type(reward).__name__}, {reward!r}, and no number"
        _add(found, "error", "reward type", what, "return a float; vectors of rewards need weights (LinearReward)")
    else:
        if not np.isfinite(value):
            what = f"the reward at {where} is {value}"
            _add(found, "error", "infinite reward", what, "return a finite number; large penalties will do")
        elif isinstance(reward, np.ndarray):
            what = f"the reward at {where} is an array of shape {reward.shape}"
            _add(found, "note", "reward array", what, "return float(reward)")
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if not isinstance(flag, bool | np.bool_):
            what = f"{name} at {where} is a {type(flag).__name__}, {flag!r}"
            _add(found, "warning", "flag type", what, f"return bool({name})")


def _check_repeatable(env: Env, first: Episode, seed: int) -> list[Finding]:
    """The same seed and actions must give the same episode, independently of earlier episodes and global state.

    Args:
        env: the environment.
        first: an episode that others have followed since.
        seed: of that episode and of its actions.
    """

    def again(globally: int) -> Episode:
        actions = random_actions(env.action_space, seed)
        with global_seeds(globally):
            return play(env, seed=seed, actions=actions, steps=len(first.steps) - 1)

    second, third = again(SOME), again(SOME)
    where = second.first_difference(third)
    if where is not None:
        what = f"reset(seed={seed}) and the same actions gave different episodes, from {_at(where)} on"
        fix = "draw from self.np_random after super().reset(seed=seed), and let reset undo what step did"
        return [Finding("warning", "not reproducible", what, fix, first.replay(where))]
    where = first.first_difference(second)
    if where is not None:
        what = f"an episode with the same seed and actions went differently after others, from {_at(where)} on"
        fix = "let reset put back everything that step changes"
        return [Finding("error", "stateful reset", what, fix, first.replay(where))]
    drew = first.drew
    where = first.first_difference(again(OTHER))
    if where is not None:
        source = " and ".join(drew) or "global state"
        what = f"the episode depends on {source}, which reset(seed=…) does not seed, from {_at(where)} on"
        fix = "draw from self.np_random instead"
        return [Finding("warning", "global randomness", what, fix, first.replay(where))]
    if drew:
        what = f"the environment draws from {' and '.join(drew)}, though its episodes did not depend on it here"
        return [Finding("note", "global generator", what, "draw from self.np_random instead")]
    return []


def _at(calls: int) -> str:
    """The last of so many calls of step; like episodes, steps count from 0, as they do everywhere."""
    return f"step {calls - 1}" if calls else "the reset"


def _check_use(env: Env, episodes: Sequence[Episode]) -> list[Finding]:
    """What is good to know before learning."""
    findings = []
    steps = [s for e in episodes for s in e.steps[1:]]
    taken = len(steps)
    seconds = sum(e.step_seconds for e in episodes) / max(taken, 1)
    if seconds > SLOW_STEP:
        fix = "cmerl.wrappers.ActionRepeat makes fewer decisions an episode"
        findings.append(Finding("note", "slow steps", f"a step takes {seconds:.2g} s", fix))
    rewards = {float(s.reward) for s in steps if isinstance(s.reward, int | float | np.floating)}
    if taken >= 20 and len(rewards) == 1:
        what = f"every one of {taken} steps was rewarded with {rewards.pop():g}: nothing says yet what is better"
        fix = "if you know the largest return, pass max_return; if you know the range of rewards, pass reward_range"
        findings.append(Finding("note", "constant reward", what, fix))
    if taken >= 20 and all(e.first_difference(_frozen(e)) is None for e in episodes):
        what = f"the observation never changed in {taken} steps"
        findings.append(Finding("warning", "constant observation", what, "return the state that step has reached"))
    return findings


def _frozen(episode: Episode) -> Episode:
    """The episode, had its observation stayed what it was."""
    return Episode([replace(step, obs=episode.steps[0].obs) for step in episode.steps])
