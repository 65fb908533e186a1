"""Does what the shipped agent claims ever fail? Every claim against the truth, at every episode of many random runs.

    python benchmarks/agent_coverage.py --runs 130
    python benchmarks/agent_coverage.py --runs 5 --shrink 30       # radii too small on purpose: this must fail
    python benchmarks/agent_coverage.py --modes kl,guarded --first 17 --runs 1

Run i has a world and options of its own, drawn from (root, i): 3–8 states, 2–4 actions, 3–8 steps; rows of P that are
Dirichlet, sparse, nearly deterministic, with a rare jackpot, or with duplicates of states and actions; λ from 1e-3 to
1e3; reward known, or learned with or without noise, in [0, 1] or a shifted and stretched range; early ends; fixed or
random first states; one law or one for each step; delta kernels, or RBF kernels on coordinates with constants that
are computed; exact or compressed, where the mode allows it.

Checked before every episode: Q ≥ Q* at every step, state and action; value bounds at every state, at the first step
and another one. After it: the regret so far is at most what the record and the certificate say. V*, Q* and V^π are
computed here, not by the package. These are the claims, and together they may fail with probability δ: the command
fails if any claim of any run does.

Beside them stands the event "set": whether the true law lay in its confidence set, or all laws in their balls. It is
what some of the claims rest on, not a claim, and it has a share of δ of its own. The table gives how often it failed
and how often it may on average, the sum of these shares; the command fails if it is so often that chance would hardly
do it (1 in 100).
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from scipy.stats import binom

from cmerl import CMERL
from cmerl.confidence import FailureBudget, kl, radii
from cmerl.envs import FiniteMDP
from cmerl.kernels import RBF, Delta, StateAction

KINDS = ("dirichlet", "sparse", "nearly deterministic", "jackpot", "duplicates")
KERNEL_MODES = ("tight", "split")  # those that other kernels and compressed embeddings leave a proof
NOT_OPTIMISTIC = ("guarded",)  # may play plans that claim nothing: only its bounds are checked
COUNTING_MODES = ("kl", "guarded")
ROUNDING = 1e-7
CLAIMS = ("optimism", "values", "regret", "certificate")
EVENT = "set"


class Known(FiniteMDP):
    """A world whose tables the agent can look at to certify itself."""

    first = 0

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode and remember where."""
        found = super().reset(**options)
        self.first = self.state
        return found


class Ending(gymnasium.Env[Any, Any]):
    """A world whose episodes may end early and whose tables are hidden."""

    first = 0

    def __init__(self, world: World) -> None:
        self._world = world
        self.observation_space = gymnasium.spaces.Discrete(len(world.R))
        self.action_space = gymnasium.spaces.Discrete(world.R.shape[1])
        self.horizon = world.H

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        """Start an episode and remember where."""
        super().reset(seed=seed)
        self.first = self._state = int(self.np_random.choice(len(self._world.R), p=self._world.start))
        return self._state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """One transition."""
        world, s = self._world, self._state
        row = np.append(world.P[s, action], max(1.0 - world.P[s, action].sum(), 0.0))
        following = int(self.np_random.choice(len(row), p=row / row.sum()))
        reward = float(world.R[s, action])
        if world.noisy:  # one end of the range or the other, with the right mean
            lo, hi = world.range
            reward = hi if self.np_random.random() < (reward - lo) / (hi - lo) else lo
        ended = following == len(world.R)
        self._state = s if ended else following
        return self._state, reward, ended, False, {}


