"""Two agents on the same seeds, and whether the difference is more than chance."""

from tempfile import mkdtemp

from cmerl import experiments
from cmerl.experiments.statistics import paired_difference

results = experiments.run(
    "cmerl/RiverSwim-v0", agents=["cme-rl", "greedy"], episodes=20, seeds=6, jobs=2, out=mkdtemp() + "/run"
)
regret = {agent: [0.0] * 6 for agent in ("cme-rl", "greedy")}
for line in results.episodes:
    regret[line["agent"]][line["seed"]] += line["regret"]
gap = paired_difference(regret["greedy"], regret["cme-rl"], seed=0)
print(f"greedy play loses {gap.mean:.1f} more ({gap.low:.1f} to {gap.high:.1f}), p = {gap.p_value:.3f}")
