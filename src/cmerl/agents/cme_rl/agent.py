"""CME-RL: learn the embedding, plan optimistically, act greedily [CO22, Alg. 1]."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from cmerl.agents.base import Agent, Policy
from cmerl.agents.cme_rl import diagnostics, persistence
from cmerl.agents.cme_rl.builder import Host, build
from cmerl.agents.cme_rl.explorer import Explorer, Wishes
from cmerl.agents.cme_rl.learner import Learner
from cmerl.agents.cme_rl.options import Given
from cmerl.agents.policies import PlanPolicy
from cmerl.errors import CmerlError

if TYPE_CHECKING:
    import gymnasium
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from cmerl.acting import Actor
    from cmerl.agents.cme_rl.options import Auto
    from cmerl.agents.cme_rl.parts import Backward
    from cmerl.agents.cme_rl.planner import AnyPlan, Planner
    from cmerl.agents.cme_rl.proving import Proving
    from cmerl.agents.cme_rl.settings import Settings
    from cmerl.agents.cme_rl.supervision import Explore
    from cmerl.agents.explanation import Explanation
    from cmerl.agents.storage import Tensors
    from cmerl.certificates import PacPolicy
    from cmerl.confidence import ConfidenceSet, Interval, Mode
    from cmerl.embedding import ConditionalMeanEmbedding
    from cmerl.kernels import Kernel
    from cmerl.logs import LoggedEpisode
    from cmerl.optimism import Optimism
    from cmerl.rewards import RewardFunction
    from cmerl.safety import Caution
    from cmerl.spaces import Angles


class CMERL(Agent):
    """Reinforcement learning with conditional mean embeddings.

    >>> import gymnasium, cmerl
    >>> agent = cmerl.CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0).learn(100)
    >>> float(agent.history[-1].regret) < 0.1
    True

    Args:
        env: a Gymnasium environment.
        horizon: steps per episode; defaults to the environment's own.
        seed: root of all randomness.
        kernel: k_φ on state-actions, or "auto": delta kernels on Discrete observations, else RBF kernels on
            observations scaled to [0, 1]: one that all actions share, the more the less a step moves the state, and a
            narrower one for what each action does differently.
        value_kernel: k_ψ on states, or "auto": the state part of ``kernel`` on Discrete observations, else a
            Matérn-3/2 kernel of width 0.1.
        lam: the ridge λ, or "auto": 0.1 in practical mode (λ prior visits with the maximal return) and where plans
            come from counts, 1 in provable modes with a bonus.
        bonus: "practical" (no proof, learns fastest); in finite worlds "guarded" (its plans while they can be
            defended) and "kl" (the recommended proof); "paper", "tight", "split", "nonnegative"; "auto" (balances
            scales of the practical one by their regret); or a mode object of ``cmerl.confidence``.
        reward: "learned", or the reward function as a callable: (observation, action) → reward, or
            (observation, action, next observation) → reward. It is asked once for arrays of them where it takes them.
        backend: how the embedding is held: "exact"; "compressed", at a cost that does not grow with the data;
            "nystrom" or "fourier", classical sketches; "auto" is exact while that is quick, then compressed
            (provable modes stay exact).
        model: "direct" regresses V(s') on state-actions; "displacement" regresses s' − s and reads V where that
            leads, which suits small, smooth steps; "auto" compares held-out predictions whenever the data have
            doubled (practical mode on real-valued observations).
        delta: failure probability of everything that a provable mode claims, together.
        reward_range: (lo, hi), or "auto": starts at (0, 1) and widens to what is seen. What a provable mode claims
            then holds only if all rewards lie in (0, 1), and is void once one does not; declare the range.
        max_return: a number that no episode from a first state can exceed, however lucky, if there is one.
        B_P: bound on ‖Θ_P‖_HS, or "auto" where one always holds (delta kernels); likewise ``B_V`` on ‖V‖_ψ and
            ``B_R`` on ‖R‖_φ, both for rewards counted from the lower end of ``reward_range``. Where episodes can end
            early, the end counts as one more state whose feature is a unit vector orthogonal to all others: B_P must
            include the probability of ending, and B_V what the end is worth.
        misspecification: ζ, where value functions are only known to lie within ζ of functions of norm B_V ("tight",
            "split", "paper").
        replan: plan anew inside an episode once a nat of information was gathered, and let later episodes that bring
            less than half a nat wait to be learned; "auto" does so except in provable modes.
        time_homogeneous: False learns a transition law for each step of the episode.
        certify: in provable modes, where the world is finite and known, record at every episode whether Θ_P lay in
            the confidence set and Q was optimistic.
        actions: candidate actions, where the action space is not finite; by default a low-discrepancy set, and
            actions between them where the agent acts.
        states: all observations (S, …), where states are finitely many but not Discrete.
        angles: columns of the observation, or names of its parts, that are angles: a list where the period is 2π, or
            a map from each to its period.
        optimism: what is assumed where nothing is known (`cmerl.optimism`); None to follow the mode and the model.
        planner: the backward pass; None for `cmerl.planning.make_plan`, whose arguments it must take.
        actor: how plans become actions (`cmerl.acting`); None to let the data choose.
        settings: all other numbers, with their defaults (`cmerl.agents.Settings`).
        explore: "optimistic"; "cautious", where an action is played only if the model foresees that it and the
            fallback after it stay within ``limits`` and ``cost_budget``; "greedy"; "auto" is cautious where there is
            something to avoid.
        limits: columns of the observation, or their names, and (lo, hi) for each; None for an end that is open.
        cost: a function of (obs, action, next_obs), or the key of ``info`` that has it.
        cost_budget: how much of ``cost`` an episode may spend.
        fallback: what acts where nothing else is safe, and until enough was seen: a function of (obs, step), an
            action, or "greedy", which is the default.
        allowed: which actions are allowed at an observation: a function of (obs, action), or of (obs) with a truth
            value for every action.
        exploratory_episodes: how many episodes may explore; the others are greedy.
        caution: how far ahead to look, and with how much doubt (`cmerl.safety.Caution`).
    """

    name: ClassVar[str] = "cme-rl"

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        horizon: int | None = None,
        seed: int = 0,
        kernel: Any = "auto",
        value_kernel: Any = "auto",
        lam: float | Auto = "auto",
        bonus: str | Mode = "practical",
        reward: RewardFunction | Literal["learned"] = "learned",
        backend: str = "auto",
        model: str = "auto",
        delta: float = 0.1,
        reward_range: tuple[float, float] | Auto = "auto",
        max_return: float | None = None,
        B_P: float | Auto = "auto",
        B_V: float | Auto = "auto",
        B_R: float | Auto = "auto",
        misspecification: float = 0.0,
        replan: bool | Auto = "auto",
        time_homogeneous: bool = True,
        certify: bool = True,
        actions: Sequence[Any] | None = None,
        states: ArrayLike | None = None,
        angles: Angles = (),
        optimism: Optimism | None = None,
        planner: Backward | None = None,
        actor: Actor | None = None,
        settings: Settings | None = None,
        explore: Explore = "auto",
        limits: Mapping[int | str, tuple[float | None, float | None]] | None = None,
        cost: Callable[[Any, Any, Any], float] | str | None = None,
        cost_budget: float | None = None,
        fallback: Any = None,
        allowed: Callable[..., Any] | None = None,
        exploratory_episodes: int | None = None,
        caution: Caution | None = None,
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
        given = Given(
            kernel=kernel,
            value_kernel=value_kernel,
            lam=lam,
            bonus=bonus,
            reward=reward,
            backend=backend,
            model=model,
            delta=delta,
            reward_range=reward_range,
            max_return=max_return,
            constants={"B_P": B_P, "B_V": B_V, "B_R": B_R},
            misspecification=misspecification,
            replan=replan,
            time_homogeneous=time_homogeneous,
            certify=certify,
            actions=actions,
            states=states,
            angles=angles,
            optimism=optimism,
            planner=planner,
            actor=actor,
            settings=settings,
        )
        self._compose(build(self._host, given))
        self._watch_over(Wishes(explore, limits, cost, cost_budget, fallback, allowed, exploratory_episodes, caution))

    def _compose(self, planner: Planner) -> None:
        """The five parts: model, optimism and planner; the actor; and the learner, which follows the updates."""
        self.planner, self.model = planner, planner.model
        self.options, self.rewards = planner.options, planner.rewards
        self.states, self.actions = planner.states, planner.actions
        self.learner = Learner(planner)
        self.explorer = Explorer(planner, self.history)
        self._evidence: dict[str, Any] = {}  # what the last episode told, before it was learned
        if self.mode.from_counts:
            planner.counting = self.proving.counting_planner(self._ledger or self._books)

    # --- one episode: plan, act, learn [CO22, Alg. 1] ---

    def policy(self, explore: bool = True) -> PlanPolicy:
        """The plan that the next episode would play; call it with an observation and a step."""
        self._check_thread()
        explore = explore and self.explorer.explores
        return self._act_on(self.planner.plan(explore=explore), explore=explore)  # lines 3-6

    def _act_on(self, plan: AnyPlan, *, explore: bool = True) -> PlanPolicy:
        """Lines 7-8: how a plan becomes actions."""
        seed = self.seed, len(self.history)
        policy = self.explorer.act_on(plan, seed, explore=explore, replans=self.learner.replans)
        return self.explorer.supervised(policy, self.learner.transitions, self._rng)

    def _begin_playing(self, policy: Policy, before: Policy | None = None) -> Policy:
        play = super()._begin_playing(policy, before)
        self.explorer.begin(play)
        return play

    def _watch_over(self, wishes: Wishes) -> None:
        self.explorer.watch_over(wishes, self.env)

    def _after_step(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, done: bool) -> None:
        """Line 9: observe a transition."""
        self.learner.observe(step, obs, action, reward, next_obs, done)

    def _replanned(self, step: int) -> PlanPolicy | None:
        if self.paused or not self.explorer.explores or not self.learner.replan_due():
            return None
        self._absorb()
        return self._act_on(self.planner.replan(step, self.learner.replans))

    def _absorb(self) -> None:
        self.learner.absorb()

    def _end_episode(self) -> None:
        proving = self.proving if self.options.claims else None
        self._evidence = diagnostics.evidence(self.planner, self.learner.pending, proving) | self.explorer.settle()
        self.learner.end_episode()
        if proving is not None:
            proving.check_constants()

    def lesson(self) -> dict[str, Any]:
        """What the last episode taught; what exploring has cost cannot be read off the episode."""
        return {**super().lesson(), "exploration": self.explorer.spec()}

    def _relearn(self, lesson: dict[str, Any]) -> None:
        super()._relearn(lesson)
        self.explorer.restore(lesson.get("exploration", self.explorer.spec()))  # 0.1 had no account

    def _ingest(self, episodes: Sequence[LoggedEpisode]) -> None:
        self.learner.ingest(episodes)

    def _break_off(self) -> None:
        self.learner.break_off()
        with contextlib.suppress(CmerlError):
            self._end_episode()

    def _metrics(self, policy: Policy, start: Any) -> dict[str, Any]:
        assert isinstance(policy, PlanPolicy)
        return {**diagnostics.metrics(self.planner, policy, start), **self._evidence}

    # --- what users ask ---

    @property
    def mode(self) -> Mode:
        """The rule for bonuses."""
        return self.options.mode

    @property
    def label(self) -> str:
        """The bonus mode as it should be reported: Alg. 1 with a learned reward is "paper+reward"."""
        return self.options.label

    @property
    def lam(self) -> float:
        """The ridge λ."""
        return self.options.lam

    @property
    def delta(self) -> float:
        """The failure probability of everything that a provable mode claims, together."""
        return self.options.delta

    @property
    def kernel(self) -> Kernel:
        """The kernel k_φ on encoded state-actions; an automatic one may change as data arrive."""
        return self.model.kernel

    @property
    def value_kernel(self) -> Kernel:
        """The kernel k_ψ on encoded states; an automatic one may change as data arrive."""
        return self.model.value_kernel

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and largest reward per step; 0 is included once an episode has terminated."""
        return self.rewards.bounds

    @property
    def embedding(self) -> ConditionalMeanEmbedding:
        """The embedding (of the first step, if each step has its own), on encoded states and actions."""
        return self.model.embedding

    def q_values(self, obs: Any, step: int = 0) -> NDArray[np.float64]:
        """Optimistic Q (A,) in the environment's units."""
        self._check_thread()
        return self.planner.q_values(obs, step)

    def diagnostics(self) -> dict[str, Any]:
        """What was chosen, what was learned, and numerical health."""
        proving = self.proving if self.mode.provable else None
        return diagnostics.report(self.planner, self.history, self.ingested, proving) | self.explorer.report()

    def explain(self, obs: Any, step: int = 0, *, explore: bool = True, evidence: int = 10) -> Explanation:
        """Why the plan prefers an action here: for each, what is expected, on which evidence, and what is hoped for.

        Args:
            obs: an observation.
            step: of the episode.
            explore: whether the plan is the optimistic one that the next episode would play.
            evidence: past transitions an action that are listed, the heaviest first.
        """
        self._check_thread()
        return diagnostics.explain(self.planner, obs, step, explore=explore, evidence=evidence)

    def plot(
        self,
        columns: Sequence[int] | None = None,
        *,
        at: Any = None,
        step: int = 0,
        explore: bool = False,
        names: list[str] | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Value, uncertainty, policy and model error over one or two columns of the observation.

        Args:
            columns: those that vary; by default the first two.
            at: an observation that the others are held at; by default the median of what was seen.
            step: of the episode.
            explore: whether the plan is the optimistic one.
            names: of all columns.
            path: also write the figure there, as PNG, PDF or SVG.

        Returns:
            A figure of matplotlib.
        """
        self._check_thread()
        return diagnostics.plot(self, columns, at=at, step=step, explore=explore, names=names, path=path)

    def __repr__(self) -> str:
        return f"CMERL({self.label}, horizon={self.horizon}, episodes={len(self.history)}, kernel={self.kernel!r})"

    # --- what provable modes add ---

    @cached_property
    def proving(self) -> Proving:
        """What this agent can prove."""
        from cmerl.agents.cme_rl.proving import Proving

        return Proving(self.planner, self.history, (self._model, self._solution))

    def value_bounds(self, obs: Any, step: int = 0) -> tuple[float, float]:
        """(lower, upper) bounds on V* that hold with probability 1 − delta, in provable modes."""
        return self.proving.value_bounds(obs, step)

    def confidence_set(self) -> ConfidenceSet:
        """C_t for the next episode, on finite state spaces, in the modes that have one radius."""
        return self.proving.confidence_set()

    def estimate_constants(self, delta: float | None = None) -> dict[str, Interval]:
        """What the data say about B_P and B_V: bounds, those on B_P with probability 1 − delta."""
        return self.proving.estimate_constants(delta)

    def pac_policy(self, epsilon: float, delta: float = 0.5) -> PacPolicy:
        """The policy of an episode drawn uniformly from those played, with the statement that holds for it.

        The draw is part of the agent's tree of seeds, and the plan is made again from the data of that time. All
        episodes must have begun in one state.

        Args:
            epsilon: what the policy may lose.
            delta: failure probability in all, the agent's own included.
        """
        if not self.mode.from_counts:
            return self.proving.pac_policy(epsilon, delta)
        policy = self.policy()
        return self.proving.last_policy(policy, self.certificate(policy).policy_loss_bound, epsilon, delta)

    def _reward_claim(self) -> tuple[tuple[float, float] | None, NDArray[np.float64] | None]:
        return self.planner.reward_claim()

    @property
    def _steps_differ(self) -> bool:
        return not self.options.time_homogeneous

    @property
    def _bookkeeping(self) -> dict[str, Any]:
        return self.options.bookkeeping

    def _gap(self, start: int) -> float | None:
        return None if self.planner.counting is None else self.planner.counting.gap(start)

    # --- on disk ---

    @property
    def _host(self) -> Host:
        return Host(
            self.env,
            self.horizon,
            self.seed,
            self._rng,
            self.history,
            learned=self._learned_from,
            broken_off=lambda: self.broken_off,
            may_end=self._may_end,
        )

    def _learned_from(self) -> int:
        """Episodes that were learned from, played or logged; a long log counts as many of them."""
        logged = (max(record["episodes"], record["transitions"] // self.horizon) for record in self.ingested)
        return len(self.history) + int(sum(logged))

    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        contradicted = self.proving.contradicted if self.mode.provable else []
        tensors, about = persistence.state(self.planner, self.learner.pending, contradicted)
        told = self.explorer.wishes.given
        return tensors, {**about, "exploration": self.explorer.spec(), **({"supervised": told} if told else {})}

    def _restore(self, tensors: Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        wishes = Wishes.again(meta.get("supervised", ()), given)
        self._compose(persistence.restore(tensors, meta, given, self._host))
        self._watch_over(wishes)
        if self.mode.provable:
            self.proving.contradicted[:] = meta["contradicted"]
        self.explorer.restore(meta["exploration"])
        self.model.replay(tensors)
        self.learner.pending = persistence.saved_pending(tensors)
        persistence.probe(self.planner)

    @classmethod
    def _check_saved(cls, tensors: Tensors, meta: dict[str, Any]) -> None:
        persistence.check_cme_rl(tensors, meta)

    def _unsaved(self) -> dict[str, Any]:
        told = {name: getattr(self.explorer.wishes, name) for name in self.explorer.wishes.given}
        return told if self.options.reward == "learned" else {**told, "reward": self.options.reward}
