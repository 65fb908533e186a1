"""CME-RL as users make it; `algorithm.py` has the episode [CO22, Alg. 1]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from cmerl.agents.cme_rl.builder import build
from cmerl.agents.cme_rl.explorer import Wishes
from cmerl.agents.cme_rl.guarantees import Guarantees
from cmerl.agents.cme_rl.options import Given
from cmerl.agents.cme_rl.queries import Queries
from cmerl.agents.cme_rl.storing import Stored

if TYPE_CHECKING:
    import gymnasium
    from numpy.typing import ArrayLike

    from cmerl.acting import Actor
    from cmerl.agents.cme_rl.options import Auto
    from cmerl.agents.cme_rl.parts import Backward
    from cmerl.agents.cme_rl.settings import Settings
    from cmerl.agents.cme_rl.supervision import Attitude, Explore
    from cmerl.confidence import Mode
    from cmerl.optimism import Optimism
    from cmerl.rewards import RewardFunction
    from cmerl.safety import Caution
    from cmerl.spaces import Angles


class CMERL(Queries, Guarantees, Stored):
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
        attitude: "optimistic", or "pessimistic", which plans for a world as bad as the data allow, from logs alone:
            ``policy()`` then has ``lower``, what it earns at least, and is refused where the data support none.
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
        attitude: Attitude = "optimistic",
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
        wishes = Wishes(
            explore, limits, cost, cost_budget, fallback, allowed, exploratory_episodes, caution, attitude
        )
        self.explorer.watch_over(wishes, self.env)

    def __repr__(self) -> str:
        return f"CMERL({self.label}, horizon={self.horizon}, episodes={len(self.history)}, kernel={self.kernel!r})"
