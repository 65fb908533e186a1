"""The words of `cmerl theory`: constants, legend and verdict."""

from theory_constants import riverswim

from cmerl.kernels import Delta
from cmerl.theory import information_gain, informative_from, pac_episodes, radii


def test_a_table_comes_with_its_constants_a_legend_and_a_verdict(call):
    def told(*arguments):
        code, out, _ = call("theory", *arguments)
        assert code == 0
        return out

    out = told("regret", "--env", "cmerl/RiverSwim-v0")
    assert "with S = 6, A = 2, H = 20, λ = 1, δ = 0.1, B_V = 48.99, B_P = 3.464, ζ = 0" in out
    assert "informative from: episodes from which the bound is below the trivial one" in out
    paper, tight = informative_from(**riverswim()), informative_from(form="tight", **riverswim())
    last = f"The paper bound says nothing below {paper:.2g} episodes; the tight bound says nothing below {tight:.2g}"
    assert out.splitlines()[-1].startswith(last)

    out = told("regret", "--states", "6", "--actions", "2", "--zeta", "1")
    assert "the paper bound says nothing, however many the episodes" in out.lower()

    out = told("pac", "--env", "cmerl/RiverSwim-v0", "--epsilon", "1,5")
    count = pac_episodes(epsilon=1.0, failure=0.1, form="tight", **riverswim())
    assert out.splitlines()[-1] == f"For ε = 1 the tight form asks for {count:.2g} episodes."

    out = told("radius", "--env", "cmerl/RiverSwim-v0", "--episodes", "50")
    found = radii(episodes=50, **riverswim())
    times = found["paper"] / found["tight"]
    assert out.splitlines()[-1] == f"At episode 50 the tight radius is {times:.3g} times smaller than the paper's."

    out = told("gain", "--points", "12", "--counts", "10,100")
    low, high = (information_gain(Delta(), N, lam=1.0, candidates=12).upper for N in (10, 100))
    assert out.splitlines()[-1] == f"100 observations tell at most {high:.3g} nats, {high - low:.3g} more than 10."
    assert "with λ = 1, 12 points" in out