@dataclass(frozen=True)
class World:
    """Tables, how they are shown to an agent, and what is true in them.

    Attributes:
        P: probabilities of going on (S, A, S); what is missing to one ends the episode.
        R: mean rewards (S, A).
        H: horizon.
        start: distribution of the first state (S,).
        range: in which rewards lie.
        noisy: whether rewards are drawn from the ends of the range.
        ends: whether episodes may end early, or at least are not known not to.
        coordinates: where the states are (S, 1), for kernels other than delta.
    """

    kind: str
    P: np.ndarray
    R: np.ndarray
    H: int
    start: np.ndarray
    range: tuple[float, float]
    noisy: bool
    ends: bool
    coordinates: np.ndarray

    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """V* (H+1, S) and Q* (H, S, A)."""
        V, Q = np.zeros((self.H + 1, len(self.R))), np.zeros((self.H, *self.R.shape))
        for h in reversed(range(self.H)):
            Q[h] = self.R + self.P @ V[h + 1]
            V[h] = Q[h].max(axis=1)
        return V, Q

    def value(self, policy: np.ndarray) -> np.ndarray:
        """V^π at the first step (S,), of a policy (H, S)."""
        v, states = np.zeros(len(self.R)), np.arange(len(self.R))
        for actions in policy[::-1]:
            v = self.R[states, actions] + self.P[states, actions] @ v
        return v


