# %% [markdown]
# # RiverSwim: what the agent knows, and what that costs
#
# Six places in a river. Swimming right against the current leads to a reward of 1 in the end; drifting left gives
# 0.005 at once. An agent that believes its first rewards never gets there.

# %%
import gymnasium
import matplotlib.pyplot as plt
import numpy as np

import cmerl
from cmerl import oracles

curious, greedy = (
    cmerl.agents.make(name, gymnasium.make("cmerl/RiverSwim-v0"), seed=0).learn(40) for name in ("cme-rl", "greedy")
)
for agent in (curious, greedy):
    print(f"{agent.name:>7}: {np.mean([record.ret for record in agent.history[-10:]]):.2f} in each of the last ten")

# %% [markdown]
# The world is known, so regret is exact: what the best policy would have had more.

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for agent, colour in ((curious, "#0072B2"), (greedy, "#D55E00")):
    panels[0].plot(np.cumsum([record.regret for record in agent.history]), color=colour, label=agent.name)
panels[0].set(xlabel="episode", ylabel="cumulative regret")
panels[0].legend()
world = curious.env.unwrapped
best = oracles.solve(world, curious.horizon).V[0]
learned = oracles.evaluate(world, curious.policy(explore=False), curious.horizon).V[0]
panels[1].bar(np.arange(6) - 0.2, best, width=0.4, color="#8C8C8C", label="optimal")
panels[1].bar(np.arange(6) + 0.2, learned, width=0.4, color="#0072B2", label="learned")
panels[1].set(xlabel="place", ylabel="value")
panels[1].legend()

# %% [markdown]
# Why does it swim? Each action with its expected reward and value, what is still unknown, and the evidence.

# %%
explanation = curious.explain(2)
print(explanation.chosen.action, [round(action.q, 2) for action in explanation.actions])
explanation
