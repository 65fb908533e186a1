"""The public class of CME-RL; `algorithm.py` plays the episode [CO22, Alg. 1]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from cmerl.agents.cme_rl.builder import build
from cmerl.agents.cme_rl.explorer import ExplorationOptions
from cmerl.agents.cme_rl.guarantees import Guarantees
from cmerl.agents.cme_rl.options import Given
from cmerl.agents.cme_rl.queries import Queries
from cmerl.agents.cme_rl.saving import Saved

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


class CMERL(Queries, Guarantees, Saved):
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
            observations scaled to [0, 1], one shared by all actions plus a narrower one for each action.
        value_kernel: k_ψ on states, or "auto": the state part of ``kernel`` on Discrete observations, else a
            Matérn-3/2 kernel of width 0.1.
        lam: the ridge λ, or "auto": 0.1 in practical mode (λ prior visits with the maximal return) and in modes that
            plan from counts, 1 in provable modes with a bonus.
        bonus: "practical" (no proof, learns fastest); for finite MDPs "kl" (the recommended provable mode) and
            "guarded" (practical plans while the data support them, else those of "kl"); "paper", "tight", "split",
            "nonnegative"; "auto" (balances scales of the optimistic prior); or a mode object of ``cmerl.confidence``.
        reward: "learned", or a reward function of (observation, action) or (observation, action, next observation);
            a function that accepts arrays is called once for many rows.
        backend: how the embedding stores its data: "exact"; "compressed", whose cost does not grow with the data;
            "nystrom" or "fourier", classical sketches; "auto" is exact up to a size, then compressed (provable modes
            stay exact).
        model: "direct" regresses V(s') on state-actions; "displacement" regresses s' − s and evaluates V at the
            predicted state, which suits small, smooth steps; "auto" compares held-out predictions whenever the data
            have doubled (practical mode on real-valued observations).
        delta: failure probability of all claims of a provable mode together.
        reward_range: (lo, hi), or "auto": starts at (0, 1) and widens to the rewards seen; claims of a provable mode
            then hold only while all rewards lie in (0, 1), so declare the range.
        max_return: an upper bound on the return of any episode, if you know one.
        B_P: bound on ‖Θ_P‖_HS, or "auto" where one always holds (delta kernels); likewise ``B_V`` on ‖V‖_ψ and
            ``B_R`` on ‖R‖_φ, both for rewards counted from the lower end of ``reward_range``. If episodes can
            terminate, termination is one more state whose feature is a unit vector orthogonal to all others: B_P must
            include its probability, and B_V its value.
        misspecification: ζ, if value functions are only known to lie within ζ of functions of norm B_V ("tight",
            "split", "paper").
        replan: replan inside an episode after one nat of information, and delay updates that bring less than half a
            nat; "auto" does so except in provable modes.
        time_homogeneous: False learns separate transitions for each step of the episode.
        certify: in provable modes on finite MDPs with known dynamics, record at every episode whether Θ_P lay in the
            confidence set and Q was optimistic.
        actions: candidate actions; by default all actions of a finite space, else a low-discrepancy set between whose
            points the agent may refine.
        states: all observations (S, …), if there are finitely many but the space is not Discrete.
        angles: columns of the observation, or names of its parts, that are angles: a list if the period is 2π, or a
            map from each to its period.
        optimism: the value of Q where there are no data (``cmerl.optimism``); None follows the mode and the model.
        planner: the backward pass, with the arguments of ``cmerl.planning.make_plan``; None for that function.
        actor: how plans become actions (``cmerl.acting``); None lets the data choose.
        settings: all other numbers, with their defaults (``cmerl.agents.Settings``).
        explore: "optimistic"; "cautious", which plays an action only if the model predicts that it, followed by the
            fallback, stays within ``limits`` and ``cost_budget``; "greedy"; "auto" is cautious if limits or a cost
            are given.
        limits: columns of the observation, by number or name, and (lo, hi) for each; None for an open end.
        cost: a function of (obs, action, next_obs), or a key of ``info``.
        cost_budget: how much of ``cost`` an episode may spend.
        fallback: acts where nothing else is safe, and until there are enough data: a function of (obs, step), an
            action, or "greedy" (the default).
        allowed: which actions are allowed: a function of (obs, action), or of (obs) with a truth value per action.
        exploratory_episodes: how many episodes may explore; the others are greedy.
        caution: how far to look ahead, and with how much margin (``cmerl.safety.Caution``).
        attitude: "optimistic", or "pessimistic", which plans from logs alone for the worst environment that the data
            allow: ``policy()`` then has a lower bound ``lower`` on its return, and raises if the data support none.
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
        asked = ExplorationOptions(
            explore, limits, cost, cost_budget, fallback, allowed, exploratory_episodes, caution, attitude
        )
        self.explorer.supervise(asked, self.env)

    def __repr__(self) -> str:
        return f"CMERL({self.label}, horizon={self.horizon}, episodes={len(self.history)}, kernel={self.kernel!r})"