def draw_world(rng: np.random.Generator) -> World:
    """One of many kinds."""
    S, A, H = rng.integers(3, 9), rng.integers(2, 5), rng.integers(3, 9)
    kind = str(rng.choice(KINDS))
    P, R = rng.dirichlet(np.ones(S), size=(S, A)), rng.random((S, A))
    if kind == "sparse":
        mask = np.argsort(rng.random((S, A, S)), axis=2) < 2
        P = np.where(mask, P + 1e-3, 0.0)
        R = np.where(rng.random((S, A)) < 0.7, 0.0, R)
    elif kind == "nearly deterministic":
        P = 0.03 * P + 0.97 * np.eye(S)[rng.integers(S, size=(S, A))]
    elif kind == "jackpot":
        P[..., -1] = 0.0
        P /= P.sum(axis=2, keepdims=True)
        rare = rng.random((S, A)) < 0.3
        P = np.where(rare[..., None], 0.98 * P + 0.02 * np.eye(S)[-1], P)
        R = np.where(np.arange(S)[:, None] == S - 1, 1.0, 0.1 * R)
    elif kind == "duplicates":
        P[1::2], R[1::2] = P[: S // 2 * 2 : 2], R[: S // 2 * 2 : 2]
        P[:, 1], R[:, 1] = P[:, 0], R[:, 0]
    P /= P.sum(axis=2, keepdims=True)
    ends = bool(rng.random() < 0.4)
    if ends:
        P *= 1.0 - np.where(rng.random((S, A)) < 0.5, 0.3 * rng.random((S, A)), 0.0)[..., None]
    start = np.eye(S)[0] if rng.random() < 0.5 else rng.dirichlet(np.ones(S))
    lo, width = (0.0, 1.0) if rng.random() < 0.6 else (rng.uniform(-2, 1), 10 ** rng.uniform(-1, 1))
    coordinates = np.sort(rng.random(S) + 0.3 * np.arange(S))[:, None]
    noisy = ends and bool(rng.random() < 0.5)  # worlds that are known pay without noise
    return World(kind, P, lo + width * R, int(H), start, (lo, lo + width), noisy, ends, coordinates)


def make_agent(mode: str, delta: float, world: World, rng: np.random.Generator, seed: int) -> tuple[Any, CMERL, str]:
    """An environment, an agent with options drawn at random, and what was drawn in words."""
    lam, learned = 10 ** rng.uniform(-3, 3), bool(rng.random() < 0.5) or world.noisy
    smooth, backend = rng.random() < 0.4, str(rng.choice(["exact", "compressed"]))
    homogeneous = bool(rng.random() < 0.8)
    smooth = bool(smooth) and mode in KERNEL_MODES and not world.ends
    backend = backend if mode in KERNEL_MODES else "exact"
    options: dict[str, Any] = {"backend": backend, "lam": lam, "time_homogeneous": homogeneous}
    observations: np.ndarray = world.coordinates if smooth else np.arange(len(world.R))
    if world.ends:
        env: Any = Ending(world)
    else:
        env = Known(world.P, world.R, world.start, horizon=world.H, coordinates=world.coordinates if smooth else None)
    if smooth:
        options |= smooth_options(world, env.observation_space)
    if not learned:
        flat = observations.ravel()
        options["reward"] = lambda obs, a: world.R[np.argmin(np.abs(flat - np.ravel(obs)[0])), a]
    agent = CMERL(env, seed=seed, bonus=mode, delta=delta, reward_range=world.range, **options)
    words = f"{world.kind}, S A H {len(world.R)} {world.R.shape[1]} {world.H}, λ {lam:.3g}, {backend}"
    for said, word in (
        (smooth, "rbf"), (learned, "learned"), (world.noisy, "noisy"), (world.ends, "ends"),
        (not homogeneous, "laws per step"), ((world.start > 0).sum() > 1, "random starts"),
    ):  # fmt: skip
        words += f", {word}" if said else ""
    return env, agent, words


def smooth_options(world: World, box: Any) -> dict[str, Any]:
    """RBF kernels, and the constants that hold for them in this world."""
    (S, A), (lo, hi) = world.R.shape, world.range
    states = (world.coordinates - box.low) / (box.high - box.low)  # as the agent scales them
    K = RBF(0.25)(states)
    inverse = np.linalg.inv(np.kron(K, np.eye(A)))
    rows, r = world.P.reshape(S * A, S), (world.R - lo).ravel()
    largest = 1.0 / np.linalg.eigvalsh(K)[0]
    return {
        "kernel": StateAction(RBF(0.25), Delta()),
        "value_kernel": RBF(0.25),
        "states": world.coordinates,
        "B_P": 1.001 * float(np.sqrt(np.trace(inverse @ rows @ K @ rows.T))),
        "B_V": world.H * (hi - lo) * float(np.sqrt(S * largest)),
        "B_R": 1.001 * float(np.sqrt(r @ inverse @ r)),
    }


class Run(NamedTuple):
    """What failed at any episode of a run, what it was in words, and with what probability its event may fail."""

    failed: set[str]
    words: str
    share: float


def event_share(mode: str, delta: float, *, learned: bool) -> float:
    """The part of δ that pays for the event "set"."""
    if mode in COUNTING_MODES:
        return kl.CountingBudget(delta, learned_reward=learned).laws
    return FailureBudget(delta, learned_reward=learned).share


def run(mode: str, delta: float, index: int, *, root: int, episodes: int) -> Run:
    """One run, every claim checked at every episode."""
    world = draw_world(np.random.default_rng([root, index]))
    rng = np.random.default_rng([root, index, 1])
    env, agent, words = make_agent(mode, delta, world, rng, seed=int(rng.integers(2**31)))
    V, Q = world.best()
    observations = world.coordinates if env.observation_space.shape else np.arange(len(world.R))
    slack, lost, failed = ROUNDING * world.H * (world.range[1] - world.range[0]), 0.0, set()
    for _ in range(episodes):
        step = int(rng.integers(world.H))
        for h in {0, step}:
            for s, obs in enumerate(observations):
                lower, upper = agent.value_bounds(obs, h)
                if not lower - slack <= V[h, s] <= upper + slack:
                    failed.add("values")
        if mode not in NOT_OPTIMISTIC:
            claimed = [[agent.q_values(obs, h) for obs in observations] for h in range(world.H)]
            if np.any(np.array(claimed) < Q - slack):
                failed.add("optimism")
        policy = agent.policy().table(observations)
        record = agent.learn(1).history[-1]
        lost += V[0, env.first] - world.value(policy)[env.first]
        if record.metrics.get("regret_bound", np.inf) < lost - slack:
            failed.add("regret")
        if "certified_regret" in record.metrics and agent.certificate().regret_bound < lost - slack:
            failed.add("certificate")
        if record.metrics.get("in_set") is False:
            failed.add(EVENT)
        if "regret_bound" not in record.metrics and "certified_regret" not in record.metrics:
            raise SystemExit(f"run {index} claims nothing: {agent.diagnostics()['proof']}")
    return Run(failed, words, event_share(mode, delta, learned=agent.options.reward == "learned"))


@contextmanager
def shrunk_radii(factor: float) -> Iterator[None]:
    """Divide every radius, wherever it is used: the functions of confidence.radii and kl called …_radius."""
    replaced: list[tuple[Any, str, Any]] = []
    for name, function in [*vars(radii).items(), *vars(kl).items()]:
        if not name.endswith("_radius"):
            continue

        def smaller(*args: Any, function: Any = function, **options: Any) -> Any:
            return function(*args, **options) / factor

        for module in [m for key, m in list(sys.modules.items()) if key.startswith("cmerl")]:
            if getattr(module, name, None) is function:
                replaced.append((module, name, function))
                setattr(module, name, smaller)
    try:
        yield
    finally:
        for module, name, function in replaced:
            setattr(module, name, function)


def main() -> int:
    """Print a table and the failed runs; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", default="nonnegative,tight,split,paper")
    parser.add_argument("--deltas", default="0.1,0.5")
    parser.add_argument("--runs", type=int, default=20, help="runs of each mode at each delta")
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--root", type=int, default=0, help="seed of all runs")
    parser.add_argument("--shrink", type=float, default=1.0, help="divides all radii, to see claims fail")
    options = parser.parse_args()
    logging.getLogger("cmerl").setLevel(logging.ERROR)
    with shrunk_radii(options.shrink) if options.shrink != 1.0 else nullcontext():
        return report(options)


def report(options: argparse.Namespace) -> int:
    """All runs, one line for each mode and delta: claims, which are the verdict, and the event apart."""
    print(
        f"| mode | delta | runs | claims failed | {' | '.join(CLAIMS)} | at most, 95 % | event failed (allowed) | s |"
    )
    print("|---" * (7 + len(CLAIMS)) + "|")
    broken: list[str] = []
    for mode in options.modes.split(","):
        for delta in (float(text) for text in options.deltas.split(",")):
            began, runs = time.perf_counter(), []
            for index in range(options.first, options.first + options.runs):
                runs.append(run(mode, delta, index, root=options.root, episodes=options.episodes))
                if runs[-1].failed:
                    said = ", ".join(sorted(runs[-1].failed))
                    print(f"<!-- {mode}, delta {delta:g}, run {index} ({runs[-1].words}): {said} -->", flush=True)
            count, event = (sum(bool(r.failed & of) for r in runs) for of in (set(CLAIMS), {EVENT}))
            allowed = sum(r.share for r in runs)
            if count:
                broken.append(f"{mode}, delta {delta:g}: a claim failed in {count} of {len(runs)} runs")
            if too_often(event, runs):
                broken.append(f"{mode}, delta {delta:g}: the event failed in {event} runs, {allowed:.1f} are allowed")
            limit = "" if count else f"{1 - 0.05 ** (1 / len(runs)):.4f}"
            each = " | ".join(str(sum(claim in r.failed for r in runs)) for claim in CLAIMS)
            print(
                f"| {mode} | {delta:g} | {len(runs)} | {count} | {each} | {limit} | {event} ({allowed:.1f}) "
                f"| {time.perf_counter() - began:.0f} |",
                flush=True,
            )
    for line in broken:
        print("failed:", line)
    return 1 if broken else 0


def too_often(events: int, runs: list[Run]) -> bool:
    """Whether so many failures of the event have a probability below 1 in 100, every run with the largest share."""
    return bool(binom.sf(events - 1, len(runs), max(r.share for r in runs)) < 0.01)


if __name__ == "__main__":
    sys.exit(main())
